/* exact_row.c: updates that follow one another in runs that restore every bit: they are done as if none lost anything, and
 * looked at together; where one does they are taken back and done singly (update.c). */
#include "analysis.h"
#include "emit.h"
#include "exact_ir.h"
#include "walk.h"

static bool indices_hold(const rvm__emit *e, const rvm_insn *in) {
    const rvm_place *q = rvm__places(e->f, in);
    for (uint32_t k = 0; k < in->nplaces; k++) {
        const bool proved = e->u->w->trust || (k < 4 && in->facts >> k & RVM_FACT_INBOUNDS0);
        for (int d = 0; d < q[k].nidx && q[k].kind == RVM_PLACE_ELEM; d++)
            if (!proved && !rvm__numbering_inbounds(e->u->numbering, in, k, d)) return false;
    }
    return true;
}

/* A sum or difference that does nothing but add. */
static bool is_plain(const rvm__emit *e, uint32_t pc) {
    const rvm_insn *in = &e->f->code[pc];
    const rvm__xinsn *x = &e->code->x[pc];
    if (rvm__class_of(in->op) != RVM_CLASS_UPDATE || rvm__pair_of(in->op) != RVM_PAIR_add || x->type != RVM_F64)
        return false;
    return !rvm__is_foreign(in) && !(x->flags & (X_DOMAIN | X_ALIAS)) && indices_hold(e, in);
}

/* Sums of shadows of which nothing is recorded stand between the others in an adjoint. */
static bool is_of_shadows(const rvm__emit *e, uint32_t pc) {
    return e->u->w->values_only && rvm__is_of_shadows(&e->f->code[pc]);
}

enum { MOST = 2 * RVM__EXACT_ROW };

typedef struct row {
    uint32_t pc[MOST];
    unsigned n, exact; /* how many follow one another; of them, not of shadows, RVM__EXACT_ROW at most */
} row;

/* Those that follow one another from the instruction being walked on, which numbering passes then. All are recorded, or all
 * taken back. With a profile each is counted where it stands. */
static row find_row(rvm__emit *e) {
    const rvm__context *c = e->control.context;
    const bool back = rvm__restores_at(e, e->control.pc);
    row r = {.n = 0}, good = r;
    if (!e->u->w->exact || e->u->w->profile || rvm__is_inside(e) || is_of_shadows(e, e->control.pc)) return good;
    for (uint32_t at = e->control.pc; r.n < MOST && at != e->block.ends && is_plain(e, at); at += (uint32_t)c->dir) {
        const rvm_op op = (rvm_op)e->f->code[at].op;
        const bool shadows = is_of_shadows(e, at);
        if (!shadows && (r.exact == RVM__EXACT_ROW || rvm__restores_at(e, at) != back)) break;
        rvm__numbering_pass(e->u->numbering, &e->f->code[at], c->dir > 0 ? op : rvm__op_inverse(op));
        r.pc[r.n++] = at;
        if (shadows) continue;
        r.exact++;
        good = r;
    }
    if (good.exact < 2) good.n = 0;
    return good;
}

typedef struct one { /* of a row */
    const rvm_insn *in;
    const rvm__xinsn *x;
    rvm_op op;
    rvm__operands o;
    LLVMValueRef y;
} one;

static rvm__exact_ir run_one(rvm__emit *e, one *w) {
    LLVMValueRef none = NULL;
    rvm__find_operands(e, w->in, w->x, &w->o);
    rvm__load_operands(e, w->x, &w->o);
    LLVMValueRef f = rvm__defined_row(e, w->in, w->x, &w->o, &none);
    w->y = rvm__load(e, &w->o.y);
    LLVMValueRef now = rvm__build_update(e->k, w->op, RVM_F64, w->y, f, &none);
    rvm__store(e, &w->o.y, now);
    if (w->x->flags & X_TRACK) rvm__track_held(e, rvm__places(e->f, w->in), now, false);
    return rvm__exact_of(e, RVM_F64, w->op, w->y, f, now);
}

bool rvm__exact_row(rvm__emit *e) {
    rvm__build *k = e->k;
    const uint32_t walked = e->count.walked;
    one w[MOST];
    rvm__exact_ir u[RVM__EXACT_ROW + 1]; /* the last is no update's */
    const row r = find_row(e);
    const unsigned n = r.n;
    if (!n) return false;
    LLVMBasicBlockRef singly = rvm__block(e, "singly"), all = rvm__block(e, "all"), on = rvm__block(e, "on");
    rvm__settle_erased(e); /* before control parts: one side may exit */
    for (unsigned i = 0, exact = 0; i < n; i++) {
        const rvm_insn *in = &e->f->code[e->control.pc = r.pc[i]];
        const rvm_op op = (rvm_op)in->op;
        w[i] = (one){.in = in, .x = &e->code->x[r.pc[i]], .op = e->control.context->dir > 0 ? op : rvm__op_inverse(op)};
        rvm__lines_at(e);
        u[exact] = run_one(e, &w[i]);
        exact += !is_of_shadows(e, r.pc[i]);
    }
    rvm__unlikely(e, LLVMBuildCondBr(k->b, LLVMBuildNot(k->b, rvm__exact_are_alone(e, r.exact, u), ""), singly, all));
    rvm__at(e, singly); /* which takes back what was done */
    for (unsigned i = n; i-- > 0;) rvm__store(e, &w[i].o.y, w[i].y);
    for (unsigned i = 0; i < n; i++) {
        e->control.pc = r.pc[i];
        e->count.walked = walked + i;
        rvm__emit_update(e, w[i].in, w[i].x, w[i].op);
    }
    LLVMBuildBr(k->b, on);
    rvm__at(e, all);
    if (!rvm__restores_at(e, e->control.pc)) rvm__exact_count(e, r.exact);
    LLVMBuildBr(k->b, on);
    rvm__at(e, on);
    return true;
}
