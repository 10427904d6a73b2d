#include "processors.h"

#include <stdio.h>
#include <string.h>

#include "module.h"
#include "support.h"

#if defined(__x86_64__)
#define KIND         "x86_64"
#define HAS(feature) &&__builtin_cpu_supports(feature)
#else
#define KIND ""
#define HAS(feature)
#endif

typedef struct processor {
    const char *kind, *name;
    bool runs; /* here */
} processor;

rvm_status rvm__processor_find(const char *name, bool here, const char **known, rvm_error *err) {
    const processor all[] = {
        {"", RVM__CPU_NATIVE, true},
#define PROCESSOR(kind, name, features) {kind, name, true features},
#include "processors.def"
#undef PROCESSOR
    };
    char names[120] = "";
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        const processor *p = &all[k];
        if (*p->kind && strcmp(p->kind, KIND) != 0) continue;
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", *names ? ", " : "", p->name);
        if (strcmp(p->name, name) != 0) continue;
        *known = p->name;
        if (!here || p->runs) return RVM_OK;
        return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "code for %s does not run on this processor", name);
    }
    return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "no processor `%.60s` is known here, but %s", name, names);
}
