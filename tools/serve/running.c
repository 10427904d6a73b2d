/* running.c: a run: the command of that name, on a program that is at hand, with its JSON for an answer. */
#include "commanded.h"
#include "profiled.h"
#include "tasks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- while it runs ---- */

typedef struct running {
    tool t;
    work *w;
    commanded command; /* the run is asked for by words */
    double profiled;   /* when that was told last */
} running;

static bool is_profiled(const tool *t) {
    return t->o.profile || t->command == COMMAND_PROFILE;
}

static bool poll(progress *p, uint64_t instructions) {
    running *r = (running *)(void *)((char *)p - offsetof(tool, progress));
    work *w = r->w;
    const double now = progress_seconds(p);
    if (instructions < p->latest) p->before += p->latest;
    p->latest = instructions;
    w->live->instructions = p->before + instructions;
    w->live->share = p->machine ? rvm_machine_share(p->machine) : -1;
    if (is_profiled(&r->t) && p->machine && (now > r->profiled + 0.1 || now < r->profiled)) {
        live_count(w->live, p->machine);
        r->profiled = now;
    }
    return w->hook(w);
}
_Static_assert(offsetof(running, t) == 0, "the tool is found from its progress");

/* ---- the answer ---- */

/* What was counted, as JSON: w->more. */
static void write_profile(running *r) {
    work *w = r->w;
    char of[300];
    profiled p = {.t = &r->t, .of = of};
    rvm_profile *f = NULL;
    if (!r->t.machine || rvm_profile_new(r->t.machine, &f, NULL)) return;
    snprintf(of, sizeof of, "%s of %.200s", w->out.kind, w->out.fn);
    FILE *out = open_memstream(&w->more, &w->more_size);
    if (out) {
        json j = {.out = out};
        p.f = f;
        json_open(&j, '{');
        profile_json(&j, &p);
        json_close(&j, '}');
        fclose(out);
    }
    rvm_profile_free(f);
}

static void run(running *r, json_t *request, text_pool *texts) {
    work *w = r->w;
    tool *t = &r->t;
    const bool by_words = commanded_is(request);
    rvm_status st = by_words ? commanded_read(&r->command, t, request, &w->limits, &w->seconds)
                             : request_read(t, request, &w->limits, &w->seconds, texts);
    if (t->o.engine && strcmp(t->o.engine, "interp") == 0) t->jit = NULL;
    if (!t->jit) t->o.engine = "interp";
    if (!st) st = tool_run(t);
    work_name_limit(w, st, &t->err);
    snprintf(w->out.fn, sizeof w->out.fn, "%s", t->chosen ? rvm_program_function_name(t->program, t->fn) : "");
    if (is_profiled(t)) write_profile(r);
    bool idle;
    const rvm_error why = t->err;
    const int status = tool_end(t, st, &idle);
    if (by_words) commanded_end(&r->command, w, st, &why, status);
    w->out.status = (uint32_t)st;
}

void work_run(work *w) {
    json_error_t e;
    char name[WORK_NAME];
    char *words[] = {name, NULL};
    text_pool texts = {0};
    running r = {.w = w, .t = {.words = words, .progress = {.poll = poll}}};
    json_t *request = json_loadb(w->in[0].bytes, w->in[0].size, JSON_REJECT_DUPLICATES, &e);
    FILE *before = stdout;
    if (!request) return work_fail(w, RVM_ERR_SYNTAX, "JSON, line %d, column %d: %s", e.line, e.column, e.text);
    const char *kind = json_string_value(json_object_get(request, "kind"));
    snprintf(w->out.kind, sizeof w->out.kind, "%s", kind ? kind : "run");
    work_program_name(w, name);
    if (!work_at_hand(w, request)) goto done;
    r.t.o = (options){.json = true, .no_include = true};
    r.t.jit = w->jit, r.t.jit_is_lent = w->jit;
    const bool by_words = commanded_is(request);
    if (!work_copy_program(w, &r.t) ||
        !(by_words ? commanded_begin(&r.command) : (stdout = open_memstream(&w->text, &w->text_size)) != NULL)) {
        stdout = before;
        free(r.t.source);
        work_fail(w, RVM_ERR_MEMORY, "out of memory");
        goto done;
    }
    run(&r, request, &texts);
    if (!by_words) fclose(stdout), stdout = before;
done:
    text_pool_free(&texts);
    json_decref(request);
}
