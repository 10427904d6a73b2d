/* schedules.c: `rvm_bench schedules`: long runs of real steps by every kind of schedule, with three budgets each. `rvm
 * schedule
 * --measure` runs them, in a process for each problem; here are the problems, and a table of all that it tells, set beside
 * the irreversible run and the one that keeps a trail. What disagrees with these two, or erases where nothing may, is told.
 */
#include "bench.h"

#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- the problems ---- */

enum { MOST_WORDS = 6, BUDGETS = 3 };

typedef struct setting {
    int64_t size, steps;
    const char *engine; /* of --measure; NULL: both */
    const char *by;
} setting;

typedef struct problem {
    const char *title, *path;                             /* the title has the size */
    void (*words)(FILE *out, int word, const setting *s); /* argument `word` of the step; nothing: there are no more */
    setting full, check;
} problem;

/* `n` numbers: `most`, but at[k] are value[k]. */
static void put_array(FILE *out, const char *name, int64_t n, double most, int64_t spikes, const int64_t *at, double value) {
    fprintf(out, "%s=[", name);
    for (int64_t k = 0; k < n; k++) {
        double x = most;
        for (int64_t i = 0; i < spikes; i++)
            if (at[i] == k) x = value;
        fprintf(out, "%s%g", k ? "," : "", x);
    }
    fputc(']', out);
}

static void heat_words(FILE *out, int word, const setting *s) {
    const int64_t at[] = {s->size / 3, s->size / 2};
    if (word == 0) put_array(out, "y", s->size, 1, 2, at, 4);
    if (word == 1) fputs("env=[0.2]", out);
}

static void lorenz_words(FILE *out, int word, const setting *s) {
    static const char *const words[] = {"y.x=1", "y.y=0", "y.z=0", "env=[10,27,2.6666666666666665,0.003]"};
    (void)s;
    if (word < 4) fputs(words[word], out);
}

enum { LAYERS = 2 };

