/* profile_paths.c: call paths: as a tree, and in callgrind's format (callgrind_annotate, KCachegrind), where a mode is an
 * event. */
#include "profiled.h"

#include <stdlib.h>

static const char *name_of(const profiled *p, uint32_t fn) {
    return rvm_program_function_name(p->t->program, fn);
}

/* ---- the tree ---- */

static bool tree_allocate(call_tree *tree, const profiled *p) {
    rvm_profile_path path;
    *tree = (call_tree){.of = p->of, .nfns = rvm_program_function_count(p->t->program)};
    while (rvm_profile_path_at(p->f, tree->npaths, &path)) tree->npaths++;
    tree->fns = calloc(tree->nfns + 1, sizeof *tree->fns);
    tree->paths = calloc(tree->npaths + 1, sizeof *tree->paths);
    return tree->fns && tree->paths;
}

bool call_tree_of(call_tree *tree, const profiled *p) {
    rvm_profile_path path;
    if (!tree_allocate(tree, p)) return false;
    for (uint32_t fn = 0; fn < tree->nfns; fn++) {
        call_fn *f = &tree->fns[fn];
        f->name = name_of(p, fn);
        rvm_program_position(p->t->program, fn, 0, &f->file, &f->line, NULL);
    }
    for (uint32_t k = 0; rvm_profile_path_at(p->f, k, &path); k++)
        tree->paths[k] = (call_path){.parent = path.parent, .fn = path.fn, .own = path.own};
    return true;
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
