/* nonsmooth.c: where a derivative ends: instructions that take a number which depends on the inputs and whose result has no
 * derivative by it (comparisons, conversions to integers, floor). Such an instruction contributes 0, by the rules; that this
 * is what was meant only the author can tell, so it is reported where it happens. So are corners, where a derivative that
 * there is elsewhere is taken by rule: sqrt and abs of 0, ties.
 *
 * A tangent run, instruction by instruction: a number depends on the inputs where its tangent along the given direction is
 * not 0; for a corner it suffices that it is active, since 0 is often where its tangent is 0 too (sqrt(x^2 + y^2)).
 */
#include <string.h>

#include "answers.h"
#include "spec.h"
#include "support.h"

typedef struct search {
    rvm__work w;
    rvm_nonsmooth_point *points;
    uint32_t room, n;
    bool corners; /* nothing else */
} search;

/* The same again, or its release. */
static bool is_known(const search *s, const rvm_nonsmooth_point *c) {
    for (uint32_t k = 0; k < s->n && k < s->room; k++)
        if (s->points[k].fn == c->fn && s->points[k].line == c->line && !strcmp(s->points[k].row, c->row) &&
            !strcmp(s->points[k].place, c->place))
            return true;
    return false;
}

/* The instruction that runs next. */
static void look(search *s) {
    rvm_nonsmooth_point here[3];
    for (int k = 0, n = rvm__nonsmooth_here(s->w.m, s->corners, here); k < n; k++) {
        if (is_known(s, &here[k])) continue;
        if (s->n < s->room) s->points[s->n] = here[k];
        s->n++;
    }
}

rvm_status rvm_nonsmooth_points(rvm_machine *m, const rvm_derivative_spec *q, const double *v, rvm_nonsmooth_point *points,
                                uint32_t room, uint32_t *n, rvm_error *err) {
    search s = {.points = points, .room = room};
    bool done = false;
    RVM__NEEDS(n);
    *n = 0;
    if (room) RVM__NEEDS(points);
    rvm_status status = rvm__work_begin(&s.w, m, q, err);
    if (status) return status;
    status = rvm__work_needs(v, s.w.columns, "v", err);
    rvm__work_reset(&s.w);
    if (!status) rvm__work_put(&s.w, true, v);
    if (!status) status = rvm_machine_bind(m, q->fn, s.w.args, q->nargs, RVM_TANGENT, false, err);
    done = rvm_program_by_hand(s.w.p, (uint32_t)q->fn, RVM_TANGENT_OF); /* there is no tangent at each instruction then */
    while (!status && !done) {
        look(&s);
        status = rvm_machine_step(m, 1, &done, err);
    }
    rvm__work_end(&s.w, NULL);
    *n = s.n;
    return status;
}

rvm_status rvm_nonsmooth_corners(rvm_machine *m, const rvm_derivative_spec *q, uint64_t most, rvm_nonsmooth_point *points,
                                 uint32_t room, uint32_t *n, bool *all, rvm_error *err) {
    search s = {.points = points, .room = room, .corners = true};
    bool any = false, done = false;
    RVM__NEEDS(n, all);
    *n = 0;
    *all = false;
    if (room) RVM__NEEDS(points);
    rvm_status status = rvm__work_begin(&s.w, m, q, err);
    if (status) return status;
    rvm__work_reset(&s.w);
    status = rvm_machine_bind(m, q->fn, s.w.args, q->nargs, RVM_TANGENT, false, err);
    if (!status) any = rvm__may_meet_corner(m) && !rvm_program_by_hand(s.w.p, (uint32_t)q->fn, RVM_TANGENT_OF);
    for (uint64_t k = 0; !status && any && !done && k < most; k++) {
        look(&s);
        status = rvm_machine_step(m, 1, &done, err);
    }
    rvm__work_end(&s.w, NULL);
    *n = s.n;
    *all = done || !any;
    return status;
}
