/* explain.c: the message of a failure. The machine stands on the instruction that failed, which has changed nothing; so its
 * operands can be looked at again. */
#include <math.h>
#include <string.h>

#include "out_of_line.h"
#include "overlap.h"
#include "reals.h"
#include "run.h"
#include "builder.h"
#include "support.h"

typedef struct scene {
    rvm_machine *m;
    const rvm_function *f;
    const rvm_insn *in;
    const rvm_place *places;
    const rvm_value *slots;
    const rvm__array *arrays;
    const rvm__frame *frame;
    uint32_t fn, pc;
    /* What the message is about: this instruction, or the statement for which its function was written. */
    uint32_t at_fn, at_pc;
    const char *going;
    char text[200];
} scene;

static bool is_called(const scene *s) {
    return s->frame > s->m->store.frames;
}

static scene scene_of(rvm_machine *m) {
    const rvm__frame *top = &m->store.frames[m->store.nframes - 1];
    scene s = {.m = m, .frame = top, .fn = top->fn, .f = &m->p->functions[top->fn]};
    s.going = m->run.dir > 0 ? "forward" : "backward";
    s.at_fn = s.fn;
    s.at_pc = s.pc = (uint32_t)(m->run.pc - m->codes[top->fn].x);
    if (is_called(&s) && rvm__is_written(s.f->name) == RVM__WRITTEN_SHARED) {
        s.at_fn = top[-1].fn;
        s.at_pc = top->call_pc;
    }
    s.in = &s.f->code[s.pc];
    s.places = rvm__places(s.f, s.in);
    s.slots = m->store.slots + top->slots;
    s.arrays = rvm__arrays_from(m, top->arrays);
    return s;
}

/* An element's value, or a slot's; NULL out of bounds, with the dimension. */
static const rvm_value *look_up(const scene *s, const rvm_place *q, int *bad_dim) {
    if (q->kind == RVM_PLACE_SLOT) return &s->slots[q->slot];
    const rvm__array *a = &s->arrays[q->slot];
    const char *p = a->data;
    for (int d = 0; d < q->nidx; d++) {
        const int64_t i = s->slots[q->idx[d]].i;
        *bad_dim = d;
        if ((uint64_t)i >= (uint64_t)a->dim[d]) return NULL;
        p += i * a->stride[d];
    }
    return (const rvm_value *)(const void *)p;
}

/* ---- names ---- */

/* Of the function that called: the argument that a place of this one stands for, or is an element of; NULL: none. */
static const rvm_place *argument_of(const scene *s, const rvm_place *q) {
    const rvm_function *from = &s->m->p->functions[s->frame[-1].fn];
    const rvm_insn *call = &from->code[s->frame->call_pc];
    const bool array = q->kind == RVM_PLACE_ELEM || q->kind == RVM_PLACE_ARRAY;
    if (rvm__op_target((rvm_op)call->op) != 'F' || call->nplaces != s->f->nparams) return NULL;
    for (uint32_t k = 0; k < s->f->nparams; k++)
        if (s->f->params[k].index == q->slot && (s->f->params[k].ndim > 0) == array) return &rvm__places(from, call)[k];
    return NULL;
}

/* "[2, 0]" of an element that stands at p in an array whose strides descend. */
static void put_indices(const rvm__array *a, const char *p, char *text, size_t size) {
    int64_t off = p - a->data;
    size_t n = 0;
    for (int d = 0; d < a->ndim && n < size; d++) {
        const int64_t i = a->stride[d] > 0 ? off / a->stride[d] : -1;
        if (i < 0 || i >= a->dim[d]) {
            *text = 0;
            return;
        }
        off -= i * a->stride[d];
        n += (size_t)snprintf(text + n, size - n, "%s%lld%s", d ? ", " : "[", (long long)i, d + 1 == a->ndim ? "]" : "");
    }
}

