/* coprocessor.c: rvm_coprocessor.h: the ramp in closed form, the clock of least energy, break-even, sums of 45 nm, counts as
 * CSV, models that are wrong, memory.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rvm_asm.h"
#include "rvm_coprocessor.h"

static rvm_error e;

static bool near(double a, double b, double relative) {
    return fabs(a - b) <= relative * fabs(b);
}

static rvm_model *shipped(const char *name) {
    rvm_model *m;
    cr_assert_eq(rvm_model_shipped(name, NULL, &m, &e), RVM_OK, "%s: %s", name, e.message);
    return m;
}

static rvm_counts *counts(void) {
    rvm_counts *c;
    cr_assert_eq(rvm_counts_new(NULL, &c, &e), RVM_OK);
    return c;
}

static rvm_price price(const rvm_model *m, const rvm_counts *c, double clock) {
    rvm_price p;
    cr_assert_eq(rvm_model_price(m, c, clock, &p, &e), RVM_OK, "%s", e.message);
    return p;
}

static void set(rvm_model *m, rvm_model_key key, double value) {
    cr_assert_eq(rvm_model_set(m, key, value, &e), RVM_OK, "%s", e.message);
}

/* So many sums of f32, of registers. */
static rvm_counts *sums(uint64_t n) {
    rvm_counts *c = counts();
    const rvm_counted add = {.kind = "add",
                             .type = RVM_F32,
                             .operands = RVM_F32,
                             .places = "rr",
                             .direction = 1,
                             .mode = RVM_PROFILE_FORWARD,
                             .count = n,
                             .work = {.units = {[RVM_UNIT_ADD] = 1}, .register_reads = 2, .register_writes = 1}};
    cr_assert_eq(rvm_counts_add_kind(c, &add, 1, &e), RVM_OK, "%s", e.message);
    return c;
}

/* ---- physics ---- */

Test(coprocessor, ramp) {
    cr_expect(near(rvm_ramp_loss(1), exp(-1), 1e-14)); /* .3679 */
    cr_expect(near(rvm_ramp_loss(.1), .0900004540, 1e-9));
    cr_expect(near(rvm_ramp_loss(.01), .0099, 1e-12));
    cr_expect(near(rvm_ramp_loss(1e9), .5, 1e-8) && rvm_ramp_loss(INFINITY) == .5 && rvm_ramp_loss(0) == 0);
    cr_expect(isnan(rvm_ramp_loss(NAN)));
    for (double x = 1e-6; x < 1e9; x *= 1.1) cr_expect_lt(rvm_ramp_loss(x), rvm_ramp_loss(1.1 * x), "%g", x);
    cr_expect(near(rvm_ramp_loss(999.999), rvm_ramp_loss(1000.001), 1e-8), "the series goes on where the formula ends");
}

/* An erased bit at 300 K: kT ln 2 is 2.871 zJ. */
Test(coprocessor, landauer) {
    rvm_model *m = shipped("landauer");
    rvm_counts *c = counts();
    const rvm_counts_sums one = {.bits = {[RVM_CAUSE_TRAIL] = 1}};
    cr_assert_eq(rvm_counts_add_sums(c, &one, 1000, &e), RVM_OK);
    const rvm_price p = price(m, c, 0);
    cr_expect(near(p.erasure, 2.871e-18, 1e-4), "%g", p.erasure);
    cr_expect_eq(p.energy, p.erasure);
    rvm_counts_free(c);
    rvm_model_free(m);
}

/* A stream of sums on 45 nm CMOS: 0.9 pJ each by Horowitz; energies do not depend on the clock but for leakage. */
Test(coprocessor, sums_of_45_nm) {
    rvm_model *m = shipped("cmos45");
    rvm_counts *c = sums(1000000);
    const rvm_price p = price(m, c, 0), slow = price(m, c, 1e6);
    cr_expect(near(p.units[RVM_UNIT_ADD], 0.9e-6, .01), "%g", p.units[RVM_UNIT_ADD]);
    cr_expect_eq(p.units[RVM_UNIT_ADD], slow.units[RVM_UNIT_ADD]);
    cr_expect(near(slow.leakage, 1000 * p.leakage, 1e-12));
    cr_expect_eq(p.cycles, 1000004); /* two reads fit two ports, and five stages fill */
    cr_expect_eq(p.erasure, 0);
    rvm_counts_free(c);
    rvm_model_free(m);
}

