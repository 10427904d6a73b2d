/* model.c: a technology as numbers with their sources. */
#include "coprocessor.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name, *unit, *doc;
    bool positive;
} keys[RVM_MODEL_KEYS] = {
#define X(id, name, unit, positive, doc) {name, unit, doc, positive},
    RVM_MODEL_MAP(X)
#undef X
};

static bool is_key(rvm_model_key key) {
    return (unsigned)key < RVM_MODEL_KEYS;
}

const char *rvm_model_key_name(rvm_model_key key) {
    return is_key(key) ? keys[key].name : "?";
}

const char *rvm_model_key_unit(rvm_model_key key) {
    return is_key(key) ? keys[key].unit : "?";
}

const char *rvm_model_key_doc(rvm_model_key key) {
    return is_key(key) ? keys[key].doc : "?";
}

bool rvm__model_takes(rvm_model_key key, double value) {
    return value >= 0 && !isinf(value) && (value > 0 || !keys[key].positive);
}

const char *rvm__model_range(rvm_model_key key) {
    return keys[key].positive ? "more than 0" : "not negative";
}

const char *rvm_law_name(rvm_law law) {
    static const char *const names[RVM_LAWS] = {
#define X(id, name) name,
        RVM_LAW_MAP(X)
#undef X
    };
    return (unsigned)law < RVM_LAWS ? names[law] : "?";
}

rvm_status rvm__model_make(const rvm_allocator *al, rvm_model **out, rvm_error *err) {
    if (!al) al = &rvm__libc_allocator;
    *out = rvm__make(al, sizeof **out);
    if (!*out) return rvm__fail_memory(err);
    (*out)->al = *al;
    (*out)->law = RVM_LAWS;
    return RVM_OK;
}

void rvm_model_free(rvm_model *m) {
    if (!m) return;
    const rvm_allocator al = m->al;
    for (int key = 0; key < RVM_MODEL_KEYS; key++)
        if (m->number[key].source) rvm__strfree(&al, m->number[key].source);
    rvm__release(&al, m, sizeof *m);
}

const char *rvm_model_name(const rvm_model *m) {
    return m ? m->name : NULL;
}

const char *rvm_model_title(const rvm_model *m) {
    return m ? m->title : NULL;
}

const char *rvm_model_against(const rvm_model *m) {
    return m ? m->against : NULL;
}

rvm_law rvm_model_law(const rvm_model *m) {
    return m ? m->law : RVM_LAWS;
}

double rvm_model_get(const rvm_model *m, rvm_model_key key) {
    return m && is_key(key) ? m->number[key].value : NAN;
}

const char *rvm_model_source(const rvm_model *m, rvm_model_key key, uint32_t *line) {
    if (!m || !is_key(key)) return NULL;
    if (line) *line = m->number[key].line;
    return m->number[key].source;
}

rvm_status rvm_model_set(rvm_model *m, rvm_model_key key, double value, rvm_error *err) {
    static const char source[] = "assumption: set by the caller";
    RVM__NEEDS(m);
    if (!is_key(key)) return rvm__fail(err, RVM_ERR_ARGUMENT, NULL, 0, 0, "no number of a model has number %d", (int)key);
    if (!rvm__model_takes(key, value))
        return rvm__fail(err, RVM_ERR_ARGUMENT, NULL, 0, 0, "%s cannot be %g: it is finite and %s", keys[key].name, value,
                         rvm__model_range(key));
    char *copy = rvm__strdup(&m->al, source, sizeof source - 1);
    if (!copy) return rvm__fail_memory(err);
    if (m->number[key].source) rvm__strfree(&m->al, m->number[key].source);
    m->number[key] = (struct rvm__number){value, copy, m->number[key].line};
    return RVM_OK;
}
