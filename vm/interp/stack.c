/* stack.c: the typed stack of push and pop. */
#include "memory.h"
#include "out_of_line.h"
#include "profile.h"
#include "trail.h"
#include "instruction.h"

static bool push_cell(rvm_machine *m, rvm__cell cell) {
    size_t cap = m->store.cap_stack;
    if (!rvm__reserve(m, (void **)&m->store.stack, &cap, (size_t)m->store.nstack + 1, sizeof *m->store.stack)) return false;
    m->store.cap_stack = (uint32_t)cap;
    m->store.stack[m->store.nstack++] = cell;
    if (m->profile) rvm__profile_grown(m);
    return true;
}

rvm_status rvm__push(rvm_machine *m, rvm_type type, rvm_value value, rvm_value shadow) {
    return push_cell(m, (rvm__cell){value, shadow, (uint8_t)type, 0, 0}) ? RVM_OK : RVM_ERR_MEMORY;
}

/* What is not the value lies below it; the value's own shadow is in its cell, as that of push is. */
rvm_status rvm__stack_push(rvm_machine *m, rvm_type type, const rvm__trail_entry *entry) {
    const uint32_t before = m->store.nstack;
    rvm__cell top = {.value = entry->value[0], .type = (uint8_t)type};
    for (uint32_t k = 1; k < entry->n; k++) {
        const rvm__cell cell = {.value = entry->value[k], .type = (uint8_t)type, .index = entry->index[k]};
        if (entry->index[k] == 1)
            top.shadow = entry->value[k];
        else if (push_cell(m, cell))
            top.extra++;
        else
            goto fail;
    }
    if (push_cell(m, top)) return RVM_OK;
fail:
    m->store.nstack = before;
    return RVM_ERR_MEMORY;
}

const rvm__cell *rvm__top(const rvm_machine *m, rvm_type type) {
    const rvm__cell *top = m->store.nstack ? &m->store.stack[m->store.nstack - 1] : NULL;
    return top && top->type == type ? top : NULL;
}

bool rvm__stack_entry(const rvm_machine *m, rvm_type type, uint32_t *n, rvm__trail_entry *entry) {
    const rvm__cell *top = *n ? &m->store.stack[*n - 1] : NULL;
    if (!top || top->type != type) return false;
    entry->n = 0;
    rvm__entry_insert(entry, 0, top->value);
    rvm__entry_insert(entry, 1, top->shadow);
    *n -= 1u + top->extra;
    for (uint32_t k = *n; k < *n + top->extra; k++)
        rvm__entry_insert(entry, m->store.stack[k].index, m->store.stack[k].value);
    return true;
}

/* y, whose bits are not all 0, is 0 as far as its type can tell. */
bool rvm__pop_empty(rvm_machine *m, const rvm__xinsn *x, const rvm_value *y) {
    return rvm__is_floating((rvm_type)x->type) && rvm__agrees(m, x, y->f, 0);
}

bool rvm__popc_agrees(rvm_machine *m, const rvm__xinsn *x, const rvm_value *y, const rvm__cell *top) {
    if (x->flags & X_UNCHECKED) return true;
    if (!rvm__is_floating((rvm_type)x->type)) return y->i == top->value.i;
    return rvm__agrees(m, x, y->f, top->value.f);
}

void rvm__popc_gain(const rvm__xinsn *x, rvm_value *shadow, const rvm__cell *top, bool lose) {
    const rvm_type t = (rvm_type)x->type;
    const rvm_value gain = !lose                 ? top->shadow
                           : rvm__is_floating(t) ? (rvm_value){.f = -top->shadow.f}
                                                 : (rvm_value){.u = -top->shadow.u};
    *shadow = rvm__sum(t, *shadow, gain);
}