/* In a function that the assembler wrote, where names are not the source's: by the arguments of the call. */
static bool argument_text(scene *s, const rvm_place *q) {
    const rvm_place *arg = is_called(s) && rvm__is_written(s->f->name) ? argument_of(s, q) : NULL;
    if (!arg) return false;
    const rvm__frame *from = s->frame - 1;
    const rvm_function *f = &s->m->p->functions[from->fn];
    const rvm__array *arrays = rvm__arrays_from(s->m, from->arrays);
    rvm_place whole = *arg;
    if (arg->kind == RVM_PLACE_ARRAY) whole.slot = arrays[arg->slot].base;
    char name[sizeof s->text], indices[96] = "";
    rvm__place_text(f, &whole, s->frame->call_pc, s->m->store.slots + from->slots, name, sizeof name);
    if (strpbrk(name, "%@")) return false;
    int d;
    const rvm_value *element = q->kind == RVM_PLACE_ELEM ? look_up(s, q, &d) : NULL;
    if (q->kind == RVM_PLACE_ELEM && !element) return false;
    if (element) put_indices(&arrays[whole.slot], (const char *)element, indices, sizeof indices);
    snprintf(s->text, sizeof s->text, "%.100s%s", name, indices);
    return true;
}

static const char *name_of(scene *s, const rvm_place *q) {
    if (!argument_text(s, q)) rvm__place_text(s->f, q, s->pc, s->slots, s->text, sizeof s->text);
    return s->text;
}

/* What the source names where all of it is meant: of a part of a complex or an lns, that. */
static const char *whole_name(scene *s, const rvm_place *q) {
    name_of(s, q);
    rvm__drop_part(s->text);
    return s->text;
}

/* The array of an element or view by itself, where indices without a name would say nothing. A part that is a temporary
 * goes by the name of its whole. */
static const char *array_name(scene *s, const rvm_place *q) {
    const rvm_place array = {.kind = RVM_PLACE_ARRAY, .slot = q->slot};
    const rvm_place whole = {.kind = RVM_PLACE_ARRAY, .slot = s->arrays[q->slot].base};
    return whole_name(s, &array)[0] == '@' ? whole_name(s, &whole) : s->text;
}

void rvm__plain_text(rvm_type t, rvm_value v, char *text, size_t size) {
    switch (t) {
    case RVM_I64: snprintf(text, size, "%lld", (long long)v.i); break;
    case RVM_F32:
    case RVM_F64: snprintf(text, size, "%.17g", isnan(v.f) ? fabs(v.f) : v.f); break;
    case RVM_FIX: snprintf(text, size, "%.17g", rvm__fix_real(v.i)); break;
    case RVM_TYPE_COUNT: break;
    }
}

#define SAY(...) return rvm__fail_at(err, status, s->m->p, s->at_fn, s->at_pc, __VA_ARGS__)

static rvm_status explain_index(scene *s, rvm_status status, rvm_error *err) {
    for (int k = 0; k < s->in->nplaces; k++) {
        const rvm_place *q = &s->places[k];
        int d = 0;
        if (q->kind != RVM_PLACE_ELEM || look_up(s, q, &d)) continue;
        rvm__place_text(s->f, q, s->pc, NULL, s->text, sizeof s->text);
        rvm__drop_part(s->text);
        const char *name = strpbrk(s->text, "%@") ? array_name(s, q) : s->text;
        SAY("index %lld in dimension %d of `%s` is out of bounds: the length is %lld", (long long)s->slots[q->idx[d]].i,
            d + 1, name, (long long)s->arrays[q->slot].dim[d]);
    }
    if (!s->m->detail[0]) SAY("out of bounds: an index of an argument changed during the call");
    if (s->in->op != RVM_OP_view && s->in->op != RVM_OP_unview) SAY("out of bounds: %s", s->m->detail);
    SAY("out of bounds in `%s`: %s", array_name(s, &s->places[1]), s->m->detail);
}

/* f of an update, where every operand can be read. */
static bool recompute(const scene *s, rvm_value *y, rvm_value *f) {
    const rvm_row_info *row = &rvm__row_info[s->in->row];
    const rvm_value *v[4];
    int d, overflow = 0;
    for (int k = 0; k < 4; k++)
        if (!(v[k] = look_up(s, &s->places[k <= row->arity ? k : row->arity], &d))) return false;
    const rvm_type t = rvm__place_type(s->f, &s->places[1 + rvm__row_first((rvm_row)s->in->row)]);
    const rvm__kernel *k =
        &s->m->math->kernels[rvm__kernel_index((rvm_row)s->in->row, rvm__place_type(s->f, &s->places[0]), t)];
    if (row->sig == RVM_SIG_QUOT && v[2]->i == 0) return false;
    *y = *v[0];
    *f = k->f(*v[1], *v[2], *v[3], &overflow);
    return true;
}

