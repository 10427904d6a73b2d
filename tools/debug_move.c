/* debug_move.c: moving in both directions, and what stops it. */
#include "debug.h"
#include "number.h"

#include <stdlib.h>
#include <string.h>

/* ---- where it is ---- */

typedef struct spot {
    bool known;
    uint32_t fn, line, frames;
    const char *file;
} spot;

/* The line of the instruction that a move in a direction would run. */
static spot spot_at(const debugger *d, int direction) {
    rvm_location l;
    if (!rvm_machine_location(d->m, 0, direction, &l)) return (spot){0};
    return (spot){true, l.fn, l.line, rvm_machine_frames(d->m), l.file};
}

static bool same_spot(spot a, spot b) {
    return a.known == b.known && a.fn == b.fn && a.line == b.line && a.frames == b.frames;
}

static bool at_line_start(const debugger *d, spot here) {
    return here.known && here.line && !same_spot(here, spot_at(d, -1));
}

/* ---- stops ---- */

static void digest_cell(uint64_t *h, rvm_scalar v) {
    *h = (*h ^ (uint64_t)v.i) * UINT64_C(0x100000001b3);
    *h ^= *h >> 29;
}

/* Takes the watched place's present state; true if it differs from what was there. */
static bool update_watch(const debugger *d, stop *s) {
    uint32_t frames = rvm_machine_frames(d->m);
    rvm_arg a;
    stop old = *s;
    s->present = frames >= s->height && debug_place(d, frames - s->height, s->place, true, &a);
    s->digest = UINT64_C(0xcbf29ce484222325);
    for (size_t k = 0, n = s->present ? arg_count(&a) : 0; k < n; k++) digest_cell(&s->digest, arg_get(&a, k));
    s->scalar = s->present && !a.ndim;
    if (s->scalar) s->value = a.value;
    return s->present != old.present || s->digest != old.digest;
}

static void say_change(const debugger *d, const stop *now, const stop *old) {
    char text[NUMBER_TEXT];
    rvm_arg a;
    printf("%d: %s ", now->id, now->place);
    if (!now->present) {
        puts("disappears");
        return;
    }
    if (!debug_place(d, rvm_machine_frames(d->m) - now->height, now->place, true, &a)) return;
    if (!old->present)
        fputs("appears as ", stdout);
    else if (old->scalar && now->scalar)
        printf("was %s, is ", number_text(a.type, old->value, text));
    else
        fputs("is ", stdout);
    output_value(stdout, &a, NO_SHADOW);
    putchar('\n');
}

static bool is_break_at(const stop *s, spot here) {
    return !s->is_watch && here.known && here.line == s->line && here.file && strcmp(here.file, s->file) == 0;
}

/* Whether a run on from the start stops there, once: no move has come to its first line. */
static bool stopped_at_start(debugger *d, int direction) {
    bool any = false;
    if (d->end >= 0 || direction < 0 || d->left) return false;
    for (int k = 0; k < d->nstops; k++)
        if (is_break_at(&d->stops[k], spot_at(d, 1))) printf("%d: break\n", d->stops[k].id), any = true;
    d->left = true;
    return any;
}

/* After a move by one instruction: whether some stop applies, which is said. */
static bool stopped(debugger *d) {
    bool any = false;
    spot here = spot_at(d, 1);
    bool fresh = at_line_start(d, here);
    for (int k = 0; k < d->nstops; k++) {
        stop *s = &d->stops[k], old = *s;
        if (s->is_watch) {
            if (!update_watch(d, s)) continue;
            say_change(d, s, &old);
            any = true;
        } else if (fresh && is_break_at(s, here)) {
            printf("%d: break\n", s->id);
            any = true;
        }
    }
    return any;
}

/* ---- moving ---- */

