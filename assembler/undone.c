/* undone.c: a warning of changes in a compute part that come to nothing: `undo` takes back what compute changes, so a change
 * of a place from outside that no other statement of the region names has no effect at all. What is meant stands in `do`.
 *
 * Two passes over the region as it was parsed: the first marks every name but those of the places that compute updates or
 * sets, the second finds the updates of names without a mark. Linear, and again for each region around.
 */
#include "asm.h"
#include "instruction.h"

static void mark_expr(const expr *e, const stmt *region) {
    if (!e) return;
    if (e->kind == E_NAME || e->kind == E_INDEX || e->kind == E_CALL) e->u.name->region = region;
    if (e->kind == E_FN) e->u.callee->name->region = region;
    for (int k = 0; k < e->nkids; k++) mark_expr(e->kids[k], region);
}

/* y of y += e, y[i] += e, set y = e, inc y. */
static const expr *target_of(const stmt *s) {
    const bool in_place =
        s->kind == S_OP && s->nargs == 1 && rvm__op_info[s->op].operands[0] == 'y' && !rvm__op_on_stack((rvm_op)s->op);
    const bool changes = in_place || ((s->kind == S_UPDATE || s->kind == S_SET) && s->nargs);
    return changes && (s->args[0]->kind == E_NAME || s->args[0]->kind == E_INDEX) ? s->args[0] : NULL;
}

static void mark(const stmt *s, const stmt *region, bool computes) {
    for (; s; s = s->next) {
        const expr *target = computes ? target_of(s) : NULL;
        for (int k = 0; target && k < target->nkids; k++) mark_expr(target->kids[k], region);
        for (int k = target != NULL; k < s->nargs; k++) mark_expr(s->args[k], region);
        mark_expr(s->expr, region);
        mark_expr(s->post, region);
        mark_expr(s->tolerance, region);
        if (s->callee && s->callee->name) s->callee->name->region = region;
        mark(s->body, region, computes);
        mark(s->other, region, computes);
    }
}

/* Declared before the region: the region's own names are not visible yet. */
static bool is_outside(const name *n) {
    const var *v = n->var;
    return v && !v->failed && (v->kind == V_PARAM || v->kind == V_LOCAL);
}

static void tell(assembler *a, const stmt *s, const stmt *region) {
    for (; s; s = s->next) {
        const expr *target = target_of(s);
        const name *n = target ? target->u.name : NULL;
        if (n && is_outside(n) && n->region != region)
            rvm__diag(a, s->at, D_UNDONE, n->text, rvm__number(a, region->undo_at.line), NULL);
        tell(a, s->body, region);
        tell(a, s->other, region);
    }
}

void rvm__warn_undone(assembler *a, const stmt *region) {
    if (a->nerrors) return; /* what could not be read may name anything */
    mark(region->body, region, true);
    mark(region->other, region, false);
    tell(a, region->body, region);
}