/* A number in -1 .. 1, the same whenever it is asked for: a character of b, and the weights. */
static double scattered(int64_t k) {
    const uint64_t x = ((uint64_t)k + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return (double)((x >> 40) % 2001) / 1000 - 1;
}

/* size: elements of a vector. */
static void lstm_words(FILE *out, int word, const setting *s) {
    const int64_t b = s->size, weights = 8 * LAYERS * b + 3 * b;
    if (word < 2) {
        fprintf(out, "y.%c=[", "hc"[word]);
        for (int64_t k = 0; k < LAYERS * b; k++)
            fprintf(out, "%s%g%s", k % b ? "," : k ? ",[" : "[", scattered(k + word * 1000), k % b == b - 1 ? "]" : "");
        fputc(']', out);
    }
    if (word == 2) fputs("y.loss=0", out);
    if (word == 3) fputs("y.t=0", out);
    if (word != 4) return;
    fputs("env=[", out);
    for (int64_t k = 0; k < weights; k++) fprintf(out, "%s%g", k ? "," : "", scattered(k + 5000));
    for (int64_t t = 0; t <= s->steps; t++)
        for (int64_t j = 0, which = (int64_t)((scattered(t + 9000) + 1) * 1000) % b; j < b; j++)
            fputs(j == which ? ",1" : ",0", out);
    fputc(']', out);
}

/* size: cells of a side. A pulse in the middle, as examples/wave.rasm has it; one velocity for all. */
static void wave_words(FILE *out, int word, const setting *s) {
    const int64_t cells = s->size * s->size, middle = (s->size / 2) * s->size + s->size / 2,
                  pulse[] = {middle, cells + middle};
    if (word == 0) put_array(out, "y", 4 * cells, 0, 2, pulse, 1);
    if (word != 1) return;
    const int64_t tenth = s->size / 10 + 1;
    fprintf(out, "env=[%g,0.5,%g,0.6", (double)s->size + 0.5, (double)tenth + 0.5);
    for (int64_t k = 0; k < cells; k++) fputs(",1", out);
    fputc(']', out);
}

static const char small[] = "bennett:2,bennett:4,pebble:5,pebble:12,treeverse:3,revolve:1,revolve:3,online:3";
/* The check runs natively what has the shortest code: compiling takes most of the time. */
static const problem problems[] = {
    {"heat in a rod of %lld cells",
     EXAMPLES_DIR "/coprocessor/heat.rasm",
     heat_words,
     {10000, 10000, "jit",
      "bennett:10,bennett:22,bennett:100,pebble:20,pebble:28,pebble:48,treeverse:10,treeverse:25,treeverse:100,"
      "revolve:10,revolve:25,revolve:100,online:10,online:25,online:100"},
     {20, 16, "interp", small}},
    {"the Lorenz system, %lld numbers, by Runge-Kutta",
     EXAMPLES_DIR "/lorenz.rasm",
     lorenz_words,
     {3, 10000, NULL,
      "bennett:10,bennett:22,bennett:100,pebble:16,pebble:24,pebble:48,treeverse:10,treeverse:25,treeverse:100,"
      "revolve:10,revolve:25,revolve:100,online:10,online:25,online:100"},
     {3, 16, NULL, small}},
    {"LSTM of ADBench, 2 layers of %lld, by characters",
     EXAMPLES_DIR "/adbench/lstm_step.rasm",
     lstm_words,
     {14, 1023, NULL,
      "bennett:2,bennett:8,bennett:32,pebble:11,pebble:16,pebble:32,treeverse:5,treeverse:16,treeverse:64,"
      "revolve:5,revolve:16,revolve:64,online:5,online:16,online:64"},
     {3, 16, "interp", small}},
    {"acoustic waves, %lld cells a side, an absorbing layer",
     EXAMPLES_DIR "/wave.rasm",
     wave_words,
     {100, 1000, "jit",
      "bennett:10,bennett:16,bennett:32,pebble:16,pebble:24,pebble:48,treeverse:10,treeverse:20,treeverse:40,"
      "revolve:10,revolve:20,revolve:40,online:10,online:20,online:40"},
     {6, 16, "interp", small}},
};

/* ---- a run of the command ---- */

static pid_t start(char *const *argv, FILE **output) {
    posix_spawn_file_actions_t actions;
    int ends[2];
    pid_t child = -1;
    *output = NULL;
    if (pipe(ends)) return -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    if (posix_spawn(&child, RVM_COMMAND, &actions, NULL, argv, environ)) child = -1;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (child < 0 || !(*output = fdopen(ends[0], "r"))) close(ends[0]);
    return child;
}

static bool finish(pid_t child) {
    int code;
    return child >= 0 && waitpid(child, &code, 0) == child && code == 0;
}

/* ---- what it tells ---- */

enum column { EVALUATIONS, STATES, INSTRUCTIONS, BYTES, ERASED, INTERPRETED, NATIVE, OFF, COLUMNS };
static const char *const column_names[COLUMNS] = {"evaluations", "states",      "instructions", "bytes",
                                                  "erased",      "interpreted", "native",       "off"};
enum { MOST_RUNS = 24, RUN_NAME = 40, LONGEST_LINE = 2000 };

typedef struct run {
    char name[RUN_NAME];
    bool gradient;
    double is[COLUMNS]; /* NAN: not measured */
} run;

typedef struct measurements {
    char title[120];
    const problem *of;
    const setting *set;
    run runs[MOST_RUNS];
    int n;
    int trail, gradient; /* the runs that keep a trail */
} measurements;

/* Cell k of a line of CSV whose cells hold no commas. */
static bool cell(const char *line, int k, char *text, size_t size) {
    for (; k && line; k--) line = strchr(line, ',') ? strchr(line, ',') + 1 : NULL;
    if (!line) return false;
    size_t n = strcspn(line, ",\n"), quoted = n > 1 && *line == '"';
    snprintf(text, size, "%.*s", (int)(n - 2 * quoted), line + quoted);
    return true;
}

static bool find_columns(const char *header, int at[COLUMNS]) {
    char text[RUN_NAME];
    for (int c = 0; c < COLUMNS; c++) at[c] = -1;
    for (int k = 0; cell(header, k, text, sizeof text); k++)
        for (int c = 0; c < COLUMNS; c++)
            if (!strcmp(text, column_names[c])) at[c] = k;
    for (int c = 0; c < COLUMNS; c++)
        if (at[c] < 0) return false;
    return true;
}

static bool read_run(const char *line, const int at[COLUMNS], run *r) {
    char text[RUN_NAME];
    bool good = cell(line, 0, r->name, sizeof r->name) && cell(line, 1, text, sizeof text);
    r->gradient = good && !strcmp(text, "gradient");
    for (int c = 0; c < COLUMNS && good; c++) {
        good = cell(line, at[c], text, sizeof text);
        r->is[c] = good && *text ? strtod(text, NULL) : NAN;
    }
    return good;
}

static bool read_runs(FILE *in, measurements *m) {
    char line[LONGEST_LINE];
    int at[COLUMNS];
    bool good = in && fgets(line, sizeof line, in) && find_columns(line, at);
    while (good && fgets(line, sizeof line, in) && m->n < MOST_RUNS) {
        good = read_run(line, at, &m->runs[m->n]);
        if (!strcmp(m->runs[m->n].name, "trail")) m->trail = m->n;
        if (!strcmp(m->runs[m->n].name, "gradient by trail")) m->gradient = m->n;
        m->n++;
    }
    return good && m->trail && m->gradient;
}

/* The command's words: --measure PROG step name=value ... */
static bool measure(measurements *m) {
    char steps[40], path[1000], by[400], engine[40], *argv[16 + MOST_WORDS], *words[MOST_WORDS] = {NULL};
    size_t size;
    int n = 0;
    snprintf(steps, sizeof steps, "-n%lld", (long long)m->set->steps);
    snprintf(path, sizeof path, "%s", m->of->path);
    snprintf(by, sizeof by, "--by=%s", m->set->by);
    argv[n++] = (char[]){"rvm"}, argv[n++] = (char[]){"schedule"}, argv[n++] = (char[]){"--measure"};
    argv[n++] = path, argv[n++] = (char[]){"step"};
    for (int k = 0; k < MOST_WORDS; k++) {
        FILE *out = open_memstream(&words[k], &size);
        if (!out) break;
        m->of->words(out, k, m->set);
        if (!fclose(out) && words[k] && size) argv[n++] = words[k];
    }
    argv[n++] = steps, argv[n++] = by, argv[n++] = (char[]){"--format=csv"};
    snprintf(engine, sizeof engine, "--engine=%s", m->set->engine ? m->set->engine : "");
    argv[n++] = m->set->engine ? engine : NULL;
    argv[n] = NULL;
    FILE *output;
    const pid_t child = start(argv, &output);
    bool good = read_runs(output, m);
    if (output) fclose(output);
    good = finish(child) && good;
    for (int k = 0; k < MOST_WORDS; k++) free(words[k]);
    return good;
}

/* Results to the last digits, and nothing erased where a schedule is reversible. */
static bool check(const measurements *m) {
    bool good = true;
    for (int k = 0; k < m->n; k++) {
        const run *r = &m->runs[k];
        const bool off = !(r->is[OFF] <= 1e-12), erases = k > m->trail && !r->gradient && r->is[ERASED] != 0;
        if (off || erases)
            fprintf(stderr, "rvm_bench: %s: %s %s\n", m->title, r->name, off ? "gives another result" : "erases");
        good = good && !off && !erases;
    }
    return good;
}

/* ---- the tables ---- */

static const run *trail_of(const measurements *m, const run *r) {
    return &m->runs[r->gradient ? m->gradient : m->trail];
}

static void put_seconds(double s, double than) {
    if (isnan(s))
        printf(" %9s %8s", "-", "");
    else
        printf(" %9.3g %8.2f", s, s / than);
}

static void print_table(const measurements *m) {
    const run *base = m->runs;
    printf("\n%s, %lld steps\n%-19s %11s %6s %12s %8s %8s %10s %10s %9s %8s %8s %9s %8s\n", m->title,
           (long long)m->set->steps, "", "evaluations", "states", "M instr.", "/ irrev.", "/ trail", "MB at most",
           "Mbit gone", "native s", "/ irrev.", "/ trail", "interp. s", "/ irrev.");
    for (int k = 0; k < m->n; k++) {
        const run *r = &m->runs[k], *trail = trail_of(m, r);
        printf("%-19s %11.0f", r->name, r->is[EVALUATIONS]);
        r->is[STATES] > 0 ? printf(" %6.0f", r->is[STATES]) : printf(" %6s", k ? "-" : "1");
        printf(" %12.2f %8.2f %8.2f %10.4g %10.4g", r->is[INSTRUCTIONS] * 1e-6, r->is[INSTRUCTIONS] / base->is[INSTRUCTIONS],
               r->is[INSTRUCTIONS] / trail->is[INSTRUCTIONS], r->is[BYTES] * 1e-6, r->is[ERASED] * 1e-6);
        put_seconds(r->is[NATIVE], base->is[NATIVE]);
        isnan(r->is[NATIVE]) ? printf(" %8s", "") : printf(" %8.2f", r->is[NATIVE] / trail->is[NATIVE]);
        put_seconds(r->is[INTERPRETED], base->is[INTERPRETED]);
        putchar('\n');
    }
    fflush(stdout);
}

static void print_json(const measurements *m, bool first) {
    printf("%s{\"problem\":\"%s\",\"steps\":%lld,\"runs\":[", first ? "[" : ",\n ", m->title, (long long)m->set->steps);
    for (int k = 0; k < m->n; k++) {
        const run *r = &m->runs[k], *trail = trail_of(m, r);
        printf("%s{\"run\":\"%s\",\"goal\":\"%s\"", k ? ",\n  " : "\n  ", r->name, r->gradient ? "gradient" : "state");
        for (int c = 0; c < COLUMNS; c++)
            isnan(r->is[c]) ? printf(",\"%s\":null", column_names[c]) : printf(",\"%s\":%.9g", column_names[c], r->is[c]);
        printf(",\"of_irreversible\":%.6g,\"of_trail\":%.6g}", r->is[INSTRUCTIONS] / m->runs->is[INSTRUCTIONS],
               r->is[INSTRUCTIONS] / trail->is[INSTRUCTIONS]);
    }
    fputs("]}", stdout);
}

bool bench_schedules(bool small_ones, const char *only, bool json) {
    bool good = true, first = true;
    for (size_t k = 0; k < sizeof problems / sizeof *problems; k++) {
        const problem *p = &problems[k];
        measurements m = {.of = p, .set = small_ones ? &p->check : &p->full};
        snprintf(m.title, sizeof m.title, p->title, (long long)m.set->size);
        if (only && !strstr(m.title, only)) continue;
        const bool measured = measure(&m);
        if (!measured) fprintf(stderr, "rvm_bench: %s: rvm schedule --measure fails\n", m.title);
        good = measured && check(&m) && good;
        if (measured && json) print_json(&m, first);
        if (measured && !json) print_table(&m);
        first = first && !measured;
    }
    if (json) puts(first ? "[]" : "]");
    return good;
}
