/* measure_step.c: the step of a program, and the functions that run it, which are assembled behind its text: so they are
 * optimised as a user's own would be, and what is wrong with the step is told where it stands.
 */
#include "measure.h"

#include <stdlib.h>
#include <string.h>

/* ---- its shape ---- */

static bool is_vector(const rvm_param_info *p, rvm_role role) {
    return p->ndim == 1 && type_is_real(p->type) && (p->role == role || (role == RVM_OWN && p->role == RVM_ACC));
}

static rvm_status refuse(measurement *m) {
    tool *t = m->t;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out) output_signature(t, t->fn, out);
    const bool good = out && !fclose(out);
    rvm_status st =
        tool_fail(t, RVM_ERR_USAGE,
                  "no step is `%s`: a step adds, `fn step(y1: real[n], y: real[n], env: real[k])`, or overwrites, "
                  "`fn step(y: real[n], env: real[k])`",
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
    rvm_param_info p[3];
    if (n != 2 && n != 3) return refuse(m);
    for (uint32_t k = 0; k < n; k++) rvm_program_param(t->program, t->fn, k, &p[k]);
    m->in_place = n == 2;
    bool good = is_vector(&p[n - 1], RVM_READ) &&
                (m->in_place ? is_vector(&p[0], RVM_OWN) : is_vector(&p[0], RVM_ACC) && is_vector(&p[1], RVM_READ));
    for (uint32_t k = 1; k < n; k++) good = good && p[k].type == p[0].type;
    return good ? RVM_OK : refuse(m);
}

/* ---- what runs it ---- */

static const char *const marches[] = {
    "fn " MEASURED_MARCH "(y: real[n], env: real[k], steps: i64)\n"
    "    call schedule_march(y, steps, env, &STEP)\n"
    "end\n",
    "fn " MEASURED_MARCH "(y: real[n], env: real[k], steps: i64)\n"
    "    for s in 0..steps\n"
    "        call STEP(y, env)\n"
    "    end\n"
    "end\n"
    "fn rvm_measured_step(y1: real[n], y: real[n], env: real[k])\n"
    "    call schedule_lift(y1, y, env, &STEP)\n"
    "end\n",
};
static const char run[] = "fn " MEASURED_RUN "(y1: real[n], y: real[n], env: real[k], rows: i64, moves: i64[t, 4])\n"
                          "    call schedule_run(y1, y, rows, moves, env, &STEP)\n"
                          "end\n";
static const char gradient[] =
    "fn " MEASURED_TRAIL "(y: real[n], g: real[n], env: real[k], env_b: real[k], steps: i64)\n"
    "    call " MEASURED_MARCH "'grad(y, g, env, env_b, steps)\n"
    "end\n"
    "fn " MEASURED_GRADIENT "(y: real[n], g: real[n], env: real[k], env_b: real[k], rows: i64, moves: i64[t, 4])\n"
    "    call schedule_gradient(y, g, rows, moves, env, env_b, &STEP)\n"
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
        fputs("\ninclude \"std/schedule.rasm\"\n", out);
        put(out, marches[m->in_place], m->step);
        put(out, run, step);
        if (gradients) put(out, gradient, step);
        if (fclose(out)) free(whole), whole = NULL;
    }
    free(text);
    return whole;
}

static rvm_status extend(measurement *m, bool gradients) {
    tool *t = m->t;
    rvm_asm_options o;
    rvm_program *p;
    size_t size;
    const char *file = rvm_program_file(t->program, 0);
    char *text = extended(m, gradients, &size);
    if (!text)
        return tool_fail(t, RVM_ERR_USAGE, "%s: schedules are run in the program's source, which is not there",
                         file ? file : t->words[0]);
    rvm_status st = tool_asm_options(t, &o);
    if (!st) st = rvm_assemble(text, size, file, &o, &p, &t->err, tool_diagnostic, t);
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
    if (!st) m->numbers = arg_count(&t->v.arg[0]);
    return st;
}

rvm_status measure_open(measurement *m, bool gradients) {
    tool *t = m->t;
    rvm_status st = tool_open(t);
    m->step = t->words[1];
    if (!st) st = tool_function(t, m->step, &t->fn);
    if (!st) st = check_shape(m);
    if (!st) st = extend(m, gradients);
    if (st) return st;
    t->fn = (uint32_t)rvm_program_find(t->program, MEASURED_MARCH);
    t->reading = (reading){.program = t->program, .limit = t->o.memory, .standard_input = t->reading.standard_input};
    return read_values(m);
}