/* One instruction. False at an end or on an error, which is said. */
static bool move(debugger *d, int direction) {
    bool done = false;
    rvm_error e;
    if (d->end == direction) {
        puts(direction > 0 ? "this is the end" : "this is the start");
        return false;
    }
    if (rvm_machine_step(d->m, direction, &done, &e)) {
        printf("error: %s [%s]\n", e.message, rvm_status_name(e.code));
        return false;
    }
    d->frame = 0;
    d->end = done ? direction : 0;
    d->left = !(done && direction < 0);
    if (done) puts(direction > 0 ? "the end is reached" : "the start is reached: the inputs are back");
    return !done;
}

/* Forward: to another line. Backward: to the beginning of a line. Frames above `limit` are passed over (0: none are). */
static bool move_line(debugger *d, int direction, uint32_t limit) {
    spot from = spot_at(d, 1);
    for (uint64_t k = 1;; k++) {
        if (!move(d, direction)) return false;
        if (stopped(d)) return false;
        spot here = spot_at(d, 1);
        if (limit && here.frames > limit) continue;
        if (!here.known || !here.line) continue;
        if (direction > 0 ? !same_spot(here, from) : at_line_start(d, here)) return true;
        if (progress_interrupted()) return false;
    }
}

static void move_lines(debugger *d, int direction, uint64_t n, bool over) {
    progress_begin(&d->t->progress, d->m);
    while (n-- && move_line(d, direction, over ? rvm_machine_frames(d->m) : 0)) continue;
    progress_end(&d->t->progress);
    debug_position(d);
}

void debug_step(debugger *d, int direction, uint64_t n) {
    move_lines(d, direction, n, false);
}

void debug_next(debugger *d, int direction, uint64_t n) {
    move_lines(d, direction, n, true);
}

void debug_instruction(debugger *d, int direction, uint64_t n) {
    progress_begin(&d->t->progress, d->m);
    while (n-- && move(d, direction) && !stopped(d) && !progress_interrupted()) continue;
    progress_end(&d->t->progress);
    debug_position(d);
}

/* Without stops there is nothing to look at on the way: the machine runs at full speed. */
static void run_through(debugger *d, int direction) {
    rvm_error e;
    if (d->end == direction) {
        move(d, direction);
        return;
    }
    rvm_status st = direction > 0 ? rvm_machine_forward(d->m, &e) : rvm_machine_backward(d->m, &e);
    progress_end(&d->t->progress);
    d->frame = 0;
    d->end = st ? 0 : direction;
    if (st)
        printf("error: %s [%s]\n", e.message, rvm_status_name(st));
    else
        puts(direction > 0 ? "the end is reached" : "the start is reached: the inputs are back");
}

/* To the next stop. False at an end, on an error, or when interrupted. */
static bool run_to_stop(debugger *d, int direction) {
    if (stopped_at_start(d, direction)) return true;
    for (uint64_t k = 1; move(d, direction); k++) {
        if (stopped(d)) return true;
        if (progress_interrupted()) return false;
        if (k % 65536 == 0) progress_callback(&d->t->progress, k);
    }
    return false;
}

void debug_continue(debugger *d, int direction, uint64_t n) {
    progress_begin(&d->t->progress, d->m);
    if (!d->nstops) run_through(d, direction);
    while (d->nstops && n-- && run_to_stop(d, direction)) continue;
    progress_end(&d->t->progress);
    if (progress_interrupted()) puts("interrupted");
    debug_position(d);
}

void debug_finish(debugger *d, int direction, uint64_t n) {
    uint32_t frames = rvm_machine_frames(d->m), until = n < frames ? frames - (uint32_t)n : 0;
    progress_begin(&d->t->progress, d->m);
    while (move(d, direction) && !stopped(d) && rvm_machine_frames(d->m) > until && !progress_interrupted()) continue;
    progress_end(&d->t->progress);
    debug_position(d);
}

/* ---- setting stops ---- */