/* What disappears: temporaries have no name, but they may be the bound of a loop. */
static const char *released(scene *s, char *text, size_t size) {
    const rvm_place *t = &s->places[0];
    snprintf(text, size, "ancilla `%s`", name_of(s, t));
    if (t->kind != RVM_PLACE_SLOT || s->text[0] != '%') return text;
    const char *file;
    uint32_t here, there, column;
    rvm_program_position(s->m->p, s->fn, s->pc, &file, &here, &column);
    RVM__EACH_INSN(x, s->f) {
        rvm_program_position(s->m->p, s->fn, x.pc, &file, &there, &column);
        if ((x.in->op != RVM_OP_for && x.in->op != RVM_OP_par) || there != here) continue;
        for (int k = 1; k < x.in->nplaces; k++)
            if (x.q[k].slot == t->slot) return "the bound of this loop";
    }
    return "the temporary of this expression";
}

/* A function value: &square, or the number that is none. */
static void function_text(const scene *s, int64_t value, char *text, size_t size) {
    if (value >= 0 && value < s->m->p->nfunctions)
        snprintf(text, size, "&%s", s->m->p->functions[value].name);
    else
        snprintf(text, size, "%lld", (long long)value);
}

static rvm_status explain_function(scene *s, rvm_status status, rvm_error *err) {
    const rvm_program *p = s->m->p;
    const rvm_variant *v = &p->variants[s->in->target];
    const int64_t value = s->slots[s->places[0].slot].i;
    const char *needed = p->signatures[v->of].text;
    char is[64], type[200];
    function_text(s, value, is, sizeof is);
    if (is[0] != '&') SAY("`%s` is %s, which is no function; %s is needed", name_of(s, &s->places[0]), is, needed);
    const rvm_function *f = &p->functions[value];
    rvm__params_text(p, f->params, f->nparams, type, sizeof type);
    if (!rvm__fits(p, (uint32_t)value, v->of))
        SAY("`%s` is %s of type %s; %s is needed", name_of(s, &s->places[0]), is, type, needed);
    SAY("`%s` is %s, which has no derivative of the kind that is called here", name_of(s, &s->places[0]), is);
}

/* Derivatives that are made for exact runs do not add to temporaries, which then would not disappear as they appeared. */
static bool is_for_other_runs(const scene *s, double y, double f) {
    const uint32_t pc = (uint32_t)(s->in - s->f->code);
    bool adds = false;
    if (!s->m->o.exact || !strchr(s->f->name, '\'') || rvm__rule_of(s->m->p, s->fn) || rvm__is_marked(s->f)) return false;
    RVM__EACH_INSN(x, s->f)
        adds |= rvm__pair_of(x.in->op) == RVM_PAIR_add && x.q[0].kind == RVM_PLACE_SLOT && x.q[0].slot == s->places[0].slot;
    const double most = fmax(fabs(y), fabs(f));
    return adds && fabs(y - f) <= rvm__allowed(rvm__tolerance_at(s->m, s->fn, &s->m->codes[s->fn].x[pc]), most);
}

/* Of an lns, "y[2]" in place of "y.log[2]", into s->text; false: it is none. */
static bool drop_log(scene *s, const rvm_place *q) {
    static const char part[] = ".log";
    const size_t n = sizeof part - 1;
    name_of(s, q);
    char *at = strstr(s->text, part);
    if (!at || (at[n] && at[n] != '[')) return false;
    memmove(at, at + n, strlen(at + n) + 1);
    return true;
}

/* An lns by the numbers that it has and must have, where these differ. */
static bool tell_lns(scene *s, rvm_type t, rvm_value y, rvm_value f, char *has, char *must) {
    enum { SIZE = 64 };
    if (!drop_log(s, &s->places[0]) || (rvm__is_floating(t) && (isnan(y.f) || isnan(f.f)))) return false;
    rvm__lns_text(s->m->math, t, (rvm_scalar){.i = y.i}, has, SIZE);
    rvm__lns_text(s->m->math, t, (rvm_scalar){.i = f.i}, must, SIZE);
    return strcmp(has, must) != 0;
}