/* a / t + b t is least at t* = sqrt(a / b), 2 sqrt(a b): a linear law, switching against leakage. */
Test(coprocessor, best_clock) {
    rvm_model *m = shipped("aqfp");
    rvm_counts *c = sums(1000);
    set(m, RVM_MODEL_LEAKAGE, 1e-9);
    set(m, RVM_MODEL_COOLING, 1);
    const rvm_price at = price(m, c, 1e9);
    const double switched = at.energy - at.leakage, a = switched / 1e9, b = at.cycles * 1e-9; /* a f + b / f */
    rvm_price p;
    cr_assert_eq(rvm_model_best_clock(m, c, 1e3, 1e13, &p, &e), RVM_OK, "%s", e.message);
    cr_expect(near(p.clock, sqrt(b / a), 1e-5), "%g %g", p.clock, sqrt(b / a));
    cr_expect(near(p.energy, 2 * sqrt(a * b), 1e-9));
    cr_expect_eq(rvm_model_best_clock(m, c, 2, 1, &p, &e), RVM_ERR_ARGUMENT);
    cr_expect_eq(rvm_model_price(m, c, -1, &p, &e), RVM_ERR_ARGUMENT);
    cr_expect_eq(p.energy, 0);
    rvm_counts_free(c);
    rvm_model_free(m);
}

/* Slow ramps win over conventional switching, fast ones lose what dual rails take. */
Test(coprocessor, law_of_ramps) {
    rvm_model *m = shipped("adiabatic"), *other = shipped("cmos45");
    rvm_counts *c = sums(1000);
    const double conventional = price(other, c, 0).units[RVM_UNIT_ADD];
    cr_expect(near(price(m, c, 500e6).units[RVM_UNIT_ADD], .1 * conventional, .03));
    cr_expect(near(price(m, c, 1e18).units[RVM_UNIT_ADD], 2 * conventional, 1e-6));
    rvm_counts_free(c);
    rvm_model_free(m);
    rvm_model_free(other);
}

/* ---- break-even ---- */

/* A run of r times the instructions wins where an instruction takes less than 1 / r: (2k - 1)^n of Bennett. */
Test(coprocessor, break_even) {
    rvm_model *m = shipped("cmos45");
    rvm_counts *c = sums(2401), *irreversible = sums(256);
    const rvm_counts_sums bits = {.bits = {[RVM_CAUSE_TRAIL] = 2145}};
    cr_assert_eq(rvm_counts_add_sums(irreversible, &bits, 1, &e), RVM_OK);
    const rvm_price other = price(m, irreversible, 0);
    rvm_price p = price(m, c, 0);
    rvm_break_even b;
    p.wall = other.wall;
    cr_assert_eq(rvm_break_even_of(c, &p, irreversible, &other, &b, &e), RVM_OK);
    cr_expect(near(b.times, 2401. / 256, 1e-15) && near(b.needed, 256. / 2401, 1e-15));
    cr_expect(near(b.ratio, b.needed, 1e-14) && b.energy == 1, "even: the ratio is the one that is needed");
    cr_expect_eq(b.landauer, 1); /* 2145 bits over 2401 - 256 instructions */
    cr_assert_eq(rvm_break_even_of(irreversible, &other, irreversible, &other, &b, &e), RVM_OK);
    cr_expect(b.times == 1 && b.energy == 1 && isinf(b.landauer));
    rvm_counts *none = counts();
    cr_expect_eq(rvm_break_even_of(none, &p, irreversible, &other, &b, &e), RVM_ERR_ARGUMENT);
    rvm_counts_free(none);
    rvm_counts_free(c);
    rvm_counts_free(irreversible);
    rvm_model_free(m);
}

/* ---- counts of a machine ---- */

static const char dot[] = "fn dot(out: f64, x: f64[n], y: f64[n])\n"
                          "    for i in 0..n\n"
                          "        out += x[i] * y[i]\n"
                          "    end\n"
                          "end\n"
                          "fn step(x: f64)\n"
                          "    set x = x * x\n"
                          "end\n";

static rvm_machine *run(rvm_program **p, rvm_trail trail) {
    rvm_machine *m;
    rvm_options o = rvm_options_default();
    o.profile = true;
    o.trail = trail;
    cr_assert_eq(rvm_assemble(dot, strlen(dot), "dot.rasm", NULL, p, &e, NULL, NULL), RVM_OK, "%s", e.message);
    cr_assert_eq(rvm_machine_new(*p, &o, &m, &e), RVM_OK);
    return m;
}