static stop *add_stop(debugger *d) {
    if (d->nstops == MAX_STOPS) {
        printf("there are %d stops already\n", MAX_STOPS);
        return NULL;
    }
    stop *s = &d->stops[d->nstops++];
    *s = (stop){.id = ++d->last_id};
    return s;
}

static bool file_matches(const char *file, const char *wanted, size_t length) {
    size_t n = strlen(file);
    if (n < length || strncmp(file + n - length, wanted, length) != 0) return false;
    return n == length || file[n - length - 1] == '/';
}

/* The first line from `line` on that has an instruction, in the wanted file. Nothing stands before `start` or `halt`. */
static uint32_t line_with_code(const debugger *d, const char *wanted, size_t length, uint32_t line, const char **file) {
    const rvm_program *p = d->t->program;
    uint32_t best = 0;
    for (uint32_t fn = 0; fn < rvm_program_function_count(p); fn++)
        for (uint32_t pc = 1; pc + 1 < rvm_program_code_size(p, fn); pc++) {
            const char *f;
            uint32_t l, column;
            rvm_program_position(p, fn, pc, &f, &l, &column);
            if (!f || l < line || (best && l >= best) || !file_matches(f, wanted, length)) continue;
            best = l;
            *file = f;
        }
    return best;
}

/* A function's first line. */
static uint32_t line_of_function(const debugger *d, const char *name, const char **file) {
    int64_t fn = rvm_program_find(d->t->program, name);
    uint32_t line = 0, column;
    for (uint32_t pc = 1; fn >= 0 && !line && pc + 1 < rvm_program_code_size(d->t->program, (uint32_t)fn); pc++)
        rvm_program_position(d->t->program, (uint32_t)fn, pc, file, &line, &column);
    return line;
}

void debug_break(debugger *d, const char *where) {
    const char *colon = strrchr(where, ':'), *number = colon ? colon + 1 : where, *file = NULL, *wanted = where;
    size_t length = colon ? (size_t)(colon - where) : 0;
    char *end;
    unsigned long line = strtoul(number, &end, 10);
    uint32_t found, column, unused;
    if (end == number || *end) {
        found = line_of_function(d, where, &file);
    } else {
        if (!colon) {
            rvm_program_position(d->t->program, d->t->fn, 0, &wanted, &unused, &column);
            length = wanted ? strlen(wanted) : 0;
        }
        found = line_with_code(d, wanted ? wanted : "", length, line > UINT32_MAX ? UINT32_MAX : (uint32_t)line, &file);
    }
    stop *s = found && file ? add_stop(d) : NULL;
    if (!found || !file) printf("`%s` is no line with code and no function\n", where);
    if (!s) return;
    s->file = file;
    s->line = found;
    printf("%d: break at %s:%u\n", s->id, file, found);
}

void debug_watch(debugger *d, const char *place) {
    rvm_arg a;
    if (strlen(place) >= PLACE_TEXT)
        puts("that name is too long");
    else if (debug_place(d, d->frame, place, false, &a)) {
        stop *s = add_stop(d);
        if (!s) return;
        s->is_watch = true;
        snprintf(s->place, sizeof s->place, "%s", place);
        s->height = rvm_machine_frames(d->m) - d->frame;
        update_watch(d, s);
        printf("%d: watch %s\n", s->id, place);
    }
}

void debug_delete(debugger *d, const char *which) {
    int id = atoi(which), kept = 0, before = d->nstops;
    for (int k = 0; k < before; k++)
        if (*which && d->stops[k].id != id) d->stops[kept++] = d->stops[k];
    d->nstops = kept;
    if (*which && kept == before) printf("there is no stop %s\n", which);
}

void debug_stops(const debugger *d) {
    if (!d->nstops) puts("there are no stops");
    for (int k = 0; k < d->nstops; k++) {
        const stop *s = &d->stops[k];
        if (s->is_watch)
            printf("%d: watch %s\n", s->id, s->place);
        else
            printf("%d: break at %s:%u\n", s->id, s->file, s->line);
    }
}
