/* cost_models.c: models of technologies as rvm cost has them: by name or from files, with numbers set and swept. */
#include "cost.h"
#include "input.h"
#include "number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- opening ---- */

static rvm_status read_model(cost *c, const char *path, rvm_model **out) {
    enum { LONGEST = 1 << 20 };
    input in;
    char *text;
    size_t size;
    rvm_status st = input_open(&in, path, &c->t->err);
    if (st) return st;
    st = input_whole(&in, LONGEST, &text, &size, &c->t->err);
    if (!st) st = rvm_model_parse(text, size, in.name, NULL, out, &c->t->err);
    input_close(&in);
    free(text);
    return st;
}

/* What has a dot or a slash is a file. */
static rvm_status open_model(cost *c, const char *name, rvm_model **out) {
    return strpbrk(name, "./") ? read_model(c, name, out) : rvm_model_shipped(name, NULL, out, &c->t->err);
}

static rvm_status open_listed(cost *c, const char *name) {
    if (c->nmodels == COST_MODELS) return tool_fail(c->t, RVM_ERR_USAGE, "--model: %d models at once, at most", COST_MODELS);
    c->origin[c->nmodels] = name;
    const rvm_status st = open_model(c, name, &c->model[c->nmodels]);
    c->nmodels += !st;
    return st;
}

/* That of its irreversible machine: itself; else, with the numbers that it has without --set, another of the command's, or a
 * shipped one. */
static rvm_status open_other(cost *c, int k) {
    const char *name = rvm_model_against(c->model[k]), *origin = name;
    if (!strcmp(rvm_model_name(c->model[k]), name)) return c->other[k] = c->model[k], RVM_OK;
    for (int i = 0; i < c->nmodels; i++)
        if (!strcmp(rvm_model_name(c->model[i]), name)) origin = c->origin[i];
    return open_model(c, origin, &c->other[k]);
}

/* ---- numbers ---- */

/* VALUE or LOW..HIGH; *high is NAN of one. */
static rvm_status read_range(cost *c, rvm_model_key key, const char *text, double *low, double *high) {
    const char *dots = strstr(text, "..");
    char first[64];
    *high = NAN;
    if (!dots) return rvm_model_key_number(key, text, low, &c->t->err);
    snprintf(first, sizeof first, "%.*s", (int)(dots - text), text);
    rvm_status st = rvm_model_key_number(key, first, low, &c->t->err);
    if (!st) st = rvm_model_key_number(key, dots + 2, high, &c->t->err);
    if (!st && !(0 < *low && *low < *high))
        st = tool_fail(c->t, RVM_ERR_USAGE, "%s: LOW..HIGH rises from more than 0, not `%s`", rvm_model_key_name(key), text);
    return st;
}

static rvm_status set_number(cost *c, rvm_model_key key, const char *text) {
    double low, high;
    rvm_status st = read_range(c, key, text, &low, &high);
    if (!st && !isnan(high) && c->sweep.key != RVM_MODEL_KEYS)
        st = tool_fail(c->t, RVM_ERR_USAGE, "one number is swept at a time: %s or %s", rvm_model_key_name(c->sweep.key),
                       rvm_model_key_name(key));
    if (!st && !isnan(high)) c->sweep = (sweep){key, low, high};
    for (int k = 0; !st && isnan(high) && k < c->nmodels; k++) st = rvm_model_set(c->model[k], key, low, &c->t->err);
    return st;
}

static rvm_status set_named(cost *c, const char *word) {
    const char *equals = strchr(word, '=');
    char name[64];
    snprintf(name, sizeof name, "%.*s", equals ? (int)(equals - word) : (int)strlen(word), word);
    const rvm_model_key key = rvm_model_key_find(name);
    if (!equals) return tool_fail(c->t, RVM_ERR_USAGE, "--set NAME=VALUE, not `%s`", word);
    if (key != RVM_MODEL_KEYS) return set_number(c, key, equals + 1);
    nearest near = {.wanted = name};
    for (int k = 0; k < RVM_MODEL_KEYS; k++) nearest_offer(&near, rvm_model_key_name((rvm_model_key)k));
    return tool_fail(c->t, RVM_ERR_ARGUMENT, "--set: no number of a model is `%s`%s%s%s", name,
                     near.best ? "; did you mean " : "", near.best ? near.best : "", near.best ? "?" : "");
}

rvm_status cost_models_open(cost *c) {
    const options *o = &c->t->o;
    rvm_status st = RVM_OK;
    const char *name;
    c->sweep.key = RVM_MODEL_KEYS;
    for (size_t k = 0; !st && k < o->model.n; k++) st = open_listed(c, o->model.item[k]);
    for (uint32_t k = 0; !st && !o->model.n && (name = rvm_model_shipped_name(k, NULL)); k++) st = open_listed(c, name);
    for (int k = 0; !st && k < c->nmodels; k++) st = open_other(c, k);
    if (!st && o->clock) st = set_number(c, RVM_MODEL_CLOCK, o->clock);
    for (size_t k = 0; !st && k < o->set.n; k++) st = set_named(c, o->set.item[k]);
    return st;
}

void cost_models_close(cost *c) {
    for (int k = 0; k < c->nmodels; k++) {
        if (c->other[k] != c->model[k]) rvm_model_free(c->other[k]);
        rvm_model_free(c->model[k]);
    }
}

/* ---- prices ---- */

double cost_point(const sweep *s, int i) {
    return i == COST_POINTS - 1 ? s->high : s->low * pow(s->high / s->low, i / (COST_POINTS - 1.));
}

rvm_status cost_price(const cost *c, int k, const costed *run, int i, rvm_price *out) {
    rvm_model *m = c->model[k];
    rvm_error *err = &c->t->err;
    if (i < 0) return rvm_model_price(m, run->counts, 0, out, err);
    const double before = rvm_model_get(m, c->sweep.key);
    rvm_status st = rvm_model_set(m, c->sweep.key, cost_point(&c->sweep, i), err);
    if (!st) st = rvm_model_price(m, run->counts, 0, out, err);
    const rvm_status back = rvm_model_set(m, c->sweep.key, before, err);
    return st ? st : back;
}

rvm_status cost_price_against(const cost *c, int k, rvm_price *out) {
    return rvm_model_price(c->other[k], c->against.counts, 0, out, &c->t->err);
}

rvm_status cost_best(const cost *c, int k, const costed *run, rvm_price *out) {
    return rvm_model_best_clock(c->model[k], run->counts, c->sweep.low, c->sweep.high, out, &c->t->err);
}

bool cost_best_is_inside(const cost *c, const rvm_price *best) {
    return best->clock > c->sweep.low * 1.01 && best->clock < c->sweep.high / 1.01;
}

/* ---- parts ---- */

const char *cost_part_name(int part) {
    static const char *const names[COST_PART_COUNT] = {
#define X(id, name) name,
        COST_PARTS(X)
#undef X
    };
    return names[part];
}

double cost_part(const rvm_price *p, int part) {
    double arithmetic = 0;
    for (int unit = 0; unit < RVM_UNITS; unit++) arithmetic += p->units[unit];
    const double parts[COST_PART_COUNT] = {arithmetic,   p->instructions, p->registers, p->memory,
                                           p->transfers, p->leakage,      p->erasure};
    return parts[part];
}

rvm_switching cost_switching(const rvm_counts *c) {
    rvm_switching sum = {{0}, {0}};
    rvm_counted k;
    for (uint32_t i = 0; rvm_counts_kind(c, i, &k); i++) switching_add(&sum, &k.switched);
    return sum;
}
