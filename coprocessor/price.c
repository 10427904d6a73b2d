/* price.c: what counts cost by a model: cycles of five stages in order, energies by the law of the technology. */
#include "coprocessor.h"

#include <math.h>

static const double boltzmann = 1.380649e-23; /* J/K, exactly: the SI's definition of the kelvin, 2019 */

static double number(const rvm_model *m, rvm_model_key key) {
    return m->number[key].value;
}

/* (u - 1 + e^-u) / u^2 with u = 1 / x; as a series where the difference would cancel. */
double rvm_ramp_loss(double x) {
    const double u = 1 / x;
    if (!(x > 0)) return x <= 0 ? 0 : x;
    if (u < 1e-3) return 0.5 - u / 6 + u * u / 24;
    return (u + expm1(-u)) / (u * u);
}

/* ---- cycles ---- */

static double ceiling(double n, double ports) {
    return ceil(n / ports);
}

/* Each instruction passes each stage once; the stage that it keeps busy longest sets the pace. */
double rvm_model_cycles(const rvm_model *m, const rvm_work *w) {
    if (!m || !w) return 0;
    double arithmetic = 0;
    for (int unit = 0; unit < RVM_UNITS; unit++)
        arithmetic += w->units[unit] * number(m, (rvm_model_key)(RVM_MODEL_CYCLES_ADD + unit));
    double busy = fmax(1, arithmetic);
    busy = fmax(busy, ceiling(w->register_reads, number(m, RVM_MODEL_PORTS_READ)));
    busy = fmax(busy, ceiling(w->register_writes, number(m, RVM_MODEL_PORTS_WRITE)));
    busy = fmax(busy, ceiling(w->memory_reads + w->memory_writes + w->trail, number(m, RVM_MODEL_PORTS_MEMORY)));
    return busy + w->jumps * number(m, RVM_MODEL_CYCLES_JUMP) + w->turns * rvm_model_turn_cycles(m);
}
_Static_assert(RVM_MODEL_CYCLES_CONVERT - RVM_MODEL_CYCLES_ADD == RVM_UNITS - 1, "a number for each unit");

double rvm_model_turn_cycles(const rvm_model *m) {
    return m ? 2 * number(m, RVM_MODEL_STAGES) - 1 : 0;
}

static double all_cycles(const rvm_model *m, const rvm_counts *c) {
    double n = c->n ? number(m, RVM_MODEL_STAGES) - 1 : 0;
    for (uint32_t k = 0; k < c->n; k++) n += (double)c->kinds[k].count * rvm_model_cycles(m, &c->kinds[k].work);
    n += (double)c->sums.turns * rvm_model_turn_cycles(m);
    return n + ((double)c->sums.to_device + (double)c->sums.to_host) * number(m, RVM_MODEL_CYCLES_TRANSFER);
}

/* ---- energy ---- */

/* The energy of what is switched, over CV^2 / 2. */
static double switching(const rvm_model *m, double clock) {
    switch (m->law) {
    case RVM_LAW_CONVENTIONAL: break;
    case RVM_LAW_RAMP: return 2 * rvm_ramp_loss(number(m, RVM_MODEL_RC) * clock / number(m, RVM_MODEL_RAMP));
    case RVM_LAW_LINEAR: return clock / number(m, RVM_MODEL_CLOCK_REFERENCE);
    case RVM_LAWS: break;
    }
    return 1;
}

/* Of fix the sums are those of integers, the functions those of f64, which they are computed in. A comparison is of the
 * operands' type. */
static double unit_energy(const rvm_model *m, const rvm_counted *k, rvm_unit unit) {
    const rvm_type t = unit == RVM_UNIT_COMPARE ? k->operands : k->type;
    const bool single = t == RVM_F32, real = t == RVM_F64 || (t == RVM_FIX && unit == RVM_UNIT_FUNCTION);
    const rvm_model_key first = single ? RVM_MODEL_F32_ADD : real ? RVM_MODEL_F64_ADD : RVM_MODEL_INT_ADD;
    return number(m, (rvm_model_key)(first + unit));
}
_Static_assert(RVM_MODEL_INT_CONVERT - RVM_MODEL_INT_ADD == RVM_UNITS - 1, "a number for each unit");
_Static_assert(RVM_MODEL_F64_CONVERT - RVM_MODEL_F64_ADD == RVM_UNITS - 1, "a number for each unit");

/* What writes take, over what they would where as many bits changed as the model says. */
static double activity(const rvm_model *m, const rvm_counted *k, int where) {
    const double bits = (double)k->switched.bits[where], flipped = (double)k->switched.flipped[where];
    return bits > 0 ? flipped / bits / number(m, RVM_MODEL_ACTIVITY) : 1;
}

