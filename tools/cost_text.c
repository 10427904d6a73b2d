/* cost_text.c: what runs cost, as text and as CSV. */
#include "cost.h"

#include <inttypes.h>

static const char *joules(double x, char text[QUANTITY_TEXT]) {
    return quantity(x, "J", text);
}

/* ---- what was counted ---- */

static void print_run(FILE *out, const char *before, const costed *r) {
    rvm_counts_sums s;
    rvm_counts_total(r->counts, &s);
    fprintf(out, "%s%s: %" PRIu64 " instructions", before, r->name, s.instructions);
    bool any = false;
    for (int mode = 0; mode < RVM_PROFILE_MODES; mode++) {
        if (s.modes[mode] == s.instructions || !s.modes[mode]) continue;
        fprintf(out, "%s %" PRIu64 " %s", any ? "," : ":", s.modes[mode], rvm_profile_mode_name((rvm_profile_mode)mode));
        any = true;
    }
    fprintf(out, "\n  %" PRIu64 " bytes at most; %" PRIu64 " bits erased", s.peak, rvm_counts_erased(r->counts));
    any = false;
    for (int cause = 0; cause < RVM_CAUSES; cause++) {
        if (!s.bits[cause]) continue;
        fprintf(out, "%s %" PRIu64 " %s", any ? "," : ":", s.bits[cause], rvm_cause_name((rvm_cause)cause));
        any = true;
    }
    if (s.to_device || s.to_host)
        fprintf(out, "; %" PRIu64 " values to the device, %" PRIu64 " to the host", s.to_device, s.to_host);
    fputc('\n', out);
    const rvm_switching w = cost_switching(r->counts);
    if (w.bits[0] || w.bits[1])
        fprintf(out, "  of %" PRIu64 " bits written to registers %.3g change, of %" PRIu64 " to memory %.3g\n", w.bits[0],
                switched_share(&w, 0), w.bits[1], switched_share(&w, 1));
}

/* ---- prices ---- */

static void print_price(FILE *out, const char *name, const rvm_price *p) {
    char a[QUANTITY_TEXT], b[QUANTITY_TEXT], d[QUANTITY_TEXT], e[QUANTITY_TEXT];
    fprintf(out, "%-22s %10s %14.0f %10s %10s %10s\n", name, quantity(p->clock, "Hz", a), p->cycles,
            quantity(p->seconds, "s", b), joules(p->energy, d), joules(p->wall, e));
}

/* The irreversible run by the irreversible machines, each once. */
static void print_prices(FILE *out, const cost *c) {
    rvm_price p;
    fprintf(out, "\n%-22s %10s %14s %10s %10s %10s\n", "by model", "clock", "cycles", "time", "energy", "at the wall");
    for (int k = 0; k < c->nmodels; k++)
        if (!cost_price(c, k, &c->run, -1, &p)) print_price(out, rvm_model_name(c->model[k]), &p);
}

static void print_parts(FILE *out, const cost *c) {
    rvm_price p;
    char text[QUANTITY_TEXT];
    fprintf(out, "\n%-22s", "of the energy");
    for (int part = 0; part < COST_PART_COUNT; part++) fprintf(out, " %12s", cost_part_name(part));
    fputc('\n', out);
    for (int k = 0; k < c->nmodels; k++) {
        if (cost_price(c, k, &c->run, -1, &p)) continue;
        fprintf(out, "%-22s", rvm_model_name(c->model[k]));
        for (int part = 0; part < COST_PART_COUNT; part++) fprintf(out, " %12s", joules(cost_part(&p, part), text));
        fputc('\n', out);
    }
}

/* ---- break-even ---- */

static const char *ratio(double x, char text[24]) {
    snprintf(text, 24, x == x ? "%.3g" : "-", x);
    return text;
}

static bool break_even(const cost *c, int k, const rvm_model *ordinary, const costed *run, rvm_break_even *b) {
    rvm_price price, other;
    return !cost_price(c, k, run, -1, &price) && !rvm_model_price(ordinary, c->against.counts, 0, &other, &c->t->err) &&
           !rvm_break_even_of(run->counts, &price, c->against.counts, &other, b, &c->t->err);
}

static void print_break_even(FILE *out, const cost *c) {
    rvm_break_even b, same;
    rvm_price p;
    char x[24], y[24], z[24], e[QUANTITY_TEXT];
    if (!break_even(c, 0, c->other[0], &c->run, &b)) return;
    fprintf(out,
            "\n%.3g times the instructions of %s: wins where an instruction takes less than %.3g of an irreversible one's "
            "energy;\n"
            "beside Landauer's limit alone ",
            b.times, c->against.name, b.needed);
    if (b.landauer > 0 && b.landauer <= 1e300)
        fprintf(out, "an instruction may cost %.3g kT ln 2 more\n", b.landauer);
    else
        fprintf(out, "it %s\n", b.landauer > 0 ? "always wins" : "never wins: it saves no bits");
    fprintf(out, "\n%-22s %14s %12s %14s %10s %22s\n", "by model", "against", "takes", "an instruction", "the run",
            "against the same model");
    for (int k = 0; k < c->nmodels; k++) {
        if (!break_even(c, k, c->other[k], &c->run, &b) || cost_price_against(c, k, &p) ||
            !break_even(c, k, c->model[k], &c->run, &same))
            continue;
        fprintf(out, "%-22s %14s %12s %14s %10s %22s\n", rvm_model_name(c->model[k]), rvm_model_name(c->other[k]),
                joules(p.wall, e), ratio(b.ratio, x), ratio(b.energy, y), ratio(same.energy, z));
    }
}