static rvm_status explain_release(scene *s, rvm_status status, rvm_error *err) {
    rvm_value y, f;
    if (rvm__op_target((rvm_op)s->in->op) == 'F') {
        char is[64], must[64];
        function_text(s, s->slots[s->places[0].slot].i, is, sizeof is);
        function_text(s, s->in->target, must, sizeof must);
        SAY("ancilla `%s` is %s but must disappear as %s, going %s", name_of(s, &s->places[0]), is, must, s->going);
    }
    if (rvm__op_sets((rvm_op)s->in->op)) SAY("`%s` %s, going %s", name_of(s, &s->places[0]), s->m->detail, s->going);
    if (!rvm__op_is_update((rvm_op)s->in->op) || !recompute(s, &y, &f))
        SAY("array `%s` does not disappear as its value, going %s: %s", name_of(s, &s->places[0]), s->going, s->m->detail);
    const rvm_type t = rvm__place_type(s->f, &s->places[0]);
    char has[64], must[64];
    if (tell_lns(s, t, y, f, has, must))
        SAY("ancilla `%s` is %s but must disappear as %s, going %s", s->text, has, must, s->going);
    rvm__plain_text(t, y, has, sizeof has);
    rvm__plain_text(t, f, must, sizeof must);
    char what[220];
    const char *gone = released(s, what, sizeof what);
    if (s->text[0] == '%' && rvm__is_floating(t) && is_for_other_runs(s, y.f, f.f)) {
        status = rvm__exact_refuse(s->m, "it was derived for other runs");
        SAY("%s", s->m->detail);
    }
    SAY("%s is %s but must disappear as %s, going %s%s", gone, has, must, s->going,
        rvm__is_floating(t) && isnan(y.f) ? "; nan agrees with nothing" : "");
}

/* The trap behind a loop's way back. */
static const char *story_of_trap(const scene *s) {
    const rvm_insn *in = s->in;
    if (in[-1].op != RVM_OP_jf || (in[1].op != RVM_OP_cff && in[1].op != RVM_OP_cft)) return NULL;
    if (s->m->run.dir > 0) return "the condition of this `from` is true again after an iteration";
    return in[1].op == RVM_OP_cff ? "the condition of the `while` is true behind the loop"
                                  : "the condition of the `until` is false behind the loop";
}

/* Conditions, in words of the statement that has the shape which semantics.md draws; raw code may have another one. */
static const char *story(const scene *s) {
    const rvm_insn *in = s->in, *mate = &s->f->code[in->target];
    if (in->op == RVM_OP_trap) return story_of_trap(s);
    if (in->op == RVM_OP_cff && mate[1].op == RVM_OP_trap) return "the condition of this `from` is false on entry";
    if (in->op == RVM_OP_jf && mate[-1].op == RVM_OP_trap)
        return "the condition of this `while` is false before an iteration";
    if (in->op == RVM_OP_jt && mate[-1].op == RVM_OP_trap)
        return "the condition of this `until` is true before an iteration";
    if (in->op == RVM_OP_cff && in[-1].op == RVM_OP_jt)
        return "the postcondition of this `if` is false although its condition was true";
    if (in->op == RVM_OP_cft && mate[1].op == RVM_OP_cff)
        return "the postcondition of this `if` is true although its condition was false";
    if (in->op == RVM_OP_jf && mate[-1].op == RVM_OP_jt)
        return "the condition of this `if` is false although its postcondition was true";
    if (in->op == RVM_OP_jt && in[1].op == RVM_OP_cff)
        return "the condition of this `if` is true although its postcondition was false";
    return NULL;
}

/* The instruction by which the condition has come to be, or by which it disappears, on the side that the run came from. */
static const rvm_insn *comparison(const scene *s, uint16_t condition) {
    const bool up = s->m->run.dir > 0;
    for (uint32_t pc = s->pc; pc > 0 && pc < s->f->ncode; pc += up ? UINT32_MAX : 1) {
        const rvm_insn *in = &s->f->code[pc];
        if (in->op != (up ? RVM_OP_let : RVM_OP_unlet)) continue;
        return rvm__places(s->f, in)->slot == condition ? in : NULL;
    }
    return NULL;
}

