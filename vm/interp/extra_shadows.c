/* extra_shadows.c: what a slot holds besides what is taken from it (docs/semantics.md, section 8): shadows at positions that
 * it had not when it was pushed, which are derivatives by what was 0 by not being there. A sweep loses them; one that will
 * be taken back keeps them, each with its index, and their number last. */
#include "out_of_line.h"
#include "trail.h"
#include "instruction.h"

void rvm__slot_insert(rvm__slot *slot, uint32_t index, rvm_value v) {
    uint32_t k = slot->n;
    if (index && !v.u) return;
    for (; k > 0 && slot->index[k - 1] > index; k--) {
        slot->value[k] = slot->value[k - 1];
        slot->index[k] = slot->index[k - 1];
    }
    slot->value[k] = v;
    slot->index[k] = (uint8_t)index;
    slot->n++;
}

static bool is_rest(uint64_t positions, uint32_t index) {
    return !(positions >> index / 2 & 1);
}

bool rvm__extra_fits(rvm_machine *m, uint32_t fn, const rvm__xinsn *x, rvm_type type, uint64_t positions,
                     const rvm__slot *slot, int level) {
    for (uint32_t k = 1; k < slot->n; k++) {
        const uint32_t index = slot->index[k];
        if (!is_rest(positions, index) || (index & 1 && level == 1)) continue;
        if (!rvm__is_floating(type) || !rvm__vanishes_at(m, fn, x, type, slot->value[k].f, NULL)) return false;
    }
    return true;
}

rvm_status rvm__extra_fails(rvm_machine *m, bool stack) {
    snprintf(m->detail, sizeof m->detail, "the slot on the %s holds more than is taken from it", stack ? "stack" : "trail");
    return stack ? RVM_ERR_STACK : RVM_ERR_TRAIL;
}

rvm_status rvm__extra_keep(rvm_machine *m, uint64_t positions, const rvm__slot *slot) {
    uint32_t done = 0;
    rvm_value n = {.u = 0};
    rvm_status status = RVM_OK;
    for (uint32_t k = 1; k < slot->n && !status; k++) {
        const rvm_value index = {.u = slot->index[k]};
        if (!is_rest(positions, slot->index[k])) continue;
        n.u++;
        if (!(status = rvm__keep(m, slot->value[k]))) done++, status = rvm__keep(m, index);
        done += !status;
    }
    if (!status) status = rvm__keep(m, n);
    while (status && done--) rvm__kept(m);
    return status;
}

void rvm__extra_kept(rvm_machine *m, rvm__slot *slot) {
    for (uint64_t n = rvm__kept(m).u; n; n--) {
        const uint32_t index = (uint32_t)rvm__kept(m).u;
        rvm__slot_insert(slot, index, rvm__kept(m));
    }
}

/* ---- of `set`, which takes the value alone: on the trail, level 0 ---- */

rvm_status rvm__set_top(rvm_machine *m, const rvm__xinsn *x, uint32_t site, int level, rvm_value *value, rvm_value *shadow) {
    rvm__slot slot;
    rvm__trail_cursor c = rvm__trail_begin(m, 0);
    slot.value[1].u = slot.index[1] = 0;
    m->detail_place = 0;
    if (!rvm__trail_next(&c, &slot)) return rvm__trail_wrong(m, 0, NULL);
    if (slot.site != site) return rvm__trail_wrong(m, 0, &slot);
    *value = slot.value[0];
    shadow->u = slot.n > 1 && slot.index[1] == 1 ? slot.value[1].u : 0;
    if (m->mode == RVM_PRIMAL && shadow->u) return rvm__extra_fails(m, false);
    if (rvm__extra_fits(m, m->frames[m->nframes - 1].fn, x, (rvm_type)x->type, 1, &slot, level)) return RVM_OK;
    return rvm__extra_fails(m, false);
}

/* The rest, then the shadow that the sweep discards. */
static rvm_status keep_both(rvm_machine *m, rvm__slot *slot, rvm_value shadow) {
    rvm_status status = rvm__extra_keep(m, 1, slot);
    if (status || !(status = rvm__keep(m, shadow))) return status;
    slot->n = 1;
    rvm__extra_kept(m, slot);
    return status;
}

rvm_status rvm__set_keep(rvm_machine *m, rvm_value shadow) {
    rvm__slot slot;
    rvm__trail_cursor c = rvm__trail_begin(m, 0);
    rvm__trail_next(&c, &slot);
    return keep_both(m, &slot, shadow);
}

rvm_status rvm__set_again(rvm_machine *m, uint32_t site, rvm_value value, rvm_value shadow) {
    rvm__slot slot = {.site = site};
    rvm__slot_insert(&slot, 0, value);
    rvm__slot_insert(&slot, 1, shadow);
    rvm__extra_kept(m, &slot);
    rvm_status status = rvm__trail_push(m, 0, &slot);
    if (status) rvm__extra_keep(m, 1, &slot);
    return status;
}

/* ---- of `push` and `pop`, on the stack ---- */

bool rvm__pop_fits(rvm_machine *m, const rvm__xinsn *x, int level) {
    rvm__slot slot;
    uint32_t n = m->nstack;
    m->detail[0] = 0;
    rvm__stack_slot(m, (rvm_type)x->type, &n, &slot);
    if (rvm__extra_fits(m, m->frames[m->nframes - 1].fn, x, (rvm_type)x->type, 1, &slot, level)) return true;
    rvm__extra_fails(m, true);
    return false;
}

rvm_status rvm__pop_keep(rvm_machine *m, const rvm__xinsn *x, rvm_value shadow) {
    rvm__slot slot;
    uint32_t n = m->nstack;
    rvm__stack_slot(m, (rvm_type)x->type, &n, &slot);
    return keep_both(m, &slot, shadow);
}

rvm_status rvm__push_again(rvm_machine *m, const rvm__xinsn *x, rvm_value value, rvm_value shadow) {
    rvm__slot slot = {.n = 0};
    rvm__slot_insert(&slot, 0, value);
    rvm__slot_insert(&slot, 1, shadow);
    rvm__extra_kept(m, &slot);
    rvm_status status = rvm__stack_push(m, (rvm_type)x->type, &slot);
    if (status) rvm__extra_keep(m, 1, &slot);
    return status;
}
