#include "bench.h"

#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"
#include "rvm_asm.h"

/* ---- memory of a long simulation: forward and sweep of 1,000 and of 1,000,000 leapfrog steps ---- */

typedef struct orbit {
    size_t machine_peak, resident_peak; /* bytes */
    double forward, sweep, error;       /* seconds; how far the state is from where it began */
} orbit;

static size_t resident_peak(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (size_t)u.ru_maxrss * 1024;
}

static rvm_arg active(double *data, double *shadow, int64_t rows) {
    rvm_arg a = rvm_arg_array_f64(data, 2, (int64_t[]){rows, 3});
    a.active = true;
    a.shadow_data = shadow;
    return a;
}

static rvm_status fly(const rvm_program *p, int64_t steps, orbit *o, rvm_error *e) {
    double q[6] = {0, 0, 0, 1, 0, 0}, v[6] = {0, 0, 0, 0, 6.2, 0}, mass[2] = {1, 3e-6}, target[3] = {0, 1, 0};
    double q_b[6] = {0}, v_b[6] = {0}, q0[6];
    rvm_machine *m = NULL;
    rvm_arg args[] = {rvm_arg_f64(0),
                      active(q, q_b, 2),
                      active(v, v_b, 2),
                      rvm_arg_array_f64(mass, 1, (int64_t[]){2}),
                      rvm_arg_array_f64(target, 1, (int64_t[]){3}),
                      rvm_arg_f64(1e-4),
                      rvm_arg_i64(steps)};
    rvm_stats stats;
    args[0].active = true;
    args[0].shadow.f = 1;
    memcpy(q0, q, sizeof q);
    rvm_status status = rvm_machine_new(p, NULL, &m, e);
    if (!status)
        status = rvm_machine_bind(m, rvm_program_find(p, "miss"), args, sizeof args / sizeof *args, RVM_GRADIENT, false, e);
    if (status) goto end;
    double start = now();
    status = rvm_machine_forward(m, e);
    o->forward = now() - start;
    if (!status) status = rvm_machine_sweep(m, e);
    o->sweep = now() - start - o->forward;
    rvm_machine_unbind(m);
    rvm_machine_stats(m, &stats);
    o->machine_peak = stats.memory_peak;
    o->resident_peak = resident_peak();
    for (int k = 0; k < 6; k++) o->error = fmax(o->error, fabs(q[k] - q0[k]));
end:
    rvm_machine_free(m);
    return status;
}

static figure *single(table *t, const char *group, const char *label, const char *unit, double value) {
    figure *f = &table_row(t, group, label, unit)->figures[0];
    figure_set(f, &value, 1);
    return f;
}

bool measure_memory(table *t) {
    static const char group[] = "leapfrog, two bodies, forward and gradient sweep";
    rvm_program *p = NULL;
    rvm_error e = {0};
    orbit few = {0}, many = {0};
    rvm_status status = rvm_open(EXAMPLES_DIR "/leapfrog.rasm", NULL, &p, &e, NULL, NULL);
    if (!status) status = fly(p, 1000, &few, &e);
    if (!status) status = fly(p, 1000000, &many, &e);
    rvm_program_free(p);
    if (print_failure(status, &e)) return false;
    single(t, group, "1,000 steps, peak of the machine", "KiB", (double)few.machine_peak / 1024);
    single(t, group, "1,000,000 steps, peak of the machine", "KiB", (double)many.machine_peak / 1024);
    double more =
        fmax((double)many.machine_peak - (double)few.machine_peak, (double)many.resident_peak - (double)few.resident_peak);
    figure_target(single(t, group, "more for 1,000,000, machine or process", "KiB", more / 1024), AT_MOST, 1024);
    single(t, group, "1,000,000 steps forward", "s", many.forward);
    single(t, group, "1,000,000 steps sweep", "s", many.sweep);
    single(t, group, "distance from the start after the sweep", "AU x 1e9", many.error * 1e9);
    return true;
}

/* ---- the assembler on a generated source, the loader and the verifier on its bytecode ---- */

enum { STATEMENTS = 100000, PER_FUNCTION = 100 };

