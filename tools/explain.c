/* explain.c: rvm explain: what a status means, by an example; rvm help. */
#include "tool.h"
#include "number.h"

#include <ctype.h>
#include <string.h>

static const struct explained {
    const char *paragraph, *example;
} entries[] = {
#define EXPLAIN(code, paragraph, example) {paragraph, example},
#include "explain.def"
#undef EXPLAIN
};

enum entry {
#define EXPLAIN(code, paragraph, example) ENTRY_##code,
#include "explain.def"
#undef EXPLAIN
};

/* A code that has no paragraph is an error here. */
static const struct explained *const by_status[] = {
#define X(name, exit_status, text) [RVM_ERR_##name] = &entries[ENTRY_##name],
    RVM_STATUS_MAP(X)
#undef X
};
enum { STATUSES = sizeof by_status / sizeof *by_status };

static int find_status(const char *name, const char **near) {
    char upper[40];
    size_t n = 0;
    for (; name[n] && n + 1 < sizeof upper; n++) upper[n] = (char)(name[n] == '-' ? '_' : toupper((unsigned char)name[n]));
    upper[n] = 0;
    nearest nearby = {.wanted = upper};
    for (int s = 0; s < STATUSES; s++) {
        if (strcmp(rvm_status_name((rvm_status)s), upper) == 0) return s;
        nearest_offer(&nearby, rvm_status_name((rvm_status)s));
    }
    *near = nearby.best;
    return -1;
}

static void text_one(rvm_status s) {
    printf("%s: %s (exit status %d)\n\n%s\n", rvm_status_name(s), rvm_status_text(s), rvm_status_exit(s),
           by_status[s]->paragraph);
    for (const char *at = by_status[s]->example; *at; at += strcspn(at, "\n") + 1)
        printf("    %.*s\n", (int)strcspn(at, "\n"), at);
}

static void json_one(json *j, rvm_status s) {
    json_open(j, '{');
    json_key(j, "code"), json_text(j, rvm_status_name(s));
    json_key(j, "exit"), json_uint(j, (uint64_t)rvm_status_exit(s));
    json_key(j, "text"), json_text(j, rvm_status_text(s));
    json_key(j, "paragraph"), json_text(j, by_status[s]->paragraph);
    json_key(j, "example"), json_text(j, by_status[s]->example);
    json_close(j, '}');
}

rvm_status command_EXPLAIN(tool *t) {
    const char *near = NULL;
    const int one = t->nwords ? find_status(t->words[0], &near) : -1;
    json j;
    if (t->nwords && one < 0)
        return tool_fail(t, RVM_ERR_USAGE, "there is no code `%s`%s%s%s; rvm explain lists them", t->words[0],
                         near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    if (t->o.json) {
        tool_json_begin(&j, t, RVM_OK);
        json_key(&j, "codes");
        json_open(&j, '[');
    }
    for (int s = one < 0 ? 0 : one; s < (one < 0 ? STATUSES : one + 1); s++) {
        if (t->o.json)
            json_one(&j, (rvm_status)s);
        else if (one >= 0)
            text_one((rvm_status)s);
        else
            printf("%-15s %d  %s\n", rvm_status_name((rvm_status)s), rvm_status_exit((rvm_status)s),
                   rvm_status_text((rvm_status)s));
    }
    if (t->o.json) {
        json_close(&j, ']');
        tool_json_end(&j);
    } else if (one < 0)
        puts("\nrvm explain CODE says what one means, with an example. The number is the exit status.");
    return RVM_OK;
}

rvm_status command_HELP(tool *t) {
    const char *near = NULL;
    if (!t->nwords || strcmp(t->words[0], "rvm") == 0) return cli_help(COMMAND_RVM, stdout), RVM_OK;
    if (strcmp(t->words[0], "rasm") == 0) return cli_help(COMMAND_RASM, stdout), RVM_OK;
    const int c = command_find("rvm", t->words[0], &near);
    if (c >= 0) return cli_help((command_id)c, stdout), RVM_OK;
    if (find_status(t->words[0], &near) >= 0) return command_EXPLAIN(t);
    command_find("rvm", t->words[0], &near);
    return tool_fail(t, RVM_ERR_USAGE, "there is no command `%s`%s%s%s; rvm help lists them", t->words[0],
                     near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
}
