/* report.c: what is wrong, told in one form whoever found it, the assembler, the machine or a command:
 *
 *     FILE:LINE:COLUMN: error: MESSAGE [CODE]
 *         the line of the source
 *         ^
 *         hint: what helps
 *
 * or, with --json, as members of the one object: "error", the first, and "diagnostics", all of them. */
#include "tool.h"
#include "input.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- hints: what helps where an error of this code, with this in its message, is met; the first that fits ---- */

static const struct hint {
    rvm_status code;
    const char *sign, *text;
} hints[] = {
    {RVM_ERR_RELEASE, "; nan agrees",
     "where a value may become nan, `set` keeps the one before; --exact takes back every bit"},
    {RVM_ERR_RELEASE, "must disappear as 0,",
     "a change is taken back by `compute`, `do`, `undo`; what is to be forgotten takes `drop`, which leaves 0"},
    {RVM_ERR_RELEASE, "ancilla",
     "a change is taken back by `compute`, `do`, `undo`; what is to be forgotten takes `set`, to what it must disappear as"},
    {RVM_ERR_CONDITION, "postcondition", "`if a -> b` says by b which branch was taken"},
    {RVM_ERR_DOMAIN, "the factor", "`set` overwrites by any value, and keeps the old one"},
    {RVM_ERR_TRAIL, "exhausted", "--exact --save-record FILE keeps what a run back in another process needs"},
    {RVM_ERR_STACK, "the stack is empty", "--exact --save-record FILE keeps what a run back in another process needs"},
    {RVM_ERR_TRAIL, "the trail is off", "without --trail off it is kept"},
    {RVM_ERR_NOT_RESTORABLE, "infinite or NaN",
     "--exact restores every bit, what overflowed too; `set` keeps what it overwrites"},
    {RVM_ERR_NOT_RESTORABLE, "written by hand",
     "an adjoint of f that is written by hand takes f back itself, by `uncall f(...)`, or by what undoes it"},
    {RVM_ERR_NOT_RESTORABLE, "",
     "--exact restores every bit, `set` keeps what it overwrites, --tol X accepts so much; `rvm check` names the update at "
     "which rounding grew most"},
    {RVM_ERR_DEPTH, "", "--depth N allows more"},
    {RVM_ERR_FUEL, "", "--fuel N allows more"},
    {RVM_ERR_LIMIT, "the trail", "--trail-limit SIZE allows more; --trail off keeps nothing"},
    {RVM_ERR_UNSUPPORTED, "does not go through this derivative program: it was derived for other runs",
     "`rasm --exact`, and --exact where a source is given, derive for such runs"},
    {RVM_ERR_UNSUPPORTED, "does not go through this derivative program: its inverse would be a computation of its own",
     "`compute` and `undo` take f'grad back"},
    {RVM_ERR_MEMORY, "the limit is", "--memory SIZE allows more"},
};

static const char in_derived[] = "`rvm grad`, `jac` and `hess` run exactly where need be; `rvm run --exact` runs this so";

/* Of a run: an assembler's error has its own. */
static const char *hint_of(const tool *t, const rvm_error *e) {
    const bool derived = t->chosen && strchr(rvm_program_function_name(t->program, t->fn), '\'');
    if (derived && e->code == RVM_ERR_NOT_RESTORABLE) return in_derived;
    for (size_t k = 0; k < sizeof hints / sizeof *hints; k++)
        if (hints[k].code == e->code && strstr(e->message, hints[k].sign)) return hints[k].text;
    return NULL;
}

/* ---- the source, if it is what the program was made from ---- */

/* Whether two functions have the same instructions at the same places. */
static bool is_same_code(const rvm_program *p, uint32_t a, const rvm_program *q, uint32_t b) {
    rvm_instruction x, y;
    uint32_t pc = 0, line[2], column[2];
    if (rvm_program_code_size(p, a) != rvm_program_code_size(q, b)) return false;
    for (; rvm_program_instruction(p, a, pc, &x) && rvm_program_instruction(q, b, pc, &y); pc++) {
        rvm_program_position(p, a, pc, NULL, &line[0], &column[0]);
        rvm_program_position(q, b, pc, NULL, &line[1], &column[1]);
        if (strcmp(x.mnemonic, y.mnemonic) != 0 || line[0] != line[1] || column[0] != column[1]) return false;
    }
    return true;
}

/* Whether each function of the source stands in the program. */
static bool made_from(const rvm_program *p, const rvm_program *source) {
    for (uint32_t k = 0; k < rvm_program_function_count(source); k++) {
        const int64_t fn = rvm_program_find(p, rvm_program_function_name(source, k));
        if (fn < 0 || !is_same_code(source, k, p, (uint32_t)fn)) return false;
    }
    return true;
}