/* What one pass of a loop asks for: a product and a sum, two loads, a register that is updated; a counter that moves. */
Test(coprocessor, counts_of_a_run) {
    rvm_program *p;
    rvm_machine *m = run(&p, RVM_TRAIL_KEEP);
    rvm_counts *c = counts();
    double x[10] = {1}, y[10] = {2};
    rvm_arg a[] = {rvm_arg_f64(0), rvm_arg_array_f64(x, 1, (int64_t[]){10}), rvm_arg_array_f64(y, 1, (int64_t[]){10})};
    rvm_counted k;
    rvm_counts_sums s;
    bool met = false;
    cr_assert_eq(rvm_call(m, (uint32_t)rvm_program_find(p, "dot"), a, 3, &e), RVM_OK, "%s", e.message);
    cr_assert_eq(rvm_counts_add_machine(c, m, 3, &e), RVM_OK, "%s", e.message);
    for (uint32_t i = 0; rvm_counts_kind(c, i, &k); i++) {
        if (strcmp(k.kind, "add.mul") != 0) continue;
        met = true;
        cr_expect(k.count == 30 && k.type == RVM_F64);
        cr_expect(k.work.units[RVM_UNIT_ADD] == 1 && k.work.units[RVM_UNIT_MULTIPLY] == 1);
        cr_expect(k.work.memory_reads == 2 && !k.work.memory_writes);
        cr_expect(k.work.register_reads == 3 && k.work.register_writes == 1, "two addresses, and the target both ways");
    }
    cr_expect(met);
    rvm_stats stats;
    rvm_machine_stats(m, &stats);
    rvm_counts_total(c, &s);
    cr_expect_eq(s.instructions, 3 * (stats.forward + stats.backward + stats.swept));
    cr_expect_eq(rvm_counts_erased(c), 0);
    rvm_counts_free(c);
    rvm_machine_free(m);
    rvm_program_free(p);
}

/* A value that no trail keeps is erased, and does not move onto one; with a trail it moves. */
Test(coprocessor, trail_that_is_off) {
    for (int off = 0; off < 2; off++) {
        rvm_program *p;
        rvm_machine *m = run(&p, off ? RVM_TRAIL_OFF : RVM_TRAIL_KEEP);
        rvm_counts *c = counts();
        rvm_arg a = rvm_arg_f64(3);
        rvm_counted k;
        uint64_t moved = 0;
        cr_assert_eq(rvm_call(m, (uint32_t)rvm_program_find(p, "step"), &a, 1, &e), RVM_OK, "%s", e.message);
        cr_assert_eq(rvm_counts_add_machine(c, m, 1, &e), RVM_OK);
        for (uint32_t i = 0; rvm_counts_kind(c, i, &k); i++) moved += k.count * k.work.trail;
        cr_expect_eq(moved, off ? 0 : 1);
        cr_expect_eq(rvm_counts_erased(c), off ? 64 : 0);
        rvm_counts_free(c);
        rvm_machine_free(m);
        rvm_program_free(p);
    }
}

/* An element is addressed by its indices: as many registers as they are, constants none. */
Test(coprocessor, elements_by_dimensions) {
    static const char text[] = "fn f(y: f64, a: f64[n], b: f64[n, n])\n"
                               "    for i in 0..n\n"
                               "        y += b[i, i]\n"
                               "        y -= b[i, 0]\n"
                               "        y += a[1] * 2\n"
                               "    end\n"
                               "end\n";
    rvm_program *p;
    rvm_machine *m;
    rvm_options o = rvm_options_default();
    rvm_counts *c = counts();
    double a[2] = {1, 2}, b[4] = {1, 2, 3, 4};
    rvm_arg args[] = {rvm_arg_f64(0), rvm_arg_array_f64(a, 1, (int64_t[]){2}), rvm_arg_array_f64(b, 2, (int64_t[]){2, 2})};
    rvm_counted k;
    int met = 0;
    o.profile = true;
    cr_assert_eq(rvm_assemble(text, strlen(text), "f.rasm", NULL, &p, &e, NULL, NULL), RVM_OK, "%s", e.message);
    cr_assert_eq(rvm_machine_new(p, &o, &m, &e), RVM_OK);
    cr_assert_eq(rvm_call(m, rvm_program_find(p, "f"), args, 3, &e), RVM_OK, "%s", e.message);
    cr_assert_eq(rvm_counts_add_machine(c, m, 1, &e), RVM_OK);
    for (uint32_t i = 0; rvm_counts_kind(c, i, &k); i++) {
        const int reads = !strcmp(k.kind, "add.id") ? 3 : !strcmp(k.kind, "sub.id") ? 2 : !strcmp(k.kind, "add.mul") ? 1 : 0;
        if (!reads) continue;
        met++;
        cr_expect_eq(k.work.register_reads, reads, "%s: %u", k.kind, k.work.register_reads);
    }
    cr_expect_eq(met, 3);
    rvm_counts_free(c);
    rvm_machine_free(m);
    rvm_program_free(p);
}

