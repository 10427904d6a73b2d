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
    (void)w;
    debug_stops(d);
}

static void do_frame(debugger *d, const char *w) {
    unsigned long n = strtoul(w, NULL, 10);
    if (n >= rvm_machine_frames(d->m))
        printf("there is no frame %lu\n", n);
    else
        d->frame = (uint32_t)n;
    debug_position(d);
}

static void do_quit(debugger *d, const char *w) {
    (void)w;
    d->quit = true;
}

static void do_help(debugger *d, const char *w);

/* A command moves by a count, shows something, or acts on its words. */
static const struct entry {
    const char *name, *alias, *words, *doc;
    int direction;
    void (*move)(debugger *d, int direction, uint64_t n);
    void (*show)(const debugger *d);
    void (*act)(debugger *d, const char *words);
} table[] = {
#define MOVE(name, alias, direction, function, doc) {name, alias, "[N]", doc, direction, function, NULL, NULL},
#define SHOW(name, alias, function, doc)            {name, alias, "", doc, 0, NULL, function, NULL},
#define ACT(name, alias, words, function, doc)      {name, alias, words, doc, 0, NULL, NULL, function},
    MOVE("step", "s", 1, debug_step, "run to the next line, into calls") MOVE("back", "b", -1, debug_step,
                                                                              "go back to the line before, into calls")
        MOVE("next", "n", 1, debug_next, "run to the next line, over calls") MOVE("previous", "p", -1, debug_next,
                                                                                  "go back to the line before, over calls")
            MOVE("stepi", "si", 1, debug_instruction, "run one instruction") MOVE("backi", "bi", -1, debug_instruction,
                                                                                  "take back one instruction")
                MOVE("continue", "c", 1, debug_continue, "run on to a stop, an error, or the end")
                    MOVE("rcontinue", "rc", -1, debug_continue, "run back to a stop, or the start")
                        MOVE("finish", "f", 1, debug_finish, "run on until this call returns")
                            MOVE("rfinish", "rf", -1, debug_finish, "run back to where this call was entered") ACT(
                                "break", NULL, "LINE | FILE:LINE | FN", debug_break, "stop at a line, in both directions")
                                ACT("watch", "w", "PLACE", debug_watch, "stop when a place changes, as x or x[3]")
                                    ACT("delete", "d", "[N]", debug_delete, "delete a stop, or all")
                                        ACT("info", "i", "[break]", do_info, "list the stops")
                                            ACT("print", NULL, "PLACE", do_print, "print a place, as x or A[i, 2]")
                                                SHOW("locals", "l", debug_locals, "print every place that is present")
                                                    SHOW("where", "bt", debug_where, "the call stack")
                                                        ACT("frame", NULL, "N", do_frame,
                                                            "let print, locals and list look at frame N")
                                                            SHOW("list", NULL, debug_list, "the source around here")
                                                                SHOW("disassemble", "x", debug_disassemble,
                                                                     "the instructions around here")
                                                                    ACT("help", "h", "", do_help,
                                                                        "this list; an empty line repeats the last command")
                                                                        ACT("quit", "q", "", do_quit, "leave")
#undef MOVE
#undef SHOW
#undef ACT
};
enum { TABLE_SIZE = sizeof table / sizeof *table };

static void do_help(debugger *d, const char *w) {
    (void)d, (void)w;
    for (size_t k = 0; k < TABLE_SIZE; k++) {
        char left[64];
        snprintf(left, sizeof left, "%s %s", table[k].name, table[k].words);
        printf("  %-28s %-4s %s\n", left, table[k].alias ? table[k].alias : "", table[k].doc);
    }
}

/* By name, alias, or the only name that begins so; -1 having said why. */
static int find_command(const char *name, size_t length) {
    char bare[32];
    snprintf(bare, sizeof bare, "%.*s", (int)length, name);
    nearest near = {.wanted = bare};
    int found = -1, matches = 0;
    for (int k = 0; k < TABLE_SIZE; k++) {
        if (strcmp(table[k].name, bare) == 0 || (table[k].alias && strcmp(table[k].alias, bare) == 0)) return k;
        if (strncmp(table[k].name, bare, strlen(bare)) == 0) found = k, matches++;
        nearest_offer(&near, table[k].name);
    }
    if (matches == 1) return found;
    printf("there is no command `%s`%s%s%s\n", bare, near.best ? "; did you mean `" : "", near.best ? near.best : "",
           near.best ? "`?" : "; see help");
    return -1;
}

static void run_entry(debugger *d, const struct entry *e, const char *words) {
    unsigned long long n = strtoull(words, NULL, 10);
    if (e->move)
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

rvm_status command_DEBUG(tool *t) {
    debugger d = {.t = t, .end = -1};
    rvm_status st = tool_prepare(t);
    if (!st) st = rvm_machine_bind(t->machine, t->fn, t->v.arg, t->v.n, RVM_PRIMAL, false, &t->err);
    if (st) return st;
    d.m = t->machine;
    debug_position(&d);
    command_loop(&d);
    return RVM_OK;
}