static bool is_file(const char *path) {
    struct stat st;
    return path && !stat(path, &st) && S_ISREG(st.st_mode);
}

/* Whether the program was given as bytecode. */
static bool is_bytecode(const tool *t) {
    input in;
    rvm_error unused;
    if (t->source) return rvm_bytecode_begins(t->source, t->source_size);
    if (!is_file(t->words[0]) || input_open(&in, t->words[0], &unused)) return false;
    const size_t n = input_peek(&in);
    input_close(&in);
    return rvm_bytecode_begins(in.held, n);
}

/* Bytecode names its source, which may have changed since. */
static bool source_is_same(tool *t) {
    rvm_asm_options o;
    rvm_program *p = NULL;
    rvm_error unused;
    if (!t->program || !is_bytecode(t)) return true;
    const char *file = rvm_program_file(t->program, 0);
    if (!is_file(file)) return false;
    const bool same =
        !tool_asm_options(t, &o) && !rvm_assemble_file(file, &o, &p, &unused, NULL, NULL) && made_from(t->program, p);
    rvm_program_free(p);
    return same;
}

/* From who runs it for somebody else. */
static bool given_source(const tool *t, const char *file, char **text, size_t *size) {
    const file_set_item *f = file ? file_set_find(t->files, file) : NULL;
    if (!f || f->error || !(*text = malloc(f->size + 1))) return false;
    memcpy(*text, f->bytes, f->size + 1);
    *size = f->size;
    return true;
}

bool report_source(tool *t, const char *file, char **text, size_t *size) {
    enum { LONGEST = 1 << 26 };
    input in;
    rvm_error unused;
    *text = NULL;
    *size = 0;
    if (t->files) return given_source(t, file, text, size);
    if (t->source && !is_bytecode(t) && file && strcmp(file, "<stdin>") == 0) {
        if (!(*text = malloc(t->source_size + 1))) return false;
        memcpy(*text, t->source, *size = t->source_size);
        (*text)[*size] = 0;
        return true;
    }
    if (t->o.no_include && file && strcmp(file, t->words[0]) != 0)
        return false; /* raw code may name any file as its source */
    if (!is_file(file) || !source_is_same(t) || input_open(&in, file, &unused)) return false;
    const bool good = !input_whole(&in, LONGEST, text, size, &unused);
    input_close(&in);
    return good;
}

/* The line and the caret, as the assembler shows them; false: there is none to show. */
static bool excerpt(tool *t, const rvm_error *e, char *out, size_t size) {
    char *text;
    size_t n;
    const bool good =
        e->line && report_source(t, e->file, &text, &n) && rvm_asm_excerpt(text, n, e->line, e->column, out, size);
    if (e->line) free(text);
    return good;
}

/* ---- one diagnostic, as text ---- */

/* Colours on a terminal, unless NO_COLOR is there (no-color.org). */
bool report_in_colour(const tool *t) {
    if (t->files) return t->coloured;
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(STDERR_FILENO) && !(no && *no) && term && *term && strcmp(term, "dumb") != 0;
}

#define BOLD    "\033[1m"
#define RED     "\033[1;31m"
#define MAGENTA "\033[1;35m"
#define GREEN   "\033[1;32m"
#define CYAN    "\033[1;36m"
#define PLAIN   "\033[0m"

static void coloured_head(const char *line, int length) {
    static const struct {
        const char *word, *colour;
    } kinds[] = {{"error: ", RED}, {"warning: ", MAGENTA}, {"note: ", CYAN}};
    const char *at = NULL, *colour = "", *word = "";
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const char *found = strstr(line, kinds[k].word);
        if (found && found < line + length && (!at || found < at))
            at = found, colour = kinds[k].colour, word = kinds[k].word;
    }
    if (at)
        fprintf(stderr, BOLD "%.*s%s%s" PLAIN "%.*s", (int)(at - line), line, colour, word,
                (int)(line + length - at) - (int)strlen(word), at + strlen(word));
    else
        fprintf(stderr, "%.*s", length, line);
}

/* The head; the line; the caret; the hint. */
static void print_text(const tool *t, const char *text) {
    if (!report_in_colour(t)) {
        fprintf(stderr, "%s\n", text);
        return;
    }
    for (int k = 0; *text; k++) {
        const int length = (int)strcspn(text, "\n");
        const int blank = (int)strspn(text, " \t");
        if (!k)
            coloured_head(text, length);
        else if (text[blank] == '^')
            fprintf(stderr, "%.*s" GREEN "%.*s" PLAIN, blank, text, length - blank, text + blank);
        else if (strncmp(text + blank, "hint: ", 6) == 0)
            fprintf(stderr, "%.*s" CYAN "hint: " PLAIN "%.*s", blank, text, length - blank - 6, text + blank + 6);
        else
            fprintf(stderr, "%.*s", length, text);
        fputc('\n', stderr);
        text += length + (text[length] == '\n');
    }
}

