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
    if (now->id) printf("%d: ", now->id);
    printf("%s ", now->place);
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

/* Whether the breakpoint's condition holds; one that fails does too, and says why. */
static bool holds(const debugger *d, stop *s) {
    rvm_arg a;
    rvm_error e;
    if (!*s->condition.text) return true;
    if (expression_value(d->m, 0, &s->condition, &a, &e)) {
        printf("%d: `%s`: %s\n", s->id, s->condition.text, e.message);
        return true;
    }
    return rvm_scalar_to_double(a.type, a.value) != 0;
}

/* Whether a run on from the start stops there, once: no move has come to its first line. */
static bool stopped_at_start(debugger *d, int direction) {
    bool any = false;
    if (d->end >= 0 || direction < 0 || d->left) return false;
    for (int k = 0; k < d->nstops; k++)
        if (is_break_at(&d->stops[k], spot_at(d, 1)) && holds(d, &d->stops[k]))
            printf("%d: break\n", d->stops[k].id), any = true;
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
        } else if (fresh && is_break_at(s, here) && holds(d, s)) {
            printf("%d: break\n", s->id);
            any = true;
        }
    }
    return any;
}

/* ---- moving ---- */

static bool is_swept(const debugger *d) {
    return rvm_machine_position(d->m).swept;
}

/* Whether nothing lies in that direction: behind the end, or behind the sweep where that follows it; before the start. */
static bool is_last(const debugger *d, int direction) {
    if (direction < 0) return d->end < 0 && !is_swept(d);
    return d->gradient ? d->end < 0 && is_swept(d) : d->end > 0;
}

static void say_last(const debugger *d, int direction) {
    puts(direction < 0 ? "this is the start" : d->gradient ? "this is the end of the sweep" : "this is the end");
}

static void say_end(debugger *d) {
    d->left = !(d->end < 0 && !is_swept(d));
    if (!d->end) return;
    puts(d->end > 0    ? "the end is reached"
         : is_swept(d) ? "the start is reached: the gradient is there"
                       : "the start is reached: the inputs are back");
}

static void say_error(const rvm_error *e) {
    if (e->code == RVM_ERR_CANCELLED && progress_interrupted()) return; /* which is said */
    printf("error: %s [%s]\n", e->message, rvm_status_name(e->code));
}

/* A sweep is no step of the machine's. */
static rvm_status step_once(debugger *d, int direction, int *end, rvm_error *e) {
    const rvm_run_position here = rvm_machine_position(d->m);
    rvm_arrival how = {.end = 0};
    if (!here.swept && !(d->gradient && d->end > 0 && direction > 0)) {
        bool done = false;
        const rvm_status st = rvm_machine_step(d->m, direction, &done, e);
        *end = done ? direction : 0;
        return st;
    }
    const rvm_goal goal = {.to = {true, here.swept ? here.at + direction : 1}};
    const rvm_status st = rvm_machine_run_to(d->m, &goal, &how, e);
    *end = how.end;
    return st;
}

