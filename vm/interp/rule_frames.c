/* rule_frames.c: derivatives that are written by hand (rules), in tangent mode and in a sweep.
 *
 * Where shadows would go through a call of a function that has a rule for what is active, the rule runs in its place: in the
 * direction of the call with tangents, against it in a sweep, since it is the sweep that takes the call back. It runs
 * plainly, as any function, so it can be stopped in and turned around.
 *
 * To it shadows are arguments like values: scalars are copied in and out, arrays are the elements themselves. What has no
 * shadow here is lent one of zeros, as in the programs that call it (derive.c). Where the bound function itself has a rule,
 * that stands on its frame as if it had been called there.
 *
 * In exact runs a rule neither takes back what its function has recorded nor records what that would. So it is lent copies
 * of values, and nothing is recorded while it runs; then the function's own code runs on the values. Shadows are the rule's,
 * values exact.
 */
#include "builder.h"
#include "memory.h"
#include "overlap.h"
#include "profile.h"
#include "transfer.h"

#include <string.h>

/* By parameter of a rule: which argument of the call it is, or that one's shadow, which may be lent. */
typedef struct passed {
    uint16_t arg;
    bool shadow, lent, copied; /* copied: a value that it may change, in an exact run */
} passed;
typedef struct passing {
    rvm__transfer to; /* callee: the rule's function */
    uint32_t n;
    passed from[RVM_MAX_PARAMS];
} passing;

/* whole: of the bound function, whose arguments are no places of a call. */
static bool is_active(const rvm__transfer *t, uint32_t arg, bool whole) {
    if (whole) return rvm__is_param_active(t->p, &t->m->bound.activity, t->callee_fn, arg);
    return rvm__place_active(t, &t->args[arg]);
}

static passing passing_of(const rvm__transfer *t, const rvm_rule *rule, bool whole) {
    passing p = {.to = *t};
    const rvm_param *params = t->p->functions[rule->fn].params;
    p.to.callee_fn = rule->fn;
    p.to.callee = &t->p->functions[rule->fn];
    for (uint32_t k = 0; k < rule->nactive; k++) {
        p.from[p.n] = (passed){.arg = (uint16_t)k, .copied = t->m->o.exact && params[p.n].role != RVM_READ};
        p.n++;
        if (rule->active[k]) p.from[p.n++] = (passed){.arg = (uint16_t)k, .shadow = true, .lent = !is_active(t, k, whole)};
    }
    return p;
}

static const rvm_param *param_of(const passing *p, uint32_t k) {
    return &p->to.callee->params[k];
}

/* What it changes of such a one is lost. */
static bool is_lent(const passing *p, uint32_t k) {
    return p->from[k].lent || p->from[k].copied;
}

static rvm__array *array_of(const passing *p, uint32_t k) {
    return &p->to.m->store.arrays[p->to.arrays + param_of(p, k)->index];
}

static const rvm_place *place_of(const passing *p, uint32_t k) {
    return &p->to.args[p->from[k].arg];
}

/* A scalar that is only added to, whose place one before it has, or an array: it enters as 0 and is added on return. */
static bool enters_as_zero(const passing *p, uint32_t k) {
    const rvm_param *param = param_of(p, k);
    if (!p->to.shared || param->role != RVM_ACC || param->untouched) return false;
    for (uint32_t i = 0; i < p->n; i++) {
        const bool before = i < k || place_of(p, i)->kind == RVM_PLACE_ARRAY;
        if (i == k || !before || p->from[i].shadow != p->from[k].shadow || param_of(p, i)->untouched) continue;
        if (rvm__arguments_overlap(&p->to, p->from[i].arg, p->from[k].arg, p->from[k].shadow)) return true;
    }
    return false;
}

/* ---- in ---- */

static size_t bytes_of(const rvm__array *a) {
    size_t n = sizeof(rvm_value);
    for (int d = 0; d < a->ndim; d++) n *= (size_t)a->dim[d];
    return n;
}