/* What concerns a whole line has no column. */
static void place_text(const tool *t, const rvm_error *e, char *out, size_t size) {
    char title[32];
    command_title(t->command, title);
    if (e->file[0] && e->line && e->column)
        snprintf(out, size, "%s:%u:%u: ", e->file, e->line, e->column);
    else if (e->file[0] && e->line)
        snprintf(out, size, "%s:%u: ", e->file, e->line);
    else
        snprintf(out, size, "%s: ", e->file[0] ? e->file : title);
}

static void report_text(tool *t) {
    const rvm_error *e = &t->err;
    char place[300], line[1024], *text = NULL;
    size_t size;
    fflush(stdout); /* results that are there, before what is wrong with them */
    FILE *out = t->shown ? NULL : open_memstream(&text, &size);
    if (out) {
        const char *hint = hint_of(t, e);
        place_text(t, e, place, sizeof place);
        fprintf(out, "%serror: %s%s%s [%s]", place, e->message, t->note ? " " : "", t->note ? t->note : "",
                rvm_status_name(e->code));
        if (excerpt(t, e, line, sizeof line)) fprintf(out, "\n%s", line);
        if (hint) fprintf(out, "\n    hint: %s", hint);
        if (fclose(out) == 0) print_text(t, text);
        free(text);
    }
    if (t->restored) fprintf(stderr, "%s\n", t->restored_text);
}

void report_add_note(tool *t, const char *word) {
    const size_t before = t->note ? strlen(t->note) : 0, room = before + strlen(word) + 3;
    char *grown = realloc(t->note, room);
    if (!grown) return;
    snprintf(grown + before, room - before, "%s%s", before ? ", " : "", word);
    t->note = grown;
}

/* ---- as JSON ---- */

static void json_or_null(json *j, const char *key, uint32_t n) {
    json_key(j, key);
    if (n)
        json_uint(j, n);
    else
        json_none(j);
}

/* All there is to say of one. source and hint: NULL where there is none. */
static void json_diagnostic(json *j, const rvm_error *e, const char *severity, const char *message, const char *source,
                            const char *hint) {
    json_open(j, '{');
    json_key(j, "severity"), json_text(j, severity);
    json_key(j, "code"), json_text(j, rvm_status_name(e->code));
    json_key(j, "message"), json_text(j, message);
    json_key(j, "file"), json_text(j, e->file[0] ? e->file : NULL);
    json_or_null(j, "line", e->line);
    json_or_null(j, "column", e->column);
    json_key(j, "source"), json_text(j, source);
    json_key(j, "hint"), json_text(j, hint);
    json_close(j, '}');
}

/* The assembler's text in its parts: the message behind "error: ", the lines of the source, the hint. It is cut up. */
static void json_from_text(json *j, const rvm_error *e, char *text) {
    static const char hint_begins[] = "\n    hint: ";
    char *hint = strstr(text, hint_begins), *source, *message;
    if (hint) *hint = 0, hint += strlen(hint_begins);
    source = strchr(text, '\n');
    if (source) *source++ = 0;
    const bool warning = strstr(text, ": warning: ") &&
                         (!strstr(text, ": error: ") || strstr(text, ": warning: ") < strstr(text, ": error: "));
    message = strstr(text, warning ? ": warning: " : ": error: ");
    json_diagnostic(j, e, warning ? "warning" : "error", message ? strstr(message + 2, ": ") + 2 : text, source, hint);
}

/* One more item of "diagnostics"; false: no memory. */
static bool begin_item(tool *t, json *j) {
    if (!t->diagnostics) t->diagnostics = open_memstream(&t->diagnostics_text, &t->diagnostics_size);
    *j = (json){.out = t->diagnostics, .comma = t->diagnosed};
    return t->diagnostics;
}

static void end_item(tool *t) {
    fflush(t->diagnostics);
    t->diagnosed = true;
}

void tool_diagnostic(void *userdata, const rvm_error *e, const char *text) {
    tool *t = userdata;
    json j;
    if (!t->o.json) {
        print_text(t, text);
        t->shown = e->code != RVM_OK; /* else a warning */
        return;
    }
    char *copy = strdup(text);
    const size_t from = t->diagnostics_size + t->diagnosed; /* behind a comma */
    if (copy && begin_item(t, &j)) {
        json_from_text(&j, e, copy);
        end_item(t);
        if (e->code && !t->first_error[1]) t->first_error[0] = from, t->first_error[1] = t->diagnostics_size;
    }
    free(copy);
}

