/* profile_paths.c: call paths in the formats of others' tools: folded stacks (flamegraph.pl, inferno), speedscope's JSON,
 * callgrind's format (callgrind_annotate, KCachegrind). A mode is the bottom of a stack in the first, a profile of its own
 * in the second, an event in the third. */
#include "profiled.h"

#include <stdlib.h>

static const char *name_of(const profiled *p, uint32_t fn) {
    return rvm_program_function_name(p->t->program, fn);
}

/* ---- folded stacks ---- */

static void print_stack(const profiled *p, uint32_t k) {
    rvm_profile_path path;
    if (!rvm_profile_path_at(p->f, k, &path)) return;
    if (path.parent >= 0) print_stack(p, (uint32_t)path.parent);
    fprintf(p->out, ";%s", name_of(p, path.fn));
}

void profile_folded(const profiled *p) {
    rvm_profile_path path;
    for (int mode = 0; mode < RVM_PROFILE_MODES; mode++)
        for (uint32_t k = 0; rvm_profile_path_at(p->f, k, &path); k++) {
            const uint64_t n = profile_of_mode(&path.own, mode);
            if (!n) continue;
            fputs(rvm_profile_mode_name((rvm_profile_mode)mode), p->out);
            print_stack(p, k);
            fprintf(p->out, " %llu\n", (unsigned long long)n);
        }
}

/* ---- speedscope ---- */

