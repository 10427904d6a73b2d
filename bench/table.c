#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include "common.h"

static const char *const setting_names[SETTINGS] = {"checked", "unchecked", "trusted"};

row *table_row(table *t, const char *group, const char *label, const char *unit) {
    row *r = &t->rows[t->nrows < MAX_ROWS ? t->nrows++ : MAX_ROWS - 1];
    *r = (row){.group = group, .label = label, .unit = unit};
    return r;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void figure_set(figure *f, double *samples, int n) {
    qsort(samples, (size_t)n, sizeof *samples, compare);
    double median = n % 2 ? samples[n / 2] : (samples[n / 2 - 1] + samples[n / 2]) / 2;
    f->present = true;
    f->value = median;
    f->spread = median > 0 ? (samples[3 * (n - 1) / 4] - samples[(n - 1) / 4]) / (2 * median) : 0;
}

void figure_target(figure *f, bound kind, double target) {
    f->bound = kind;
    f->target = target;
}

static bool reached(const figure *f) {
    switch (f->bound) {
    case NO_TARGET: return true;
    case AT_LEAST: return f->value >= f->target;
    case AT_MOST: return f->value <= f->target;
    }
    return false;
}

/* ---- text ---- */

static void print_figure(const figure *f, FILE *out) {
    if (!f->present) {
        fprintf(out, "%15s", "");
        return;
    }
    int decimals = f->value < 10 ? 3 : f->value < 100 ? 2 : 0;
    fprintf(out, "%10.*f", decimals, f->value);
    if (f->spread > 0)
        fprintf(out, " \u00b1%2.0f%%", 100 * f->spread);
    else
        fprintf(out, "%5s", "");
}

static void print_targets(const row *r, FILE *out) {
    for (int s = 0; s < SETTINGS; s++) {
        const figure *f = &r->figures[s];
        if (!f->present || f->bound == NO_TARGET) continue;
        bool alone = !r->figures[UNCHECKED].present;
        fprintf(out, "  %s%s%s %g %s", alone ? "" : setting_names[s], alone ? "" : " ",
                f->bound == AT_LEAST ? ">=" : "<=", f->target, reached(f) ? "pass" : "MISS");
    }
}

static int label_width(const row *r) {
    return (int)strlen(r->label) + (*r->unit ? 2 + (int)strlen(r->unit) : 0);
}

void table_print(const table *t, FILE *out) {
    int width = 46;
    for (int i = 0; i < t->nrows; i++)
        if (label_width(&t->rows[i]) > width) width = label_width(&t->rows[i]);
    fprintf(out, "%*s%11s    %11s    %11s      target\n", width + 2, "", setting_names[0], setting_names[1],
            setting_names[2]);
    for (int i = 0; i < t->nrows; i++) {
        const row *r = &t->rows[i];
        if (!i || strcmp(r->group, r[-1].group) != 0) fprintf(out, "%s\n", r->group);
        fprintf(out, "  %s%s%s%*s", r->label, *r->unit ? ", " : "", r->unit, width - label_width(r), "");
        for (int s = 0; s < SETTINGS; s++) print_figure(&r->figures[s], out);
        print_targets(r, out);
        fputc('\n', out);
    }
}

/* ---- JSON: one object ---- */

static void print_json_figure(const row *r, int setting, FILE *out) {
    const figure *f = &r->figures[setting];
    fprintf(out, "{\"group\":\"%s\",\"name\":\"%s\",\"unit\":\"%s\",", r->group, r->label, r->unit);
    if (r->figures[UNCHECKED].present) fprintf(out, "\"setting\":\"%s\",", setting_names[setting]);
    print_json_number(out, "value", f->value);
    fputc(',', out);
    print_json_number(out, "spread", f->spread);
    if (f->bound != NO_TARGET) {
        fprintf(out, ",\"%s\":%.17g,\"pass\":%s", f->bound == AT_LEAST ? "at_least" : "at_most", f->target,
                reached(f) ? "true" : "false");
    }
    fputc('}', out);
}

void table_print_json(const table *t, FILE *out) {
    const char *separator = "";
    fputs("{\"ok\":true,\"figures\":[", out);
    for (int i = 0; i < t->nrows; i++)
        for (int s = 0; s < SETTINGS; s++) {
            if (!t->rows[i].figures[s].present) continue;
            fputs(separator, out);
            print_json_figure(&t->rows[i], s, out);
            separator = ",\n";
        }
    fputs("]}\n", out);
}