/* ": `k` is 3, `n` is 5", of what is compared and has a name. */
static void put_compared(scene *s, char *text, size_t size) {
    const rvm_insn *jump = s->in->op == RVM_OP_trap ? s->in - s->m->run.dir : s->in;
    size_t n = 0;
    int d;
    *text = 0;
    if (!rvm__is_jump(jump->op) || !jump->nplaces) return; /* a `trap` that stands for no loop */
    const rvm_insn *in = comparison(s, rvm__places(s->f, jump)->slot);
    for (int k = 1; in && k <= rvm__row_info[in->row].arity && n < size; k++) {
        const rvm_place *q = rvm__places(s->f, in) + k;
        const bool gone = q->kind == RVM_PLACE_ELEM && !s->arrays[q->slot].present;
        const rvm_value *v = gone ? NULL : look_up(s, q, &d);
        char is[40];
        if (!v || (q->kind == RVM_PLACE_SLOT && q->slot >= s->f->nregs) || strpbrk(name_of(s, q), "%@")) continue;
        rvm__plain_text(rvm__place_type(s->f, q), *v, is, sizeof is);
        n += (size_t)snprintf(text + n, size - n, "%s`%.60s` is %s", n ? ", " : ": ", s->text, is);
    }
}

static rvm_status explain_condition(scene *s, rvm_status status, rvm_error *err) {
    const char *told = story(s);
    char compared[256];
    put_compared(s, compared, sizeof compared);
    if (told && status == RVM_ERR_TRAP && s->m->run.dir < 0) s->at_pc++; /* where it ends */
    if (told) SAY("%s, going %s%s", told, s->going, compared);
    if (status == RVM_ERR_TRAP) SAY("control arrives where it must not, going %s%s", s->going, compared);
    SAY("the condition here disagrees with the way control arrived, going %s: it is %lld", s->going,
        (long long)s->slots[s->places[0].slot].i);
}

static rvm_status explain_domain(scene *s, rvm_status status, rvm_error *err) {
    rvm_value y = {0}, f = {0};
    char has[40];
    if (!rvm__op_is_update((rvm_op)s->in->op)) {
        int d;
        const rvm_place *q = &s->places[rvm__change_info[rvm__change_of((rvm_op)s->in->op)].conditional];
        rvm__plain_text(rvm__place_type(s->f, q), *look_up(s, q, &d), has, sizeof has);
        if (rvm__op_inverse((rvm_op)s->in->op) == s->in->op) SAY("`%s` is %s, which has no inverse", name_of(s, q), has);
        const rvm_op op = (rvm_op)s->in->op, does = s->m->run.dir > 0 ? op : rvm__op_inverse(op);
        const double x = look_up(s, q, &d)->f;
        if (does == RVM_OP_isoftplus && drop_log(s, q))
            SAY("`%s` is %.3g times what is subtracted from it, going %s: nothing positive would be left", s->text, exp(x),
                s->going);
        SAY("`%s` is %s, of which there is no `%s`: afterwards it would not hold that %s", name_of(s, q), has,
            rvm__op_info[does].name, rvm__change_info[rvm__change_of(does)].where);
    }
    if (rvm__row_info[s->in->row].sig == RVM_SIG_POS) {
        int d;
        const rvm_type t = rvm__place_type(s->f, &s->places[1]);
        const rvm_value x = *look_up(s, &s->places[1], &d);
        const bool named = *name_of(s, &s->places[1]) != '%'; /* no temporary */
        rvm__plain_text(t, x, has, sizeof has);
        if (t == RVM_FIX ? x.i <= 0 : !(x.f > 0 && isfinite(x.f)))
            SAY("%s%s%s is %s: only a positive number has a logarithm here", named ? "`" : "",
                named ? s->text : "the operand", named ? "`" : "", has);
    }
    if (!recompute(s, &y, &f)) {
        if (*name_of(s, &s->places[2]) == '%') SAY("the divisor is 0"); /* a temporary */
        SAY("the divisor `%s` is 0", s->text);
    }
    rvm__plain_text(rvm__place_type(s->f, &s->places[0]), f, has, sizeof has);
    SAY("the factor of `%s` is %s: it must be finite and not 0", name_of(s, &s->places[0]), has);
}

/* ---- statements on whole arrays ---- */

/* Calls a function that the assembler wrote. */
static const rvm_function *written(const scene *s) {
    if (!rvm__is_call(s->in) || rvm__op_target((rvm_op)s->in->op) != 'F') return NULL;
    const rvm_function *f = &s->m->p->functions[s->in->target];
    return rvm__is_written(f->name) && f->nparams == s->in->nplaces ? f : NULL;
}

