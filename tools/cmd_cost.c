/* cmd_cost.c: rvm cost: what a run would take on a reversible co-processor, by models of technologies. */
#include "cost.h"

#include <stdlib.h>
#include <string.h>

enum format { TEXT, JSON, CSV, FORMATS };
static const char *const names[FORMATS] = {"text", "json", "csv"};

static rvm_status choose_format(tool *t, enum format *format) {
    const char *name = t->o.format ? t->o.format : t->o.json ? "json" : "text";
    int k = 0;
    while (k < FORMATS && strcmp(name, names[k]) != 0) k++;
    *format = (enum format)k;
    if (k == FORMATS) return tool_fail(t, RVM_ERR_USAGE, "--format is text, json or csv, not `%s`", name);
    if (t->o.json && k != JSON) return tool_fail(t, RVM_ERR_USAGE, "--json is --format json, not %s", name);
    t->o.json = k == JSON && !t->o.output;
    return RVM_OK;
}

static bool print_object(FILE *out, const void *what) {
    const cost *c = what;
    json j = {.out = out};
    if (c->t->o.json)
        tool_json_begin(&j, c->t, RVM_OK);
    else {
        json_open(&j, '{');
        json_key(&j, "ok"), json_bool(&j, true);
    }
    cost_json(&j, c);
    if (c->t->o.json) return tool_json_end(&j), true;
    json_close(&j, '}');
    return fputc('\n', out) != EOF;
}

static bool write_counts(FILE *out, const void *what) {
    const cost *c = what;
    return !rvm_counts_write(c->run.counts, out, &c->t->err);
}

static rvm_status print_all(cost *c, enum format format) {
    static printer *const printers[FORMATS] = {cost_text, print_object, cost_csv};
    tool *t = c->t;
    rvm_status st = RVM_OK;
    if (t->o.counts) st = write_printed(t, t->o.counts, write_counts, c);
    if (!st && t->o.svg) st = write_printed(t, t->o.svg, cost_plot, c);
    if (!st && t->o.output) return write_printed(t, t->o.output, printers[format], c);
    if (!st) printers[format](stdout, c);
    return st;
}

rvm_status command_COST(tool *t) {
    enum format format;
    cost *c = calloc(1, sizeof *c);
    if (!c) return tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    c->t = t;
    rvm_status st = choose_format(t, &format);
    if (!st) st = cost_models_open(c);
    if (!st) st = cost_runs(c);
    if (!st) st = print_all(c, format);
    cost_runs_free(c);
    cost_models_close(c);
    free(c);
    return st;
}
