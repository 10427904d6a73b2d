/* shown.c: complex and lns parameters as users write them.
 *
 * In a program z: complex is two reals, z.re and z.im, and y: lns is the real y.log. Of a derived function the names go on:
 * z.re_b and z.im_b are the parts of z_b; a shadow of an lns is by the logarithm, a plain real.
 */
#include "errors.h"
#include "number.h"
#include "values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum shown values_shown(const values *v, uint32_t i, uint32_t *other) {
    return (enum shown)rvm_program_component(v->program, v->fn, i, other, NULL, 0);
}

void values_shown_name(const values *v, uint32_t i, char *text, size_t size) {
    if (rvm_program_component(v->program, v->fn, i, NULL, text, size) == RVM_COMPONENT_IM)
        snprintf(text, size, "%s", v->info[i].name);
}

int values_find_shown(const values *v, const char *name, int length) {
    for (uint32_t i = 0; i < v->n; i++) {
        char shown[600];
        const rvm_component kind = rvm_program_component(v->program, v->fn, i, NULL, shown, sizeof shown);
        if (kind != RVM_COMPONENT_RE && kind != RVM_COMPONENT_LOG) continue;
        if (strlen(shown) == (size_t)length && !memcmp(shown, name, (size_t)length)) return (int)i;
    }
    return -1;
}

/* ---- text ---- */

void complex_text(rvm_type t, rvm_scalar re, rvm_scalar im, char text[COMPLEX_TEXT]) {
    char r[NUMBER_TEXT], i[NUMBER_TEXT];
    number_text(t, re, r);
    number_text(t, im, i);
    snprintf(text, COMPLEX_TEXT, "%s%s%si", r, *i == '-' ? "" : "+", i);
}

bool lns_text(rvm_type t, rvm_scalar logarithm, char text[NUMBER_TEXT]) {
    if (rvm_lns_text(t, logarithm, text, NUMBER_TEXT)) return true;
    char number[NUMBER_TEXT];
    snprintf(text, NUMBER_TEXT, "exp(%s)", number_text(t, logarithm, number));
    return false;
}

/* 2+3i, 2, 3i, -i */
rvm_status complex_parse(rvm_type t, const char **at, rvm_scalar part[2], rvm_error *err) {
    *at += strspn(*at, " \t\n");
    const char *start = *at;
    part[0] = part[1] = rvm_scalar_from_double(t, 0);
    for (int k = 0; k < 2; k++) {
        const char *digits = *at + (**at == '+' || **at == '-');
        rvm_scalar x = rvm_scalar_from_double(t, **at == '-' ? -1 : 1);
        if (*digits == 'i' && digits[1] != 'n') { /* not inf */
            *at = digits;
        } else {
            rvm_status st = number_parse(t, at, &x, err);
            if (st) return st;
        }
        const bool imaginary = **at == 'i';
        if (k && !imaginary) break;
        part[imaginary] = x;
        if (imaginary) ++*at;
        if (imaginary || (**at != '+' && **at != '-')) return RVM_OK;
    }
    return fail(err, RVM_ERR_ARGUMENT, NULL, "`%.*s` is no complex number: 2+3i is one", quoted_length(start), start);
}

/* A positive number, or exp(X). */
rvm_status lns_parse(rvm_type t, const char **at, rvm_scalar *out, rvm_error *err) {
    *at += strspn(*at, " \t\n");
    const char *start = *at;
    const bool by_logarithm = !strncmp(*at, "exp(", 4);
    if (by_logarithm) *at += 4;
    rvm_status st = number_parse(by_logarithm ? t : RVM_F64, at, out, err);
    if (st) return st;
    if (by_logarithm && *(*at)++ != ')')
        return fail(err, RVM_ERR_ARGUMENT, NULL, "`%.*s` does not end with `)`", quoted_length(start), start);
    if (by_logarithm ? !isfinite(rvm_scalar_to_double(t, *out)) : !(out->f > 0 && isfinite(out->f)))
        return fail(err, RVM_ERR_ARGUMENT, NULL, "`%.*s` is not positive and finite, as an lns must be", (int)(*at - start),
                    start);
    if (by_logarithm) return RVM_OK;
    *out = rvm_scalar_from_double(t, rvm_arg_lns(out->f).value.f);
    return RVM_OK;
}
