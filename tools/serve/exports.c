/* exports.c: kept profiles in the formats of others' tools; a program as its source with the instructions of each line. */
#include "profile_read.h"
#include "tasks.h"

#include <stdlib.h>
#include <string.h>

static const struct format {
    const char *name;
    bool (*print)(const call_tree *tree, FILE *out);
} formats[];

static bool folded(const call_tree *tree, FILE *out) {
    call_tree_folded(tree, out);
    return true;
}

static bool speedscope(const call_tree *tree, FILE *out) {
    call_tree_speedscope(tree, out);
    return true;
}

static const struct format formats[] = {{"folded", folded}, {"speedscope", speedscope}, {"pprof", call_tree_pprof}};

void work_export(work *w) {
    kept_profile kept;
    size_t k = 0;
    const size_t n = sizeof formats / sizeof *formats;
    while (k < n &&
           (strlen(formats[k].name) != w->in[0].size || memcmp(formats[k].name, w->in[0].bytes, w->in[0].size) != 0))
        k++;
    if (k == n) return work_fail(w, RVM_ERR_USAGE, "format is json, folded, speedscope or pprof");
    FILE *out = profile_read(&kept, &w->in[1]) ? open_memstream(&w->text, &w->text_size) : NULL;
    bool good = out && formats[k].print(&kept.tree, out);
    if (out) good = fclose(out) == 0 && good;
    profile_read_free(&kept);
    if (!good) work_fail(w, RVM_ERR_INTERNAL, "the kept profile cannot be read");
}

/* ---- listing ---- */

/* Instructions of the source's own file, by line. */
typedef struct placed {
    uint32_t line, fn, pc;
} placed;

static int by_line(const void *a, const void *b) {
    const placed *x = a, *y = b;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    if (x->fn != y->fn) return x->fn < y->fn ? -1 : 1;
    return x->pc < y->pc ? -1 : x->pc > y->pc;
}

static placed *place_all(const rvm_program *p, size_t *n) {
    size_t all = 0;
    for (uint32_t fn = 0; fn < rvm_program_function_count(p); fn++) all += rvm_program_code_size(p, fn);
    placed *list = calloc(all + 1, sizeof *list);
    const char *own = rvm_program_file(p, 0), *file;
    for (uint32_t fn = 0; list && fn < rvm_program_function_count(p); fn++)
        for (uint32_t pc = 0; pc < rvm_program_code_size(p, fn); pc++) {
            placed *q = &list[*n];
            rvm_program_position(p, fn, pc, &file, &q->line, NULL);
            q->fn = fn, q->pc = pc;
            if (file && own && strcmp(file, own) == 0) ++*n;
        }
    if (list) qsort(list, *n, sizeof *list, by_line);
    return list;
}

static void print_listing(const rvm_program *p, const placed *list, size_t n, const part *source, FILE *out) {
    const char *at = source->bytes, *end = at + source->size;
    size_t k = 0;
    char text[256];
    for (uint32_t line = 1; at < end || k < n; line++) {
        const char *stop = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
        if (!stop) stop = end;
        fprintf(out, "%4u  %.*s\n", line, (int)(stop - at), at);
        for (; k < n && list[k].line <= line; k++) {
            rvm_program_instruction_text(p, list[k].fn, list[k].pc, text, sizeof text);
            fprintf(out, "        %5u  %s\n", list[k].pc, text);
        }
        if (stop == end && list && k < n && list[k].line > line + 100000) break;
        at = stop < end ? stop + 1 : end;
    }
}

void work_listing(work *w) {
    rvm_program *p = NULL;
    rvm_error e;
    size_t n = 0;
    rvm_status st = rvm_program_load(w->in[0].bytes, w->in[0].size, NULL, NULL, &p, &e);
    if (st) return work_fail(w, st, "%s", e.message);
    FILE *out = open_memstream(&w->text, &w->text_size);
    placed *list = place_all(p, &n);
    if (out && list && w->in[1].size)
        print_listing(p, list, n, &w->in[1], out);
    else if (out)
        rvm_program_disassemble(p, -1, out, &e);
    free(list);
    rvm_program_free(p);
    if (out) fclose(out);
    if (!out || !list) work_fail(w, RVM_ERR_MEMORY, "out of memory");
}
