#include "live.h"

#include <stdlib.h>
#include <string.h>

/* ---- the worker ---- */

static int by_count(const void *a, const void *b) {
    const rvm_profile_line *x = a, *y = b;
    const uint64_t m = rvm_profile_sum(&x->own), n = rvm_profile_sum(&y->own);
    return (m < n) - (m > n);
}

static uint32_t file_number(const rvm_program *p, const char *file) {
    const char *name;
    for (uint32_t k = 0; (name = rvm_program_file(p, k)); k++)
        if (file && strcmp(name, file) == 0) return k;
    return 0;
}

static void count_lines(live *to, const rvm_profile *f, const rvm_program *p) {
    enum { MOST = 4096 };
    rvm_profile_line *lines = calloc(MOST, sizeof *lines);
    uint32_t n = 0;
    while (lines && n < MOST && rvm_profile_line_at(f, n, &lines[n])) n++;
    if (n) qsort(lines, n, sizeof *lines, by_count);
    if (n > LIVE_LINES) n = LIVE_LINES;
    for (uint32_t k = 0; k < n; k++)
        to->lines[k] = (live_line){file_number(p, lines[k].file), lines[k].line, rvm_profile_sum(&lines[k].own)};
    to->nlines = n;
    free(lines);
}

typedef struct ranked {
    uint64_t total;
    uint32_t path;
} ranked;

/* No path has more than its parent, which stands before it: so the first ones have their parents among them. */
static int by_total(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    return x->total != y->total ? (x->total < y->total) - (x->total > y->total) : (x->path > y->path) - (x->path < y->path);
}

static int by_path(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    return (x->path > y->path) - (x->path < y->path);
}

static live_path path_of(const rvm_profile_path *p, const ranked *all, uint32_t before) {
    live_path to = {.parent = -1, .fn = p->fn};
    for (uint32_t k = 0; k < before && p->parent >= 0; k++)
        if (all[k].path == p->parent) to.parent = (int32_t)k;
    for (int mode = 0; mode < RVM_PROFILE_MODES; mode++) to.own[mode] = p->own.n[mode][0] + p->own.n[mode][1];
    return to;
}

static void count_paths(live *to, const rvm_profile *f) {
    enum { MOST = 1 << 16 };
    ranked *all = malloc(MOST * sizeof *all);
    rvm_profile_path p;
    uint32_t n = 0;
    for (; all && n < MOST && rvm_profile_path_at(f, n, &p); n++) all[n] = (ranked){p.total, n};
    if (n) qsort(all, n, sizeof *all, by_total);
    if (n > LIVE_PATHS) n = LIVE_PATHS;
    if (n) qsort(all, n, sizeof *all, by_path);
    for (uint32_t k = 0; k < n && rvm_profile_path_at(f, all[k].path, &p); k++) to->paths[k] = path_of(&p, all, k);
    to->npaths = n;
    free(all);
}

void live_count(live *to, rvm_machine *m) {
    rvm_profile *f;
    if (rvm_profile_new(m, &f, NULL)) return;
    count_lines(to, f, rvm_machine_program(m));
    count_paths(to, f);
    rvm_profile_free(f);
}

/* ---- the server ---- */

static void write_lines(json *j, const live *page) {
    json_key(j, "lines"), json_open(j, '[');
    for (uint32_t k = 0; k < page->nlines && k < LIVE_LINES; k++) {
        json_open(j, '[');
        json_uint(j, page->lines[k].file), json_uint(j, page->lines[k].line), json_uint(j, page->lines[k].count);
        json_close(j, ']');
    }
    json_close(j, ']');
}

static void write_paths(json *j, const live *page) {
    json_key(j, "paths"), json_open(j, '[');
    for (uint32_t k = 0; k < page->npaths && k < LIVE_PATHS; k++) {
        const live_path *p = &page->paths[k];
        json_open(j, '[');
        if (p->parent >= 0 && p->parent < (int32_t)k)
            json_uint(j, (uint64_t)p->parent);
        else
            json_none(j);
        json_uint(j, p->fn);
        for (int mode = 0; mode < RVM_PROFILE_MODES; mode++) json_uint(j, p->own[mode]);
        json_close(j, ']');
    }
    json_close(j, ']');
}

void live_write(json *j, const live *page) {
    json_key(j, "instructions"), json_uint(j, page->instructions);
    json_key(j, "share");
    if (page->share >= 0 && page->share <= 1)
        json_f64(j, page->share);
    else
        json_none(j);
    write_lines(j, page);
    write_paths(j, page);
}
