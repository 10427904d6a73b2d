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
        printf("%s %s%s\n", d->end < 0 ? "at the start of" : "at the end of",
               rvm_program_function_name(d->t->program, d->t->fn), rvm_machine_position(d->m).swept ? ", swept" : "");
    } else {
        say_location(&l);
        show_source(l.file, l.line, l.line, 0);
    }
    debug_displays(d);
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

static void show_variable(const char *name, const rvm_arg *a) {
    printf("%s = ", name);
    output_value(stdout, a, NO_SHADOW);
    putchar('\n');
}

/* With their shadows. */
void debug_locals(const debugger *d) {
    rvm_variable v;
    for (uint32_t k = 0; rvm_machine_variable(d->m, d->frame, k, &v); k++)
        for (int shadow = 0; shadow <= v.shadowed; shadow++) {
            char name[600];
            const rvm_arg a = variable_view(&v, shadow);
            snprintf(name, sizeof name, "%s%s", v.name, shadow ? rvm_shadow_suffix(RVM_ADJOINT) : "");
            show_variable(name, &a);
        }
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

/* What is no place is an expression. */
static bool print_expression(const debugger *d, const char *text, rvm_error *e) {
    expression x = {0};
    rvm_arg a = {0};
    if (strlen(text) >= sizeof x.text) {
        snprintf(e->message, sizeof e->message, "the expression is too long");
        return false;
    }
    memcpy(x.text, text, strlen(text) + 1);
    const rvm_status st = expression_value(d->m, d->frame, &x, &a, e);
    if (!st) show_variable(text, &a);
    expression_free(&x);
    return !st;
}

static bool is_name(const char *text) {
    return text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.\'")] == 0;
}

void debug_print(const debugger *d, const char *text) {
    rvm_arg a;
    rvm_error e = {0};
    if (debug_place(d, d->frame, text, true, &a)) {
        show_variable(text, &a);
        return;
    }
    if (print_parts(d, text) || print_expression(d, text, &e)) return;
    if (is_name(text) || e.code == RVM_ERR_SYNTAX)
        debug_place(d, d->frame, text, false, &a);
    else
        printf("`%s`: %s\n", text, e.message);
}

void debug_display(debugger *d, const char *text) {
    if (!*text) {
        debug_displays(d);
        return;
    }
    if (d->ndisplays == MAX_DISPLAYS || strlen(text) >= PLACE_TEXT) {
        puts(d->ndisplays == MAX_DISPLAYS ? "there are too many displays" : "that is too long");
        return;
    }
    display *s = &d->displays[d->ndisplays++];
    s->id = ++d->last_display;
    snprintf(s->text, sizeof s->text, "%s", text);
    printf("%d: ", s->id);
    debug_print(d, text);
}

void debug_undisplay(debugger *d, const char *which) {
    const int id = atoi(which), before = d->ndisplays;
    d->ndisplays = 0;
    for (int k = 0; k < before; k++)
        if (*which && d->displays[k].id != id) d->displays[d->ndisplays++] = d->displays[k];
    if (*which && d->ndisplays == before) printf("there is no display %s\n", which);
}

void debug_displays(const debugger *d) {
    for (int k = 0; k < d->ndisplays; k++) {
        printf("%d: ", d->displays[k].id);
        debug_print(d, d->displays[k].text);
    }
}

void debug_number(const debugger *d) {
    const rvm_run_position p = rvm_machine_position(d->m);
    printf("position %lld%s\n", (long long)p.at, p.swept ? " of the sweep" : "");
}
