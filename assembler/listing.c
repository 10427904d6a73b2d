/* listing.c: the source with, under each line, the instructions that it became. */
#include "asm.h"
#include "program.h"
#include "support.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
    uint32_t line, fn, pc;
} entry;

static int by_line(const void *p, const void *q) {
    const entry *a = p, *b = q;
    if (a->line != b->line) return a->line < b->line ? -1 : 1;
    if (a->fn != b->fn) return a->fn < b->fn ? -1 : 1;
    return a->pc < b->pc ? -1 : a->pc > b->pc;
}

/* Every instruction whose position is in the file of this name. */
static bool collect(const rvm_program *p, const char *path, entry **list, uint32_t *count, uint32_t *cap) {
    for (uint32_t fn = 0; fn < p->nfunctions; fn++) {
        const rvm_function *f = p->functions + fn;
        RVM__EACH_INSN(x, f) {
            rvm_position at = f->positions[x.pc];
            if (at.file >= p->nfiles || strcmp(p->files[at.file], path) != 0) continue;
            void *grown = *list;
            if (!rvm__grow(&p->al, &grown, cap, *count + 1, sizeof **list)) return false;
            *list = grown;
            (*list)[(*count)++] = (entry){at.line, fn, x.pc};
        }
    }
    if (*count) qsort(*list, *count, sizeof **list, by_line);
    return true;
}

static void write_entry(const rvm_program *p, const entry *e, FILE *out) {
    char text[1024];
    rvm_program_instruction_text(p, e->fn, e->pc, text, sizeof text);
    fprintf(out, "%16u  %s\n", e->pc, text);
}

rvm_status rvm_listing(const rvm_program *p, const char *path, FILE *out, rvm_error *err) {
    RVM__NEEDS(p, path, out);
    entry *list = NULL;
    uint32_t count = 0, cap = 0, next = 0, line = 0;
    char *text = NULL;
    size_t size = 0;
    rvm_status status = RVM_ERR_MEMORY;
    FILE *in = fopen(path, "r");
    if (!in) return rvm__fail(err, RVM_ERR_IO, path, 0, 0, "cannot read the file: %s", strerror(errno));
    if (!collect(p, path, &list, &count, &cap)) goto fail;
    for (ssize_t n; (n = getline(&text, &size, in)) >= 0;) {
        if (n && text[n - 1] == '\n') text[n - 1] = 0;
        fprintf(out, "%6u  %s\n", ++line, text);
        for (; next < count && list[next].line <= line; next++) write_entry(p, list + next, out);
    }
    status = ferror(in) || ferror(out) ? RVM_ERR_IO : RVM_OK;
fail:
    if (status) rvm__fail(err, status, path, 0, 0, status == RVM_ERR_IO ? "cannot read or write" : "out of memory");
    rvm__realloc(&p->al, list, cap * sizeof *list, 0);
    free(text);
    fclose(in);
    return status;
}
