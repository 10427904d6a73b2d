/* print.c: what a `print` shows. The machine has entered the function that stands for it, whose parameters are the values.
 */
#include "builder.h"
#include "machine.h"
#include "out_of_line.h"
#include "transform.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "reals.h"

typedef struct line {
    rvm_machine *m;
    char *text;
    size_t used, cap;
} line;

/* Cut where there is no memory. */
static void put(line *l, const char *text, size_t n) {
    if (l->used + n + 1 > l->cap) {
        char *grown = rvm__room(l->m, RVM__PRINTED, 2 * (l->used + n + 1));
        if (!grown) return;
        l->text = grown;
        l->cap = l->m->store.cap_kept[RVM__PRINTED];
    }
    memcpy(l->text + l->used, text, n);
    l->used += n;
    l->text[l->used] = 0;
}

static void put_text(line *l, const char *text) {
    put(l, text, strlen(text));
}

static void put_number(line *l, rvm_type t, rvm_value v) {
    char text[64];
    rvm_scalar_text(t, (rvm_scalar){.i = v.i}, text, sizeof text);
    put_text(l, text);
}

static void put_lns(line *l, rvm_type t, rvm_value v) {
    char text[64];
    rvm__lns_text(l->m->math, t, (rvm_scalar){.i = v.i}, text, sizeof text);
    put_text(l, text);
}

static void put_complex(line *l, rvm_type t, rvm_value re, rvm_value im) {
    char text[64];
    put_number(l, t, re);
    rvm_scalar_text(t, (rvm_scalar){.i = im.i}, text, sizeof text);
    if (*text != '-') put_text(l, "+");
    put_text(l, text);
    put_text(l, "i");
}

static void put_value(line *l, char show, rvm_type t, rvm_value v, rvm_value im) {
    if (show == RVM_SHOW_LNS)
        put_lns(l, t, v);
    else if (show == RVM_SHOW_COMPLEX)
        put_complex(l, t, v, im);
    else
        put_number(l, t, v);
}

static rvm_value at(const rvm__array *a, const int64_t *index) {
    const char *data = a->data;
    rvm_value v;
    for (int d = 0; d < a->ndim; d++) data += index[d] * a->stride[d];
    memcpy(&v, data, sizeof v);
    return v;
}

/* [1, 2], and of several dimensions [[1, 2], [3, 4]]. im: of a complex; else a. */
static void put_array(line *l, char show, const rvm__array *a, const rvm__array *im, int d, int64_t *index) {
    if (d >= RVM_MAX_DIMS) return; /* there are no more, which compilers do not see */
    put_text(l, "[");
    for (index[d] = 0; index[d] < a->dim[d]; index[d]++) {
        if (index[d]) put_text(l, ", ");
        if (d + 1 < a->ndim)
            put_array(l, show, a, im, d + 1, index);
        else
            put_value(l, show, (rvm_type)a->type, at(a, index), at(im, index));
    }
    put_text(l, "]");
}

static void put_argument(line *l, char show, const rvm_param *q, const rvm_param *im) {
    const rvm__frame *top = &l->m->store.frames[l->m->store.nframes - 1];
    const rvm_value *slots = l->m->store.slots + top->slots;
    const rvm__array *arrays = rvm__arrays_from(l->m, top->arrays);
    int64_t index[RVM_MAX_DIMS];
    if (q->ndim)
        put_array(l, show, &arrays[q->index], &arrays[im->index], 0, index);
    else
        put_value(l, show, (rvm_type)q->type, slots[q->index], slots[im->index]);
}

/* ---- where nothing is shown ---- */

/* Whether the place in a frame stands in a compute part that runs once more, to be taken back or after it was. */
static bool runs_again(const rvm_machine *m, const rvm__frame *f, uint32_t pc) {
    const rvm_value *slots = m->store.slots + f->slots;
    RVM__EACH_INSN_IN(x, &m->p->functions[f->fn], 0, pc) {
        if (x.in->op == RVM_OP_compute && pc < x.in->target &&
            slots[m->codes[f->fn].x[x.pc].to.hidden].u & RVM__REGION_AGAIN)
            return true;
    }
    return false;
}

/* Whether a function is derived, as its name says: what it calls is part of a derivative. */
static bool is_derived(const char *name) {
    for (const char *tick = strchr(name, '\''); tick; tick = strchr(tick + 1, '\''))
        if (rvm__transform_find(tick + 1, strcspn(tick + 1, "'")) >= 0) return true;
    return false;
}

static bool is_silent(const rvm_machine *m) {
    if (m->bound.mode != RVM_PRIMAL) return true;
    for (uint32_t k = 0; k + 1 < m->store.nframes; k++) {
        const rvm__frame *f = &m->store.frames[k];
        if (is_derived(m->p->functions[f->fn].name) || runs_again(m, f, f[1].call_pc)) return true;
    }
    return false;
}

void rvm__print(rvm_machine *m, const char *text) {
    if (is_silent(m)) return;
    const rvm__frame *top = &m->store.frames[m->store.nframes - 1];
    const rvm_param *q = m->p->functions[top->fn].params;
    line l = {.m = m, .text = m->store.kept[RVM__PRINTED], .cap = m->store.cap_kept[RVM__PRINTED]};
    if (!l.cap) l.text = NULL;
    put(&l, "", 0);
    for (const char *c = text; *c; c++) {
        const uint32_t n = rvm__show_size(*c);
        if (n)
            put_argument(&l, *c, q, q + n - 1);
        else
            put(&l, c, 1);
        q += n;
    }
    rvm_printed what = {.text = l.text ? l.text : "", .length = l.used, .file = ""};
    if (m->store.nframes > 1) {
        const char *file = NULL;
        rvm_program_position(m->p, top[-1].fn, top->call_pc, &file, &what.line, NULL);
        what.function = m->p->functions[top[-1].fn].name;
        if (file) what.file = file;
    }
    m->o.print(m->o.userdata, &what);
}
