/* cli.c: getopt_long driven by options.def. Everything a command accepts and everything --help says comes from the tables.
 */
#include "cli.h"
#include "errors.h"
#include "number.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum kind { FLAG, TEXT, LIST, REAL, COUNT, BYTES };

#define ON(command) (1u << COMMAND_##command)
#define EVERY       ((1u << COMMAND_COUNT) - 1)
#define RUNS                                                                                                                \
    (ON(RUN) | ON(PROFILE) | ON(COST) | ON(GRAD) | ON(JVP) | ON(VJP) | ON(JAC) | ON(HESS) | ON(HVP) | ON(CHECK) | ON(DEBUG))
#define NATIVE (RUNS & ~(ON(DEBUG) | ON(PROFILE) | ON(COST)))
#define REMOTE (RUNS & ~(ON(DEBUG) | ON(COST)))
#define LOADS  (EVERY & ~(ON(RVM) | ON(PISA) | ON(EXPLAIN) | ON(HELP) | ON(SERVE)))

static const struct option_spec {
    const char *name, *metavar, *help;
    enum kind kind;
    int letter;
    unsigned commands;
    size_t offset;
} specs[OPTION_COUNT] = {
#define OPTION(name, letter, kind, metavar, commands, help)                                                                 \
    {#name, metavar, help, kind, letter, commands, offsetof(options, name)},
#define OPTION_AS(name, written, letter, kind, metavar, commands, help)                                                     \
    {written, metavar, help, kind, letter, commands, offsetof(options, name)},
#include "options.def"
#undef OPTION
};

static const struct synonym {
    const char *written;
    int option;
} synonyms[] = {
#define OPTION(...)
#define OPTION_AS(...)
#define SYNONYM(name, written) {written, OPTION_##name},
#include "options.def"
#undef OPTION
};
enum { SYNONYM_COUNT = sizeof synonyms / sizeof *synonyms };

static const struct command_spec {
    const char *program, *name, *words, *doc;
    int least, most;
} commands[COMMAND_COUNT] = {
#define COMMAND(id, program, name, words, least, most, doc) {program, name, words, doc, least, most},
#include "commands.def"
#undef COMMAND
};

int command_find(const char *program, const char *name, const char **near) {
    nearest n = {.wanted = name};
    for (int c = 0; c < COMMAND_COUNT; c++) {
        if (!commands[c].name || strcmp(commands[c].program, program) != 0) continue;
        if (strcmp(commands[c].name, name) == 0) return c;
        nearest_offer(&n, commands[c].name);
    }
    *near = n.best;
    return -1;
}

void command_title(command_id c, char title[32]) {
    const char *name = commands[c].name;
    snprintf(title, 32, "%s%s%s", commands[c].program, name ? " " : "", name ? name : "");
}

static bool takes(command_id c, const struct option_spec *s) {
    return s->commands >> c & 1;
}

/* ---- parsing ---- */

/* A whole number with an optional k, M or G, which multiply by `unit`. */
static bool parse_count(const char *text, uint64_t unit, uint64_t *out) {
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (end == text || errno || *text == '-') return false;
    static const char prefixes[] = "kMG";
    const char *prefix = *end ? strchr(prefixes, *end) : NULL;
    uint64_t factor = 1;
    for (end += prefix != NULL; prefix && prefix >= prefixes; prefix--) factor *= unit;
    return !*end && !__builtin_mul_overflow((uint64_t)n, factor, out);
}

static bool parse_positive(const char *text, double *out) {
    char *end;
    *out = strtod(text, &end);
    return end != text && !*end && *out >= 0 && isfinite(*out);
}

static bool append(text_list *l, const char *text) {
    const char **grown = realloc(l->item, (l->n + 2) * sizeof *grown);
    if (!grown) return false;
    l->item = grown;
    l->item[l->n++] = text;
    l->item[l->n] = NULL;
    return true;
}

/* What is 0 in rvm_options where there is no such limit. */
static bool is_limit(const struct option_spec *s) {
    const ptrdiff_t option = s - specs;
    return option == OPTION_fuel || option == OPTION_memory || option == OPTION_trail_limit;
}

static rvm_status set_option(const struct option_spec *s, const char *text, options *o, rvm_error *err) {
    void *at = (char *)o + s->offset;
    bool good = true;
    o->given[s - specs] = true;
    switch (s->kind) {
    case FLAG: *(bool *)at = true; break;
    case TEXT: *(const char **)at = text; break;
    case LIST:
        if (!append(at, text)) return fail(err, RVM_ERR_MEMORY, NULL, "out of memory");
        break;
    case REAL: good = parse_positive(text, at); break;
    case COUNT: good = parse_count(text, 1000, at); break;
    case BYTES: good = parse_count(text, 1024, at); break;
    }
    if (good && is_limit(s) && !*(uint64_t *)at)
        return fail(err, RVM_ERR_USAGE, NULL, "--%s is at least 1, not `%s`; leave it out for the default", s->name, text);
    if (good) return RVM_OK;
    return fail(err, RVM_ERR_USAGE, NULL, "--%s takes a number%s, not `%s`", s->name,
                s->kind == REAL ? " that is not negative" : ", whole and not negative", text);
}

/* An option of other commands, which are named. */
static rvm_status others_have(const char *title, const char *option, unsigned set, rvm_error *err) {
    char list[256] = "";
    for (int c = 0; c < COMMAND_COUNT; c++) {
        char other[32];
        command_title((command_id)c, other);
        if (set >> c & 1 && strlen(list) + strlen(other) + 3 < sizeof list) strcat(strcat(list, *list ? ", " : ""), other);
    }
    return fail(err, RVM_ERR_USAGE, NULL, "%s has no option `--%s`, which is one of %s", title, option, list);
}

static rvm_status unknown_option(command_id c, const char *text, rvm_error *err) {
    nearest n = {.wanted = text + strspn(text, "-")};
    char bare[64], title[32];
    snprintf(bare, sizeof bare, "%.*s", (int)strcspn(n.wanted, "="), n.wanted);
    n.wanted = bare;
    unsigned others = 0;
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (takes(c, &specs[i])) nearest_offer(&n, specs[i].name);
        if (!strcmp(specs[i].name, bare)) others = specs[i].commands;
    }
    command_title(c, title);
    if (others) return others_have(title, bare, others, err);
    return fail(err, RVM_ERR_USAGE, NULL, "%s has no option `%s`%s%s%s", title, text, n.best ? "; did you mean --" : "",
                n.best ? n.best : "", n.best ? "?" : "");
}