/* Elements from dimension d on, side by side; returns behind them. */
static char *copy_from(const rvm__array *a, int d, const char *from, char *to) {
    if (d >= a->ndim || d >= RVM_MAX_DIMS) return (char *)memcpy(to, from, sizeof(rvm_value)) + sizeof(rvm_value);
    for (int64_t k = 0; k < a->dim[d]; k++) to = copy_from(a, d + 1, from + k * a->stride[d], to);
    return to;
}

/* Other elements of the same shape: copies, or zeros. */
static bool lend(rvm_machine *m, rvm__array *a, bool copies) {
    const size_t bytes = bytes_of(a);
    char *p = rvm__locals_push(m, RVM__ARRAY_HEADER + bytes);
    if (!p) return false;
    p += RVM__ARRAY_HEADER;
    if (copies)
        copy_from(a, 0, a->data, p);
    else
        memset(p, 0, bytes);
    a->data = p;
    a->magnitude = NULL;
    a->outside = false;
    int64_t stride = sizeof(rvm_value);
    for (int d = a->ndim - 1; d >= 0; stride *= a->dim[d--]) a->stride[d] = stride;
    return true;
}

static rvm_status pass_array(const passing *p, uint32_t k) {
    const rvm__transfer *t = &p->to;
    const rvm_param *param = param_of(p, k);
    rvm__array *to = array_of(p, k);
    *to = t->m->store.arrays[t->from->arrays + place_of(p, k)->slot];
    to->base = param->index;
    if (p->from[k].shadow) {
        to->type = param->type;
        to->magnitude = NULL;
        to->outside = false;
        to->data = to->shadow;
        memcpy(to->stride, to->shadow_stride, sizeof to->stride);
    }
    if (is_lent(p, k) && !lend(t->m, to, p->from[k].copied)) return RVM_ERR_MEMORY;
    to->shadow = NULL;
    return rvm__bind_lengths(t, param, to);
}

static rvm_status pass_scalar(const passing *p, uint32_t k) {
    const rvm__transfer *t = &p->to;
    const size_t slot = t->slots + param_of(p, k)->index;
    rvm_value v = {0};
    if (!rvm__scalar_place(t, place_of(p, k), false)) return RVM_ERR_INDEX;
    if (!p->from[k].lent && !enters_as_zero(p, k)) v = *rvm__scalar_place(t, place_of(p, k), p->from[k].shadow);
    t->m->store.slots[slot] = v;
    if (t->m->store.magnitudes) t->m->store.magnitudes[slot] = fabs(v.f);
    return RVM_OK;
}

static rvm_status pass(const passing *p) {
    rvm_status status = RVM_OK;
    rvm__begin_frame(&p->to);
    for (uint32_t k = 0; k < p->n && !status; k++) status = param_of(p, k)->ndim ? pass_array(p, k) : pass_scalar(p, k);
    return status;
}

/* The direction of a rule by that of its function, and the other way round. */
static int towards(const rvm_machine *m, int direction) {
    return m->bound.mode == RVM_GRADIENT ? -direction : direction;
}

static void stand_in(rvm_machine *m, const passing *p, rvm__frame frame, int direction) {
    const rvm__code *code = &m->codes[frame.fn];
    frame.by_rule = true;
    frame.against = direction != m->run.dir;
    frame.restores = m->exact.restoring;
    if (m->o.exact) m->exact.restoring = false;
    m->run.sweeping = false;
    m->store.frames[m->store.nframes++] = frame;
    m->run.dir = direction;
    m->run.pc = direction > 0 ? code->x + 1 : code->x + p->to.callee->ncode - 2;
    m->stats.calls++;
    if (m->store.nframes > m->stats.depth_peak) m->stats.depth_peak = m->store.nframes;
}

/* t->callee is the function that is called, whose derivative by hand serves what is active; pc: of the call, or 0, where it
 * is the bound function that the rule stands for; direction: of the function. Room for one more frame is there. */