/* One instruction. False at an end or on an error, which is said. */
static bool move(debugger *d, int direction) {
    int end;
    rvm_error e;
    if (is_last(d, direction)) {
        say_last(d, direction);
        return false;
    }
    if (step_once(d, direction, &end, &e)) {
        say_error(&e);
        return false;
    }
    d->frame = 0;
    d->end = end;
    say_end(d);
    return !end;
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

/* ---- to a stop: the machine runs at full speed up to instructions of its lines ---- */

typedef struct line_stop {
    debugger *d;
    stop *s;
} line_stop;

/* At the beginning of the line, where the condition holds. */
static bool applies(void *userdata, const rvm_machine *m) {
    const line_stop *l = userdata;
    (void)m;
    return at_line_start(l->d, spot_at(l->d, 1)) && holds(l->d, l->s);
}

typedef struct stop_list {
    rvm_stop *stop;
    uint32_t n, cap;
    line_stop of[MAX_STOPS];
    rvm_watch watch[MAX_STOPS];
    uint32_t nwatches;
} stop_list;

static bool add_instruction(stop_list *l, uint32_t fn, uint32_t pc, line_stop *of) {
    if (l->n == l->cap) {
        rvm_stop *grown = realloc(l->stop, (2 * l->cap + 64) * sizeof *grown);
        if (!grown) return false;
        l->stop = grown;
        l->cap = 2 * l->cap + 64;
    }
    l->stop[l->n++] = (rvm_stop){fn, pc, applies, of};
    return true;
}

/* The instructions of the breakpoint's line. */
static bool add_line(const debugger *d, stop_list *l, line_stop *of) {
    const rvm_program *p = d->t->program;
    bool good = true;
    for (uint32_t fn = 0; fn < rvm_program_function_count(p); fn++)
        for (uint32_t pc = 0; good && pc < rvm_program_code_size(p, fn); pc++) {
            spot here = {.known = true};
            uint32_t column;
            rvm_program_position(p, fn, pc, &here.file, &here.line, &column);
            if (is_break_at(of->s, here)) good = add_instruction(l, fn, pc, of);
        }
    return good;
}

static void add_watch(stop_list *l, const stop *s) {
    l->watch[l->nwatches] = s->watch;
    l->watch[l->nwatches++].name = s->name;
}

static bool list_stops(debugger *d, stop_list *l) {
    bool good = true;
    for (int k = 0; k < d->nstops && good; k++) {
        l->of[k] = (line_stop){d, &d->stops[k]};
        if (d->stops[k].is_watch)
            add_watch(l, &d->stops[k]);
        else
            good = add_line(d, l, &l->of[k]);
    }
    return good;
}

/* What has changed, of all that is watched. */
static void say_watches(debugger *d) {
    for (int k = 0; k < d->nstops; k++) {
        stop old = d->stops[k];
        if (old.is_watch && update_watch(d, &d->stops[k])) say_change(d, &d->stops[k], &old);
    }
}

static rvm_status run_to(debugger *d, const rvm_goal *goal, rvm_arrival *how, rvm_error *e) {
    return d->timeline ? rvm_timeline_run_to(d->timeline, goal, how, e) : rvm_machine_run_to(d->m, goal, how, e);
}

/* The end of the leg in that direction, or of the sweep, which begins at the end. */
static rvm_run_position goal_of(const debugger *d, int direction) {
    const bool sweeps = is_swept(d) || (d->gradient && d->end > 0 && direction > 0);
    if (direction > 0) return (rvm_run_position){sweeps, INT64_MAX};
    return (rvm_run_position){is_swept(d), is_swept(d) ? 0 : INT64_MIN};
}

/* False at an end, on an error, or when interrupted. */
static bool arrive(debugger *d, rvm_status st, const rvm_arrival *how, const stop_list *l, const rvm_error *e) {
    d->frame = 0;
    d->end = st ? 0 : how->end;
    if (st) {
        say_error(e);
        return false;
    }
    say_watches(d);
    if (how->reached == RVM_REACHED_STOP) printf("%d: break\n", ((line_stop *)l->stop[how->index].userdata)->s->id);
    if (how->reached == RVM_REACHED_STOP || how->reached == RVM_REACHED_WATCH) return true;
    say_end(d);
    return false;
}

/* To the next stop. */
static bool run_to_stop(debugger *d, int direction, const stop_list *l) {
    rvm_goal goal = {
        .to = goal_of(d, direction), .stops = l->stop, .nstops = l->n, .watches = l->watch, .nwatches = l->nwatches};
    rvm_arrival how = {.end = 0};
    rvm_error e;
    if (stopped_at_start(d, direction)) return true;
    if (is_last(d, direction)) {
        say_last(d, direction);
        return false;
    }
    const rvm_status st = run_to(d, &goal, &how, &e);
    progress_end(&d->t->progress);
    return arrive(d, st, &how, l, &e);
}

void debug_continue(debugger *d, int direction, uint64_t n) {
    stop_list l = {.n = 0};
    progress_begin(&d->t->progress, d->m);
    if (!list_stops(d, &l)) puts("out of memory");
    while (n-- && run_to_stop(d, direction, &l)) continue;
    progress_end(&d->t->progress);
    if (progress_interrupted()) puts("interrupted");
    free(l.stop);
    debug_position(d);
}

/* ---- what is watched ---- */

static bool is_variable(const debugger *d, const char *name) {
    rvm_variable v;
    for (uint32_t k = 0; rvm_machine_variable(d->m, d->frame, k, &v); k++)
        if (!strcmp(v.name, name)) return true;
    return false;
}

/* A place of the frame that is looked at, with indices as they are now. False, having said why. */
static bool set_watch(const debugger *d, stop *s, const char *place) {
    rvm_watch *w = &s->watch;
    if (!debug_element(d, place, w, s->name)) return false;
    int n = snprintf(s->place, sizeof s->place, "%s", s->name);
    for (int k = 0; k < w->nindices && (size_t)n < sizeof s->place; k++)
        n += snprintf(s->place + n, sizeof s->place - (size_t)n, "%s%lld", k ? ", " : "[", (long long)w->index[k]);
    if (w->nindices && (size_t)n < sizeof s->place) n += snprintf(s->place + n, sizeof s->place - (size_t)n, "]");
    if ((size_t)n >= sizeof s->place) return puts("that name is too long"), false;
    const size_t stem = shadow_stem(s->name);
    w->shadow = stem && !is_variable(d, s->name);
    if (w->shadow) s->name[stem] = 0;
    w->height = s->height = rvm_machine_frames(d->m) - d->frame;
    update_watch(d, s);
    return true;
}

/* ---- to a position, and to where a place was written ---- */

void debug_seek(debugger *d, const char *where) {
    const bool swept = strncmp(where, "sweep ", 6) == 0;
    char *end;
    const long long at = strtoll(where + (swept ? 6 : 0), &end, 10);
    rvm_arrival how = {.end = 0};
    rvm_error e;
    if (!*where || *end) {
        puts("seek takes a position: N, or `sweep N`; `position` tells the present one");
        return;
    }
    if (swept && !d->gradient) {
        puts("there is no sweep: --of NAME has one");
        return;
    }
    const rvm_goal goal = {.to = {swept, at}};
    progress_begin(&d->t->progress, d->m);
    const rvm_status st =
        d->timeline ? rvm_timeline_seek(d->timeline, goal.to, &how, &e) : rvm_machine_run_to(d->m, &goal, &how, &e);
    progress_end(&d->t->progress);
    if (!st && !how.end) d->left = true;
    arrive(d, st, &how, NULL, &e);
    debug_number(d);
    debug_position(d);
}

void debug_written(debugger *d, const char *place) {
    stop_list l = {.n = 0};
    stop s = {.is_watch = true};
    rvm_arrival how = {.end = 0};
    rvm_error e;
    if (!set_watch(d, &s, place)) return;
    if (is_last(d, -1)) {
        say_last(d, -1);
        return;
    }
    add_watch(&l, &s);
    const rvm_goal goal = {.to = goal_of(d, -1), .watches = l.watch, .nwatches = 1};
    progress_begin(&d->t->progress, d->m);
    const rvm_status st = run_to(d, &goal, &how, &e);
    progress_end(&d->t->progress);
    if (arrive(d, st, &how, &l, &e)) {
        const stop old = s;
        if (update_watch(d, &s)) say_change(d, &s, &old);
    }
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

static void break_at(debugger *d, const char *where, const char *condition) {
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
    if (condition) snprintf(s->condition.text, sizeof s->condition.text, "%s", condition);
    printf("%d: break at %s:%u%s%s\n", s->id, file, found, condition ? " if " : "", condition ? condition : "");
}

void debug_break(debugger *d, const char *where) {
    char place[PLACE_TEXT + 256];
    const char *condition = strstr(where, " if ");
    const size_t length = condition ? (size_t)(condition - where) : strlen(where);
    if (length >= sizeof place || (condition && strlen(condition + 4) >= EXPRESSION_TEXT)) {
        puts("that is too long");
        return;
    }
    memcpy(place, where, length);
    place[length] = 0;
    break_at(d, place, condition ? condition + 4 : NULL);
}

void debug_watch(debugger *d, const char *place) {
    stop s = {.is_watch = true};
    stop *to = set_watch(d, &s, place) ? add_stop(d) : NULL;
    if (!to) return;
    s.id = to->id;
    *to = s;
    printf("%d: watch %s\n", s.id, place);
}

void debug_delete(debugger *d, const char *which) {
    int id = atoi(which), kept = 0, before = d->nstops;
    for (int k = 0; k < before; k++)
        if (*which && d->stops[k].id != id)
            d->stops[kept++] = d->stops[k];
        else
            expression_free(&d->stops[k].condition);
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
            printf("%d: break at %s:%u%s%s\n", s->id, s->file, s->line, *s->condition.text ? " if " : "", s->condition.text);
    }
}