static void json_frames(json *j, const profiled *p) {
    json_key(j, "shared");
    json_open(j, '{');
    json_key(j, "frames");
    json_open(j, '[');
    for (uint32_t fn = 0; fn < rvm_program_function_count(p->t->program); fn++) {
        const char *file;
        uint32_t line;
        rvm_program_position(p->t->program, fn, 0, &file, &line, NULL);
        json_open(j, '{');
        json_key(j, "name"), json_text(j, name_of(p, fn));
        if (file) json_key(j, "file"), json_text(j, file);
        if (file) json_key(j, "line"), json_uint(j, line);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}

static void json_stack(json *j, const profiled *p, uint32_t k) {
    rvm_profile_path path;
    if (!rvm_profile_path_at(p->f, k, &path)) return;
    if (path.parent >= 0) json_stack(j, p, (uint32_t)path.parent);
    json_uint(j, path.fn);
}

static void json_mode(json *j, const profiled *p, int mode, uint64_t all) {
    rvm_profile_path path;
    json_open(j, '{');
    json_key(j, "type"), json_text(j, "sampled");
    json_key(j, "name"), json_text(j, rvm_profile_mode_name((rvm_profile_mode)mode));
    json_key(j, "unit"), json_text(j, "none");
    json_key(j, "startValue"), json_uint(j, 0);
    json_key(j, "endValue"), json_uint(j, all);
    json_key(j, "samples");
    json_open(j, '[');
    for (uint32_t k = 0; rvm_profile_path_at(p->f, k, &path); k++) {
        if (!profile_of_mode(&path.own, mode)) continue;
        json_open(j, '[');
        json_stack(j, p, k);
        json_close(j, ']');
    }
    json_close(j, ']');
    json_key(j, "weights");
    json_open(j, '[');
    for (uint32_t k = 0; rvm_profile_path_at(p->f, k, &path); k++)
        if (profile_of_mode(&path.own, mode)) json_uint(j, profile_of_mode(&path.own, mode));
    json_close(j, ']');
    json_close(j, '}');
}

void profile_speedscope(const profiled *p) {
    json j = {.out = p->out};
    rvm_profile_counts total;
    rvm_profile_total(p->f, &total);
    json_open(&j, '{');
    json_key(&j, "$schema"), json_text(&j, "https://www.speedscope.app/file-format-schema.json");
    json_key(&j, "exporter"), json_text(&j, "rvm " RVM_VERSION_STRING);
    json_key(&j, "name"), json_text(&j, p->of);
    json_frames(&j, p);
    json_key(&j, "profiles");
    json_open(&j, '[');
    for (int mode = 0; mode < RVM_PROFILE_MODES; mode++)
        if (profile_of_mode(&total, mode)) json_mode(&j, p, mode, profile_of_mode(&total, mode));
    json_close(&j, ']');
    json_close(&j, '}');
    fputc('\n', p->out);
}

/* ---- callgrind ---- */

typedef struct grind {
    const profiled *p;
    int modes[RVM_PROFILE_MODES], nmodes;
    rvm_profile_counts *total; /* by path, with all below it */
    uint32_t npaths;
} grind;

static void print_costs(const grind *g, const rvm_profile_counts *c) {
    fprintf(g->p->out, " %llu", (unsigned long long)rvm_profile_sum(c));
    for (int k = 0; k < g->nmodes; k++) fprintf(g->p->out, " %llu", (unsigned long long)profile_of_mode(c, g->modes[k]));
    fputc('\n', g->p->out);
}

static const char *file_of(const profiled *p, uint32_t fn, uint32_t pc, uint32_t *line) {
    const char *file;
    rvm_program_position(p->t->program, fn, pc, &file, line, NULL);
    return file ? file : "???";
}

/* What the function ran itself; lines of other files than its own are said to be included there. */
static void print_own(const grind *g, uint32_t fn) {
    uint32_t line;
    const char *home = file_of(g->p, fn, 0, &line), *at = home;
    rvm_profile_counts c;
    fprintf(g->p->out, "\nfl=%s\nfn=%s\n", home, name_of(g->p, fn));
    for (uint32_t pc = 0; rvm_profile_instruction(g->p->f, fn, pc, &c); pc++) {
        if (!rvm_profile_sum(&c)) continue;
        const char *file = file_of(g->p, fn, pc, &line);
        if (file != at) fprintf(g->p->out, "fi=%s\n", at = file);
        fprintf(g->p->out, "%u", line);
        print_costs(g, &c);
    }
    if (at != home) fprintf(g->p->out, "fe=%s\n", home);
}

static void print_call(const grind *g, uint32_t fn, uint32_t pc, uint32_t callee, uint64_t calls,
                       const rvm_profile_counts *cost) {
    uint32_t line, first;
    const char *home = file_of(g->p, callee, 0, &first);
    file_of(g->p, fn, pc, &line);
    fprintf(g->p->out, "cfi=%s\ncfn=%s\ncalls=%llu %u\n%u", home, name_of(g->p, callee), (unsigned long long)calls, first,
            line);
    print_costs(g, cost);
}

/* Calls from the function, of each path; those back to a path cost what that has already. */
static void print_calls(const grind *g, uint32_t fn) {
    const rvm_profile_counts none = {0};
    rvm_profile_path path, parent;
    rvm_profile_recursion r;
    for (uint32_t k = 0; rvm_profile_path_at(g->p->f, k, &path); k++)
        if (path.parent >= 0 && rvm_profile_path_at(g->p->f, (uint32_t)path.parent, &parent) && parent.fn == fn &&
            path.calls)
            print_call(g, fn, path.call_pc, path.fn, path.calls, &g->total[k]);
    for (uint32_t k = 0; rvm_profile_recursion_at(g->p->f, k, &r); k++)
        if (rvm_profile_path_at(g->p->f, r.from, &parent) && parent.fn == fn && rvm_profile_path_at(g->p->f, r.to, &path))
            print_call(g, fn, r.call_pc, path.fn, r.calls, &none);
}

static bool sum_paths(grind *g) {
    rvm_profile_path path;
    while (rvm_profile_path_at(g->p->f, g->npaths, &path)) g->npaths++;
    g->total = calloc(g->npaths + 1, sizeof *g->total);
    for (uint32_t k = g->npaths; g->total && k-- > 0;) {
        if (!rvm_profile_path_at(g->p->f, k, &path)) continue;
        for (int mode = 0; mode < RVM_PROFILE_MODES; mode++)
            for (int way = 0; way < 2; way++) {
                g->total[k].n[mode][way] += path.own.n[mode][way];
                if (path.parent >= 0) g->total[path.parent].n[mode][way] += g->total[k].n[mode][way];
            }
    }
    return g->total;
}

void profile_callgrind(const profiled *p) {
    grind g = {.p = p};
    rvm_profile_counts total;
    rvm_profile_function f;
    if (!sum_paths(&g)) return;
    rvm_profile_total(p->f, &total);
    for (int mode = 0; mode < RVM_PROFILE_MODES; mode++)
        if (profile_of_mode(&total, mode)) g.modes[g.nmodes++] = mode;
    fprintf(p->out,
            "# callgrind format\nversion: 1\ncreator: rvm %s\ncmd: %s\npart: 1\npositions: line\nevents: instructions",
            RVM_VERSION_STRING, p->of);
    for (int k = 0; k < g.nmodes; k++) fprintf(p->out, " %s", rvm_profile_mode_name((rvm_profile_mode)g.modes[k]));
    fputs("\nsummary:", p->out);
    print_costs(&g, &total);
    for (uint32_t fn = 0; rvm_profile_function_at(p->f, fn, &f); fn++) {
        if (!f.total) continue;
        print_own(&g, fn);
        print_calls(&g, fn);
    }
    free(g.total);
}
