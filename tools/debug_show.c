/* debug_show.c: what the debugger prints: position, places, source, instructions. */
#include "debug.h"

#include <stdlib.h>
#include <string.h>

enum { LIST_AROUND = 5, LINE_MAX_SHOWN = 512 };

/* ---- source ---- */

/* Lines from..to of a file that may no longer be there; an arrow before `mark`. */
static void show_source(const char *file, uint32_t from, uint32_t to, uint32_t mark) {
    char line[LINE_MAX_SHOWN];
    FILE *f = file ? fopen(file, "r") : NULL;
    uint32_t n = 1;
    while (f && n <= to && fgets(line, sizeof line, f)) {
        size_t length = strcspn(line, "\n");
        bool whole = line[length] == '\n';
        line[length] = 0;
        if (n >= from) printf("%s%5u  %s\n", n == mark ? "->" : "  ", n, line);
        n++;
        for (int c = 0; !whole && c != EOF && c != '\n';) c = getc(f);
    }
    if (f) fclose(f);
}

static bool location(const debugger *d, rvm_location *l) {
    return rvm_machine_location(d->m, d->frame, 1, l) || rvm_machine_location(d->m, d->frame, -1, l);
}

static void say_location(const rvm_location *l) {
    if (l->line)
        printf("%s:%u in %s", l->file ? l->file : "?", l->line, l->function);
    else
        printf("%s, instruction %u", l->function, l->pc);
    puts(l->direction < 0 ? ", running backward" : "");
}

void debug_position(const debugger *d) {
    rvm_location l;
    if (d->end || !location(d, &l)) {
        printf("%s %s\n", d->end < 0 ? "at the start of" : "at the end of",
               rvm_program_function_name(d->t->program, d->t->fn));
        return;
    }
    say_location(&l);
    show_source(l.file, l.line, l.line, 0);
}

void debug_list(const debugger *d) {
    rvm_location l;
    if (!location(d, &l) || !l.line) {
        puts("there is no source here");
        return;
    }
    show_source(l.file, l.line > LIST_AROUND ? l.line - LIST_AROUND : 1, l.line + LIST_AROUND, d->end ? 0 : l.line);
}

void debug_disassemble(const debugger *d) {
    rvm_location l;
    if (!location(d, &l)) return;
    uint32_t size = rvm_program_code_size(d->t->program, l.fn), from = l.pc > LIST_AROUND ? l.pc - LIST_AROUND : 0;
    for (uint32_t pc = from; pc < size && pc <= l.pc + LIST_AROUND; pc++) {
        char text[160];
        rvm_program_instruction_text(d->t->program, l.fn, pc, text, sizeof text);
        printf("%s%5u  %s\n", pc == l.pc && !d->end ? "->" : "  ", pc, text);
    }
}

void debug_where(const debugger *d) {
    for (uint32_t k = 0, n = rvm_machine_frames(d->m); k < n; k++) {
        rvm_location l;
        if (!rvm_machine_location(d->m, k, 1, &l) && !rvm_machine_location(d->m, k, -1, &l)) break;
        printf("%s#%-3u ", k == d->frame ? "*" : " ", k);
        say_location(&l);
    }
}

/* ---- places ---- */

static rvm_arg view(const rvm_variable *v) {
    rvm_arg a = {.type = v->type, .ndim = v->ndim, .value = v->value, .data = (void *)v->data};
    memcpy(a.shape, v->shape, sizeof a.shape);
    memcpy(a.stride, v->stride, sizeof a.stride);
    return a;
}

static void show_variable(const char *name, const rvm_arg *a) {
    printf("%s = ", name);
    output_value(stdout, a, NO_SHADOW);
    putchar('\n');
}

void debug_locals(const debugger *d) {
    rvm_variable v;
    for (uint32_t k = 0; rvm_machine_variable(d->m, d->frame, k, &v); k++) {
        rvm_arg a = view(&v);
        show_variable(v.name, &a);
    }
}

/* The innermost variable of that name. */
static bool find_variable(const debugger *d, uint32_t frame, const char *name, size_t length, rvm_arg *out) {
    rvm_variable v;
    bool found = false;
    for (uint32_t k = 0; rvm_machine_variable(d->m, frame, k, &v); k++)
        if (strlen(v.name) == length && memcmp(v.name, name, length) == 0) *out = view(&v), found = true;
    return found;
}

/* An index: a number, or an i64 scalar of the frame. */
static bool read_index(const debugger *d, uint32_t frame, const char **at, int64_t *out) {
    *at += strspn(*at, " \t");
    size_t length = strcspn(*at, " \t,]");
    char *end;
    *out = strtoll(*at, &end, 10);
    rvm_arg a;
    if (end != *at + length || !length) {
        if (!find_variable(d, frame, *at, length, &a) || a.ndim || a.type != RVM_I64) return false;
        *out = a.value.i;
    }
    *at += length;
    *at += strspn(*at, " \t");
    return true;
}

/* Leading indices select a row; as many as there are dimensions select an element. */
static const char *apply_indices(const debugger *d, uint32_t frame, const char *at, rvm_arg *a) {
    if (*at != '[') return *at ? "that is no place" : NULL;
    do {
        int64_t i;
        at++;
        if (!read_index(d, frame, &at, &i)) return "an index is neither a number nor an i64 that is present";
        if (!a->ndim) return "there are more indices than dimensions";
        if (i < 0 || i >= a->shape[0]) return "the index is out of bounds";
        a->data = (rvm_scalar *)a->data + i * a->stride[0];
        a->ndim--;
        memmove(a->shape, a->shape + 1, sizeof a->shape - sizeof *a->shape);
        memmove(a->stride, a->stride + 1, sizeof a->stride - sizeof *a->stride);
    } while (*at == ',');
    if (strcmp(at, "]") != 0) return "that is no place";
    if (!a->ndim) a->value = *(rvm_scalar *)a->data;
    return NULL;
}

bool debug_place(const debugger *d, uint32_t frame, const char *text, bool quiet, rvm_arg *out) {
    size_t length = strcspn(text, "[ \t");
    const char *why = "is not present here";
    if (find_variable(d, frame, text, length, out))
        why = apply_indices(d, frame, text + length + strspn(text + length, " \t"), out);
    if (why && !quiet) printf("`%s`: %s\n", text, why);
    return !why;
}

/* Of a complex or an lns, z[1], its parts: z.re[1] and z.im[1], or z.log[1]. */
static bool print_parts(const debugger *d, const char *place) {
    static const char *const parts[] = {"re", "im", "log"};
    const int length = (int)strcspn(place, "[ \t");
    char part[600];
    bool found = false;
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        rvm_arg a;
        snprintf(part, sizeof part, "%.*s.%s%s", length, place, parts[k], place + length);
        if (!debug_place(d, d->frame, part, true, &a)) continue;
        show_variable(part, &a);
        found = true;
    }
    return found;
}

void debug_print(const debugger *d, const char *place) {
    rvm_arg a;
    if (debug_place(d, d->frame, place, true, &a))
        show_variable(place, &a);
    else if (!print_parts(d, place))
        debug_place(d, d->frame, place, false, &a);
}
