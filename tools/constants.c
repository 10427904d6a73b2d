/* constants.c: --const NAME=VALUE: parameters and lengths that the program is to take as constants. */
#include "tool.h"

#include <stdlib.h>
#include <string.h>

/* The scalar parameter or the length of that name, as a parameter; false: there is none. */
static bool find(const tool *t, const char *name, size_t length, rvm_param_info *info) {
    for (uint32_t i = 0; i < rvm_program_param_count(t->program, t->fn); i++) {
        if (rvm_program_param(t->program, t->fn, i, info)) return false;
        if (strlen(info->name) == length && !memcmp(info->name, name, length)) return true;
        for (int d = 0; d < info->ndim; d++) {
            const char *dim = info->dim_name[d];
            if (!dim || strlen(dim) != length || memcmp(dim, name, length) != 0) continue;
            *info = (rvm_param_info){.name = dim, .type = RVM_I64};
            return true;
        }
    }
    return false;
}

/* There is none of that name; of a complex or an lns there are parts, which have a point behind the name. */
static rvm_status refuse_name(tool *t, const char *name, size_t length) {
    const char *const fn = rvm_program_function_name(t->program, t->fn);
    rvm_param_info info;
    for (uint32_t i = 0; rvm_program_param(t->program, t->fn, i, &info) == RVM_OK; i++)
        if (length && !strncmp(info.name, name, length) && info.name[length] == '.')
            return tool_fail(t, RVM_ERR_ARGUMENT, "--const: `%.*s` has parts, which are constants one by one: `%s`",
                             (int)length, name, info.name);
    return tool_fail(t, RVM_ERR_ARGUMENT, "--const: `%s` has no parameter and no length `%.*s`", fn, (int)length, name);
}

/* The value of one, from NAME=VALUE. */
static rvm_status read_one(tool *t, const char *word, rvm_constant *out) {
    const char *equals = strchr(word, '=');
    rvm_param_info info;
    rvm_arg a = {.ndim = 0};
    if (!equals) return tool_fail(t, RVM_ERR_USAGE, "--const takes NAME=VALUE, not `%s`", word);
    if (!find(t, word, (size_t)(equals - word), &info)) return refuse_name(t, word, (size_t)(equals - word));
    if (info.ndim)
        return tool_fail(t, RVM_ERR_ARGUMENT, "--const: `%s` is an array: only scalars and lengths are constants",
                         info.name);
    const rvm_status st = literal_read(&t->reading, &info, equals + 1, &a, &t->err);
    if (st) return st;
    out->name = info.name;
    out->value.i = a.value.i;
    if (info.type == RVM_F64 || info.type == RVM_F32) out->value.f = a.value.f;
    return RVM_OK;
}

/* What is constant is given nowhere else. */
static rvm_status check_words(tool *t, const rvm_constant *constants, char **words, int n) {
    for (size_t k = 0; k < t->o.constants.n; k++)
        for (int i = 0; i < n; i++) {
            const size_t length = strlen(constants[k].name);
            if (!strncmp(words[i], constants[k].name, length) && words[i][length] == '=')
                return tool_fail(t, RVM_ERR_ARGUMENT, "`%s` is given, and --const %s", words[i], t->o.constants.item[k]);
        }
    return RVM_OK;
}

rvm_status constants_fold(tool *t, char **words, int n) {
    const size_t count = t->o.constants.n;
    if (!count) return RVM_OK;
    rvm_constant *constants = calloc(count, sizeof *constants);
    rvm_program *folded;
    uint32_t fn;
    rvm_status st = constants ? RVM_OK : tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    for (size_t k = 0; !st && k < count; k++) st = read_one(t, t->o.constants.item[k], &constants[k]);
    if (!st) st = check_words(t, constants, words, n);
    if (!st) st = rvm_program_fold(t->program, t->fn, constants, (uint32_t)count, &folded, &fn, &t->err);
    free(constants);
    if (st) return st;
    rvm_program_free(t->program);
    t->program = folded;
    t->fn = fn;
    return RVM_OK;
}