static rvm_status parse_options(command_id c, int argc, char **argv, options *o, rvm_error *err) {
    struct option longs[OPTION_COUNT + SYNONYM_COUNT + 1] = {0};
    char shorts[2 * OPTION_COUNT + 2] = ":";
    size_t n = 0, k = 1;
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (!takes(c, &specs[i])) continue;
        int wants = specs[i].kind == FLAG ? no_argument : required_argument;
        longs[n++] = (struct option){specs[i].name, wants, NULL, 256 + i};
        if (specs[i].letter) {
            shorts[k++] = (char)specs[i].letter;
            if (wants == required_argument) shorts[k++] = ':';
        }
    }
    for (int i = 0; i < SYNONYM_COUNT; i++) {
        const struct option_spec *s = &specs[synonyms[i].option];
        const int wants = s->kind == FLAG ? no_argument : required_argument;
        if (takes(c, s)) longs[n++] = (struct option){synonyms[i].written, wants, NULL, 256 + synonyms[i].option};
    }
    optind = 0; /* anew: a server's worker parses many */
    opterr = 0;
    for (int got; (got = getopt_long(argc, argv, shorts, longs, NULL)) >= 0;) {
        if (got == ':') return fail(err, RVM_ERR_USAGE, NULL, "`%s` needs a value", argv[optind - 1]);
        if (got == '?') return unknown_option(c, argv[optind - 1], err);
        const struct option_spec *s = specs;
        while (got < 256 ? s->letter != got : s != &specs[got - 256]) s++;
        rvm_status st = set_option(s, optarg, o, err);
        if (st) return st;
    }
    return RVM_OK;
}

