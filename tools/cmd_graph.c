/* cmd_graph.c: rvm graph: a function as a picture (graph.h), with the numbers of a run where they are asked for. */
#include "graph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

/* By its name, or as %7 by its number, in the innermost frame. */
static bool find(const rvm_machine *m, const char *name, size_t length, rvm_variable *out) {
    rvm_variable v;
    bool found = false;
    if (*name == '%') return rvm_machine_place(m, 0, (uint32_t)strtoul(name + 1, NULL, 10), out);
    for (uint32_t k = 0; rvm_machine_variable(m, 0, k, &v); k++)
        if (strlen(v.name) == length && !memcmp(v.name, name, length)) *out = v, found = true;
    return found;
}

/* "x" or "x[1, i]" in the innermost frame. False: it is not there, or an array. */
static bool scalar_at(const rvm_machine *m, const char *place, rvm_type *type, rvm_scalar *out) {
    rvm_variable found;
    const size_t length = strcspn(place, "[");
    if (!find(m, place, length, &found)) return false;
    const rvm_scalar *data = found.data;
    int d = 0;
    for (const char *at = place + length; *at == '[' || *at == ','; d++) {
        rvm_type index_type;
        rvm_scalar index;
        char name[48], *end;
        at += 1 + strspn(at + 1, " ");
        index.i = strtoll(at, &end, 10);
        const size_t n = strcspn(at, ",]");
        snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), at);
        if (end != at + n && (!scalar_at(m, name, &index_type, &index) || index_type != RVM_I64)) return false;
        if (d >= found.ndim || index.i < 0 || index.i >= found.shape[d]) return false;
        data += index.i * found.stride[d];
        at += n;
    }
    if (d != found.ndim) return false;
    *type = found.type, *out = found.ndim ? *data : found.value;
    return true;
}

static void note_values(const rvm_machine *m, graph *g, const graph_row *r) {
    for (uint32_t j = r->marks; j < r->marks + r->nmarks; j++) {
        graph_mark *mark = &g->marks[j];
        rvm_type type;
        rvm_scalar value;
        const bool nothing = mark->gone && *mark->place == '%'; /* without a name it is not known to be absent */
        if (!mark->box || nothing || !*mark->place || !scalar_at(m, mark->place, &type, &value)) continue;
        if (type == RVM_I64)
            snprintf(mark->value, sizeof mark->value, "%" PRId64, value.i);
        else
            snprintf(mark->value, sizeof mark->value, "%.6g", type == RVM_FIX ? rvm_fix_to_double(value.i) : value.f);
    }
}

/* The row of an instruction: rows are in its order, but for those of undone parts. */
static const graph_row *row_of(const graph *g, uint32_t pc) {
    for (uint32_t k = 0; k < g->nrows; k++)
        if (g->rows[k].undone == UINT32_MAX && g->rows[k].pc <= pc && pc <= g->rows[k].last) return &g->rows[k];
    return NULL;
}

rvm_status graph_values(tool *t, graph *g) {
    const graph_row **row = calloc(rvm_program_code_size(g->p, g->fn) + 1, sizeof *row);
    const graph_row *now = NULL; /* of the instruction that runs, or of the call that does */
    bool done = false;
    uint64_t steps = 0;
    if (!row) return tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    for (uint32_t pc = 0; pc < rvm_program_code_size(g->p, g->fn); pc++) row[pc] = row_of(g, pc);
    rvm_status st = RVM_OK;
    progress_begin(&t->progress, t->machine);
    while (!st && !done) {
        rvm_location at = {0};
        if (rvm_machine_frames(t->machine) == 1)
            now = rvm_machine_location(t->machine, 0, 1, &at) && at.direction > 0 ? row[at.pc] : NULL;
        st = rvm_machine_step(t->machine, 1, &done, &t->err);
        if (!st && now && rvm_machine_frames(t->machine) == 1) note_values(t->machine, g, now);
        if (progress_interrupted()) st = tool_fail(t, RVM_ERR_CANCELLED, "cancelled");
        if (!st && option_given(&t->o, fuel) && ++steps > t->o.fuel)
            st = tool_fail(t, RVM_ERR_FUEL, "%" PRIu64 " instructions have run, which is the limit (--fuel)", t->o.fuel);
    }
    progress_end(&t->progress);
    free(row);
    return st;
}

/* ---- the command ---- */

static rvm_status write_to(tool *t, const graph *g, FILE *out) {
    const rvm_status st = t->o.data_graph ? graph_dot(g, out) : graph_svg(g, out);
    return st ? tool_fail(t, st, st == RVM_ERR_MEMORY ? "out of memory" : "cannot write the picture") : RVM_OK;
}

static rvm_status write_file(tool *t, const graph *g) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    rvm_status st = out ? write_to(t, g, out) : tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    if (out && fclose(out) && !st) st = tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    if (!st) st = rvm_file_write(t->o.output, text, size, &t->err);
    free(text);
    return st;
}

static void print_json(tool *t, const graph *g) {
    json j;
    uint64_t boxes = 0;
    for (uint32_t k = 0; k < g->nmarks; k++) boxes += g->marks[k].box;
    tool_json_begin(&j, t, RVM_OK);
    json_key(&j, "function"), json_text(&j, rvm_program_function_name(g->p, g->fn));
    json_key(&j, "output"), json_text(&j, t->o.output);
    json_key(&j, "columns"), json_uint(&j, g->ncolumns);
    json_key(&j, "rows"), json_uint(&j, g->nrows);
    json_key(&j, "dots"), json_uint(&j, g->nmarks - boxes);
    json_key(&j, "boxes"), json_uint(&j, boxes);
    json_key(&j, "regions"), json_uint(&j, g->nregions);
    tool_json_end(&j);
}

static rvm_status open_run(tool *t) {
    rvm_status st = tool_prepare(t);
    if (!st) st = rvm_machine_bind(t->machine, t->fn, t->v.arg, t->v.n, RVM_PRIMAL, false, &t->err);
    return st;
}

rvm_status command_GRAPH(tool *t) {
    graph g = {0};
    int first;
    rvm_status st = t->o.with_values ? open_run(t) : tool_choose(t, &first);
    if (!st && !t->o.with_values && first < t->nwords)
        st = tool_fail(t, RVM_ERR_USAGE, "'%s': values are for --values", t->words[first]);
    if (!st && t->o.json && !t->o.output) st = tool_fail(t, RVM_ERR_USAGE, "--json needs -o FILE, where the picture goes");
    if (!st) st = files_check(t);
    if (!st) st = graph_make(t, t->fn, t->o.statements, &g);
    if (!st && t->o.with_values) st = graph_values(t, &g);
    if (!st) st = t->o.output ? write_file(t, &g) : write_to(t, &g, stdout);
    if (!st && t->o.json) print_json(t, &g);
    graph_free(&g);
    return st;
}
