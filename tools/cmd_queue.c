/* cmd_queue.c: rvm queue: a script drives a device; what it left in host memory, and what that cost. */
#include "cost.h"
#include "npy.h"
#include "number.h"
#include "queue.h"

#include <stdlib.h>
#include <string.h>

/* Memory of the host, by name. */
typedef struct host {
    char name[128];
    rvm_arg *arg, own; /* arg: a parameter's, else own */
    bool written;
} host;

typedef struct job {
    tool *t;
    queue_script script;
    host *hosts;
    size_t nhosts, cap;
    rvm_queued *queue;
    rvm_device *device;
    cost *cost;
} job;

/* ---- names ---- */

/* "x": a parameter's value; "x_b": its gradient, where no parameter is called so. */
static rvm_status find_place(job *x, uint32_t line, const char *name, uint32_t *param, bool *gradient) {
    const values *v = &x->t->v;
    const size_t stem = shadow_stem(name);
    nearest near = {.wanted = name};
    *gradient = false;
    for (*param = 0; *param < v->n; ++*param) {
        if (!strcmp(v->info[*param].name, name)) return RVM_OK;
        nearest_offer(&near, v->info[*param].name);
    }
    *gradient = stem;
    for (*param = 0; *gradient && *param < v->n; ++*param)
        if (strlen(v->info[*param].name) == stem && !strncmp(v->info[*param].name, name, stem)) return RVM_OK;
    return queue_fail(&x->t->err, RVM_ERR_ARGUMENT, &x->script, line, "`%s` has no parameter `%s`%s%s%s",
                      rvm_program_function_name(x->t->program, x->t->fn), name, near.best ? "; did you mean `" : "",
                      near.best ? near.best : "", near.best ? "`?" : "");
}

static host *find_host(const job *x, const char *name) {
    for (size_t k = 0; k < x->nhosts; k++)
        if (!strcmp(x->hosts[k].name, name)) return &x->hosts[k];
    return NULL;
}

/* There is room for all that the script names. */
static host *add_host(job *x, const char *name) {
    host *h = &x->hosts[x->nhosts++];
    snprintf(h->name, sizeof h->name, "%s", name);
    h->arg = &h->own;
    return h;
}

/* Zeros, of the shape of a parameter. */
static rvm_status make_host(job *x, const char *name, uint32_t param, host **out) {
    const rvm_arg *like = &x->t->v.arg[param];
    *out = add_host(x, name);
    (*out)->own = (rvm_arg){.type = like->type, .ndim = like->ndim};
    return like->ndim ? arg_allocate(&(*out)->own, like->shape, &x->t->err) : RVM_OK;
}

/* ---- host memory ---- */

/* An error about a value has the script's place. */
static rvm_status place_error(job *x, rvm_status st, uint32_t line) {
    rvm_error *e = &x->t->err;
    if (!st || e->line || e->file[0]) return st;
    snprintf(e->file, sizeof e->file, "%s", x->script.name);
    e->line = line;
    return st;
}

/* Which line of the script is to blame: one whose value cannot be read by itself, else the program's. */
static rvm_status blame(job *x, rvm_status st) {
    tool *t = x->t;
    const rvm_error why = t->err;
    for (size_t k = 0; k < x->script.nvalues; k++) {
        rvm_param_info info;
        rvm_error e;
        const char *word = x->script.values[k].word, *equals = strchr(word, '=');
        for (uint32_t i = 0; rvm_program_param(t->program, t->fn, i, &info) == RVM_OK; i++) {
            rvm_arg a = {.type = info.type, .ndim = info.ndim};
            if (strlen(info.name) != (size_t)(equals - word) || strncmp(info.name, word, (size_t)(equals - word))) continue;
            const bool bad = literal_read(&t->reading, &info, equals + 1, &a, &e);
            arg_free(&a);
            if (bad && !e.file[0]) return place_error(x, st, x->script.values[k].line);
        }
    }
    t->err = why;
    return place_error(x, st, 1);
}

/* Parameters, from the script and from the command's words. */
static rvm_status read_parameters(job *x) {
    tool *t = x->t;
    char **words = calloc(x->script.nvalues + (size_t)t->nwords + 1, sizeof *words);
    int n = 0;
    if (!words) return tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    for (size_t k = 0; k < x->script.nvalues; k++)
        if (tool_takes(t, t->fn, x->script.values[k].word)) words[n++] = x->script.values[k].word;
    rvm_status st = values_read(&t->v, &t->reading, t->fn, words, n, &t->err);
    free(words);
    if (st) return blame(x, st);
    for (uint32_t k = 0; k < t->v.n; k++) add_host(x, t->v.info[k].name)->arg = &t->v.arg[k];
    return RVM_OK;
}

/* Values of gradients: host x_b = VALUE. */
static rvm_status read_gradient(job *x, const queue_value *v) {
    char name[128];
    uint32_t param;
    bool gradient;
    host *h;
    const char *equals = strchr(v->word, '=');
    snprintf(name, sizeof name, "%.*s", (int)(equals - v->word), v->word);
    rvm_status st = find_place(x, v->line, name, &param, &gradient);
    if (st || !gradient) return st;
    if (find_host(x, name))
        return queue_fail(&x->t->err, RVM_ERR_FORMAT, &x->script, v->line, "`%s` has a value already", name);
    h = add_host(x, name);
    h->own = (rvm_arg){.type = x->t->v.info[param].type, .ndim = x->t->v.info[param].ndim};
    return place_error(x, literal_read(&x->t->reading, &x->t->v.info[param], equals + 1, h->arg, &x->t->err), v->line);
}

/* ---- commands ---- */

