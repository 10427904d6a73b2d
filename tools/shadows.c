/* shadows.c: shadows from the command line: --dot, --seed. */
#include "tool.h"

#include <stdlib.h>
#include <string.h>

/* Elements whose shadows were given, by parameter; NULL: none of its. */
typedef unsigned char *given_shadows[RVM_MAX_PARAMS + 1];

/* Marks `count` elements from k on. Given twice, one would be lost. */
static rvm_status mark(tool *t, given_shadows given, uint32_t i, size_t k, size_t count, const char *option,
                       const char *shadow) {
    const size_t all = arg_count(&t->v.arg[i]);
    char name[128];
    if (!given[i] && !(given[i] = calloc(all + 1, 1))) return tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    for (size_t e = k; e < k + count; e++) {
        values_element_name(&t->v, i, e, name, sizeof name);
        if (given[i][e]++) return tool_fail(t, RVM_ERR_ARGUMENT, "%s gives the %s of `%s` twice", option, shadow, name);
    }
    return RVM_OK;
}

/* "x[1]=2" */
static rvm_status read_element_shadow(tool *t, given_shadows marks, const char *option, const char *shadow, const char *word,
                                      int length) {
    char name[128];
    uint32_t i;
    size_t k;
    rvm_arg given = {0};
    if (length >= (int)sizeof name) return tool_fail(t, RVM_ERR_ARGUMENT, "%s: `%.60s...` names no element", option, word);
    snprintf(name, sizeof name, "%.*s", length, word);
    rvm_status st = values_find_element(&t->v, name, &i, &k, &t->err);
    if (st) return st;
    if (!t->v.arg[i].active)
        return tool_fail(t, RVM_ERR_ARGUMENT, "%s %s: `%s` is i64 and has no %s", option, word, t->v.info[i].name, shadow);
    rvm_param_info scalar = t->v.info[i];
    scalar.ndim = 0;
    st = mark(t, marks, i, k, 1, option, shadow);
    if (!st) st = literal_read(&t->reading, &scalar, word + length + 1, &given, &t->err);
    if (!st) arg_set_shadow(&t->v.arg[i], k, given.value);
    return st;
}

/* A shadow from the command line: option is --dot or --seed, shadow what it means. */
static rvm_status read_shadow(tool *t, given_shadows marks, const char *option, const char *shadow, const char *word) {
    const char *equals = strchr(word, '=');
    if (!equals) return tool_fail(t, RVM_ERR_USAGE, "%s takes name=value, not `%s`", option, word);
    if (memchr(word, '[', (size_t)(equals - word)))
        return read_element_shadow(t, marks, option, shadow, word, (int)(equals - word));
    const int shown = values_find_shown(&t->v, word, (int)(equals - word));
    uint32_t im = 0;
    const bool complex = shown >= 0 && values_shown(&t->v, (uint32_t)shown, &im) == SHOWN_COMPLEX;
    int i = complex ? shown : values_find(&t->v, word, (int)(equals - word), &t->err);
    if (i < 0) return t->err.code;
    rvm_arg *a = &t->v.arg[i], given = {0}, given_im = {0};
    if (!a->active)
        return tool_fail(t, RVM_ERR_ARGUMENT, "%s %s: `%s` is i64 and has no %s", option, word, t->v.info[i].name, shadow);
    rvm_status st =
        complex ? literal_read_shown(&t->reading, SHOWN_COMPLEX, &t->v.info[i], equals + 1, &given, &given_im, &t->err)
                : literal_read(&t->reading, &t->v.info[i], equals + 1, &given, &t->err);
    for (int d = 0; !st && d < a->ndim; d++)
        if (given.shape[d] != a->shape[d])
            st = tool_fail(t, RVM_ERR_SHAPE, "%s: the %s of `%s` has length %lld in dimension %d, its value %lld", option,
                           shadow, t->v.info[i].name, (long long)given.shape[d], d + 1, (long long)a->shape[d]);
    if (!st) st = mark(t, marks, (uint32_t)i, 0, arg_count(a), option, shadow);
    if (!st && complex) st = mark(t, marks, im, 0, arg_count(a), option, shadow);
    for (size_t k = 0, n = st ? 0 : arg_count(a); k < n; k++) {
        arg_set_shadow(a, k, arg_get(&given, k));
        if (complex) arg_set_shadow(&t->v.arg[im], k, arg_get(&given_im, k));
    }
    arg_free(&given);
    arg_free(&given_im);
    return st;
}

rvm_status tool_read_shadows(tool *t, bool *real, const text_list *words, const char *option, const char *shadow) {
    given_shadows given = {0};
    rvm_status st = values_select(&t->v, NULL, real, &t->err);
    for (uint32_t i = 0; !st && i < t->v.n; i++)
        if (real[i]) st = arg_activate(&t->v.arg[i], &t->err);
    for (size_t k = 0; !st && k < words->n; k++) st = read_shadow(t, given, option, shadow, words->item[k]);
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) free(given[i]);
    return st;
}
