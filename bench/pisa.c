/* pisa.c: steps a second of a program for the Pendulum processor, there and back, by the command: translated and
 * interpreted, natively. What the command costs besides is that of a run of few steps. */
#include "bench.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { STEPS = 12 }; /* of a trip of the loop */

/* Of the processor, by commands that have ended. */
static double used(void) {
    struct rusage u;
    getrusage(RUSAGE_CHILDREN, &u);
    return (double)u.ru_utime.tv_sec + 1e-6 * (double)u.ru_utime.tv_usec;
}

/* Seconds of n trips; negative: it failed. */
static double run(uint64_t n, bool interpreted) {
    char trips[32];
    snprintf(trips, sizeof trips, "n=%llu", (unsigned long long)n);
    char *argv[] = {(char[]){"rvm"},
                    (char[]){"pisa"},
                    (char[]){EXAMPLES_DIR "/pisa/mixer.pal"},
                    (char[]){"--engine=jit"},
                    trips,
                    interpreted ? (char[]){"--interpret"} : NULL,
                    NULL};
    posix_spawn_file_actions_t quiet;
    pid_t child;
    int code = -1;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    const double start = used();
    const bool started = posix_spawn(&child, RVM_COMMAND, &quiet, NULL, argv, environ) == 0;
    if (started && waitpid(child, &code, 0) != child) code = -1;
    const double seconds = used() - start;
    posix_spawn_file_actions_destroy(&quiet);
    return started && code == 0 ? seconds : -1;
}

static bool measure_one(table *t, const char *label, uint64_t trips, bool interpreted, int repetitions) {
    double rate[MAX_REPETITIONS];
    run(1, interpreted); /* compiles */
    for (int k = 0; k < repetitions; k++) {
        const double few = run(1, interpreted), many = run(trips, interpreted);
        if (few < 0 || many < few) {
            fprintf(stderr, "rvm_bench: rvm pisa fails\n");
            return false;
        }
        rate[k] = 2 * STEPS * (double)trips / (many - few) * 1e-6;
    }
    figure *f = &table_row(t, "Pendulum processor", label, "M steps/s")->figures[0];
    figure_set(f, rate, repetitions);
    figure_target(f, AT_LEAST, 50);
    return true;
}

bool measure_pisa(table *t, int repetitions) {
    const bool translated = measure_one(t, "translated", 20000000, false, repetitions);
    return measure_one(t, "interpreted by std/pisa.rasm", 6000000, true, repetitions) && translated;
}
