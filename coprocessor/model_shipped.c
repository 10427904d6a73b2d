/* model_shipped.c: the models that come with the library, by name. */
#include "coprocessor.h"

#include <string.h>

const char *rvm_model_shipped_name(uint32_t k, const char **text) {
    uint32_t n = 0;
    while (n < k && rvm__shipped_models[n].name) n++;
    if (text) *text = rvm__shipped_models[n].text;
    return rvm__shipped_models[n].name;
}

static rvm_status no_such_model(const char *name, rvm_error *err) {
    char names[200] = "";
    size_t n = 0;
    for (const rvm__shipped *s = rvm__shipped_models; s->name && n < sizeof names; s++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : "", s->name);
    return rvm__fail(err, RVM_ERR_NAME, NULL, 0, 0, "no model `%.60s` comes with the library, but %s do", name, names);
}

rvm_status rvm_model_shipped(const char *name, const rvm_allocator *al, rvm_model **out, rvm_error *err) {
    RVM__NEEDS(out);
    *out = NULL;
    RVM__NEEDS(name);
    for (const rvm__shipped *s = rvm__shipped_models; s->name; s++)
        if (!strcmp(s->name, name)) return rvm_model_parse(s->text, s->size, name, al, out, err);
    return no_such_model(name, err);
}
