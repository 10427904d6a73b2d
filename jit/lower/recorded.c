/* recorded.c: what updates reals, of which runs that restore every bit keep what is lost (exact.c). */
#include "builder.h"
#include "emit.h"
#include "instruction.h"

static bool is_recorded(const rvm__unit *u, const rvm_function *f, const rvm_insn *in) {
    const rvm_place *q = rvm__places(f, in);
    if (!rvm__op_is_recorded((rvm_op)in->op) || (u->w->values_only && rvm__is_of_shadows(in))) return false;
    const bool update = rvm__class_of(in->op) == RVM_CLASS_UPDATE;
    return rvm__is_floating(rvm__place_type(f, &q[update ? 0 : rvm__change_info[rvm__change_of(in->op)].conditional]));
}

bool rvm__records(const rvm__unit *u, uint32_t fn, uint32_t from, uint32_t to) {
    const rvm_function *f = &u->p->functions[fn];
    RVM__EACH_INSN_IN(x, f, from, to) {
        if (is_recorded(u, f, x.in)) return true;
        RVM__EACH_CALLEE(g, u->p, x.in)
            if (u->summaries[g].records) return true;
    }
    return false;
}

static bool releases_one(const rvm_insn *in) {
    return rvm__is_of_shadows(in) && (rvm__pair_of(in->op) == RVM_PAIR_let || rvm__pair_of(in->op) == RVM_PAIR_new);
}

bool rvm__releases_shadows(const rvm__unit *u) {
    if (!u->w->exact || !u->w->values_only || u->w->unchecked) return false;
    for (uint32_t fn = 0; fn < u->p->nfunctions; fn++)
        RVM__EACH_INSN(x, &u->p->functions[fn])
            if (releases_one(x.in)) return true;
    return false;
}