/* Two operands that are arrays and share an element, of which one changes. */
static bool find_overlap(const scene *s, uint32_t *i, uint32_t *k) {
    const rvm_function *f = written(s);
    for (*k = 1; f && *k < f->nparams; ++*k)
        for (*i = 0; *i < *k; ++*i) {
            const rvm_param *a = &f->params[*i], *b = &f->params[*k];
            if (!a->ndim || !b->ndim || (a->role == b->role && a->role != RVM_OWN)) continue;
            rvm__extent x, y;
            if (rvm__array_extent(&s->arrays[s->places[*i].slot], &x) &&
                rvm__array_extent(&s->arrays[s->places[*k].slot], &y) && rvm__overlap(&x, &y))
                return true;
        }
    return false;
}

static rvm_status explain_shape(scene *s, rvm_status status, rvm_error *err) {
    const rvm_function *f = written(s);
    const rvm_place *first = NULL;
    for (uint32_t k = 0; f && k < f->nparams; k++) {
        if (!f->params[k].ndim) continue;
        if (!first) first = &s->places[k];
        const rvm__array *a = &s->arrays[first->slot], *b = &s->arrays[s->places[k].slot];
        for (int d = 0; d < a->ndim; d++) {
            if (a->dim[d] == b->dim[d]) continue;
            char name[200];
            snprintf(name, sizeof name, "%s", array_name(s, first));
            SAY("shapes disagree: dimension %d of `%s` is %lld, that of `%s` %lld", d + 1, name, (long long)a->dim[d],
                array_name(s, &s->places[k]), (long long)b->dim[d]);
        }
    }
    SAY("shapes disagree: %s", s->m->detail);
}

static rvm_status explain_alias(scene *s, rvm_status status, rvm_error *err) {
    if (s->in->op == RVM_OP_view || s->in->op == RVM_OP_unview)
        SAY("the indices of this part of `%s` have changed", array_name(s, &s->places[1]));
    if (s->m->detail[0]) {
        uint32_t i, k;
        char first[200];
        if (!find_overlap(s, &i, &k)) SAY("%s overlap", s->m->detail);
        snprintf(first, sizeof first, "%s", array_name(s, &s->places[i]));
        SAY("`%s` and `%s` overlap, of which this statement changes one", first, array_name(s, &s->places[k]));
    }
    char first[200];
    snprintf(first, sizeof first, "%s", whole_name(s, &s->places[0]));
    SAY("`%s` is also another operand of this instruction: they must be different places", first);
}

static rvm_status explain_stack(scene *s, rvm_status status, rvm_error *err) {
    const rvm_machine *m = s->m;
    const bool moves = rvm__pair_of(s->in->op) == RVM_PAIR_stow; /* behind the entry's mask */
    const rvm_place *q = &s->places[moves];
    const rvm_type t = rvm__place_type(s->f, q);
    if (moves && m->detail[0]) SAY("%s", m->detail);
    if (!m->store.nstack) SAY("the stack is empty: nothing to pop into `%s`", whole_name(s, q));
    const rvm__cell *top = &m->store.stack[m->store.nstack - 1];
    if (top->type != t)
        SAY("the stack holds %s, `%s` is %s", rvm_type_name((rvm_type)top->type), name_of(s, q), rvm_type_name(t));
    if (top->extra && m->detail[0]) SAY("%s", m->detail);
    char has[40], must[40];
    int d;
    const rvm_value *y = look_up(s, q, &d);
    rvm__plain_text(t, y ? *y : (rvm_value){0}, has, sizeof has);
    rvm__plain_text(t, top->value, must, sizeof must);
    if ((s->in->op | 1) == RVM_OP_pop) SAY("`%s` is %s: it must be 0 to take a value", name_of(s, q), has);
    SAY("`%s` is %s, but the copy on the stack is %s", name_of(s, q), has, must);
}

