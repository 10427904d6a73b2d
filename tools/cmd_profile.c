/* cmd_profile.c: rvm profile: a run of a function, forward, backward or as a gradient, and what it counted; also where the
 * run fails. */
#include "profiled.h"

#include <stdlib.h>
#include <string.h>

enum format { TEXT, JSON, CSV, FOLDED, SPEEDSCOPE, PPROF, CALLGRIND, FORMATS };
static const char *const names[FORMATS] = {"text", "json", "csv", "folded", "speedscope", "pprof", "callgrind"};

static rvm_status choose_format(tool *t, enum format *format) {
    const char *name = t->o.format ? t->o.format : t->o.json ? "json" : "text";
    int k = 0;
    while (k < FORMATS && strcmp(name, names[k]) != 0) k++;
    *format = (enum format)k;
    if (k == FORMATS)
        return tool_fail(t, RVM_ERR_USAGE, "--format is text, json, csv, folded, speedscope, pprof or callgrind, not `%s`",
                         name);
    if (t->o.json && k != JSON) return tool_fail(t, RVM_ERR_USAGE, "--json is --format json, not %s", name);
    t->o.json = k == JSON && !t->o.output;
    return counted_options(t);
}

typedef struct printing {
    profiled p;
    enum format format;
    rvm_status ran;
} printing;

/* A format of call paths. */
static bool print_tree(const profiled *p, enum format format, FILE *out) {
    call_tree tree;
    bool good = call_tree_of(&tree, p);
    if (good && format == FOLDED)
        call_tree_folded(&tree, out);
    else if (good && format == SPEEDSCOPE)
        call_tree_speedscope(&tree, out);
    else
        good = good && call_tree_pprof(&tree, out);
    call_tree_free(&tree);
    return good;
}

static bool print(FILE *out, const void *what) {
    printing x = *(const printing *)what;
    const profiled *p = &x.p;
    json j = {.out = out};
    x.p.out = out;
    switch (x.format) {
    case TEXT: profile_text(p); break;
    case JSON:
        if (p->t->o.json)
            tool_json_begin(&j, p->t, x.ran);
        else
            json_open(&j, '{');
        profile_json(&j, p);
        if (p->t->o.json) {
            tool_json_end(&j);
            break;
        }
        json_close(&j, '}');
        fputc('\n', out);
        break;
    case CSV: profile_csv(p); break;
    case FOLDED:
    case SPEEDSCOPE:
    case PPROF: return print_tree(p, x.format, out);
    case CALLGRIND: profile_callgrind(p); break;
    case FORMATS: break;
    }
    return true;
}

rvm_status command_PROFILE(tool *t) {
    printing x = {.p = {.t = t}};
    rvm_profile *f = NULL;
    char of[300];
    rvm_status st = choose_format(t, &x.format);
    if (!st) st = tool_prepare(t);
    if (st) return st;
    x.ran = counted_run(t);
    const rvm_error why = t->err;
    counted_text(t, x.ran, of, sizeof of);
    if ((st = rvm_profile_new(t->machine, &f, &t->err))) return st;
    x.p.f = f, x.p.of = of;
    if (t->o.output)
        st = write_printed(t, t->o.output, print, &x);
    else
        st = print(stdout, &x) ? RVM_OK : tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    rvm_profile_free(f);
    if (x.ran) t->err = why;
    return x.ran ? x.ran : st;
}
