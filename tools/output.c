/* output.c: values, as text and as JSON. Text of long arrays is cut, as NumPy does; JSON never is. */
#include "tool.h"
#include "number.h"

#include <stdlib.h>

enum {
    CUT_ABOVE = 1000,
    EDGE = 3,
    EDGES = 2 * EDGE
}; /* elements above which an array is cut; items kept at each end of an axis */

static rvm_scalar cell(const rvm_arg *a, enum shadow_kind which, size_t k) {
    return which == SHADOW ? arg_get_shadow(a, k) : arg_get(a, k);
}

/* ---- values ---- */

typedef struct axis {
    const rvm_arg *a;
    enum shadow_kind which;
    size_t next;       /* number of the element to print next */
    const rvm_arg *im; /* of a complex, or NULL */
    bool lns;
} axis;

static void text_cell(FILE *out, axis *x) {
    char text[COMPLEX_TEXT];
    const size_t k = x->next++;
    if (x->im)
        complex_text(x->a->type, cell(x->a, x->which, k), cell(x->im, x->which, k), text);
    else if (x->lns)
        lns_text(x->a->type, cell(x->a, x->which, k), text);
    fputs(x->im || x->lns ? text : number_text(x->a->type, cell(x->a, x->which, k), text), out);
}

static void text_axis(FILE *out, axis *x, int d, bool cut) {
    if (d >= x->a->ndim || d >= RVM_MAX_DIMS) {
        text_cell(out, x);
        return;
    }
    size_t inner = 1;
    for (int e = d + 1; e < x->a->ndim && e < RVM_MAX_DIMS; e++) inner *= (size_t)x->a->shape[e];
    fputc('[', out);
    for (int64_t i = 0; i < x->a->shape[d]; i++) {
        if (i) fputs(", ", out);
        int64_t skipped = x->a->shape[d] - EDGES;
        if (cut && i == EDGE && skipped > 0) {
            fputs("..., ", out);
            x->next += inner * (size_t)skipped;
            i += skipped;
        }
        text_axis(out, x, d + 1, cut);
    }
    fputc(']', out);
}

void output_value(FILE *out, const rvm_arg *a, enum shadow_kind which) {
    axis x = {.a = a, .which = which};
    text_axis(out, &x, 0, arg_count(a) > CUT_ABOVE);
}

static void json_cell(json *j, axis *x) {
    const size_t k = x->next++;
    char text[NUMBER_TEXT];
    if (x->im) {
        json_open(j, '{');
        json_key(j, "re"), json_number(j, x->a->type, cell(x->a, x->which, k));
        json_key(j, "im"), json_number(j, x->a->type, cell(x->im, x->which, k));
        json_close(j, '}');
    } else if (!x->lns)
        json_number(j, x->a->type, cell(x->a, x->which, k));
    else if (lns_text(x->a->type, cell(x->a, x->which, k), text))
        json_f64(j, strtod(text, NULL));
    else
        json_text(j, text);
}

static void json_axis(json *j, axis *x, int d) {
    if (d >= x->a->ndim || d >= RVM_MAX_DIMS) {
        json_cell(j, x);
        return;
    }
    json_open(j, '[');
    for (int64_t i = 0; i < x->a->shape[d]; i++) json_axis(j, x, d + 1);
    json_close(j, ']');
}

void output_json_value(json *j, const rvm_arg *a, enum shadow_kind which) {
    axis x = {.a = a, .which = which};
    json_axis(j, &x, 0);
}

/* ---- parameters ---- */

/* Parameter i as it is shown; its name. False: it is part of another. A shadow of an lns is a plain real, and so is that of
 * a part of a complex whose other part shows none. */
static bool axis_of(const values *v, uint32_t i, const bool *shadows, axis *x, char *name, size_t size) {
    uint32_t other = i;
    const enum shown kind = values_shown(v, i, &other);
    const bool plain = shadows && (kind == SHOWN_LNS || !shadows[other]);
    if (kind == SHOWN_PART && !plain) return false;
    *x = (axis){.a = &v->arg[i], .which = shadows ? SHADOW : NO_SHADOW};
    x->im = kind == SHOWN_COMPLEX && !plain ? &v->arg[other] : NULL;
    x->lns = kind == SHOWN_LNS && !plain;
    if (plain)
        snprintf(name, size, "%s", v->info[i].name);
    else
        values_shown_name(v, i, name, size);
    return true;
}

void output_param(FILE *out, const char *prefix, const char *suffix, const values *v, uint32_t i, const bool *shadows) {
    const char *function = shadows ? NULL : values_function(v, i);
    char name[600];
    axis x;
    if (!axis_of(v, i, shadows, &x, name, sizeof name)) return;
    fprintf(out, "%s%s%s = ", prefix, name, suffix);
    if (function)
        fprintf(out, "&%s", function);
    else
        text_axis(out, &x, 0, arg_count(x.a) > CUT_ABOVE);
    fputc('\n', out);
}

bool output_param_name(const values *v, uint32_t i, const bool *shadows, char *name, size_t size) {
    axis x;
    return axis_of(v, i, shadows, &x, name, size);
}

void output_json_param(json *j, const values *v, uint32_t i, const bool *shadows) {
    const char *function = shadows ? NULL : values_function(v, i);
    char name[600];
    axis x;
    if (!axis_of(v, i, shadows, &x, name, sizeof name)) return;
    json_key(j, name);
    if (function)
        json_text(j, function);
    else
        json_axis(j, &x, 0);
}