static rvm_status explain_trail(scene *s, rvm_status status, rvm_error *err) {
    const rvm_place *q = &s->places[s->m->detail_place];
    const bool named = !strpbrk(whole_name(s, q), "%@");
    if (named) SAY("nothing comes back into `%s`, going %s: %s", s->text, s->going, s->m->detail);
    /* What a `while` without `from` keeps, whether it was entered: control comes there from behind. */
    if (s->pc && s->in[-1].op == RVM_OP_cff && s->in[-1].target > s->pc)
        SAY("nothing tells how often this `while` turned, going %s: %s", s->going, s->m->detail);
    SAY("nothing comes back for this statement, going %s: %s", s->going, s->m->detail);
}

static bool has_nan_tangent(const scene *s, const rvm_place *q) {
    if (q->kind != RVM_PLACE_SLOT || !rvm__is_floating(rvm__place_type(s->f, q)) || q->slot >= s->f->nregs) return false;
    return isnan(s->m->store.shadows[s->frame->slots + q->slot].f);
}

static rvm_status explain_tangent(scene *s, rvm_status status, rvm_error *err) {
    static const char rest[] =
        "with a tangent that its value does not have: that its value agrees is an accident of the input";
    char what[220];
    if ((s->in->op | 1) == RVM_OP_popc) SAY("the copy of `%s` on the stack goes %s", name_of(s, &s->places[0]), rest);
    if (has_nan_tangent(s, &s->places[0]))
        SAY("%s disappears with a tangent that is nan, which agrees with nothing", released(s, what, sizeof what));
    SAY("%s disappears %s", released(s, what, sizeof what), rest);
}

/* ---- what runs around it ---- */

static uint32_t place_in(const rvm_machine *m, uint32_t frame) {
    const rvm__frame *f = &m->store.frames[frame];
    if (frame + 1 < m->store.nframes) return f[1].call_pc;
    return (uint32_t)(m->run.pc - m->codes[f->fn].x);
}

/* ", in instance j = 2 within i = 17": of the parallel blocks that the source has around it, the innermost first. */
static void add_instances(const rvm_machine *m, rvm_error *err) {
    size_t n = strlen(err->message);
    bool any = false;
    for (uint32_t k = m->store.nframes; k-- > 0;) {
        const rvm__frame *at = &m->store.frames[k];
        const rvm_function *f = &m->p->functions[at->fn];
        const uint32_t pc = place_in(m, k);
        if (rvm__is_written(f->name)) continue; /* of a statement on whole arrays */
        RVM__EACH_INSN_UP(x, f, pc, 0) {
            if (x.in->op != RVM_OP_par || x.in->target <= pc || n >= sizeof err->message) continue;
            char name[64];
            rvm__place_text(f, x.q, x.pc + 1, NULL, name, sizeof name);
            n += (size_t)snprintf(err->message + n, sizeof err->message - n, "%s%s%s%lld",
                                  any ? " within " : ", in instance ", *name == '%' ? "" : name, *name == '%' ? "" : " = ",
                                  (long long)m->store.slots[at->slots + x.q->slot].i);
            any = true;
        }
    }
}

/* ---- what does not end ---- */

/* The loop that has its trap at t; false: that is none whose end a condition decides, or it is not known to have been as it
 * must be for another turn each time that it was tested so far. Its first and last instruction are the targets of jumps. */
static bool is_turning(const rvm_function *f, uint32_t t, uint32_t pc, bool up, uint32_t *exit) {
    const rvm_insn *c = f->code;
    if (c[t].op != RVM_OP_trap || c[t - 1].op != RVM_OP_jf || (c[t + 1].op != RVM_OP_cff && c[t + 1].op != RVM_OP_cft))
        return false;
    const uint32_t first = c[t - 1].target;
    const uint16_t slot = rvm__places(f, &c[t - 1])->slot;
    *exit = c[t + 1].target;
    if (pc <= first || pc >= t || first > *exit || *exit > t) return false;
    if (!up && rvm__class_of(c[first + 1].op) == RVM_CLASS_TRAIL) return false;         /* a `while` without `from` */
    for (uint32_t k = up ? *exit : first; k > first || !up; k += up ? UINT32_MAX : 1) { /* where it is computed */
        if (k >= t) return false;
        if (c[k].op == (up ? RVM_OP_let : RVM_OP_unlet) && rvm__places(f, &c[k])->slot == slot)
            return up ? pc <= k || pc > *exit : pc >= k;
    }
    return false;
}

/* ": the condition of the `until` at line 7 has not held so far": of the loops that run, the innermost, and one around it.
 */