static rvm_status enter_rule(const rvm__transfer *t, const rvm_rule *rule, uint32_t pc, int direction) {
    rvm_machine *m = t->m;
    const passing p = passing_of(t, rule, !pc);
    const size_t mark = m->store.arena_used;
    rvm__path_edge *path = NULL;
    if (!rvm__reserve_frame(m, t->slots + m->codes[rule->fn].slots, t->arrays + p.to.callee->narrays)) return RVM_ERR_MEMORY;
    rvm_status status = rvm__check_overlap(t);
    if (!status) status = pass(&p);
    m->run.by_rule = m->store.nframes + 1; /* which the path asks for */
    if (!status && m->profile && !(path = rvm__profile_call(m, pc, rule->fn))) status = RVM_ERR_MEMORY;
    if (!status && m->o.exact) status = rvm__forget_begin(m, 0);
    if (status) {
        m->run.by_rule = 0;
        rvm__locals_release(m, mark);
        return status;
    }
    const rvm__frame frame = {
        .fn = rule->fn, .call_pc = pc, .slots = t->slots, .arrays = t->arrays, .path = path ? path->to : 0};
    stand_in(m, &p, frame, towards(m, direction));
    if (path) path->calls++, rvm__profile_grown(m);
    return RVM_OK;
}

rvm_status rvm__enter_shadowed(rvm_machine *m, const rvm__xinsn *x, int direction) {
    rvm__transfer t;
    if (!rvm__is_shadowed(m)) return rvm__enter(m, x, direction);
    const rvm_status status = rvm__transfer_begin(m, x, &t);
    if (status) return status;
    const rvm_rule *rule = rvm__rule_taken(m, &m->codes[t.callee_fn]);
    if (rule && m->exact.borrowing) /* the shadow would go through it, and back */
        return rvm__exact_refuse(m, "a compute part borrows what a derivative that is written by hand changes");
    return rule ? enter_rule(&t, rule, t.pc, direction) : rvm__enter(m, x, direction);
}

/* ---- out ---- */

static void return_scalar(const passing *p, uint32_t k) {
    const rvm__transfer *t = &p->to;
    const rvm_param *param = param_of(p, k);
    const bool shadow = p->from[k].shadow;
    if (param->role == RVM_READ || is_lent(p, k)) return;
    const rvm_value v = t->m->store.slots[t->slots + param->index];
    rvm__give_back(rvm__scalar_place(t, place_of(p, k), shadow), v, (rvm_type)param->type, enters_as_zero(p, k));
    if (!shadow) rvm__give_magnitude(t, place_of(p, k), param, v);
}

static rvm_status give_back(const passing *p) {
    const rvm__transfer *t = &p->to;
    for (uint32_t k = 0; k < p->n; k++)
        if (!param_of(p, k)->ndim && !rvm__scalar_place(t, place_of(p, k), false)) return RVM_ERR_INDEX;
    for (uint32_t k = 0; k < p->n; k++)
        if (!param_of(p, k)->ndim) return_scalar(p, k);
    for (uint32_t k = p->n; k-- > 0;)
        if (param_of(p, k)->ndim && is_lent(p, k)) rvm__locals_pop(t->m, RVM__ARRAY_HEADER + bytes_of(array_of(p, k)));
    return RVM_OK;
}

/* The frame is gone: its caller goes on with its shadows. */
static void step_out(rvm_machine *m, const rvm__frame *top) {
    if (top->against) m->run.dir = -m->run.dir;
    rvm__resume_shadows(m);
    if (m->o.exact) {
        rvm__forget_end(m);
        m->exact.restoring = top->restores;
    }
    m->store.nframes--;
    if (top->looks) rvm__safepoint_soon(m);
}

/* ---- of calls, and of the bound function ---- */

/* As if the bound function were called with its parameters. */
static rvm__transfer transfer_of_entry(rvm_machine *m, rvm_place *args) {
    const rvm_function *f = &m->p->functions[m->bound.entry];
    const rvm_insn none = {.op = RVM_OP_start};
    rvm__transfer t = rvm__transfer_of(m, 0, &none, m->bound.entry, 0);
    for (uint32_t k = 0; k < f->nparams; k++)
        args[k] = (rvm_place){.kind = f->params[k].ndim ? RVM_PLACE_ARRAY : RVM_PLACE_SLOT, .slot = f->params[k].index};
    t.args = args;
    return t;
}

