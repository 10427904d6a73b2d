/* only.c: --only and --quiet: which results are printed.
 *
 * A result has the name that it is printed with, whatever the spaces in it, and others that are shorter: that of its
 * parameter, with _b or _d where it is a shadow, as in files; `jacobian` and the like for all that there is of it.
 */
#include "tool.h"

#include <string.h>

/* Up to the next comma outside of brackets. */
static size_t item_length(const char *s) {
    size_t n = 0;
    for (int depth = 0; s[n] && (depth > 0 || s[n] != ','); n++) depth += (s[n] == '[') - (s[n] == ']');
    return n;
}

/* The next item of a list, and moves behind it; 0: there is none. */
static size_t next_item(const char **list, const char **item) {
    *item = *list;
    const size_t n = item_length(*list);
    *list += n + ((*list)[n] == ',');
    return n;
}

typedef struct wanted {
    const char *item;
    size_t length;
    bool found;
} wanted;

static bool is_same(const char *name, const char *item, size_t length) {
    const char *end = item + length;
    for (;; name++, item++) {
        name += strspn(name, " ");
        while (item < end && *item == ' ') item++;
        if (item == end || *name != *item) return item == end && !*name;
    }
}

static void compare(void *to, const char *name, bool alias) {
    wanted *w = to;
    (void)alias;
    w->found = w->found || is_same(name, w->item, w->length);
}

static void take_note(void *to, const char *name, bool alias) {
    if (!alias) report_add_note(to, name);
}

const char *only_suffix(const tool *t) {
    if (t->command == COMMAND_JVP) return rvm_shadow_suffix(RVM_TANGENT_OF);
    return t->command == COMMAND_GRAD || t->command == COMMAND_VJP ? rvm_shadow_suffix(RVM_ADJOINT) : NULL;
}

size_t shadow_stem(const char *name) {
    const char *suffix = rvm_shadow_suffix(RVM_ADJOINT);
    const size_t n = strlen(name), ends = strlen(suffix);
    return n > ends && !strcmp(name + n - ends, suffix) ? n - ends : 0;
}

/* Of parameter i, or of its shadow; none of what is no line of its own. */
static void each_name(const tool *t, uint32_t i, const shadow_lines *s, only_take *take, void *to) {
    char name[600], shown[600], longer[800];
    uint32_t other = i;
    const char *suffix = s ? only_suffix(t) : "";
    if (!output_param_name(&t->v, i, s ? s->set : NULL, name, sizeof name)) return;
    snprintf(longer, sizeof longer, "%s%s%s", s ? s->prefix : "", name, s ? s->suffix : "");
    take(to, longer, false);
    values_shown(&t->v, i, &other);
    values_shown_name(&t->v, i, shown, sizeof shown);
    const char *const stems[] = {shown, t->v.info[i].name, t->v.info[other].name};
    for (int k = 0; k < (!s || s->set[other] ? 3 : 2); k++) {
        snprintf(longer, sizeof longer, "%s%s", stems[k], suffix);
        take(to, longer, true);
    }
}

bool only_has(const tool *t, only_names *names, const void *of) {
    if (t->o.quiet || !t->o.only) return !t->o.quiet;
    wanted w = {0};
    for (const char *list = t->o.only; !w.found && (w.length = next_item(&list, &w.item));) names(t, of, compare, &w);
    return w.found;
}

typedef struct of_param {
    uint32_t i;
    const shadow_lines *s;
} of_param;

static void names_of_param(const tool *t, const void *of, only_take *take, void *to) {
    const of_param *p = of;
    each_name(t, p->i, p->s, take, to);
}

bool only_takes(const tool *t, uint32_t i, const shadow_lines *s) {
    return only_has(t, names_of_param, &(of_param){i, s});
}

/* ---- names that are none ---- */

typedef struct all_names {
    const shadow_lines *s;
    only_names *more;
    const void *of;
} all_names;

static void each_of_all(const tool *t, const void *of, only_take *take, void *to) {
    const all_names *a = of;
    for (uint32_t i = 0; i < t->v.n; i++) each_name(t, i, NULL, take, to);
    for (uint32_t i = 0; a->s && i < t->v.n; i++)
        if (a->s->set[i]) each_name(t, i, a->s, take, to);
    if (a->more) a->more(t, a->of, take, to);
}

rvm_status only_check(tool *t, const shadow_lines *s, only_names *more, const void *of) {
    const all_names all = {s, more, of};
    for (const char *list = t->o.only; list && *list;) {
        wanted w = {0};
        w.length = next_item(&list, &w.item);
        each_of_all(t, &all, compare, &w);
        if (w.found) continue;
        each_of_all(t, &all, take_note, t);
        return tool_fail(t, RVM_ERR_ARGUMENT, "--only: there is no result `%.*s`, but", (int)w.length, w.item);
    }
    return RVM_OK;
}
