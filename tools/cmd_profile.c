/* cmd_profile.c: rvm profile: a run of a function, forward, backward or as a gradient, and what it counted; also where the
 * run fails. */
#include "profiled.h"

#include <stdlib.h>
#include <string.h>

enum format { TEXT, JSON, CSV, FOLDED, SPEEDSCOPE, CALLGRIND, FORMATS };
static const char *const names[FORMATS] = {"text", "json", "csv", "folded", "speedscope", "callgrind"};

static rvm_status choose_format(tool *t, enum format *format) {
    const char *name = t->o.format ? t->o.format : t->o.json ? "json" : "text";
    int k = 0;
    while (k < FORMATS && strcmp(name, names[k]) != 0) k++;
    *format = (enum format)k;
    if (k == FORMATS)
        return tool_fail(t, RVM_ERR_USAGE, "--format is text, json, csv, folded, speedscope or callgrind, not `%s`", name);
    if (t->o.json && k != JSON) return tool_fail(t, RVM_ERR_USAGE, "--json is --format json, not %s", name);
    if (t->o.backward && t->o.of)
        return tool_fail(t, RVM_ERR_USAGE, "--backward and --of: is the run back to be counted, or the gradient?");
    if (t->o.wrt && !t->o.of) return tool_fail(t, RVM_ERR_USAGE, "--wrt goes with --of NAME: what is differentiated?");
    t->o.json = k == JSON && !t->o.output;
    return RVM_OK;
}

static rvm_status run(tool *t) {
    bool wrt[RVM_MAX_PARAMS + 1] = {0};
    uint32_t of = 0;
    size_t element = 0;
    rvm_status st = t->o.of ? tool_choose_gradient(t, wrt, &of, &element) : RVM_OK;
    if (st) return st;
    if (t->o.of) arg_set_shadow(&t->v.arg[of], element, rvm_scalar_from_double(t->v.info[of].type, 1));
    progress_begin(&t->progress, t->machine);
    if (t->o.of)
        st = rvm_gradient(t->machine, t->fn, t->v.arg, t->v.n, &t->err);
    else if (t->o.backward)
        st = rvm_uncall(t->machine, t->fn, t->v.arg, t->v.n, &t->err);
    else
        st = rvm_call(t->machine, t->fn, t->v.arg, t->v.n, &t->err);
    progress_end(&t->progress);
    return st;
}

static void print(const profiled *p, enum format format, rvm_status ran) {
    json j = {.out = p->out};
    switch (format) {
    case TEXT: profile_text(p); break;
    case JSON:
        if (p->t->o.json)
            tool_json_begin(&j, p->t, ran);
        else
            json_open(&j, '{');
        profile_json(&j, p);
        if (p->t->o.json) {
            tool_json_end(&j);
            break;
        }
        json_close(&j, '}');
        fputc('\n', p->out);
        break;
    case CSV: profile_csv(p); break;
    case FOLDED: profile_folded(p); break;
    case SPEEDSCOPE: profile_speedscope(p); break;
    case CALLGRIND: profile_callgrind(p); break;
    case FORMATS: break;
    }
}

/* Into the file of -o, whole, or not at all. */
static rvm_status write_file(tool *t, profiled *p, enum format format, rvm_status ran) {
    char *text = NULL;
    size_t size = 0;
    p->out = open_memstream(&text, &size);
    if (!p->out) return tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    print(p, format, ran);
    const bool good = !fclose(p->out);
    const rvm_status st =
        good ? rvm_file_write(t->o.output, text, size, &t->err) : tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    free(text);
    return st;
}

rvm_status command_PROFILE(tool *t) {
    enum format format;
    rvm_profile *f = NULL;
    char of[300];
    rvm_status st = choose_format(t, &format);
    if (!t->o.engine) t->o.engine = "interp";
    if (!st) st = tool_prepare(t);
    if (st) return st;
    const rvm_status ran = run(t);
    const rvm_error why = t->err;
    snprintf(of, sizeof of, "%s%s%s%s", rvm_program_function_name(t->program, t->fn), t->o.backward ? ", backward" : "",
             t->o.of ? ", then its sweep" : "", ran ? ", up to an error" : "");
    if ((st = rvm_profile_new(t->machine, &f, &t->err))) return st;
    profiled p = {.t = t, .f = f, .of = of, .out = stdout};
    if (t->o.output)
        st = write_file(t, &p, format, ran);
    else
        print(&p, format, ran);
    rvm_profile_free(f);
    if (ran) t->err = why;
    return ran ? ran : st;
}