rvm_status rvm__enter_entry_rule(rvm_machine *m) {
    m->run.by_rule = 0;
    const rvm_rule *rule = rvm__is_shadowed(m) ? rvm__rule_taken(m, &m->codes[m->bound.entry]) : NULL;
    rvm_place args[RVM_MAX_PARAMS];
    size_t cap = m->store.cap_frames;
    if (!rule) return RVM_OK;
    m->detail[0] = 0;
    if (m->o.depth < 2) return RVM_ERR_DEPTH;
    if (!rvm__reserve(m, (void **)&m->store.frames, &cap, 2, sizeof *m->store.frames)) return RVM_ERR_MEMORY;
    m->store.cap_frames = (uint32_t)cap;
    const rvm__transfer t = transfer_of_entry(m, args);
    return enter_rule(&t, rule, 0, m->run.dir);
}

/* The same of a frame that stands. */
static passing passing_at(rvm_machine *m, uint32_t frame, rvm_place *args) {
    const rvm__frame *top = &m->store.frames[frame], *below = top - 1;
    const rvm_rule *rule = rvm__rule_of(m->p, top->fn);
    rvm__transfer t;
    if (top->call_pc) {
        const rvm_insn *in = &m->p->functions[below->fn].code[top->call_pc];
        t = rvm__transfer_of(m, frame - 1, in, rule->of, m->codes[below->fn].x[top->call_pc].flags);
    } else
        t = transfer_of_entry(m, args);
    return passing_of(&t, rule, !top->call_pc);
}

size_t rvm__rule_lent(rvm_machine *m, uint32_t frame) {
    rvm_place args[RVM_MAX_PARAMS];
    const passing p = passing_at(m, frame, args);
    size_t bytes = 0;
    for (uint32_t k = 0; k < p.n; k++)
        if (param_of(&p, k)->ndim && is_lent(&p, k))
            bytes += rvm__locals_size(RVM__ARRAY_HEADER + bytes_of(array_of(&p, k)));
    return bytes;
}

/* The bound function's run is over, without a step of its own. */
static void end(rvm_machine *m) {
    const bool up = m->run.dir > 0;
    m->run.where = up ? AT_END : AT_START;
    m->run.pc = m->codes[m->bound.entry].x + (up ? m->p->functions[m->bound.entry].ncode - 1 : 0);
}

/* The call at pc, or the bound function, by its own code: values alone. */
static rvm_status run_code(rvm_machine *m, uint32_t pc, int direction) {
    const uint32_t fn = m->store.frames[m->store.nframes - 1].fn;
    const rvm__code *code = &m->codes[fn];
    if (!pc) {
        m->run.sweeping = false;
        m->run.by_rule = 1;
        m->run.pc = m->run.dir > 0 ? code->x + 1 : code->x + m->p->functions[fn].ncode - 2;
        return RVM_OK;
    }
    m->run.pc = code->x + pc;
    m->run.sweeping = false;
    m->run.by_rule = m->store.nframes + 1;
    const rvm_status status = rvm__enter(m, m->run.pc, direction);
    if (status)
        rvm__resume_shadows(m);
    else
        m->store.frames[m->store.nframes - 1].resumes = true;
    return status;
}

rvm_status rvm__return_rule(rvm_machine *m) {
    const rvm__frame *top = &m->store.frames[m->store.nframes - 1];
    rvm_place args[RVM_MAX_PARAMS];
    const passing p = passing_at(m, m->store.nframes - 1, args);
    const rvm_status status = give_back(&p);
    if (status) return status;
    const int dir = m->run.dir;
    step_out(m, top);
    if (m->o.exact) return run_code(m, top->call_pc, towards(m, dir));
    if (top->call_pc)
        m->run.pc = m->codes[top[-1].fn].x + top->call_pc + m->run.dir;
    else
        end(m);
    return RVM_OK;
}
