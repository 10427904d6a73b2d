/* measure_step.c: the step of a program, and the functions that run it, which are assembled behind its text: so they are
 * optimised as a user's own would be, and what is wrong with the step is told where it stands.
 */
#include "measure.h"

#include <stdlib.h>
#include <string.h>

/* ---- its shape ----
 * The parts of a state are parameters in a row whose names are alike before a point: y.u and y.k, or y alone. */

/* How many parameters the place at parameter k is, of n. */
static uint32_t parts_at(const rvm_param_info *p, uint32_t k, uint32_t n) {
    const char *point = strchr(p[k].name, '.');
    const size_t length = point ? (size_t)(point - p[k].name) + 1 : 0;
    uint32_t end = k + 1;
    while (length && end < n && !strncmp(p[k].name, p[end].name, length)) end++;
    return end - k;
}

static bool is_state(const rvm_param_info *p, uint32_t parts) {
    const bool good = parts > 1 || strchr(p->name, '.') || (p->ndim == 1 && type_is_real(p->type));
    for (uint32_t k = 0; k < parts; k++)
        if (p[k].function_type) return false;
    return good;
}

/* Two states of the same type, the first only added to, the second only read; a member that nothing uses counts as read. */
static bool adds(const rvm_param_info *y1, const rvm_param_info *y, uint32_t parts) {
    bool good = true;
    for (uint32_t k = 0; k < parts; k++)
        good = good && y1[k].type == y[k].type && y1[k].ndim == y[k].ndim && y1[k].role != RVM_OWN && y[k].role == RVM_READ;
    return good;
}

static rvm_status refuse(measurement *m) {
    tool *t = m->t;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out) output_signature(t, t->fn, out);
    const bool good = out && !fclose(out);
    rvm_status st = tool_fail(t, RVM_ERR_USAGE,
                              "no step is `%s`: a step adds, `fn step(y1: State, y: State, env: real[k])`, or overwrites, "
                              "`fn step(y: State, env: real[k])`; a State is real[n], or what `type State = ...` says",
                              good ? text : m->step);
    free(text);
    rvm_program_position(t->program, t->fn, 0, NULL, &t->err.line, &t->err.column);
    const char *file = rvm_program_file(t->program, 0);
    snprintf(t->err.file, sizeof t->err.file, "%s", file ? file : "");
    return st;
}

static rvm_status check_shape(measurement *m) {
    const tool *t = m->t;
    const uint32_t n = rvm_program_param_count(t->program, t->fn);
    rvm_param_info *p = calloc((size_t)n + 1, sizeof *p);
    if (!p) return tool_fail(m->t, RVM_ERR_MEMORY, "out of memory");
    for (uint32_t k = 0; k < n; k++) rvm_program_param(t->program, t->fn, k, &p[k]);
    m->parts = n ? parts_at(p, 0, n) : 0;
    m->in_place = n == m->parts + 1;
    const rvm_param_info *env = n ? p + n - 1 : p;
    const bool good = n >= 2 && (m->in_place || n == 2 * m->parts + 1) && env->ndim == 1 && type_is_real(env->type) &&
                      env->role == RVM_READ && is_state(p, m->parts) && (m->in_place || adds(p, p + m->parts, m->parts));
    free(p);
    return good ? RVM_OK : refuse(m);
}

static rvm_status check_gradient(measurement *m) {
    const tool *t = m->t;
    rvm_param_info p;
    for (uint32_t k = 0; k < m->parts; k++)
        if (!rvm_program_param(t->program, t->fn, k, &p) && type_is_real(p.type)) return RVM_OK;
    return tool_fail(m->t, RVM_ERR_USAGE, "a state of integers has no gradient: --by bennett or pebble");
}

/* ---- what runs it ---- */

#define ENV "env: real[env_size]"
static const char *const marches[] = {
    "fn " MEASURED_MARCH "(y: State, " ENV ", steps: i64)\n"
    "    call schedule_march(y, steps, env, &STEP)\n"
    "end\n",
    "fn " MEASURED_MARCH "(y: State, " ENV ", steps: i64)\n"
    "    for step_number in 0..steps\n"
    "        call STEP(y, env)\n"
    "    end\n"
    "end\n"
    "fn rvm_measured_step(y1: State, y: State, " ENV ")\n"
    "    call schedule_lift(y1, y, env, &STEP)\n"
    "end\n",
};
static const char run[] = "fn " MEASURED_RUN "(y1: State, y: State, " ENV ", pool_rows: i64, moves: i64[move_count, 4])\n"
                          "    call schedule_run(y1, y, pool_rows, moves, env, &STEP)\n"
                          "end\n";