Test(coprocessor, machine_without_a_profile) {
    rvm_program *p;
    rvm_machine *m;
    rvm_counts *c = counts();
    cr_assert_eq(rvm_assemble(dot, strlen(dot), "dot.rasm", NULL, &p, &e, NULL, NULL), RVM_OK);
    cr_assert_eq(rvm_machine_new(p, NULL, &m, &e), RVM_OK);
    cr_expect_eq(rvm_counts_add_machine(c, m, 1, &e), RVM_ERR_USAGE);
    rvm_counts_free(c);
    rvm_machine_free(m);
    rvm_program_free(p);
}

/* ---- counts as CSV ---- */

static char *csv_of(const rvm_counts *c, size_t *size) {
    char *text;
    FILE *out = open_memstream(&text, size);
    cr_assert(out && rvm_counts_write(c, out, &e) == RVM_OK);
    fclose(out);
    return text;
}

Test(coprocessor, csv_comes_back) {
    rvm_counts *c = sums(12345), *again = counts();
    const rvm_counts_sums s = {.bits = {1, 2, 3, 4, 5}, .to_device = 6, .to_host = 7, .turns = 8, .peak = 9};
    size_t size, size_again;
    cr_assert_eq(rvm_counts_add_sums(c, &s, 1, &e), RVM_OK);
    char *text = csv_of(c, &size);
    cr_assert_eq(rvm_counts_read(again, text, size, "c.csv", &e), RVM_OK, "%s", e.message);
    char *text_again = csv_of(again, &size_again);
    cr_expect_str_eq(text, text_again);
    cr_expect_eq(rvm_counts_erased(again), 15);
    free(text);
    free(text_again);
    rvm_counts_free(c);
    rvm_counts_free(again);
}

Test(coprocessor, csv_that_is_wrong) {
    static const struct {
        const char *from, *to, *message;
        uint32_t line;
    } wrong[] = {{"# turns 0", "# turns -1", "no whole number: `# turns -1`", 8},
                 {"# turns", "# twists", "no sum of this name: `# twists 0`", 8},
                 {"kind,type", "kind,typ", "not the columns of counts", 10},
                 {",f32,f32", ",f31,f32", "no kind of instruction with its counts: `add,f31", 11},
                 {",12345,", ",18446744073709551616,", "no kind of instruction with its counts", 11},
                 {",up,", ",sideways,", "no kind of instruction with its counts", 11}};
    rvm_counts *c = sums(12345);
    size_t size;
    char *text = csv_of(c, &size), bad[4000];
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        rvm_counts *to = counts();
        const char *at = strstr(text, wrong[k].from);
        cr_assert(at, "%s", wrong[k].from);
        snprintf(bad, sizeof bad, "%.*s%s%s", (int)(at - text), text, wrong[k].to, at + strlen(wrong[k].from));
        cr_expect_eq(rvm_counts_read(to, bad, strlen(bad), "c.csv", &e), RVM_ERR_FORMAT);
        cr_expect(!strcmp(e.file, "c.csv") && e.line == wrong[k].line && strstr(e.message, wrong[k].message), "%s:%u: %s",
                  e.file, e.line, e.message);
        rvm_counts_free(to);
    }
    for (size_t cut = 0; cut < size; cut++) { /* no byte beyond is read */
        rvm_counts *to = counts();
        char *part = malloc(cut ? cut : 1);
        memcpy(part, text, cut);
        rvm_counts_read(to, part, cut, "c.csv", &e);
        free(part);
        rvm_counts_free(to);
    }
    free(text);
    rvm_counts_free(c);
}

Test(coprocessor, counts_beyond_64_bits) {
    rvm_counts *c = sums(UINT64_MAX);
    rvm_counts *more = sums(1);
    cr_expect_eq(rvm_counts_add(c, more, 1, &e), RVM_ERR_LIMIT);
    rvm_counts_free(c);
    rvm_counts_free(more);
}

/* ---- models ---- */

/* Each has every number, with a source, and is held against one that there is. */
Test(coprocessor, shipped_models) {
    static const char *const names[] = {"adiabatic", "aqfp", "cmos45", "landauer"};
    uint32_t n = 0;
    for (const char *name; (name = rvm_model_shipped_name(n, NULL)); n++) {
        cr_assert_lt(n, 4);
        cr_expect_str_eq(name, names[n]);
        rvm_model *m = shipped(name);
        cr_expect_str_eq(rvm_model_name(m), name);
        rvm_model_free(shipped(rvm_model_against(m)));
        for (int key = 0; key < RVM_MODEL_KEYS; key++) {
            const char *source = rvm_model_source(m, (rvm_model_key)key, NULL);
            cr_expect(source && (!strncmp(source, "source: ", 8) || !strncmp(source, "assumption: ", 12)));
            cr_expect(!strstr(source, "  ") && !strchr(source, '\n'), "%s", source);
        }
        rvm_model_free(m);
    }
    cr_expect_eq(n, 4);
    rvm_model *m;
    cr_expect_eq(rvm_model_shipped("cmos", NULL, &m, &e), RVM_ERR_NAME);
    cr_expect(strstr(e.message, "landauer"), "%s", e.message);
}