static void add_loops(const rvm_machine *m, rvm_error *err) {
    enum { MOST = 2, FRAMES = 16 };
    bool up = m->run.dir > 0;
    uint32_t told = 0;
    size_t n = strlen(err->message);
    for (uint32_t k = m->store.nframes; k-- > 0 && told < MOST && m->store.nframes - k <= FRAMES;) {
        const uint32_t fn = m->store.frames[k].fn, pc = place_in(m, k);
        const rvm_function *f = &m->p->functions[fn];
        RVM__EACH_INSN_IN(x, f, pc, f->ncode) {
            uint32_t exit, line, column;
            if (told >= MOST || n >= sizeof err->message || !is_turning(f, x.pc, pc, up, &exit)) continue;
            const bool until = f->code[x.pc + 1].op == RVM_OP_cft;
            const uint32_t at = !up ? f->code[x.pc - 1].target : exit;
            const char *file;
            rvm_program_position(m->p, fn, at, &file, &line, &column);
            n += (size_t)snprintf(err->message + n, sizeof err->message - n,
                                  "%s the condition of the `%s` at line %u has %s so far", told ? ", and" : ":",
                                  !up     ? "from"
                                  : until ? "until"
                                          : "while",
                                  line, up && !until ? "held" : "not held");
            told++;
        }
        up ^= m->store.frames[k].against;
    }
}

/* Not so where it depends on how much an engine does at a time; a race names instances itself. */
static bool is_of_an_instance(rvm_status status) {
    return (rvm_status_exit(status) == 1 && status != RVM_ERR_RACE) || status == RVM_ERR_DEPTH;
}

static rvm_status explain(rvm_machine *m, rvm_status status, rvm_error *err) {
    scene now = scene_of(m), *s = &now;
    char text[160];
    rvm_program_instruction_text(m->p, s->fn, s->pc, text, sizeof text);
    switch (status) {
    case RVM_ERR_INDEX: return explain_index(s, status, err);
    case RVM_ERR_FUNCTION: return explain_function(s, status, err);
    case RVM_ERR_RELEASE: return explain_release(s, status, err);
    case RVM_ERR_DOMAIN: return explain_domain(s, status, err);
    case RVM_ERR_ALIAS: return explain_alias(s, status, err);
    case RVM_ERR_STACK: return explain_stack(s, status, err);
    case RVM_ERR_TRAIL: return explain_trail(s, status, err);
    case RVM_ERR_TANGENT: return explain_tangent(s, status, err);
    case RVM_ERR_RACE: SAY("%s", m->detail);
    case RVM_ERR_CONDITION:
    case RVM_ERR_TRAP: return explain_condition(s, status, err);
    case RVM_ERR_UNSUPPORTED:
        if (m->o.exact && !m->hessian) SAY("%s", m->detail);
        if (m->hessian) SAY("the Hessian by one sweep does not go through `%s`; by products it does", text);
        break;
    case RVM_ERR_LOOP: SAY("the step of the loop is 0");
    case RVM_ERR_ASSERT: SAY("the assertion fails, going %s", s->going);
    case RVM_ERR_OVERFLOW: SAY("the result is outside the range of fix, -2^20 to 2^20, in `%s`", text);
    case RVM_ERR_SHAPE: return explain_shape(s, status, err);
    case RVM_ERR_IO:
    case RVM_ERR_FORMAT: SAY("%s", m->detail);
    case RVM_ERR_LIMIT: SAY("the trail reaches its limit of %zu bytes", m->o.trail_limit);
    case RVM_ERR_DEPTH: SAY("calls are nested deeper than %u", m->o.depth);
    case RVM_ERR_FUEL: SAY("the limit of %llu instructions (fuel) is reached", (unsigned long long)m->o.fuel);
    case RVM_ERR_CANCELLED: SAY("cancelled");
    case RVM_ERR_MEMORY:
        if (m->o.memory) SAY("out of memory: the limit is %zu bytes", m->o.memory);
        SAY("out of memory");
    default: break;
    }
    SAY("%s", rvm_status_text(status));
}

rvm_status rvm__explain(rvm_machine *m, rvm_status status, rvm_error *err) {
    const rvm_status told = explain(m, status, err);
    if (err && is_of_an_instance(told)) add_instances(m, err);
    if (err && told == RVM_ERR_FUEL) add_loops(m, err);
    return told;
}
