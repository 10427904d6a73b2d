/* report.c: what tests print, the counting allocator, and sources from text. */
#include "harness.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void say(const report *r, const char *kind, const char *format, va_list list) {
    printf("%s", r->name);
    if (r->line) printf(":%u", r->line);
    printf(": %s: ", kind);
    if (r->about) printf("`%s`: ", r->about);
    vprintf(format, list);
    printf("\n");
    fflush(stdout);
}

bool report_fail(report *r, const char *format, ...) {
    va_list list;
    va_start(list, format);
    say(r, "FAILED", format, list);
    va_end(list);
    r->failures++;
    return false;
}

void report_skip(report *r, const char *format, ...) {
    va_list list;
    if (r->quiet) return;
    va_start(list, format);
    say(r, "skipped", format, list);
    va_end(list);
}

void report_interpreted(report *r, const char *what, const rvm_error *why) {
    if (strstr(why->message, "crashes"))
        report_fail(r, "natively: %s: %s", what, why->message);
    else
        report_skip(r, "natively: %s: %s", what, why->message);
}

bool report_ok(report *r, const char *what, rvm_status s, const rvm_error *e) {
    r->checks++;
    if (s == RVM_OK) return true;
    return report_fail(r, "%s: expected OK, got %s at %s:%u:%u: %s", what, rvm_status_name(s), e->file, e->line, e->column,
                       e->message);
}

/* ---- allocators: a header before each block holds its size ---- */
enum { HEADER = 16 };

static void *counting_alloc(void *userdata, void *p, size_t old_size, size_t new_size) {
    counting *c = userdata;
    char *block = p ? (char *)p - HEADER : NULL;
    if (block && memcmp(block, &old_size, sizeof old_size) != 0) c->mismatch = true;
    if (!new_size) {
        if (block) c->live_blocks--, c->live_bytes -= old_size;
        free(block);
        return NULL;
    }
    c->calls++;
    if (new_size > c->largest) c->largest = new_size;
    if (c->fail_at && (c->calls == c->fail_at || (c->sticky && c->calls > c->fail_at))) return NULL;
    char *fresh = realloc(block, new_size + HEADER);
    if (!fresh) return NULL;
    memcpy(fresh, &new_size, sizeof new_size);
    if (!block) c->live_blocks++;
    c->live_bytes += new_size - (block ? old_size : 0);
    return fresh + HEADER;
}

void counting_init(counting *c) {
    *c = (counting){.al = {counting_alloc, c}};
}

rvm_program *assemble_text(const char *text, const rvm_allocator *al, report *r) {
    rvm_asm_options o = {.real = RVM_F64, .allocator = al};
    rvm_program *p = NULL;
    rvm_error e = {0};
    report_ok(r, "assemble", rvm_assemble(text, strlen(text), "test.rasm", &o, &p, &e, NULL, NULL), &e);
    return p;
}
