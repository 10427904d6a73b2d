/* borrowed.c: shadows of what a compute part borrows, in sweeps of exact runs (docs/semantics.md, section 5): set aside in
 * the record, and added again. A sweep that may be taken back keeps what it adds, and what it adds that to, in the redo log.
 */
#include "out_of_line.h"
#include "trail.h"

static rvm_status to_redo_log(rvm_machine *m, int n, const rvm_value *s) {
    for (int k = 0; k < n; k++) {
        const rvm_status status = rvm__redo_push(m, s[k]);
        while (status && k-- > 0) rvm__redo_pop(m);
        if (status) return status;
    }
    return RVM_OK;
}

static void from_redo_log(rvm_machine *m, int n, rvm_value *s) {
    while (n-- > 0) s[n] = rvm__redo_pop(m);
}

bool rvm__borrowed_records(const rvm_machine *m, int level) {
    return (m->exact.borrowing == RVM__SETS_ASIDE) == (level == 1);
}

rvm_status rvm__borrowed_begin(rvm_machine *m, int level, int n, rvm_value *s) {
    rvm_status status = RVM_OK;
    if (!rvm__borrowed_records(m, level)) {
        if (!rvm__borrowed_take(m, n, s)) return rvm__exact_nothing_left(m);
        if (level == 1 && (status = to_redo_log(m, 2 * n, s))) rvm__borrowed_put(m, n, s);
        return status;
    }
    if (level == 3) from_redo_log(m, 2 * n, s);
    if (rvm__borrowed_put(m, n, s)) return RVM_OK;
    if (level == 3) to_redo_log(m, 2 * n, s);
    return RVM_ERR_MEMORY;
}

void rvm__borrowed_cancel(rvm_machine *m, int level, int n, rvm_value *s) {
    if (rvm__borrowed_records(m, level)) {
        rvm__borrowed_take(m, n, s);
        if (level == 3) to_redo_log(m, 2 * n, s);
    } else {
        if (level == 1) from_redo_log(m, 2 * n, s);
        rvm__borrowed_put(m, n, s);
    }
}
