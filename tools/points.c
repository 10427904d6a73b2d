/* points.c: where derivatives are taken by rule, since there is none. Looking is a run of its own, one instruction at a
 * time, and only of programs that may have such points: so by default it does not go far. */
#include "number.h"
#include "tool.h"

enum { MOST = 50000, SHOWN = 10 };

void points_text(const rvm_nonsmooth_point *point, char *text, size_t size) {
    char taken[NUMBER_TEXT] = "", by[96] = "";
    if (point->place[0] != '%') snprintf(by, sizeof by, " by `%s`", point->place); /* a temporary has no name */
    if (point->taken != 0) snprintf(taken, sizeof taken, "%.12g", point->taken);
    snprintf(text, size, "no derivative%s at %s:%u, in %s (%s): %s%s", by, point->file ? point->file : "?", point->line,
             point->function, point->row, point->taken == 0 ? "it contributes 0" : "by its rule it is ", taken);
}

static void note_point(tool *t, const rvm_nonsmooth_point *point) {
    rvm_error e = {.line = point->line, .column = point->column};
    snprintf(e.file, sizeof e.file, "%s", point->file ? point->file : "");
    points_text(point, e.message, sizeof e.message);
    report_note(t, &e);
}

void points_note(tool *t, const rvm_part *by, uint32_t nby) {
    const rvm_derivative_spec q = {.fn = t->fn, .args = t->v.arg, .nargs = t->v.n, .inputs = by, .ninputs = nby};
    rvm_nonsmooth_point points[SHOWN];
    rvm_options o;
    rvm_machine *m = NULL;
    rvm_error e;
    uint32_t n = 0;
    bool all = true;
    char text[512];
    if ((t->o.unchecked || t->o.trust) && !t->o.points) return;
    if (tool_options(t, &o)) return;
    o.exact = o.profile = false;
    o.progress = NULL;
    if (rvm_machine_new(t->program, &o, &m, &e)) return;
    /* What ends such a run early ends the other, too, which says why. */
    rvm_nonsmooth_corners(m, &q, t->o.points ? UINT64_MAX : MOST, points, SHOWN, &n, &all, &e);
    rvm_machine_free(m);
    for (uint32_t k = 0; k < n && k < SHOWN; k++) note_point(t, &points[k]);
    snprintf(text, sizeof text, "points without a derivative: at %u more places", n - SHOWN);
    if (n > SHOWN) report_note_text(t, text);
    snprintf(text, sizeof text, "points without a derivative: looked for in the first %d instructions; --points looks on",
             MOST);
    if (!all && !t->o.points && (n || t->o.verbose)) report_note_text(t, text);
}

void points_note_active(tool *t) {
    rvm_part by[RVM_MAX_PARAMS + 1];
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->v.n; i++)
        if (t->v.arg[i].active) by[n++] = (rvm_part){i, -1};
    points_note(t, by, n);
}