static void json_note(json *j, tool *t, const rvm_error *e) {
    char line[1024];
    json_diagnostic(j, e, "note", e->message, excerpt(t, e, line, sizeof line) ? line : NULL, NULL);
}

void report_note(tool *t, const rvm_error *e) {
    char title[32];
    json j;
    command_title(t->command, title);
    if (!t->o.json)
        fprintf(stderr, "%s: note: %s\n", title, e->message);
    else if (begin_item(t, &j)) {
        json_note(&j, t, e);
        end_item(t);
    }
}

void report_note_text(tool *t, const char *text) {
    rvm_error e = {0};
    snprintf(e.message, sizeof e.message, "%s", text);
    report_note(t, &e);
}

static void json_error(json *j, tool *t) {
    const rvm_error *e = &t->err;
    char line[1024], *message = NULL;
    const size_t size = strlen(e->message) + (t->note ? strlen(t->note) : 0) + 2;
    const bool shown = excerpt(t, e, line, sizeof line);
    if (t->note && (message = malloc(size))) snprintf(message, size, "%s %s", e->message, t->note);
    json_diagnostic(j, e, "error", message ? message : e->message, shown ? line : NULL, hint_of(t, e));
    free(message);
}

/* The program was not assembled: the error is the first that was told. */
static bool is_first(const tool *t) {
    return t->first_error[1] && !t->program;
}

/* "diagnostics": those that the assembler told, notes, then the error, unless it is one of them. */
static void json_diagnostics(json *j, tool *t, bool failed) {
    if (!failed && !t->diagnosed) return;
    json_key(j, "diagnostics");
    json_open(j, '[');
    if (t->diagnosed) fputs(t->diagnostics_text, j->out), j->comma = true;
    if (failed && !is_first(t)) json_error(j, t);
    json_close(j, ']');
}

void tool_json_begin(json *j, tool *t, rvm_status st) {
    *j = (json){.out = stdout};
    json_open(j, '{');
    json_key(j, "ok"), json_bool(j, !st);
    if (st) {
        t->err.code = st;
        json_key(j, "error");
        if (is_first(t))
            fwrite(t->diagnostics_text + t->first_error[0], 1, t->first_error[1] - t->first_error[0], j->out),
                j->comma = true;
        else
            json_error(j, t);
        t->shown = true;
    }
    json_diagnostics(j, t, st);
    if (t->rerun.code) json_key(j, "exact_rerun"), json_note(j, t, &t->rerun);
}

void tool_json_end(json *j) {
    json_close(j, '}');
    putc('\n', j->out);
}

/* In an object of tool_json_begin: where "diagnostics" have their first item or, if there are none, would stand. */
static const char *place_of_diagnostics(const char *text, bool *any) {
    static const char well[] = "{\"ok\":true", badly[] = "{\"ok\":false", key[] = ",\"diagnostics\":[";
    const bool is_well = !strncmp(text, well, strlen(well));
    const char *to = is_well ? text + strlen(well) : !strncmp(text, badly, strlen(badly)) ? strstr(text, key) : NULL;
    *any = to && !strncmp(to, key, strlen(key)); /* within a string the quotes have a backslash */
    return *any ? to + strlen(key) : to;
}

void tool_json_pass(const tool *t, const char *text, size_t size, FILE *out) {
    bool any;
    const char *to = t->diagnosed ? place_of_diagnostics(text, &any) : NULL;
    if (to) {
        fwrite(text, 1, (size_t)(to - text), out);
        fprintf(out, any ? "%s%s" : ",\"diagnostics\":[%s]%s", t->diagnostics_text, any && *to != ']' ? "," : "");
        size -= (size_t)(to - text), text = to;
    }
    fwrite(text, 1, size, out);
}

static void report_json(tool *t, rvm_status st) {
    json j;
    if (t->shown) return;
    tool_json_begin(&j, t, st);
    if (t->restored) {
        json_key(&j, "restored"), json_bool(&j, t->restored == RESTORED_YES);
        json_key(&j, "restored_text"), json_text(&j, t->restored_text);
    }
    tool_json_end(&j);
}

/* ---- either ---- */

void report(tool *t, rvm_status st) {
    t->err.code = st;
    if (t->o.json)
        report_json(t, st);
    else
        report_text(t);
}

void report_free(tool *t) {
    if (t->diagnostics) fclose(t->diagnostics);
    free(t->diagnostics_text);
    free(t->note);
}
