/* request.c: the JSON of a run becomes a command and its options, as if they had been given on a command line:
 *
 *     {"program": id, "fn": "norm", "kind": "grad", "args": {"out": 0, "x": [3, 4]}, "of": "out",
 *      "limits": {"fuel": 1000000, "memory": 1000000, "seconds": 1}, "profile": true}
 */
#include "tasks.h"

#include <stdlib.h>
#include <string.h>

/* Members that are options of the command: a text, a text or a whole number, names as a text or a list, values by name, a
 * flag, a real. What the option is in C says which, but for those that are a text in other words. */
enum form { TEXT, WORD, NAMES, VALUES, FLAG, REAL };
#define MEMBER_AS(form, name)                                                                                               \
    { #name, form, offsetof(options, name), OPTION_##name }
#define MEMBER(name)                                                                                                        \
    MEMBER_AS(_Generic(((options *)0)->name, const char * : TEXT, text_list : VALUES, bool : FLAG, double : REAL), name)
#define IN_WORDS(form, name) MEMBER_AS(_Generic(((options *)0)->name, const char * : form), name)
static const struct member {
    const char *name;
    enum form form;
    size_t at;
    int option;
} members[] = {
    MEMBER(of),        IN_WORDS(NAMES, wrt), MEMBER(dot),     MEMBER(seed),     MEMBER(method), MEMBER(exact),
    MEMBER(unchecked), MEMBER(undo),         MEMBER(points),  MEMBER(no_exact), MEMBER(tol),    IN_WORDS(WORD, checkpoints),
    MEMBER(trail),     MEMBER(constants),    MEMBER(profile), MEMBER(engine),
};
enum { MEMBERS = sizeof members / sizeof *members };
/* Read elsewhere. */
static const char *const others[] = {"program", "fn", "kind", "args", "limits"};

static const struct kind {
    const char *name;
    command_id command;
    bool backward, by_words; /* the latter: it is nothing else */
} kinds[] = {
    {"run", COMMAND_RUN, false, false},     {"backward", COMMAND_RUN, true, false},
    {"grad", COMMAND_GRAD, false, false},   {"vjp", COMMAND_VJP, false, false},
    {"jvp", COMMAND_JVP, false, false},     {"jac", COMMAND_JAC, false, false},
    {"hess", COMMAND_HESS, false, false},   {"hvp", COMMAND_HVP, false, false},
    {"check", COMMAND_CHECK, false, false}, {"profile", COMMAND_PROFILE, false, true},
};

/* ---- texts ---- */

static bool keep(text_pool *p, char *text) {
    if (text && p->n == p->room) {
        const size_t room = p->room ? 2 * p->room : 16;
        char **grown = realloc(p->item, room * sizeof *grown);
        if (!grown) return free(text), false;
        p->item = grown, p->room = room;
    }
    if (text) p->item[p->n++] = text;
    return text;
}

void text_pool_free(text_pool *p) {
    for (size_t k = 0; k < p->n; k++) free(p->item[k]);
    free(p->item);
}

/* "name=value": a text as it is, so that "NaN", "2+3i" and "&square" can be given; anything else as JSON, which is how
 * values are written. Files are not read for others. NULL: said in t->err. */
static char *word_of(tool *t, const char *name, const json_t *value, text_pool *texts) {
    const bool is_text = json_is_string(value);
    char *made = is_text ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT), *word = NULL;
    const char *text = is_text ? json_string_value(value) : made;
    if (text && (*text == '@' || *name == '@' || strchr(name, '='))) {
        tool_fail(t, RVM_ERR_ARGUMENT, "`%.80s`: a server reads no files: give the value", name);
        goto done;
    }
    const size_t size = text ? strlen(name) + strlen(text) + 2 : 0;
    if (text && (word = malloc(size))) snprintf(word, size, "%s=%s", name, text);
    if (!keep(texts, word)) tool_fail(t, RVM_ERR_MEMORY, "out of memory"), word = NULL;
done:
    free(made);
    return word;
}

/* ---- options ---- */

static rvm_status wrong(tool *t, const char *name, const char *what) {
    return tool_fail(t, RVM_ERR_USAGE, "\"%.80s\" is to be %s", name, what);
}

static rvm_status read_names(tool *t, const char *name, const json_t *v, const char **to, text_pool *texts) {
    char *text = NULL;
    size_t size = 0;
    if (json_is_string(v)) return *to = json_string_value(v), RVM_OK;
    if (!json_is_array(v)) return wrong(t, name, "a text, or a list of texts");
    FILE *out = open_memstream(&text, &size);
    for (size_t k = 0; out && k < json_array_size(v); k++) {
        const char *one = json_string_value(json_array_get(v, k));
        fprintf(out, "%s%s", k ? "," : "", one ? one : "");
    }
    if (out) fclose(out);
    if (!keep(texts, text)) return tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    *to = text;
    return RVM_OK;
}

static rvm_status read_word(tool *t, const char *name, const json_t *v, const char **to, text_pool *texts) {
    char number[24];
    if (json_is_string(v)) return *to = json_string_value(v), RVM_OK;
    if (!json_is_integer(v)) return wrong(t, name, "a text or a whole number");
    snprintf(number, sizeof number, "%lld", (long long)json_integer_value(v));
    char *const text = strdup(number);
    if (!keep(texts, text)) return tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    *to = text;
    return RVM_OK;
}