static void price_kind(const rvm_model *m, const rvm_counted *k, double factor, rvm_price *out) {
    const double n = (double)k->count * factor;
    for (int unit = 0; unit < RVM_UNITS; unit++)
        out->units[unit] += n * k->work.units[unit] * unit_energy(m, k, (rvm_unit)unit);
    out->instructions += n * number(m, RVM_MODEL_INSTRUCTION);
    const double registers = k->work.register_writes * activity(m, k, 0);
    const double memory = (k->work.memory_writes + k->work.trail) * activity(m, k, 1);
    out->registers += n * (k->work.register_reads + registers) * number(m, RVM_MODEL_REGISTER);
    out->memory += n * (k->work.memory_reads + memory) * number(m, RVM_MODEL_MEMORY);
}

static void add_up(const rvm_model *m, rvm_price *out) {
    for (int unit = 0; unit < RVM_UNITS; unit++) out->energy += out->units[unit];
    out->energy += out->instructions + out->registers + out->memory + out->transfers + out->leakage + out->erasure;
    out->wall = out->energy * number(m, RVM_MODEL_COOLING);
}

rvm_status rvm_model_price(const rvm_model *m, const rvm_counts *c, double clock, rvm_price *out, rvm_error *err) {
    RVM__NEEDS(out);
    *out = (rvm_price){0};
    RVM__NEEDS(m, c);
    if (clock == 0) clock = number(m, RVM_MODEL_CLOCK);
    if (!(clock > 0) || isinf(clock))
        return rvm__fail(err, RVM_ERR_ARGUMENT, NULL, 0, 0, "a clock of %g Hz: it is finite and more than 0", clock);
    const rvm_counts_sums *s = &c->sums;
    const double factor = switching(m, clock) * number(m, RVM_MODEL_OVERHEAD);
    out->clock = clock;
    out->cycles = all_cycles(m, c);
    out->seconds = out->cycles / clock;
    for (uint32_t k = 0; k < c->n; k++) price_kind(m, &c->kinds[k], factor, out);
    out->transfers = ((double)s->to_device + (double)s->to_host) * number(m, RVM_MODEL_TRANSFER);
    out->leakage = out->seconds * number(m, RVM_MODEL_LEAKAGE);
    out->erasure =
        (double)rvm_counts_erased(c) * number(m, RVM_MODEL_ERASURE) * boltzmann * number(m, RVM_MODEL_TEMPERATURE) * log(2);
    add_up(m, out);
    return RVM_OK;
}

/* Golden section in the logarithm of the clock. */
rvm_status rvm_model_best_clock(const rvm_model *m, const rvm_counts *c, double low, double high, rvm_price *out,
                                rvm_error *err) {
    RVM__NEEDS(out);
    *out = (rvm_price){0};
    RVM__NEEDS(m, c);
    if (!(low > 0) || !(high >= low) || isinf(high))
        return rvm__fail(err, RVM_ERR_ARGUMENT, NULL, 0, 0, "no clock is between %g and %g Hz", low, high);
    const double share = (sqrt(5) - 1) / 2;
    double a = log(low), b = log(high);
    rvm_price at[2];
    while (b - a > 1e-7) {
        const double x[2] = {b - share * (b - a), a + share * (b - a)};
        for (int k = 0; k < 2; k++) RVM__TRY(rvm_model_price(m, c, exp(x[k]), &at[k], err));
        if (at[0].wall <= at[1].wall)
            b = x[1];
        else
            a = x[0];
    }
    return rvm_model_price(m, c, exp((a + b) / 2), out, err);
}

/* ---- break-even ---- */

static double landauer(const rvm_counts *reversible, const rvm_counts *irreversible) {
    const double saved = (double)rvm_counts_erased(irreversible) - (double)rvm_counts_erased(reversible);
    const double more = (double)reversible->sums.instructions - (double)irreversible->sums.instructions;
    if (more > 0) return saved / more;
    return saved > 0 || (saved == 0 && more < 0) ? INFINITY : -INFINITY;
}

rvm_status rvm_break_even_of(const rvm_counts *reversible, const rvm_price *price, const rvm_counts *irreversible,
                             const rvm_price *other, rvm_break_even *out, rvm_error *err) {
    RVM__NEEDS(out);
    *out = (rvm_break_even){0};
    RVM__NEEDS(reversible, price, irreversible, other);
    const double n = (double)reversible->sums.instructions, n0 = (double)irreversible->sums.instructions;
    if (n == 0 || n0 == 0)
        return rvm__fail(err, RVM_ERR_ARGUMENT, NULL, 0, 0, "a run of no instructions breaks even with none");
    out->times = n / n0;
    out->needed = n0 / n;
    out->energy = price->wall / other->wall;
    out->ratio = out->energy / out->times;
    out->landauer = landauer(reversible, irreversible);
    return RVM_OK;
}