/* ---- what is swept ---- */

static void print_best(FILE *out, const cost *c, int k) {
    char clock[QUANTITY_TEXT], energy[QUANTITY_TEXT];
    rvm_price p;
    if (cost_best(c, k, &c->run, &p)) return;
    fprintf(out, "%s takes least at %s%s: %s\n", rvm_model_name(c->model[k]), quantity(p.clock, "Hz", clock),
            cost_best_is_inside(c, &p) ? "" : ", an end of the range", joules(p.wall, energy));
}

static void print_sweep(FILE *out, const cost *c) {
    const char *unit = rvm_model_key_unit(c->sweep.key);
    char text[QUANTITY_TEXT];
    rvm_price p;
    fprintf(out, "\n%-22s", rvm_model_key_name(c->sweep.key));
    for (int k = 0; k < c->nmodels; k++) fprintf(out, " %12s", rvm_model_name(c->model[k]));
    fprintf(out, "   at the wall\n");
    for (int i = 0; i < COST_POINTS; i++) {
        fprintf(out, "%-22s", quantity(cost_point(&c->sweep, i), unit, text));
        for (int k = 0; k < c->nmodels; k++)
            fprintf(out, " %12s", cost_price(c, k, &c->run, i, &p) ? "" : joules(p.wall, text));
        fputc('\n', out);
    }
    for (int k = 0; k < c->nmodels && c->sweep.key == RVM_MODEL_CLOCK; k++) print_best(out, c, k);
}

static void print_list(FILE *out, const cost *c) {
    rvm_counts_sums s;
    rvm_price p;
    rvm_break_even b;
    char text[QUANTITY_TEXT], x[24], y[24];
    fprintf(out, "%-16s %16s %14s %14s", "schedule", "instructions", "bytes at most", "bits erased");
    if (c->against.counts) fprintf(out, " %10s %10s", "wins below", "kT ln 2");
    for (int k = 0; k < c->nmodels; k++) fprintf(out, " %12s", rvm_model_name(c->model[k]));
    fputs("   at the wall\n", out);
    for (int r = 0; r < c->n; r++) {
        const costed *run = &c->list[r];
        rvm_counts_total(run->counts, &s);
        fprintf(out, "%-16s %16" PRIu64 " %14" PRIu64 " %14" PRIu64, run->name, s.instructions, s.peak,
                rvm_counts_erased(run->counts));
        if (c->against.counts && break_even(c, 0, c->other[0], run, &b))
            fprintf(out, " %10s %10s", ratio(b.needed, x), ratio(b.landauer, y));
        for (int k = 0; k < c->nmodels; k++)
            fprintf(out, " %12s", cost_price(c, k, run, -1, &p) ? "" : joules(p.wall, text));
        fputc('\n', out);
    }
}

bool cost_text(FILE *out, const void *what) {
    const cost *c = what;
    if (c->against.counts) print_run(out, "against ", &c->against);
    if (c->n) {
        print_list(out, c);
        return !ferror(out);
    }
    print_run(out, "", &c->run);
    print_prices(out, c);
    print_parts(out, c);
    if (c->against.counts) print_break_even(out, c);
    if (c->sweep.key != RVM_MODEL_KEYS) print_sweep(out, c);
    return !ferror(out);
}

/* ---- CSV ---- */

static void csv_row(FILE *out, const costed *r, const rvm_model *m, const char *key, double value, const rvm_price *p) {
    rvm_counts_sums s;
    rvm_counts_total(r->counts, &s);
    fprintf(out, "\"%s\",%s,%s,%.9g,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.9g,%.9g,%.9g", r->name, rvm_model_name(m), key,
            value, s.instructions, s.peak, rvm_counts_erased(r->counts), p->clock, p->cycles, p->seconds);
    for (int part = 0; part < COST_PART_COUNT; part++) fprintf(out, ",%.9g", cost_part(p, part));
    fprintf(out, ",%.9g,%.9g\n", p->energy, p->wall);
}

static void csv_run(FILE *out, const cost *c, const costed *r) {
    const bool swept = r == &c->run && c->sweep.key != RVM_MODEL_KEYS;
    const rvm_model_key key = swept ? c->sweep.key : RVM_MODEL_CLOCK;
    rvm_price p;
    for (int k = 0; k < c->nmodels; k++)
        for (int i = swept ? 0 : -1; i < (swept ? COST_POINTS : 0); i++)
            if (!cost_price(c, k, r, i, &p))
                csv_row(out, r, c->model[k], rvm_model_key_name(key), swept ? cost_point(&c->sweep, i) : p.clock, &p);
}

bool cost_csv(FILE *out, const void *what) {
    const cost *c = what;
    rvm_price p;
    fputs("run,model,swept,value,instructions,bytes,erased,clock,cycles,seconds", out);
    for (int part = 0; part < COST_PART_COUNT; part++) fprintf(out, ",%s", cost_part_name(part));
    fputs(",energy,wall\n", out);
    if (c->run.counts) csv_run(out, c, &c->run);
    for (int r = 0; r < c->n; r++) csv_run(out, c, &c->list[r]);
    for (int k = 0; c->against.counts && k < c->nmodels; k++)
        if (!cost_price_against(c, k, &p)) csv_row(out, &c->against, c->other[k], "clock", p.clock, &p);
    return !ferror(out);
}