static rvm_status bind_line(job *x, const queue_line *l, rvm_queued *q) {
    const bool moves = l->place != NULL;
    const char *name = l->host ? l->host : l->place;
    *q = (rvm_queued){.kind = l->kind, .on = l->on, .file = x->script.name, .line = l->line};
    if (!moves) return RVM_OK;
    rvm_status st = find_place(x, l->line, l->place, &q->param, &q->gradient);
    if (st) return st;
    host *h = find_host(x, name);
    if (!h && l->kind == RVM_QUEUE_LOAD)
        return queue_fail(&x->t->err, RVM_ERR_ARGUMENT, &x->script, l->line,
                          "the host has no memory `%s`: `host %s = VALUE` makes it", name, name);
    if (!h) st = make_host(x, name, q->param, &h);
    h->written = h->written || l->kind != RVM_QUEUE_LOAD;
    q->host = h->arg;
    return st;
}

static rvm_status open_program(job *x) {
    tool *t = x->t;
    int first;
    char *words[] = {x->script.program, x->script.fn, NULL}, **all = t->words;
    const int n = t->nwords;
    t->words = words;
    t->nwords = x->script.fn ? 2 : 1;
    rvm_status st = tool_choose(t, &first);
    t->words = all;
    t->nwords = n;
    return place_error(x, st, 1);
}

static rvm_status prepare(job *x) {
    tool *t = x->t;
    rvm_status st = open_program(x);
    x->hosts = calloc(RVM_MAX_PARAMS + x->script.nvalues + x->script.nlines + 1, sizeof *x->hosts);
    x->queue = calloc(x->script.nlines + 1, sizeof *x->queue);
    if (!st && (!x->hosts || !x->queue)) st = tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    if (!st) st = read_parameters(x);
    for (size_t k = 0; !st && k < x->script.nvalues; k++) st = read_gradient(x, &x->script.values[k]);
    for (size_t k = 0; !st && k < x->script.nlines; k++) st = bind_line(x, &x->script.lines[k], &x->queue[k]);
    if (!st) st = tool_machine(t, &t->machine);
    if (!st) st = rvm_device_new(t->machine, t->fn, t->v.arg, t->v.n, NULL, &x->device, &t->err);
    return st;
}

static rvm_status drive(job *x) {
    tool *t = x->t;
    costed *run = &x->cost->run;
    progress_begin(&t->progress, t->machine);
    rvm_status st = rvm_device_run(x->device, x->queue, (uint32_t)x->script.nlines, &t->err);
    progress_end(&t->progress);
    if (!st) st = rvm_counts_new(NULL, &run->counts, &t->err);
    if (!st) st = rvm_device_counts(x->device, run->counts, &t->err);
    snprintf(run->name, sizeof run->name, "%s", x->script.name);
    return st;
}

/* ---- results ---- */

static rvm_status save(job *x, const char *word) {
    const char *equals = strchr(word, '=');
    char name[128];
    snprintf(name, sizeof name, "%.*s", equals ? (int)(equals - word) : 0, word);
    const host *h = find_host(x, name);
    if (!equals) return tool_fail(x->t, RVM_ERR_USAGE, "--save NAME=FILE.npy, not `%s`", word);
    if (!h) return tool_fail(x->t, RVM_ERR_ARGUMENT, "--save: the host has no memory `%s`", name);
    return npy_write(equals + 1, h->arg, NULL, false, &x->t->err);
}

static void print_text(const job *x) {
    for (size_t k = 0; k < x->nhosts; k++) {
        if (!x->hosts[k].written) continue;
        printf("%s = ", x->hosts[k].name);
        output_value(stdout, x->hosts[k].arg, NO_SHADOW);
        putchar('\n');
    }
    cost_text(stdout, x->cost);
}

static void print_json(const job *x) {
    json j;
    tool_json_begin(&j, x->t, RVM_OK);
    json_key(&j, "host");
    json_open(&j, '{');
    for (size_t k = 0; k < x->nhosts; k++)
        if (x->hosts[k].written) json_key(&j, x->hosts[k].name), output_json_value(&j, x->hosts[k].arg, NO_SHADOW);
    json_close(&j, '}');
    cost_json(&j, x->cost);
    tool_json_end(&j);
}

static bool write_counts(FILE *out, const void *what) {
    const cost *c = what;
    return !rvm_counts_write(c->run.counts, out, &c->t->err);
}

static rvm_status print(job *x) {
    tool *t = x->t;
    rvm_status st = RVM_OK;
    for (size_t k = 0; !st && k < t->o.save.n; k++) st = save(x, t->o.save.item[k]);
    if (!st && t->o.counts) st = write_printed(t, t->o.counts, write_counts, x->cost);
    if (!st && t->o.svg) st = write_printed(t, t->o.svg, cost_plot, x->cost);
    if (st) return st;
    if (t->o.json)
        print_json(x);
    else
        print_text(x);
    return RVM_OK;
}

rvm_status command_QUEUE(tool *t) {
    job x = {.t = t, .cost = calloc(1, sizeof *x.cost)};
    if (!x.cost) return tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    x.cost->t = t;
    rvm_status st = cost_models_open(x.cost);
    if (!st) st = queue_read(t->words[0], &x.script, &t->err);
    if (!st) st = prepare(&x);
    if (!st) st = drive(&x);
    if (!st) st = print(&x);
    rvm_device_free(x.device);
    for (size_t k = 0; k < x.nhosts; k++) arg_free(&x.hosts[k].own);
    free(x.hosts);
    free(x.queue);
    queue_script_free(&x.script);
    cost_runs_free(x.cost);
    cost_models_close(x.cost);
    free(x.cost);
    return st;
}
