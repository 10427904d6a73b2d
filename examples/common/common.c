#include "common.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rvm_asm.h"

static bool fail(reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(reader *r, const char *format, ...) {
    int n = snprintf(r->message, sizeof r->message, "%s:%u: ", r->path, r->line);
    va_list va;
    va_start(va, format);
    if (n > 0 && (size_t)n < sizeof r->message) vsnprintf(r->message + n, sizeof r->message - (size_t)n, format, va);
    va_end(va);
    return false;
}

static bool fail_io(reader *r) {
    snprintf(r->message, sizeof r->message, "%s: %s", r->path, strerror(errno));
    return false;
}

/* Reads to the end in growing steps, so that pipes work too. */
static bool slurp(reader *r, FILE *f) {
    size_t size = 0, capacity = 1 << 16;
    for (;; capacity *= 2) {
        char *bigger = realloc(r->text, capacity);
        if (!bigger) return false;
        r->text = bigger;
        size += fread(r->text + size, 1, capacity - 1 - size, f);
        if (size < capacity - 1) break;
    }
    r->text[size] = 0;
    r->at = r->text;
    r->end = r->text + size;
    return !ferror(f);
}

bool reader_open(reader *r, const char *path) {
    *r = (reader){.path = path, .line = 1};
    FILE *f = fopen(path, "rb");
    if (!f) return fail_io(r);
    bool ok = slurp(r, f);
    if (!ok) fail_io(r);
    fclose(f);
    return ok;
}

void reader_close(reader *r) {
    free(r->text);
    r->text = NULL;
}

static void skip_space(reader *r) {
    for (; isspace((unsigned char)*r->at); r->at++) r->line += *r->at == '\n';
}

/* The next word's length; 0 at the end. A NUL inside the file ends a word, and is no number. */
static int next_word(reader *r) {
    skip_space(r);
    const char *p = r->at;
    while (p < r->end && !isspace((unsigned char)*p) && p - r->at < 60) p++;
    return (int)(p - r->at);
}

static bool expected(reader *r, const char *what, int length) {
    if (!length) return fail(r, "expected %s, but the file ends", what);
    return fail(r, "expected %s, found '%.*s'", what, length, r->at);
}

bool reader_count(reader *r, const char *what, int64_t lo, int64_t hi, int64_t *out) {
    int length = next_word(r);
    char *stop;
    errno = 0;
    long long v = strtoll(r->at, &stop, 10);
    if (!length || stop != r->at + length) return expected(r, what, length);
    if (errno || v < lo || v > hi)
        return fail(r, "%s is %.*s, but must be from %lld to %lld", what, length, r->at, (long long)lo, (long long)hi);
    r->at = stop;
    *out = v;
    return true;
}

bool reader_number(reader *r, const char *what, double *out) {
    int length = next_word(r);
    char *stop;
    double v = strtod(r->at, &stop);
    if (!length || stop != r->at + length) return expected(r, what, length);
    if (!isfinite(v)) return fail(r, "%s is %.*s, but must be finite", what, length, r->at);
    r->at = stop;
    *out = v;
    return true;
}

bool reader_numbers(reader *r, const char *what, double *out, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (!reader_number(r, what, &out[i])) return false;
    return true;
}

bool reader_holds(reader *r, double count) {
    double most = (double)(r->end - r->at) / 2 + 1; /* a digit and a space */
    return count <= most || fail(r, "the file announces %.0f numbers, but is too short to hold them", count);
}

bool reader_end(reader *r) {
    int length = next_word(r);
    return r->at == r->end || fail(r, "expected the end of the file, found '%.*s'", length, r->at);
}

void *new_array(int64_t count, size_t size) {
    if (count < 0 || (uint64_t)count > SIZE_MAX / size) return NULL;
    return calloc(count ? (size_t)count : 1, size);
}

double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void print_json_number(FILE *out, const char *name, double value) {
    if (isfinite(value))
        fprintf(out, "\"%s\":%.17g", name, value);
    else
        fprintf(out, "\"%s\":\"%s\"", name, isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity");
}

double square_sum(const double *x, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i] * x[i];
    return sum;
}

static void print_diagnostic(void *userdata, const rvm_error *e, const char *text) {
    (void)userdata;
    (void)e;
    fprintf(stderr, "%s\n", text);
}

int64_t find_function(const rvm_program *p, const char *path, const char *name) {
    int64_t fn = rvm_program_find(p, name);
    if (fn < 0) fprintf(stderr, "%s: there is no function `%s`\n", path, name);
    return fn;
}

int print_failure(rvm_status status, const rvm_error *e) {
    if (!status) return 0;
    if (e->line) fprintf(stderr, "%s:%u:%u: ", e->file, e->line, e->column);
    fprintf(stderr, "error: %s\n", e->message);
    return rvm_status_exit(status);
}

/* Compiled when it is called first, since a job is one long call or many. */
static void attach_native_code(session *s) {
    rvm_jit_options o = rvm_jit_options_default();
    rvm_error e;
    o.tiers = false;
    if (rvm_jit_new(&o, &s->j, &e) || rvm_jit_attach(s->j, s->m, &e)) fprintf(stderr, "interpreted: %s\n", e.message);
}

int session_open(session *s, const command_line *c) {
    rvm_error e;
    rvm_options options = rvm_options_default();
    *s = (session){0};
    options.unchecked = c->unchecked;
    rvm_status status = rvm_open(c->program, NULL, &s->p, &e, print_diagnostic, NULL);
    if (status) return rvm_status_exit(status);
    status = rvm_machine_new(s->p, &options, &s->m, &e);
    if (!status && !c->interpreted) attach_native_code(s);
    return print_failure(status, &e);
}

void session_close(session *s) {
    rvm_machine_free(s->m);
    rvm_jit_free(s->j);
    rvm_program_free(s->p);
}

const char *session_engine(const session *s) {
    return rvm_jit_reason(s->m, NULL) ? "interpreted" : "native";
}

int parse_command_line(int argc, char **argv, const char *usage, const char *extra_option, command_line *out) {
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i];
        bool takes_extra = extra_option && !strcmp(a, extra_option);
        if (!strcmp(a, "--help")) {
            fputs(usage, stdout);
            return 0;
        }
        if (!strcmp(a, "--unchecked"))
            out->unchecked = true;
        else if (!strcmp(a, "--engine") && i + 1 < argc && (!strcmp(argv[i + 1], "interp") || !strcmp(argv[i + 1], "jit")))
            out->interpreted = argv[++i][0] == 'i';
        else if ((takes_extra || !strcmp(a, "--program")) && i + 1 < argc)
            *(takes_extra ? &out->extra : &out->program) = argv[++i];
        else if (a[0] != '-' && !out->input)
            out->input = a;
        else {
            fprintf(stderr, "unexpected argument '%s'\n%s", a, usage);
            return 2;
        }
    }
    if (out->input) return -1;
    fputs(usage, stderr);
    return 2;
}
