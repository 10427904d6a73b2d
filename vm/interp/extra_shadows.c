/* extra_shadows.c: what an entry holds besides what is taken from it (docs/semantics.md, section 8): shadows at positions
 * that it had not when it was pushed, which are derivatives by what was 0 by not being there. A sweep loses them; one that
 * will be taken back keeps them, each with its index, and their number last. */
#include "out_of_line.h"
#include "trail.h"
#include "instruction.h"

static bool is_rest(uint64_t positions, uint32_t index) {
    return !(positions >> index / 2 & 1);
}

bool rvm__extra_fits(rvm_machine *m, uint32_t fn, const rvm__xinsn *x, rvm_type type, uint64_t positions,
                     const rvm__trail_entry *entry, int level) {
    for (uint32_t k = 1; k < entry->n; k++) {
        const uint32_t index = entry->index[k];
        if (!is_rest(positions, index) || (index & 1 && level == 1)) continue;
        if (!rvm__is_floating(type) || !rvm__vanishes_at(m, fn, x, type, entry->value[k].f, NULL)) return false;
    }
    return true;
}

rvm_status rvm__extra_fails(rvm_machine *m, bool stack) {
    snprintf(m->detail, sizeof m->detail, "the entry on the %s holds more than is taken from it", stack ? "stack" : "trail");
    return stack ? RVM_ERR_STACK : RVM_ERR_TRAIL;
}

rvm_status rvm__redo_push_extra(rvm_machine *m, uint64_t positions, const rvm__trail_entry *entry) {
    uint32_t done = 0;
    rvm_value n = {.u = 0};
    rvm_status status = RVM_OK;
    for (uint32_t k = 1; k < entry->n && !status; k++) {
        const rvm_value index = {.u = entry->index[k]};
        if (!is_rest(positions, entry->index[k])) continue;
        n.u++;
        if (!(status = rvm__redo_push(m, entry->value[k]))) done++, status = rvm__redo_push(m, index);
        done += !status;
    }
    if (!status) status = rvm__redo_push(m, n);
    while (status && done--) rvm__redo_pop(m);
    return status;
}

void rvm__redo_pop_extra(rvm_machine *m, rvm__trail_entry *entry) {
    for (uint64_t n = rvm__redo_pop(m).u; n; n--) {
        const uint32_t index = (uint32_t)rvm__redo_pop(m).u;
        rvm__entry_insert(entry, index, rvm__redo_pop(m));
    }
}

/* ---- of `set`, which takes the value alone: on the trail, level 0 ---- */

rvm_status rvm__set_top(rvm_machine *m, const rvm__xinsn *x, uint32_t site, int level, rvm_value *value, rvm_value *shadow) {
    rvm__trail_entry entry;
    rvm__trail_cursor c = rvm__trail_begin(m, 0);
    entry.value[1].u = entry.index[1] = 0;
    m->detail_place = 0;
    if (!rvm__trail_next(&c, &entry)) return rvm__trail_wrong(m, 0, NULL);
    if (entry.site != site) return rvm__trail_wrong(m, 0, &entry);
    *value = entry.value[0];
    shadow->u = entry.n > 1 && entry.index[1] == 1 ? entry.value[1].u : 0;
    if (m->bound.mode == RVM_PRIMAL && shadow->u) return rvm__extra_fails(m, false);
    if (rvm__extra_fits(m, m->store.frames[m->store.nframes - 1].fn, x, (rvm_type)x->type, 1, &entry, level)) return RVM_OK;
    return rvm__extra_fails(m, false);
}

/* The rest, then the shadow that the sweep discards. */
static rvm_status keep_both(rvm_machine *m, rvm__trail_entry *entry, rvm_value shadow) {
    rvm_status status = rvm__redo_push_extra(m, 1, entry);
    if (status || !(status = rvm__redo_push(m, shadow))) return status;
    entry->n = 1;
    rvm__redo_pop_extra(m, entry);
    return status;
}

rvm_status rvm__set_keep(rvm_machine *m, rvm_value shadow) {
    rvm__trail_entry entry;
    rvm__trail_cursor c = rvm__trail_begin(m, 0);
    rvm__trail_next(&c, &entry);
    return keep_both(m, &entry, shadow);
}

rvm_status rvm__set_again(rvm_machine *m, uint32_t site, rvm_value value, rvm_value shadow) {
    rvm__trail_entry entry = {.site = site};
    rvm__entry_insert(&entry, 0, value);
    rvm__entry_insert(&entry, 1, shadow);
    rvm__redo_pop_extra(m, &entry);
    rvm_status status = rvm__trail_push(m, 0, &entry);
    if (status) rvm__redo_push_extra(m, 1, &entry);
    return status;
}

/* ---- of `push` and `pop`, on the stack ---- */

bool rvm__pop_fits(rvm_machine *m, const rvm__xinsn *x, int level) {
    rvm__trail_entry entry;
    uint32_t n = m->store.nstack;
    m->detail[0] = 0;
    rvm__stack_entry(m, (rvm_type)x->type, &n, &entry);
    if (rvm__extra_fits(m, m->store.frames[m->store.nframes - 1].fn, x, (rvm_type)x->type, 1, &entry, level)) return true;
    rvm__extra_fails(m, true);
    return false;
}

rvm_status rvm__pop_keep(rvm_machine *m, const rvm__xinsn *x, rvm_value shadow) {
    rvm__trail_entry entry;
    uint32_t n = m->store.nstack;
    rvm__stack_entry(m, (rvm_type)x->type, &n, &entry);
    return keep_both(m, &entry, shadow);
}

rvm_status rvm__push_again(rvm_machine *m, const rvm__xinsn *x, rvm_value value, rvm_value shadow) {
    rvm__trail_entry entry = {.n = 0};
    rvm__entry_insert(&entry, 0, value);
    rvm__entry_insert(&entry, 1, shadow);
    rvm__redo_pop_extra(m, &entry);
    rvm_status status = rvm__stack_push(m, (rvm_type)x->type, &entry);
    if (status) rvm__redo_push_extra(m, 1, &entry);
    return status;
}