static const char gradient[] =
    "fn " MEASURED_TRAIL "(y: State, g: State'shadow, " ENV ", env_b: real[env_size], steps: i64)\n"
    "    call " MEASURED_MARCH "'grad(y, g, env, env_b, steps)\n"
    "end\n"
    "fn " MEASURED_GRADIENT "(y: State, g: State'shadow, " ENV ", env_b: real[env_size], pool_rows: i64, "
    "moves: i64[move_count, 4])\n"
    "    call schedule_gradient(y, g, pool_rows, moves, env, env_b, &STEP)\n"
    "end\n";

static void put(FILE *out, const char *text, const char *step) {
    for (const char *at; (at = strstr(text, "STEP")); text = at + 4) fprintf(out, "%.*s%s", (int)(at - text), text, step);
    fputs(text, out);
}

/* The program's text with them behind it; NULL: it is not there. */
static char *extended(measurement *m, bool gradients, size_t *size) {
    char *text, *whole = NULL;
    size_t length;
    const char *file = rvm_program_file(m->t->program, 0), *step = m->in_place ? "rvm_measured_step" : m->step;
    if (!report_source(m->t, file, &text, &length)) return NULL;
    FILE *out = open_memstream(&whole, size);
    if (out) {
        fwrite(text, 1, length, out);
        fprintf(out, "\ninclude \"std/schedule%s.rasm\"\n", gradients ? "" : "_play");
        put(out, marches[m->in_place], m->step);
        put(out, run, step);
        if (gradients) put(out, gradient, step);
        if (fclose(out)) free(whole), whole = NULL;
    }
    free(text);
    return whole;
}

/* The source itself is right: what is wrong behind it comes of the step's state. */
static rvm_status blame(measurement *m, const char *text, const char *file, rvm_status st) {
    uint32_t lines = 1;
    if (strcmp(m->t->err.file, file) != 0) return st;
    const char *added = strstr(text, MEASURED_MARCH);
    for (const char *at = text; added && at < added; at++) lines += *at == '\n';
    return st == RVM_ERR_TYPE && added && m->t->err.line >= lines ? refuse(m) : st;
}

static rvm_status extend(measurement *m, bool gradients) {
    tool *t = m->t;
    rvm_asm_options o;
    rvm_program *p = NULL;
    size_t size;
    const char *file = rvm_program_file(t->program, 0);
    char *text = extended(m, gradients, &size);
    if (!text)
        return tool_fail(t, RVM_ERR_USAGE, "%s: schedules are run in the program's source, which is not there",
                         file ? file : t->words[0]);
    rvm_status st = tool_asm_options(t, &o);
    if (!st) st = rvm_assemble(text, size, file, &o, &p, &t->err, NULL, NULL);
    if (st) st = blame(m, text, file, st);
    free(text);
    if (st) return st;
    rvm_program_free(t->program);
    t->program = p;
    return RVM_OK;
}

/* ---- all of it ---- */

static rvm_status read_values(measurement *m) {
    tool *t = m->t;
    char steps[40], **words = calloc((size_t)t->nwords + 1, sizeof *words);
    int n = 0;
    if (!words) return tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    for (int k = 2; k < t->nwords; k++) words[n++] = t->words[k];
    snprintf(steps, sizeof steps, "steps=%llu", (unsigned long long)m->steps);
    words[n++] = steps;
    rvm_status st = values_read(&t->v, &t->reading, t->fn, words, n, &t->err);
    free(words);
    for (uint32_t k = 0; !st && k < m->parts; k++) m->numbers += arg_count(&t->v.arg[k]);
    return st;
}

rvm_status measure_open(measurement *m, bool gradients) {
    tool *t = m->t;
    rvm_status st = tool_open(t);
    m->step = t->words[1];
    if (!st) st = tool_function(t, m->step, &t->fn);
    if (!st) st = check_shape(m);
    if (!st && gradients) st = check_gradient(m);
    if (!st) st = extend(m, gradients);
    if (st) return st;
    t->fn = (uint32_t)rvm_program_find(t->program, MEASURED_MARCH);
    t->reading = (reading){.program = t->program, .limit = t->o.memory, .standard_input = t->reading.standard_input};
    return read_values(m);
}
