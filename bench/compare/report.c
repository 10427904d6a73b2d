/* report.c: the table. As text, the peers by hand have a column for each kind, of the better compiler; each other engine has
 * one.
 */
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "compare.h"

enum { LABEL = 24, COLUMN = 20 };

/* The fastest peer of a kind, or NULL. The strict ones include those without vectors, which win where loops are short. */
static const cell *best_peer(const result *r, kind wanted, const char **name) {
    const cell *best = NULL;
    for (int k = 0; k < nengines; k++) {
        const cell *c = &r->cells[k];
        const bool fits = engines[k].kind == wanted || (wanted == STRICT && engines[k].kind == SCALAR);
        if (!engines[k].by_hand || !fits || !(c->seconds > 0)) continue;
        if (best && best->seconds <= c->seconds) continue;
        best = c;
        *name = engines[k].name;
    }
    return best;
}

static int columns(void) {
    int n = KINDS;
    for (int k = 0; k < nengines; k++) n += !engines[k].by_hand && !engines[k].check_only;
    return n;
}

static const char *const peer_headings[KINDS] = {"C", "C, no vectors", "C, -ffast-math"};

/* What stands in column i, and what it is compared with. */
typedef struct entry {
    const char *heading, *compiler;
    const cell *cell, *base;
} entry;

static entry column_entry(const result *r, int i) {
    entry out = {0};
    const char *name = NULL;
    if (i < KINDS) {
        out.heading = peer_headings[i];
        out.cell = best_peer(r, (kind)i, &name);
        out.base = best_peer(r, STRICT, &out.compiler);
        if (name) out.compiler = name;
        return out;
    }
    int k = 0;
    for (int left = i - KINDS; k < nengines; k++)
        if (!engines[k].by_hand && !engines[k].check_only && left-- == 0) break;
    out.heading = engines[k].name;
    out.cell = &r->cells[k];
    out.base = best_peer(r, engines[k].kind, &name);
    return out;
}

static void format_time(double s, char *text, size_t size) {
    static const char *const units[] = {"s", "ms", "us", "ns"};
    int u = 0;
    for (; u < 3 && s < 1; u++) s *= 1000;
    snprintf(text, size, "%.*f %s", s < 10 ? 2 : s < 100 ? 1 : 0, s, units[u]);
}

static void format_bytes(double b, char *text, size_t size) {
    static const char *const units[] = {"B", "kB", "MB", "GB"};
    int u = 0;
    for (; u < 3 && b >= 1000; u++) b /= 1000;
    if (b < 0)
        snprintf(text, size, "?");
    else
        snprintf(text, size, "%.*f %s", u && b < 10 ? 1 : 0, b, units[u]);
}

enum line { RATIO, TIME, MEMORY, LINES };
static const char *const line_names[LINES] = {"time / C", "time", "memory"};

static void format_ratio(const entry *x, char *text, size_t size) {
    const double ratio = x->base ? x->cell->seconds / x->base->seconds : 0;
    int n = snprintf(text, size, "%.*f \u00b1%.0f%%", ratio < 10 ? 2 : ratio < 100 ? 1 : 0, ratio, 100 * x->cell->spread);
    if (x->compiler && n > 0 && (size_t)n < size)
        snprintf(text + n, size - (size_t)n, " %.*s", (int)strcspn(x->compiler, " "), x->compiler);
}

static void format_entry(const entry *x, enum line l, char *text, size_t size) {
    *text = 0;
    if (!x->cell || x->cell->missing || !(x->cell->seconds > 0)) {
        if (l == RATIO) snprintf(text, size, "%s", x->cell && x->cell->missing ? x->cell->missing : "-");
        return;
    }
    switch (l) {
    case RATIO: format_ratio(x, text, size); return;
    case TIME: format_time(x->cell->seconds, text, size); return;
    case MEMORY: format_bytes(x->cell->bytes, text, size); return;
    case LINES: return;
    }
}

/* Pads by what one sees: the sign of spread takes two bytes. */
static void print_padded(const char *text, FILE *out) {
    int seen = 0;
    for (const char *s = text; *s; s++) seen += ((unsigned char)*s & 0xc0) != 0x80;
    fprintf(out, "%s%*s", text, seen < COLUMN ? COLUMN - seen : 1, "");
}

static void print_task(const result *r, FILE *out) {
    for (int l = 0; l < LINES; l++) {
        fprintf(out, "  %-*s%-*s", LABEL - 2 - 10, l ? "" : r->task, 10, line_names[l]);
        for (int i = 0; i < columns(); i++) {
            char text[64];
            const entry x = column_entry(r, i);
            format_entry(&x, (enum line)l, text, sizeof text);
            print_padded(text, out);
        }
        fputc('\n', out);
    }
}

void report_text(const result *r, int n, FILE *out) {
    for (int i = 0; i < n; i++) {
        if (!(r[i].cells[0].seconds > 0) && !(r[i].cells[1].seconds > 0)) continue; /* checked only */
        if (!i) {
            fprintf(out, "%*s", LABEL, "");
            for (int k = 0; k < columns(); k++) fprintf(out, "%-*s", COLUMN, column_entry(r, k).heading);
            fputc('\n', out);
        }
        if (!i || strcmp(r[i].problem, r[i - 1].problem) != 0) fprintf(out, "%s\n", r[i].problem);
        print_task(&r[i], out);
    }
}

static void print_json_cell(const result *r, int k, FILE *out) {
    const cell *c = &r->cells[k];
    const char *name;
    const cell *base = best_peer(r, engines[k].kind, &name);
    fprintf(out, "{\"problem\":\"%s\",\"task\":\"%s\",\"engine\":\"%s\",", r->problem, r->task, engines[k].name);
    if (c->missing) {
        fprintf(out, "\"missing\":\"%s\"}", c->missing);
        return;
    }
    print_json_number(out, "seconds", c->seconds);
    fputc(',', out);
    print_json_number(out, "spread", c->spread);
    if (base) {
        fputc(',', out);
        print_json_number(out, "ratio", c->seconds / base->seconds);
    }
    if (c->bytes >= 0) {
        fputc(',', out);
        print_json_number(out, "bytes", c->bytes);
    }
    fputc('}', out);
}

void report_json(const result *r, int n, FILE *out) {
    const char *separator = "";
    fputs("{\"figures\":[", out);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < nengines; k++) {
            fputs(separator, out);
            print_json_cell(&r[i], k, out);
            separator = ",\n";
        }
    fputs("]}\n", out);
}