rvm_status cli_parse(command_id c, int argc, char **argv, options *o, int *first, rvm_error *err) {
    *o = (options){0};
    rvm_status st = parse_options(c, argc, argv, o, err);
    *first = optind;
    if (st || o->help || o->version) return st;
    int words = argc - optind;
    char title[32];
    command_title(c, title);
    if (words < commands[c].least || (commands[c].most >= 0 && words > commands[c].most))
        return fail(err, RVM_ERR_USAGE, NULL, "usage: %s %s; see %s --help", title, commands[c].words, title);
    return RVM_OK;
}

static void number_word(const struct option_spec *s, const void *at, char *word, size_t size) {
    if (s->kind == REAL)
        snprintf(word, size, "--%s=%.17g", s->name, *(const double *)at);
    else
        snprintf(word, size, "--%s=%llu", s->name, (unsigned long long)*(const uint64_t *)at);
}

/* One occurrence of an option, or, text NULL, of one that has no text. */
static bool option_word(const struct option_spec *s, const void *at, const char *text,
                        bool (*take)(void *userdata, const char *word), void *userdata) {
    char number[128], *made = NULL;
    if (s->kind == FLAG)
        snprintf(number, sizeof number, "--%s", s->name);
    else if (!text)
        number_word(s, at, number, sizeof number);
    const size_t size = text ? strlen(s->name) + strlen(text) + 4 : 0;
    if (text && !(made = malloc(size))) return false;
    if (text) snprintf(made, size, "--%s=%s", s->name, text);
    const bool good = take(userdata, text ? made : number);
    free(made);
    return good;
}

bool cli_each_option(command_id c, const options *o, bool (*take)(void *userdata, const char *word), void *userdata) {
    bool good = true;
    for (int i = 0; good && i < OPTION_COUNT; i++) {
        const struct option_spec *s = &specs[i];
        const void *at = (const char *)o + s->offset;
        const text_list *l = at;
        if (!takes(c, s) || !o->given[i]) continue;
        if (s->kind != LIST) good = option_word(s, at, s->kind == TEXT ? *(const char *const *)at : NULL, take, userdata);
        for (size_t k = 0; good && s->kind == LIST && k < l->n; k++) good = option_word(s, at, l->item[k], take, userdata);
    }
    return good;
}

const char *cli_option_name(enum option_index option) {
    return specs[option].name;
}

const char *cli_command_name(command_id c) {
    return commands[c].name;
}

void cli_free(options *o) {
    for (int i = 0; i < OPTION_COUNT; i++)
        if (specs[i].kind == LIST) free(((text_list *)((char *)o + specs[i].offset))->item);
}

/* ---- help ---- */

void cli_help(command_id c, FILE *out) {
    char title[32];
    command_title(c, title);
    fprintf(out, "usage: %s [options] %s\n\n%s\n", title, commands[c].words, commands[c].doc);
    if (c == COMMAND_RVM) {
        fputs("\ncommands:\n", out);
        for (int k = 0; k < COMMAND_COUNT; k++)
            if (commands[k].name) fprintf(out, "  %-8s %s\n", commands[k].name, commands[k].doc);
    }
    if (RUNS >> c & 1)
        fputs("\nvalues: 1.5   [1,2,3]   [[1,2],[3,4]]   2+3i   zeros(3,4)   ones(3)   @file.npy   &function   @- (standard "
              "input)\n"
              "       @all.npz: an archive with the values of all parameters\n"
              "What may be left out starts as 0: parameters only accumulated into, shadows of a derived function.\n",
              out);
    fputs("\noptions:\n", out);
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (!takes(c, &specs[i])) continue;
        char left[64], letter[8] = "    ";
        if (specs[i].letter) snprintf(letter, sizeof letter, "-%c, ", specs[i].letter);
        snprintf(left, sizeof left, "%s--%s%s%s", letter, specs[i].name, specs[i].metavar ? " " : "",
                 specs[i].metavar ? specs[i].metavar : "");
        fprintf(out, "  %-26s %s\n", left, specs[i].help);
    }
    fputs("\nexit status: 0 done, 1 a check of the program failed, 2 usage, 3 bad input file, 4 a limit was reached\n", out);
}
