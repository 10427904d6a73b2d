/* activity.c: how many bits the writes of a run change, with option activity. A run is made by single steps then, and where
 * an instruction writes is looked at before and behind it: the target and what else it changes, and while the sweep is on
 * the shadows of its real places. What appears has been 0, what disappears becomes 0: the slot of a place that is not there
 * holds anything. Array instructions and calls write nothing here, as they count as no accesses (isa/table/work.c). */
#include "out_of_line.h"
#include "profile.h"
#include "program.h"
#include "support.h"
#include "work.h"

#include <string.h>

enum { MOST_WRITTEN = 2 * UINT8_MAX };
enum { REGISTER, ELEMENT }; /* of rvm_switching */

typedef struct written {
    const rvm_value *at;
    uint64_t before;
    rvm_type type;
    uint8_t where;
    bool vanishes;
} written;

typedef struct observed { /* an instruction, and where it writes */
    const rvm_machine *m;
    const rvm_function *f;
    const rvm_insn *in;
    const rvm__frame *top;
    rvm_op op; /* as it runs, in this direction */
    uint32_t n;
    written list[MOST_WRITTEN];
} observed;

/* A number of f32 is kept as a double that is one. */
static uint64_t bits_of(rvm_type type, rvm_value v) {
    union {
        float f;
        uint32_t u;
    } single = {0};
    if (type != RVM_F32) return v.u;
    single.f = (float)v.f;
    return single.u;
}

static unsigned width_of(rvm_type type) {
    return type == RVM_F32 ? 32 : 64;
}

static const rvm_value *cell_of(const observed *o, const rvm_place *q, bool shadow) {
    const rvm__storage *s = &o->m->store;
    if (q->kind == RVM_PLACE_SLOT) return (shadow ? s->shadows : s->slots) + o->top->slots + q->slot;
    if (q->kind != RVM_PLACE_ELEM) return NULL;
    return rvm__element_at(&s->arrays[o->top->arrays + q->slot], q, s->slots + o->top->slots, shadow);
}

static void note(observed *o, const rvm_place *q, char letter, bool shadow) {
    const bool toggles = rvm__letter_toggles(letter), back = rvm__is_inverse(o->op);
    written w = {.at = cell_of(o, q, shadow), .type = rvm__place_type(o->f, q)};
    if (!w.at || o->n == MOST_WRITTEN) return;
    w.where = q->kind == RVM_PLACE_ELEM ? ELEMENT : REGISTER;
    w.before = toggles && !back ? 0 : bits_of(w.type, *w.at);
    w.vanishes = toggles && back && !rvm__is_loop(o->op); /* an index goes on */
    o->list[o->n++] = w;
}

static bool has_shadow(const observed *o, const rvm_place *q) {
    if (!o->m->run.sweeping || (q->kind != RVM_PLACE_SLOT && q->kind != RVM_PLACE_ELEM)) return false;
    if (q->kind == RVM_PLACE_SLOT && q->slot >= o->f->nregs) return false;
    return rvm__place_type(o->f, q) != RVM_I64 && rvm__is_active(o->m->p, &o->m->bound.activity, o->top->fn, q);
}

/* The instruction that runs next. */
static void look(observed *o, const rvm_machine *m) {
    char buffer[256];
    o->m = m;
    o->top = &m->store.frames[m->store.nframes - 1];
    o->f = &m->p->functions[o->top->fn];
    o->in = &o->f->code[m->run.pc - m->codes[o->top->fn].x];
    o->op = m->run.dir < 0 ? rvm__op_inverse((rvm_op)o->in->op) : (rvm_op)o->in->op;
    o->n = 0;
    const char *letters = rvm__place_letters(o->in, buffer);
    const rvm_place *q = rvm__places(o->f, o->in);
    for (uint32_t k = 0; k < o->in->nplaces && letters[k]; k++) {
        if (rvm__work_writes(o->in, letters[k])) note(o, &q[k], letters[k], false);
        if (has_shadow(o, &q[k])) note(o, &q[k], letters[k], true);
    }
}

static void add(rvm_switching *to, int where, rvm_type type, uint64_t changed) {
    to->bits[where] += width_of(type);
    to->flipped[where] += (uint64_t)__builtin_popcountll(changed);
}

/* What moves onto a trail or a stack, or back, changes a cell there, which is 0 while nothing is there. */
static void add_moved(const observed *o, rvm_switching *to) {
    char buffer[256];
    const char *letters = rvm__place_letters(o->in, buffer);
    const rvm_place *q = rvm__places(o->f, o->in);
    for (uint32_t k = 0; k < o->in->nplaces && letters[k]; k++)
        for (uint32_t i = 0; i < o->n && rvm__work_moves(o->in, letters[k]); i++) {
            const written *w = &o->list[i];
            if (w->at != cell_of(o, &q[k], false)) continue;
            add(to, ELEMENT, w->type, rvm__is_inverse(o->op) ? bits_of(w->type, *w->at) : w->before);
        }
}

static void add_up(const observed *o, rvm_switching *to) {
    for (uint32_t i = 0; i < o->n; i++) {
        const written *w = &o->list[i];
        add(to, w->where, w->type, w->before ^ (w->vanishes ? 0 : bits_of(w->type, *w->at)));
    }
    if (o->m->o.trail != RVM_TRAIL_OFF || rvm__op_on_stack(o->op)) add_moved(o, to);
}

/* Steps stay in their frame but for calls and returns, which write nothing. */
rvm_status rvm__profile_steps(rvm_machine *m, rvm_status (*run)(rvm_machine *m)) {
    observed *o = rvm__zeroed(m, sizeof *o);
    rvm_status status = o ? RVM_OK : RVM_ERR_MEMORY;
    while (!status && m->run.where == INSIDE) {
        look(o, m);
        const uint32_t path = o->top->path;
        const size_t pc = (size_t)(o->in - o->f->code);
        const int which = (m->run.sweeping ? RVM__SWEPT_UP : RVM__UP) + (m->run.dir < 0);
        m->run.steps = 1;
        status = run(m);
        if (!status && o->n) add_up(o, &m->profile->paths[path].switched[pc * RVM__SWITCHED + (size_t)which]);
    }
    m->run.steps = 0;
    rvm__resize(m, o, sizeof *o, 0);
    return status;
}