/* Errors name the file, the line of the statement, and what stands there. */
Test(coprocessor, models_that_are_wrong) {
    static const struct {
        const char *from, *to, *message;
    } wrong[] = {
        {"stages = 5 ", "stages = -5 ", "a number is negative: `-5`"},
        {"stages = 5 ", "stages = 0 ", "stages is more than 0: `0`"},
        {"stages = 5 ", "stages = five ", "no number: `five`"},
        {"stages = 5 ", "stages = nan ", "no number: `nan`"},
        {"stages = 5 ", "stages = 5 x ", "a number is missing: `5 x`"},
        {"stages = 5 ", "stages = 5 J ", "a number without a unit is wanted: `5 J`"},
        {"stages = 5 ", "stages = ", "a number is missing"},
        {"stages = 5 ;", "stages = 5 ; I think", "behind a number"},
        {"stages = 5 ", "stage = 5 ", "no number of a model has this name: `stage`"},
        {"stages = 5 ", "stages stages = 5 ", "it is said twice: `stages`"},
        {"stages = 5 ", "stages 5 ", "neither `key = value` nor a comment"},
        {"leakage = 1 mW", "leakage = 1 mJ", "a number in W is wanted: `1 mJ`"},
        {"leakage = 1 mW", "leakage = 1e999 W", "leakage is not negative"},
        {"law = conventional", "law = unjust", "a law is conventional, ramp or linear: `unjust`"},
        {"leakage = 1 mW", "# leakage", "the model ends here, and has no `leakage`"},
    };
    const char *text;
    char bad[8000];
    rvm_model *m;
    cr_assert(rvm_model_shipped_name(2, &text)); /* cmos45 */
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        const char *at = strstr(text, wrong[k].from);
        uint32_t line = 1;
        cr_assert(at, "%s", wrong[k].from);
        snprintf(bad, sizeof bad, "%.*s%s%s", (int)(at - text), text, wrong[k].to, at + strlen(wrong[k].from));
        for (const char *c = text; c < at; c++) line += *c == '\n';
        cr_expect_eq(rvm_model_parse(bad, strlen(bad), "my.model", NULL, &m, &e), RVM_ERR_FORMAT, "%s", wrong[k].to);
        cr_expect(!m && !strcmp(e.file, "my.model") && strstr(e.message, wrong[k].message), "%s: %s", wrong[k].to,
                  e.message);
        cr_expect(strstr(wrong[k].message, "ends here") ? e.line > line : e.line == line, "%s: line %u", wrong[k].to,
                  e.line);
    }
    for (size_t cut = 0, size = strlen(text); cut < size; cut += 7) { /* no byte beyond is read */
        char *part = malloc(cut ? cut : 1);
        memcpy(part, text, cut);
        const rvm_status st = rvm_model_parse(part, cut, "cut.model", NULL, &m, &e);
        cr_expect(st == RVM_ERR_FORMAT || (!st && cut + 60 > size), "only the last source may be shorter");
        rvm_model_free(m);
        free(part);
    }
    cr_expect_eq(rvm_model_set(m = shipped("cmos45"), RVM_MODEL_LEAKAGE, -1, &e), RVM_ERR_ARGUMENT);
    rvm_model_free(m);
}

/* Numbers as users write them. */
Test(coprocessor, numbers_from_text) {
    static const struct {
        rvm_model_key key;
        const char *text;
        double value; /* -1: refused */
    } numbers[] = {
        {RVM_MODEL_CLOCK, "1M", 1e6},      {RVM_MODEL_CLOCK, "2.5 GHz", 2.5e9}, {RVM_MODEL_CLOCK, "500000", 5e5},
        {RVM_MODEL_LEAKAGE, "1e-3", 1e-3}, {RVM_MODEL_LEAKAGE, "3u", 3e-6},     {RVM_MODEL_F64_ADD, "2 x 0.9pJ", 1.8e-12},
        {RVM_MODEL_STAGES, "7", 7},        {RVM_MODEL_STAGES, "7k", -1},        {RVM_MODEL_CLOCK, "-1", -1},
        {RVM_MODEL_CLOCK, "1 J", -1},      {RVM_MODEL_CLOCK, "", -1},           {RVM_MODEL_CLOCK, "nan", -1},
        {RVM_MODEL_CLOCK, "1 GHz x", -1}};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        double v;
        const rvm_status st = rvm_model_key_number(numbers[k].key, numbers[k].text, &v, &e);
        if (numbers[k].value < 0)
            cr_expect(st == RVM_ERR_ARGUMENT && strstr(e.message, rvm_model_key_name(numbers[k].key)), "%s",
                      numbers[k].text);
        else
            cr_expect(!st && near(v, numbers[k].value, 1e-14), "%s: %g", numbers[k].text, v);
        cr_expect_eq(rvm_model_key_find(rvm_model_key_name(numbers[k].key)), numbers[k].key);
    }
    cr_expect_eq(rvm_model_key_find("clocks"), RVM_MODEL_KEYS);
}

