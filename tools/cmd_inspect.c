/* cmd_inspect.c: rvm dis, verify, info: what a program is, without running it. */
#include "tool.h"

#include <inttypes.h>
#include <stdlib.h>

static void identity(const tool *t, char text[33]) {
    uint64_t id[2];
    rvm_program_id(t->program, id);
    snprintf(text, 33, "%016" PRIx64 "%016" PRIx64, id[0], id[1]);
}

static uint64_t code_size(const tool *t) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < rvm_program_function_count(t->program); i++) n += rvm_program_code_size(t->program, i);
    return n;
}

/* Whose elementary functions a run has; *why: why SLEEF's are not there, or "". */
static const char *math_of(tool *t, rvm_error *why) {
    rvm_math math = RVM_MATH_AUTO, sleef;
    *why = (rvm_error){0};
    rvm_math_choose(RVM_MATH_SLEEF, &sleef, why);
    tool_math(t, &math);
    return rvm_math_name(math);
}

static void json_math(json *j, tool *t) {
    rvm_error why;
    json_key(j, "math"), json_text(j, math_of(t, &why));
    if (why.code) json_key(j, "no_sleef"), json_text(j, why.message);
}

static void print_math(tool *t) {
    rvm_error why;
    const char *math = math_of(t, &why);
    printf("elementary functions: %s; %s\n", math, why.code ? why.message : "there are: libm, sleef");
}

static void print_json(tool *t) {
    json j;
    char id[33], tables[17];
    identity(t, id);
    snprintf(tables, sizeof tables, "%016" PRIx64, rvm_bytecode_tables());
    tool_json_begin(&j, t, RVM_OK);
    json_key(&j, "verified"), json_bool(&j, true);
    json_key(&j, "id"), json_text(&j, id);
    json_key(&j, "version"), json_text(&j, RVM_VERSION_STRING);
    json_key(&j, "container"), json_uint(&j, rvm_bytecode_version());
    json_key(&j, "tables"), json_text(&j, tables);
    json_key(&j, "instructions"), json_uint(&j, code_size(t));
    if (t->command == COMMAND_INFO) json_math(&j, t);
    json_key(&j, "functions");
    json_open(&j, '[');
    for (uint32_t i = 0; i < rvm_program_function_count(t->program); i++) output_json_signature(&j, t, i);
    json_close(&j, ']');
    tool_json_end(&j);
}

static void print_size(const tool *t) {
    uint32_t n = rvm_program_function_count(t->program);
    printf("%u function%s, %" PRIu64 " instructions\n", n, n == 1 ? "" : "s", code_size(t));
}

static void print_functions(const tool *t) {
    for (uint32_t i = 0; i < rvm_program_function_count(t->program); i++) {
        printf("  %6u  ", rvm_program_code_size(t->program, i));
        output_signature(t, i, stdout);
        putchar('\n');
    }
}

static void print_device(const tool *t, int number, const rvm_cuda_device *d) {
    if (t->o.json)
        printf("%s{\"device\": %d, \"name\": \"%s\", \"capability\": \"%d.%d\", \"multiprocessors\": %d, \"memory\": %zu, "
               "\"slow_double\": %s}",
               number ? ", " : "", number, d->name, d->major, d->minor, d->multiprocessors, d->memory,
               d->slow_double ? "true" : "false");
    else
        printf("%d: %s, compute capability %d.%d, %d multiprocessors, %.0f GiB%s\n", number, d->name, d->major, d->minor,
               d->multiprocessors, (double)d->memory / (1 << 30), d->slow_double ? "; doubles are slow there" : "");
}

static rvm_status print_devices(tool *t) {
    int n;
    rvm_status st = rvm_cuda_count(&n, &t->err);
    if (!st && !n) st = tool_fail(t, RVM_ERR_UNSUPPORTED, "there is no CUDA device");
    if (!st && t->o.json) putchar('[');
    for (int k = 0; k < n && !st; k++) {
        rvm_cuda_device d;
        st = rvm_cuda_describe(k, &d, &t->err);
        if (!st) print_device(t, k, &d);
    }
    if (!st && t->o.json) puts("]");
    return st;
}

rvm_status command_INFO(tool *t) {
    if (t->o.devices && t->nwords) return tool_fail(t, RVM_ERR_USAGE, "--devices goes without a program");
    if (t->o.devices) return print_devices(t);
    if (!t->nwords) return tool_fail(t, RVM_ERR_USAGE, "info wants a program, or --devices");
    rvm_status st = tool_open(t);
    if (st) return st;
    if (t->o.json) {
        print_json(t);
        return RVM_OK;
    }
    char id[33];
    identity(t, id);
    printf("%s: program %s\nbytecode: container %" PRIu32 ", tables %016" PRIx64 "\n", t->words[0], id,
           rvm_bytecode_version(), rvm_bytecode_tables());
    print_math(t);
    printf("rvm %s; ", RVM_VERSION_STRING);
    print_size(t);
    print_functions(t);
    return RVM_OK;
}

static void print_blocks(const tool *t, bool proved) {
    const char *before = proved ? "parallel blocks, proved: " : "parallel blocks, watched while they run: ", *file;
    uint32_t line, column;
    bool is_proved, any = false;
    for (uint32_t i = 0; i < rvm_program_function_count(t->program); i++)
        for (uint32_t k = 0; rvm_program_block(t->program, i, k, &is_proved) >= 0; k++) {
            if (is_proved != proved) continue;
            rvm_program_position(t->program, i, (uint32_t)rvm_program_block(t->program, i, k, NULL), &file, &line, &column);
            printf("%s%s:%u", any ? ", " : before, file ? file : "?", line);
            any = true;
        }
    if (any) putchar('\n');
}

/* Opening a program is verifying it: nothing unverified gets this far. */
rvm_status command_VERIFY(tool *t) {
    rvm_status st = tool_open(t);
    if (st) return st;
    if (t->o.json) {
        print_json(t);
        return RVM_OK;
    }
    printf("%s: verified: ", t->words[0]);
    print_size(t);
    puts("proved: types of operands; pairing of jumps, loops and regions; presence of every place; read-only lengths and\n"
         "bounds; arguments of calls; and these roles of the parameters:");
    print_functions(t);
    print_blocks(t, true);
    print_blocks(t, false);
    return RVM_OK;
}

rvm_status command_DIS(tool *t) {
    char *text = NULL;
    size_t size;
    uint32_t fn = 0;
    rvm_status st = tool_open(t);
    if (!st && t->nwords > 1) st = tool_function(t, t->words[1], &fn);
    if (st) return st;
    FILE *out = t->o.json ? open_memstream(&text, &size) : stdout;
    if (!out) return tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    st = rvm_program_disassemble(t->program, t->nwords > 1 ? (int64_t)fn : -1, out, &t->err);
    if (out != stdout) fclose(out);
    if (!st && t->o.json) {
        json j;
        tool_json_begin(&j, t, RVM_OK);
        json_key(&j, "text"), json_text(&j, text);
        tool_json_end(&j);
    }
    free(text);
    return st;
}
