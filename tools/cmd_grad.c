/* cmd_grad.c: rvm grad (the backward sweep) and rvm jvp (tangents). */
#include "isa.h"
#include "number.h"
#include "tool.h"

#include <string.h>

/* ---- output that both share ---- */

/* One line for each marked parameter: PREFIX NAME = shadow. */
static void text_shadows(const tool *t, const bool *set, const char *prefix) {
    for (uint32_t i = 0; i < t->v.n; i++) {
        if (!set[i]) continue;
        printf("%s%s = ", prefix, t->v.info[i].name);
        output_value(stdout, &t->v.arg[i], SHADOW);
        putchar('\n');
    }
}

static void print_json(const tool *t, const values *shown, const bool *set, const char *key) {
    json j = {.out = stdout};
    json_open(&j, '{');
    json_key(&j, "ok"), json_bool(&j, true);
    output_json_values(&j, shown);
    json_key(&j, key);
    json_open(&j, '{');
    for (uint32_t i = 0; i < t->v.n; i++) {
        if (!set[i]) continue;
        json_key(&j, t->v.info[i].name);
        output_json_value(&j, &t->v.arg[i], SHADOW);
    }
    json_close(&j, '}');
    output_json_stats(&j, t);
    json_close(&j, '}');
    putchar('\n');
}

static void print_text(const tool *t, const values *shown, const bool *set, const char *prefix) {
    output_values(shown);
    text_shadows(t, set, prefix);
    output_stats(t);
}

/* ---- grad ---- */

/* Marks in wrt[] what is differentiated by and finds the seeded element. By default that is every real, save an output that
 * is only accumulated into: its own derivative is the seed. What the function writes is active, too: values pass through. */
static rvm_status choose(tool *t, bool *wrt, uint32_t *of, size_t *element) {
    if (!t->o.of) return tool_fail(t, RVM_ERR_USAGE, "--of NAME is missing: what is to be differentiated?");
    rvm_status st = values_find_element(&t->v, t->o.of, of, element, &t->err);
    if (!st && !type_is_real(t->v.info[*of].type))
        st = tool_fail(t, RVM_ERR_ARGUMENT, "--of %s: `%s` is i64 and has no derivative", t->o.of, t->v.info[*of].name);
    if (!st) st = values_select(&t->v, t->o.wrt, wrt, &t->err);
    if (!st && !t->o.wrt && t->v.info[*of].role == RVM_ACC) wrt[*of] = false;
    for (uint32_t i = 0; !st && i < t->v.n; i++)
        if (wrt[i] || i == *of || (type_is_real(t->v.info[i].type) && t->v.info[i].role != RVM_READ))
            st = arg_activate(&t->v.arg[i], &t->err);
    return st;
}

rvm_status command_GRAD(tool *t) {
    bool wrt[RVM_MAX_PARAMS + 1] = {0};
    uint32_t of = 0;
    size_t element = 0;
    values after = {0};
    char prefix[128];
    rvm_status st = tool_prepare(t);
    if (!st) st = choose(t, wrt, &of, &element);
    if (st) goto done;
    progress_begin(&t->progress, t->machine);
    st = rvm_call(t->machine, t->fn, t->v.arg, t->v.n, &t->err);
    if (!st) st = values_copy(&after, &t->v, &t->err);
    if (!st) {
        arg_set_shadow(&t->v.arg[of], element, scalar_from_double(t->v.info[of].type, 1));
        st = rvm_sweep(t->machine, t->fn, t->v.arg, t->v.n, &t->err);
    }
    progress_end(&t->progress);
    if (!st) st = output_save(t, &after, "_b");
    if (st) goto done;
    snprintf(prefix, sizeof prefix, "d %s / d ", t->o.of);
    if (t->o.json)
        print_json(t, &after, wrt, "gradients");
    else
        print_text(t, &after, wrt, prefix);
done:
    values_free(&after);
    return st;
}

/* ---- jvp ---- */

static rvm_status read_dot(tool *t, const char *word) {
    const char *equals = strchr(word, '=');
    if (!equals) return tool_fail(t, RVM_ERR_USAGE, "--dot takes name=value, not `%s`", word);
    int i = values_find(&t->v, word, (int)(equals - word), &t->err);
    if (i < 0) return t->err.code;
    rvm_arg *a = &t->v.arg[i], dot;
    if (!a->active)
        return tool_fail(t, RVM_ERR_ARGUMENT, "--dot %s: `%s` is i64 and has no tangent", word, t->v.info[i].name);
    rvm_status st = literal_read(&t->v.info[i], equals + 1, &dot, &t->err);
    for (int d = 0; !st && d < a->ndim; d++)
        if (dot.shape[d] != a->shape[d])
            st = tool_fail(t, RVM_ERR_SHAPE, "--dot: the tangent of `%s` has length %lld in dimension %d, its value %lld",
                           t->v.info[i].name, (long long)dot.shape[d], d + 1, (long long)a->shape[d]);
    for (size_t k = 0, n = st ? 0 : arg_count(a); k < n; k++) arg_set_shadow(a, k, arg_get(&dot, k));
    arg_free(&dot);
    return st;
}

rvm_status command_JVP(tool *t) {
    bool real[RVM_MAX_PARAMS + 1];
    rvm_status st = tool_prepare(t);
    if (!st && !t->o.dot.n) st = tool_fail(t, RVM_ERR_USAGE, "--dot NAME=VALUE is missing: along what?");
    if (!st) st = values_select(&t->v, NULL, real, &t->err);
    for (uint32_t i = 0; !st && i < t->v.n; i++)
        if (real[i]) st = arg_activate(&t->v.arg[i], &t->err);
    for (size_t k = 0; !st && k < t->o.dot.n; k++) st = read_dot(t, t->o.dot.item[k]);
    if (st) return st;
    progress_begin(&t->progress, t->machine);
    st = rvm_tangent(t->machine, t->fn, t->v.arg, t->v.n, &t->err);
    progress_end(&t->progress);
    if (!st) st = output_save(t, &t->v, "_d");
    if (st) return st;
    if (t->o.json)
        print_json(t, &t->v, real, "tangents");
    else
        print_text(t, &t->v, real, "d ");
    return RVM_OK;
}