/* ---- the device ---- */

static const char square[] = "fn square(y: f64, x: f64[n])\n"
                             "    for i in 0..n\n"
                             "        y += x[i] * x[i]\n"
                             "    end\n"
                             "end\n"
                             "fn root(y: f64, x: f64)\n"
                             "    assert x > 0\n"
                             "    y += sqrt(x)\n"
                             "end\n"
                             "fn overwrite(x: f64)\n"
                             "    set x = x * x\n"
                             "end\n";

typedef struct devised {
    rvm_program *p;
    rvm_machine *m;
    rvm_device *d;
} devised;

static devised device(const char *fn, const rvm_arg *shapes, uint32_t n, bool keeps) {
    devised v;
    rvm_options o = rvm_options_default();
    o.profile = true;
    o.keep_shadows = keeps;
    cr_assert_eq(rvm_assemble(square, strlen(square), "square.rasm", NULL, &v.p, &e, NULL, NULL), RVM_OK, "%s", e.message);
    cr_assert_eq(rvm_machine_new(v.p, &o, &v.m, &e), RVM_OK);
    cr_assert_eq(rvm_device_new(v.m, rvm_program_find(v.p, fn), shapes, n, NULL, &v.d, &e), RVM_OK, "%s", e.message);
    return v;
}

static void end_device(devised *v) {
    rvm_device_free(v->d);
    rvm_machine_free(v->m);
    rvm_program_free(v->p);
}

#define DO(v, ...)                                                                                                          \
    rvm_device_run((v).d, (const rvm_queued[]){__VA_ARGS__}, sizeof((rvm_queued[]){__VA_ARGS__}) / sizeof(rvm_queued), &e)
#define LOAD(p, h)                                                                                                          \
    { .kind = RVM_QUEUE_LOAD, .param = p, .host = h }
#define LOAD_B(p, h)                                                                                                        \
    { .kind = RVM_QUEUE_LOAD, .param = p, .gradient = true, .host = h }
#define OUT(p, h)                                                                                                           \
    { .kind = RVM_QUEUE_COPY_OUT, .param = p, .host = h }
#define STORE(p, h)                                                                                                         \
    { .kind = RVM_QUEUE_STORE, .param = p, .host = h }
#define STORE_B(p, h)                                                                                                       \
    { .kind = RVM_QUEUE_STORE, .param = p, .gradient = true, .host = h }
#define RUN                                                                                                                 \
    { .kind = RVM_QUEUE_RUN }
#define BACK(b)                                                                                                             \
    { .kind = RVM_QUEUE_DIRECTION, .on = b }
#define GRAD(b)                                                                                                             \
    { .kind = RVM_QUEUE_GRADIENT, .on = b }

/* Forward, the loss out, its seed chosen by what it is, back with gradients; then values again, and the next run. */
Test(coprocessor, device_there_and_back) {
    double data[3] = {1, 2, 3}, grad[3] = {0, 0, 0}, again[3] = {0, 7, 0};
    const int64_t three[] = {3};
    rvm_arg x = rvm_arg_array_f64(data, 1, three), x_b = rvm_arg_array_f64(grad, 1, three), y = rvm_arg_f64(0),
            back = rvm_arg_array_f64(again, 1, three), seed = rvm_arg_f64(0);
    const rvm_arg shapes[] = {y, x};
    devised v = device("square", shapes, 2, false);
    cr_assert_eq(DO(v, LOAD(1, &x), RUN, OUT(0, &y)), RVM_OK, "%s", e.message);
    cr_expect_eq(y.value.f, 14);
    seed.value.f = 2 * y.value.f; /* of y^2 */
    cr_assert_eq(DO(v, LOAD_B(0, &seed), BACK(true), GRAD(true), RUN, STORE_B(1, &x_b), STORE(1, &back)), RVM_OK, "%s",
                 e.message);
    for (int k = 0; k < 3; k++) cr_expect(grad[k] == 56 * data[k] && again[k] == data[k], "%g %g", grad[k], again[k]);
    rvm_counts *c = counts();
    rvm_counts_sums s;
    cr_assert_eq(rvm_device_counts(v.d, c, &e), RVM_OK, "%s", e.message);
    rvm_counts_total(c, &s);
    cr_expect(s.to_device == 4 && s.to_host == 7 && s.turns == 1);
    cr_expect_eq(s.bits[RVM_CAUSE_COPIED], 64, "the 7 that stood in host memory");
    cr_expect(s.modes[RVM_PROFILE_FORWARD] && s.modes[RVM_PROFILE_FORWARD] == s.modes[RVM_PROFILE_SWEPT]);
    rvm_counts_free(c);
    cr_expect_eq(DO(v, STORE(1, &back)), RVM_ERR_USAGE, "it left");
    cr_assert_eq(DO(v, BACK(false), GRAD(false), LOAD(1, &x), RUN, OUT(0, &y)), RVM_OK, "%s", e.message);
    cr_expect_eq(y.value.f, 14);
    end_device(&v);
}

