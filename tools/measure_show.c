/* measure_show.c: a measurement as text, as CSV and as JSON. */
#include "measure.h"

#include <inttypes.h>
#include <math.h>

static const char *const engine_names[MEASURED_ENGINES] = {"interpreted", "native"};

static void number_or_dash(FILE *out, int width, const char *format, double x) {
    char text[40];
    snprintf(text, sizeof text, format, x);
    fprintf(out, " %*s", width, isnan(x) ? "-" : text);
}

/* ---- text ---- */

static void text_run(FILE *out, const measurement *m, const measured *r) {
    const bool listed = r->list.moves;
    fprintf(out, "%-18s %11" PRIu64, r->name, listed ? r->list.evaluations : m->steps);
    if (listed)
        fprintf(out, " %6u", r->list.states);
    else
        fprintf(out, " %6s", r == m->run ? "1" : "-");
    fprintf(out, " %15" PRIu64 " %8.2f", r->instructions, measured_times(m, r));
    number_or_dash(out, 6, "%.3f", measured_level(m, r));
    fprintf(out, " %14" PRIu64 " %14" PRIu64, r->bytes, r->erased);
    for (int e = 0; e < MEASURED_ENGINES; e++)
        if (m->engines[e]) number_or_dash(out, 11, "%.3g s", r->seconds[e]);
    fprintf(out, " %8.1e\n", r->off);
}

static bool any_of_class(const measurement *m, int c) {
    for (int k = 0; k < m->n; k++)
        if (m->run[k].classes[c]) return true;
    return false;
}

static void text_classes(FILE *out, const measurement *m) {
    fprintf(out, "\n%-18s", "instructions of");
    for (int c = 0; c < RVM_CLASSES; c++)
        if (any_of_class(m, c)) fprintf(out, " %14s", rvm_class_name((rvm_class)c));
    fputc('\n', out);
    for (int k = 0; k < m->n; k++) {
        fprintf(out, "%-18s", m->run[k].name);
        for (int c = 0; c < RVM_CLASSES; c++)
            if (any_of_class(m, c)) fprintf(out, " %14" PRIu64, m->run[k].classes[c]);
        fputc('\n', out);
    }
}

bool measured_text(FILE *out, const void *what) {
    const measurement *m = what;
    fprintf(out, "%s, %" PRIu64 " steps of a state of %" PRIu64 " numbers, %" PRIu64 " bytes%s\n", m->step, m->steps,
            m->numbers, m->numbers * sizeof(double), m->in_place ? "; what the step overwrites is lifted" : "");
    fprintf(out, "%-18s %11s %6s %15s %8s %6s %14s %14s", "", "evaluations", "states", "instructions", "times", "level",
            "bytes at most", "bits erased");
    for (int e = 0; e < MEASURED_ENGINES; e++)
        if (m->engines[e]) fprintf(out, " %11s", engine_names[e]);
    fprintf(out, " %8s\n", "off by");
    for (int k = 0; k < m->n; k++) text_run(out, m, &m->run[k]);
    text_classes(out, m);
    return !ferror(out);
}

/* ---- CSV and JSON ---- */

static void csv_real(FILE *out, double x) {
    isnan(x) ? fputc(',', out) : fprintf(out, ",%.9g", x);
}

static void csv_run(FILE *out, const measurement *m, const measured *r) {
    fprintf(out, "\"%s\",%s,%" PRIu64 ",%u,%" PRIu64, r->name, r->gradient ? "gradient" : "state",
            r->list.moves ? r->list.evaluations : m->steps, r->list.states, r->instructions);
    csv_real(out, measured_times(m, r));
    csv_real(out, measured_level(m, r));
    fprintf(out, ",%" PRIu64 ",%" PRIu64, r->bytes, r->erased);
    for (int e = 0; e < MEASURED_ENGINES; e++) csv_real(out, r->seconds[e]);
    csv_real(out, r->off);
    for (int c = 0; c < RVM_CLASSES; c++) fprintf(out, ",%" PRIu64, r->classes[c]);
    fputc('\n', out);
}

bool measured_csv(FILE *out, const void *what) {
    const measurement *m = what;
    fputs("run,goal,evaluations,states,instructions,times,level,bytes,erased", out);
    for (int e = 0; e < MEASURED_ENGINES; e++) fprintf(out, ",%s", engine_names[e]);
    fputs(",off", out);
    for (int c = 0; c < RVM_CLASSES; c++) fprintf(out, ",%s", rvm_class_name((rvm_class)c));
    fputc('\n', out);
    for (int k = 0; k < m->n; k++) csv_run(out, m, &m->run[k]);
    return !ferror(out);
}

static void json_real_or_null(json *j, const char *key, double x) {
    json_key(j, key);
    isnan(x) ? json_none(j) : json_f64(j, x);
}

static void json_run(json *j, const measurement *m, const measured *r) {
    json_open(j, '{');
    json_key(j, "run"), json_text(j, r->name);
    json_key(j, "goal"), json_text(j, r->gradient ? "gradient" : "state");
    json_key(j, "evaluations"), json_uint(j, r->list.moves ? r->list.evaluations : m->steps);
    json_key(j, "states"), json_uint(j, r->list.states);
    json_key(j, "instructions"), json_uint(j, r->instructions);
    json_key(j, "classes");
    json_open(j, '{');
    for (int c = 0; c < RVM_CLASSES; c++) json_key(j, rvm_class_name((rvm_class)c)), json_uint(j, r->classes[c]);
    json_close(j, '}');
    json_real_or_null(j, "times", measured_times(m, r));
    json_real_or_null(j, "level", measured_level(m, r));
    json_key(j, "bytes"), json_uint(j, r->bytes);
    json_key(j, "erased"), json_uint(j, r->erased);
    for (int e = 0; e < MEASURED_ENGINES; e++) json_real_or_null(j, engine_names[e], r->seconds[e]);
    json_real_or_null(j, "off", r->off);
    json_close(j, '}');
}

void measured_json(json *j, const measurement *m) {
    json_key(j, "step"), json_text(j, m->step);
    json_key(j, "steps"), json_uint(j, m->steps);
    json_key(j, "numbers"), json_uint(j, m->numbers);
    json_key(j, "runs");
    json_open(j, '[');
    for (int k = 0; k < m->n; k++) json_run(j, m, &m->run[k]);
    json_close(j, ']');
}
