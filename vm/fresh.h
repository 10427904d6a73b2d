/* fresh.h: arguments whose contents are never read (rvm.h), and when what they count as is written.
 *
 *   bound    it is noted, and nothing is written: a derivative may be bound to arrays that another run works on
 *   looked at, or run: before the first instruction; what native code writes itself (rvm__native_need.fresh) is left to that
 *   back     where the run is at the origin again they are 0, and are written anew when it leaves that
 */
#ifndef RVM_FRESH_H
#define RVM_FRESH_H

#include "machine.h"

enum { RVM__FRESH_VALUES = 1, RVM__FRESH_SHADOWS = 2 }; /* m->bound.unwritten */

static inline bool rvm__is_fresh(const rvm_arg *a, bool shadow) {
    return shadow ? a->active && a->fresh_shadow : a->fresh;
}

/* All elements, or all shadows, are that. A large array goes past the caches. */
void rvm__fresh_fill(rvm_arg *a, bool shadow, rvm_value with);
/* The same of an array that is on a device, there; false: it is not, or could not. */
bool rvm__fresh_fill_there(const rvm_machine *m, const rvm_arg *a, bool shadow, rvm_value with);
/* As rvm__cells_take; of what is fresh, what it counts as. */
void rvm__fresh_take(const rvm_arg *a, bool shadow, rvm_value *to);
/* They are 0. */
void rvm__fresh_clear(rvm_arg *a, bool shadow);

/* Those of the bound call: notes what is to be written; writes it, but for the arrays whose bit, by parameter, is set in
 * `but`. Errors: what is on a device is lost. */
void rvm__fresh_bound(rvm_machine *m);
rvm_status rvm__fresh_write_now(rvm_machine *m, uint64_t but);
static inline rvm_status rvm__fresh_write(rvm_machine *m, uint64_t but) {
    return m->bound.unwritten ? rvm__fresh_write_now(m, but) : RVM_OK;
}
/* Before anybody looks. */
static inline void rvm__fresh_show(const rvm_machine *m) {
    if (m->run.where != UNBOUND && m->bound.unwritten) rvm__fresh_write((rvm_machine *)(uintptr_t)m, 0);
}
/* Those whose bits are set in `by`, which native code wrote: what lies outside of the first block's instances lo to hi;
 * where the code is left, what instances of it that have not begun would have written. */
void rvm__fresh_outside(rvm_machine *m, uint32_t k, char *data, int64_t lo, int64_t hi);
void rvm__fresh_rest(rvm_machine *m, uint64_t by, bool exited);
/* Whether values of fresh arguments are yet to be written. */
static inline bool rvm__fresh_unwritten(const rvm_machine *m) {
    return m->bound.unwritten & RVM__FRESH_VALUES;
}
/* Whether an array of so many elements is to go past the caches. */
bool rvm__passes_caches(int64_t n);
/* Values that are handed back, and with shadows what a sweep that ended within the run made of them. */
void rvm__fresh_hand_back(rvm_machine *m, bool shadows);
/* The run has come back to where it was bound. */
void rvm__fresh_at_origin(rvm_machine *m);

#endif
