/* debug.c: rvm debug: the command loop and its table. */
#include "debug.h"
#include "number.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void do_print(debugger *d, const char *w) {
    debug_print(d, w);
}

static void do_info(debugger *d, const char *w) {
    if (strcmp(w, "locals") == 0)
        debug_locals(d);
    else if (!*w || strncmp("breakpoints", w, strlen(w)) == 0)
        debug_stops(d);
    else
        printf("info lists stops: info break; or places: info locals; not `%s`\n", w);
}

static void do_break(debugger *d, const char *w) {
    if (*w)
        debug_break(d, w);
    else
        puts("break where? LINE, FILE:LINE or FN; `back`, or rs, goes back a line");
}

static void look_at(debugger *d, unsigned long n) {
    if (n >= rvm_machine_frames(d->m))
        printf("there is no frame %lu\n", n);
    else
        d->frame = (uint32_t)n;
    debug_position(d);
}

static void do_frame(debugger *d, const char *w) {
    look_at(d, strtoul(w, NULL, 10));
}

/* By a count, which is 1 if it is left out. */
static unsigned long count_of(const char *w) {
    const unsigned long n = strtoul(w, NULL, 10);
    return n ? n : 1;
}

static void do_up(debugger *d, const char *w) {
    const unsigned long n = count_of(w), last = rvm_machine_frames(d->m) - 1;
    if (d->frame == last) puts("this is the outermost frame");
    look_at(d, n < last - d->frame ? d->frame + n : last);
}

static void do_down(debugger *d, const char *w) {
    const unsigned long n = count_of(w);
    if (!d->frame) puts("this is the innermost frame");
    look_at(d, n < d->frame ? d->frame - n : 0);
}

static void do_quit(debugger *d, const char *w) {
    (void)w;
    d->quit = true;
}

static void do_help(debugger *d, const char *w);

static const struct entry {
    const char *name, *aliases, *words, *doc;
    int direction;
    void (*move)(debugger *d, int direction, uint64_t n);
    void (*show)(const debugger *d);
    void (*act)(debugger *d, const char *words);
} table[] = {
#define MOVE(name, aliases, direction, function, doc) {name, aliases, "[N]", doc, direction, function, NULL, NULL},
#define SHOW(name, aliases, function, doc)            {name, aliases, "", doc, 0, NULL, function, NULL},
#define ACT(name, aliases, words, function, doc)      {name, aliases, words, doc, 0, NULL, NULL, function},
#define OTHER(name, instead)
#include "debug.def"
#undef MOVE
#undef SHOW
#undef ACT
#undef OTHER
};
enum { TABLE_SIZE = sizeof table / sizeof *table };

static const struct {
    const char *name, *instead;
} others[] = {
#define MOVE(...)
#define SHOW(...)
#define ACT(...)
#define OTHER(name, instead) {name, instead},
#include "debug.def"
#undef MOVE
#undef SHOW
#undef ACT
#undef OTHER
};

static void do_help(debugger *d, const char *w) {
    (void)d, (void)w;
    for (size_t k = 0; k < TABLE_SIZE; k++) {
        char left[64];
        snprintf(left, sizeof left, "%s %s", table[k].name, table[k].words);
        const char *aliases = table[k].aliases ? table[k].aliases : "";
        printf("  %-28s %-4.*s %s\n", left, (int)strcspn(aliases, " "), aliases, table[k].doc);
    }
}

static bool is_called(const struct entry *e, const char *name) {
    const size_t length = strlen(name);
    if (strcmp(e->name, name) == 0) return true;
    for (const char *a = e->aliases; a && *a; a += strspn(a, " ")) {
        const size_t n = strcspn(a, " ");
        if (n == length && strncmp(a, name, n) == 0) return true;
        a += n;
    }
    return false;
}

/* By name, alias, or the only name that begins so; -1 having said why. */
static int find_command(const char *name, size_t length) {
    char bare[32];
    snprintf(bare, sizeof bare, "%.*s", (int)length, name);
    nearest near = {.wanted = bare};
    int found = -1, matches = 0;
    for (int k = 0; k < TABLE_SIZE; k++) {
        if (is_called(&table[k], bare)) return k;
        if (strncmp(table[k].name, bare, strlen(bare)) == 0) found = k, matches++;
        nearest_offer(&near, table[k].name);
    }
    if (matches == 1) return found;
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        if (strcmp(others[k].name, bare) == 0) return printf("there is no command `%s`: %s\n", bare, others[k].instead), -1;
    printf("there is no command `%s`%s%s%s\n", bare, near.best ? "; did you mean `" : "", near.best ? near.best : "",
           near.best ? "`?" : "; see help");
    return -1;
}

static void run_entry(debugger *d, const struct entry *e, const char *words) {
    char *end;
    unsigned long long n = strtoull(words, &end, 10);
    if (e->move && *words && (!isdigit((unsigned char)*words) || *end || !n))
        printf("%s takes a count, not `%s`\n", e->name, words);
    else if (e->move)
        e->move(d, e->direction, n ? n : 1);
    else if (e->show)
        e->show(d);
    else
        e->act(d, words);
}

static void run_command(debugger *d, char *line) {
    char *end = line + strlen(line);
    while (end > line && isspace((unsigned char)end[-1])) *--end = 0;
    line += strspn(line, " \t");
    size_t length = strcspn(line, " \t");
    int k = find_command(line, length);
    if (k >= 0) run_entry(d, &table[k], line + length + strspn(line + length, " \t"));
}

static void command_loop(debugger *d) {
    char line[512], last[sizeof line] = "";
    bool prompt = isatty(STDIN_FILENO);
    while (!d->quit) {
        if (prompt) fputs("(rvm) ", stdout);
        fflush(stdout);
        if (!fgets(line, sizeof line, stdin)) break;
        if (strspn(line, " \t\r\n") == strlen(line))
            memcpy(line, last, sizeof line);
        else
            memcpy(last, line, sizeof line);
        if (line[0] && line[strspn(line, " \t")] != '#') run_command(d, line);
    }
    if (prompt && !d->quit) putchar('\n');
}

/* --of: what the sweep begins with. */
static rvm_status seed(tool *t) {
    bool wrt[RVM_MAX_PARAMS + 1] = {0};
    uint32_t of = 0;
    size_t element = 0;
    const rvm_status st = tool_choose_gradient(t, wrt, &of, &element);
    if (!st) arg_set_shadow(&t->v.arg[of], element, rvm_scalar_from_double(t->v.info[of].type, 1));
    return st;
}

rvm_status command_DEBUG(tool *t) {
    debugger d = {.t = t, .end = -1, .gradient = t->o.of != NULL};
    rvm_status st = tool_prepare(t);
    if (!st && d.gradient) st = seed(t);
    if (!st)
        st = rvm_machine_bind(t->machine, t->fn, t->v.arg, t->v.n, d.gradient ? RVM_GRADIENT : RVM_PRIMAL, false, &t->err);
    if (st) return st;
    d.m = t->machine;
    rvm_timeline_new(d.m, 0, &d.timeline, NULL); /* or without */
    debug_position(&d);
    command_loop(&d);
    debug_delete(&d, "");
    rvm_timeline_free(d.timeline);
    return RVM_OK;
}
