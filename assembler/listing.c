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

/* The next line of a file, without its end. */
typedef struct line {
    const rvm_allocator *al;
    char *text;
    uint32_t cap, length;
} line;

static bool put(line *l, char c) {
    void *grown = l->text;
    if (!rvm__grow(l->al, &grown, &l->cap, l->length + 1, 1)) return false;
    l->text = grown;
    l->text[l->length++] = c;
    return true;
}

/* OK, IO at the end of the file or where it cannot be read, MEMORY. */
static rvm_status read_line(line *l, FILE *in) {
    int c = getc(in);
    if (c == EOF) return RVM_ERR_IO;
    for (l->length = 0; c != EOF && c != '\n'; c = getc(in))
        if (l->length == UINT32_MAX - 1 || !put(l, (char)c)) return RVM_ERR_MEMORY;
    return put(l, 0) ? RVM_OK : RVM_ERR_MEMORY;
}

static void write_entry(const rvm_program *p, const entry *e, FILE *out) {
    char text[1024];
    rvm_program_instruction_text(p, e->fn, e->pc, text, sizeof text);
    fprintf(out, "%16u  %s\n", e->pc, text);
}

rvm_status rvm_listing(const rvm_program *p, const char *path, FILE *out, rvm_error *err) {
    RVM__NEEDS(p, path, out);
    entry *list = NULL;
    uint32_t count = 0, cap = 0, next = 0, number = 0;
    line l = {.al = &p->al};
    FILE *in = fopen(path, "r");
    if (!in) return rvm__fail(err, RVM_ERR_IO, path, 0, 0, "cannot read the file: %s", strerror(errno));
    rvm_status status = collect(p, path, &list, &count, &cap) ? RVM_OK : RVM_ERR_MEMORY;
    while (!status && !(status = read_line(&l, in))) {
        fprintf(out, "%6u  %s\n", ++number, l.text);
        for (; next < count && list[next].line <= number; next++) write_entry(p, list + next, out);
    }
    if (status == RVM_ERR_IO && !ferror(in) && !ferror(out)) status = RVM_OK;
    if (status) rvm__fail(err, status, path, 0, 0, status == RVM_ERR_IO ? "cannot read or write" : "out of memory");
    rvm__realloc(&p->al, list, cap * sizeof *list, 0);
    rvm__realloc(&p->al, l.text, l.cap, 0);
    fclose(in);
    return status;
}