/* From results back to what they came from; a sweep that is taken back. */
Test(coprocessor, device_from_the_end) {
    rvm_arg y = rvm_arg_f64(5), x = rvm_arg_f64(9), out = rvm_arg_f64(0), one = rvm_arg_f64(1), y_b = rvm_arg_f64(0);
    const rvm_arg shapes[] = {y, x};
    devised v = device("root", shapes, 2, true);
    cr_assert_eq(DO(v, LOAD(0, &y), LOAD(1, &x), BACK(true), RUN, OUT(0, &out)), RVM_OK, "%s", e.message);
    cr_expect_eq(out.value.f, 2);
    cr_assert_eq(DO(v, BACK(false), RUN, BACK(true), GRAD(true), LOAD_B(0, &one), RUN), RVM_OK, "%s", e.message);
    cr_assert_eq(DO(v, OUT(0, &out), BACK(false), RUN, OUT(0, &y)), RVM_OK, "%s", e.message);
    cr_expect(out.value.f == 2 && y.value.f == 5, "%g %g", out.value.f, y.value.f);
    cr_assert_eq(DO(v, {.kind = RVM_QUEUE_COPY_OUT, .param = 1, .gradient = true, .host = &y_b}), RVM_OK, "%s", e.message);
    cr_expect(fabs(y_b.value.f) < 1e-15, "the gradient is taken back: %g", y_b.value.f);
    end_device(&v);
}

/* A queue that is wrong changes nothing, one that fails gives back. */
Test(coprocessor, device_refuses) {
    double data[2] = {1, 2};
    rvm_arg y = rvm_arg_f64(0), x = rvm_arg_f64(-4), good = rvm_arg_f64(4),
            other = rvm_arg_array_f64(data, 1, (int64_t[]){2}), whole = rvm_arg_i64(3);
    const rvm_arg shapes[] = {y, x};
    devised v = device("root", shapes, 2, false);
    cr_expect_eq(DO(v, LOAD(1, &x), STORE_B(1, &y)), RVM_ERR_USAGE);
    cr_expect(strstr(e.message, "store x_b: no gradient is there"), "%s", e.message);
    cr_expect_eq(DO(v, RUN), RVM_ERR_USAGE, "nothing was loaded: the queue before was refused whole");
    cr_expect_eq(DO(v, LOAD(1, &other)), RVM_ERR_SHAPE);
    cr_expect_eq(DO(v, LOAD(1, &whole)), RVM_ERR_SHAPE);
    cr_expect_eq(DO(v, LOAD(1, NULL)), RVM_ERR_USAGE);
    cr_expect_eq(DO(v, LOAD(2, &x)), RVM_ERR_USAGE);
    cr_expect_eq(DO(v, {.kind = RVM_QUEUE_KINDS}), RVM_ERR_USAGE);
    const rvm_queued fails[] = {LOAD(1, &x), {.kind = RVM_QUEUE_RUN, .file = "a.queue", .line = 7}, OUT(0, &y)};
    cr_expect_eq(rvm_device_run(v.d, fails, 3, &e), RVM_ERR_ASSERT, "%s", e.message);
    cr_expect(strstr(e.message, "(run of a.queue, line 7)") && e.line == 7 && strstr(e.file, "square"), "%s", e.message);
    cr_assert_eq(DO(v, OUT(1, &y), LOAD(1, &good), RUN, OUT(0, &x)), RVM_OK, "%s", e.message);
    cr_expect(y.value.f == -4 && x.value.f == 2, "what was loaded is still there, and the device goes on");
    end_device(&v);
}