/* Ten statements in eleven lines: updates, nested expressions, ancillas, branches, loops, in place changes. */
static const char ten_statements[] = "    a += b * x[i]\n"
                                     "    b -= sin(a) / (c ^ 2 + 2)\n"
                                     "    swap a, c\n"
                                     "    if k > 3\n"
                                     "        x[i] += a * c\n"
                                     "    end\n"
                                     "    for j in 0..n\n"
                                     "        c += x[j]\n"
                                     "    end\n"
                                     "    inc i\n"
                                     "    i -= k // 7 + 1\n"
                                     "    rot a, b, 0.25\n";

static char *generate_source(size_t *size) {
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    if (!out) return NULL;
    for (int f = 0; f < STATEMENTS / PER_FUNCTION; f++) {
        fprintf(out, "fn f%d(a: real, b: real, c: real, i: i64, k: i64, x: real[n])\n", f);
        for (int s = 0; s < PER_FUNCTION; s += 10) fputs(ten_statements, out);
        fputs("end\n", out);
    }
    if (fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}

static rvm_status time_load(const rvm_program *p, double *milliseconds, double *size, rvm_error *e) {
    void *bytes = NULL;
    size_t length = 0;
    rvm_program *loaded = NULL;
    rvm_status status = rvm_program_save(p, &bytes, &length, e);
    if (status) return status;
    double start = processor_seconds();
    status = rvm_program_load(bytes, length, "generated", NULL, &loaded, e);
    *milliseconds = (processor_seconds() - start) * 1e3;
    *size = (double)length / 1024;
    rvm_program_free(loaded);
    rvm_program_free_bytes(p, bytes, length);
    return status;
}

bool measure_assembler(table *t, int repetitions) {
    static const char group[] = "a source of 100,000 statements";
    double assemble[MAX_REPETITIONS], load[MAX_REPETITIONS], kib = 0;
    rvm_error e = {0};
    rvm_status status = RVM_OK;
    size_t size = 0;
    char *text = generate_source(&size);
    if (!text) {
        fprintf(stderr, "rvm_bench: out of memory\n");
        return false;
    }
    for (int i = 0; i < repetitions && !status; i++) {
        rvm_program *p = NULL;
        double start = processor_seconds();
        status = rvm_assemble(text, size, "generated", NULL, &p, &e, NULL, NULL);
        assemble[i] = processor_seconds() - start;
        if (!status) status = time_load(p, &load[i], &kib, &e);
        rvm_program_free(p);
    }
    free(text);
    if (print_failure(status, &e)) return false;
    figure *f = &table_row(t, group, "assemble and verify", "s")->figures[0];
    figure_set(f, assemble, repetitions);
    figure_target(f, AT_MOST, 1);
    f = &table_row(t, group, "load and verify its bytecode", "ms")->figures[0];
    figure_set(f, load, repetitions);
    figure_target(f, AT_MOST, 50);
    single(t, group, "size of its bytecode", "KiB", kib);
    return true;
}

/* ---- the command's start ---- */

static bool run_version(double *milliseconds) {
    char *argv[] = {(char[]){"rvm"}, (char[]){"--version"}, NULL}, *environment[] = {NULL};
    posix_spawn_file_actions_t quiet;
    pid_t child;
    int code = -1;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    double start = now();
    bool started = posix_spawn(&child, RVM_COMMAND, &quiet, NULL, argv, environment) == 0;
    if (started && waitpid(child, &code, 0) != child) code = -1;
    *milliseconds = (now() - start) * 1e3;
    posix_spawn_file_actions_destroy(&quiet);
    return started && code == 0;
}

bool measure_start(table *t, int repetitions) {
    double v[MAX_REPETITIONS];
    for (int i = 0; i < repetitions; i++)
        if (!run_version(&v[i])) {
            fprintf(stderr, "rvm_bench: cannot run %s --version\n", RVM_COMMAND);
            return false;
        }
    figure *f = &table_row(t, "the command", "rvm --version", "ms")->figures[0];
    figure_set(f, v, repetitions);
    figure_target(f, AT_MOST, 5);
    return true;
}