static rvm_status read_values(tool *t, const char *name, json_t *v, text_list *to, text_pool *texts) {
    const char *key;
    json_t *value;
    if (!json_is_object(v)) return wrong(t, name, "an object with values by name");
    if (!(to->item = calloc(json_object_size(v) + 1, sizeof *to->item)))
        return tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    json_object_foreach(v, key, value) if (!(to->item[to->n++] = word_of(t, key, value, texts))) return t->err.code;
    return RVM_OK;
}

static rvm_status read_member(tool *t, const struct member *m, json_t *v, text_pool *texts) {
    void *to = (char *)&t->o + m->at;
    t->o.given[m->option] = true;
    switch (m->form) {
    case TEXT: return (*(const char **)to = json_string_value(v)) ? RVM_OK : wrong(t, m->name, "a text");
    case WORD: return read_word(t, m->name, v, to, texts);
    case NAMES: return read_names(t, m->name, v, to, texts);
    case VALUES: return read_values(t, m->name, v, to, texts);
    case FLAG: return *(bool *)to = json_is_true(v), json_is_boolean(v) ? RVM_OK : wrong(t, m->name, "true or false");
    case REAL:
        *(double *)to = json_number_value(v);
        return json_is_number(v) && json_number_value(v) >= 0 ? RVM_OK : wrong(t, m->name, "a number that is not negative");
    }
    return RVM_OK;
}

static bool is_other(const char *name) {
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        if (strcmp(others[k], name) == 0) return true;
    return false;
}

static rvm_status read_members(tool *t, json_t *request, text_pool *texts) {
    const char *key;
    json_t *value;
    json_object_foreach(request, key, value) {
        size_t k = 0;
        while (k < MEMBERS && strcmp(members[k].name, key) != 0) k++;
        if (k == MEMBERS && is_other(key)) continue;
        if (k == MEMBERS) return tool_fail(t, RVM_ERR_USAGE, "a run has no member \"%.80s\"", key);
        const rvm_status st = read_member(t, &members[k], value, texts);
        if (st) return st;
    }
    return RVM_OK;
}

/* ---- limits: what is not given is the server's, and more than that is not to be had ---- */

static rvm_status read_limit(tool *t, const json_t *limits, const char *name, uint64_t most, uint64_t *to) {
    const json_t *v = json_object_get(limits, name);
    *to = most;
    if (!v) return RVM_OK;
    if (!json_is_integer(v) || json_integer_value(v) <= 0) return wrong(t, name, "a whole number above 0");
    if ((uint64_t)json_integer_value(v) > most)
        return tool_fail(t, RVM_ERR_USAGE, "\"%s\" is at most %llu here", name, (unsigned long long)most);
    *to = (uint64_t)json_integer_value(v);
    return RVM_OK;
}

static rvm_status read_limits(tool *t, const json_t *limits, const work_limits *most, double *seconds) {
    const json_t *s = json_object_get(limits, "seconds");
    if (limits && !json_is_object(limits)) return wrong(t, "limits", "an object");
    rvm_status st = read_limit(t, limits, "fuel", most->fuel, &t->o.fuel);
    if (!st) st = read_limit(t, limits, "memory", most->memory, &t->o.memory);
    if (!st) st = read_limit(t, limits, "trail", most->memory, &t->o.trail_limit);
    if (!st) st = read_limit(t, limits, "depth", 10000, &t->o.depth);
    t->o.given[OPTION_depth] = true;
    *seconds = s ? json_number_value(s) : most->seconds;
    if (!st && (!(*seconds > 0) || *seconds > most->seconds))
        st = tool_fail(t, RVM_ERR_USAGE, "\"seconds\" is a number above 0, at most %g here", most->seconds);
    return st;
}

/* ---- the whole ---- */

rvm_status request_kind(tool *t, const json_t *v, bool by_words) {
    const char *name = v ? json_string_value(v) : "run";
    for (size_t k = 0; name && k < sizeof kinds / sizeof *kinds; k++)
        if (strcmp(kinds[k].name, name) == 0 && by_words >= kinds[k].by_words) {
            t->command = kinds[k].command;
            t->o.backward = kinds[k].backward;
            return RVM_OK;
        }
    return tool_fail(t, RVM_ERR_USAGE, "\"kind\" is run, backward, grad, vjp, jvp, jac, hess, hvp or check");
}

/* words: the program, the function, values. */
static rvm_status read_words(tool *t, const json_t *request, text_pool *texts) {
    text_list args = {0};
    json_t *given = json_object_get(request, "args");
    const json_t *fn = json_object_get(request, "fn");
    rvm_status st = given ? read_values(t, "args", given, &args, texts) : RVM_OK;
    if (!st && fn && (!json_is_string(fn) || strpbrk(json_string_value(fn), "=@")))
        st = wrong(t, "fn", "the name of a function");
    char **words = st ? NULL : calloc(args.n + 3, sizeof *words);
    if (!st && !words) st = tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    if (words) {
        words[t->nwords++] = t->words[0];
        if (fn) words[t->nwords++] = (char *)json_string_value(fn);
        for (size_t k = 0; k < args.n; k++) words[t->nwords++] = (char *)args.item[k];
        t->words = words;
        if (!keep(texts, (char *)words)) st = tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    }
    free(args.item);
    return st;
}

rvm_status request_read(tool *t, json_t *request, const work_limits *most, double *seconds, text_pool *texts) {
    if (!json_is_object(request)) return tool_fail(t, RVM_ERR_USAGE, "a run is a JSON object");
    rvm_status st = request_kind(t, json_object_get(request, "kind"), false);
    if (!st) st = read_members(t, request, texts);
    if (!st) st = read_limits(t, json_object_get(request, "limits"), most, seconds);
    return st ? st : read_words(t, request, texts);
}