/* What is overwritten lies on the trail, and comes back with the run. */
Test(coprocessor, device_with_a_trail) {
    rvm_arg x = rvm_arg_f64(3), out = rvm_arg_f64(0), one = rvm_arg_f64(1), x_b = rvm_arg_f64(0);
    devised v = device("overwrite", &x, 1, false);
    cr_assert_eq(DO(v, LOAD(0, &x), RUN, OUT(0, &out), LOAD_B(0, &one), BACK(true), GRAD(true), RUN, STORE_B(0, &x_b)),
                 RVM_OK, "%s", e.message);
    cr_expect(out.value.f == 9 && x_b.value.f == 6, "%g %g", out.value.f, x_b.value.f);
    end_device(&v);
}

/* ---- switching ---- */

static const char flips[] = "fn flips(y: i64, x: i64, a: i64[n], s: i64)\n"
                            "    y += x\n"
                            "    y ^= x\n"
                            "    a[0] += x\n"
                            "    set s = 1\n"
                            "    let t = x\n"
                            "end\n";

static rvm_switching switching_of(const rvm_counts *c, const char *kind) {
    rvm_counted k;
    for (uint32_t i = 0; rvm_counts_kind(c, i, &k); i++)
        if (!strcmp(k.kind, kind)) return k.switched;
    cr_assert_fail("no %s", kind);
    return (rvm_switching){{0}, {0}};
}

/* From 0 to 7 and back three bits change; a value that moves onto the trail changes a cell there; what appears was 0. */
Test(coprocessor, bits_that_change) {
    rvm_program *p;
    rvm_machine *m;
    rvm_options o = rvm_options_default();
    rvm_counts *c = counts(), *again = counts();
    int64_t a[] = {8, 0};
    rvm_arg args[] = {rvm_arg_i64(0), rvm_arg_i64(7), rvm_arg_array_i64(a, 1, (int64_t[]){2}), rvm_arg_i64(3)};
    o.activity = true;
    cr_assert_eq(rvm_assemble(flips, strlen(flips), "flips.rasm", NULL, &p, &e, NULL, NULL), RVM_OK, "%s", e.message);
    cr_assert_eq(rvm_machine_new(p, &o, &m, &e), RVM_OK);
    cr_assert_eq(rvm_call(m, rvm_program_find(p, "flips"), args, 4, &e), RVM_OK, "%s", e.message);
    cr_assert_eq(rvm_counts_add_machine(c, m, 2, &e), RVM_OK, "%s", e.message);
    const rvm_switching let = switching_of(c, "let.id"), set = switching_of(c, "set.id"), xor = switching_of(c, "xor.id");
    cr_expect(let.bits[0] == 128 && let.flipped[0] == 6 && !let.bits[1]);
    cr_expect(xor.bits[0] == 128 && xor.flipped[0] == 6);
    cr_expect(set.bits[0] == 128 && set.flipped[0] == 2 && set.bits[1] == 128 && set.flipped[1] == 4, "3 to 1, 0 to 3");
    cr_expect(switching_of(c, "unlet.id").flipped[0] == 6, "from 7 to 0");
    size_t size;
    char *text = csv_of(c, &size);
    cr_assert_eq(rvm_counts_read(again, text, size, "c.csv", &e), RVM_OK, "%s", e.message);
    cr_expect_eq(switching_of(again, "set.id").flipped[1], 4);
    free(text);
    rvm_counts_free(c);
    rvm_counts_free(again);
    rvm_machine_free(m);
    rvm_program_free(p);
}

/* A write of as many bits as the model says takes what is quoted; half as many, half of it. */
Test(coprocessor, writes_that_change_less) {
    rvm_model *m = shipped("cmos45");
    rvm_counted move = {.kind = "swap", .type = RVM_I64, .operands = RVM_I64, .places = "r", .direction = 1, .count = 10};
    double energy[3];
    move.work = (rvm_work){.register_writes = 1, .memory_writes = 1};
    for (int k = 0; k < 3; k++) {
        rvm_counts *c = counts();
        if (k) move.switched = (rvm_switching){{640, 640}, {320 / (uint64_t)k, 320 / (uint64_t)k}};
        cr_assert_eq(rvm_counts_add_kind(c, &move, 1, &e), RVM_OK, "%s", e.message);
        const rvm_price p = price(m, c, 0);
        energy[k] = p.registers + p.memory;
        rvm_counts_free(c);
    }
    cr_expect(near(energy[1], energy[0], 1e-12) && near(energy[2], energy[0] / 2, 1e-12), "%g %g %g", energy[0], energy[1],
              energy[2]);
    rvm_model_free(m);
}
