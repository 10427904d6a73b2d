/* cost_json.c: what runs cost, as members of a JSON object. */
#include "cost.h"

static void json_run(json *j, const costed *r) {
    rvm_counts_sums s;
    rvm_counts_total(r->counts, &s);
    json_key(j, "name"), json_text(j, r->name);
    json_key(j, "instructions"), json_uint(j, s.instructions);
    json_key(j, "modes");
    json_open(j, '{');
    for (int mode = 0; mode < RVM_PROFILE_MODES; mode++)
        json_key(j, rvm_profile_mode_name((rvm_profile_mode)mode)), json_uint(j, s.modes[mode]);
    json_close(j, '}');
    json_key(j, "bytes"), json_uint(j, s.peak);
    json_key(j, "erased");
    json_open(j, '{');
    json_key(j, "bits"), json_uint(j, rvm_counts_erased(r->counts));
    for (int cause = 0; cause < RVM_CAUSES; cause++)
        json_key(j, rvm_cause_name((rvm_cause)cause)), json_uint(j, s.bits[cause]);
    json_close(j, '}');
    json_key(j, "to_device"), json_uint(j, s.to_device);
    json_key(j, "to_host"), json_uint(j, s.to_host);
    json_key(j, "turns"), json_uint(j, s.turns);
    const rvm_switching w = cost_switching(r->counts);
    if (w.bits[0] || w.bits[1]) json_key(j, "switching"), json_switching(j, &w);
}

static void json_price(json *j, const rvm_price *p) {
    json_key(j, "clock"), json_f64(j, p->clock);
    json_key(j, "cycles"), json_f64(j, p->cycles);
    json_key(j, "seconds"), json_f64(j, p->seconds);
    json_key(j, "parts");
    json_open(j, '{');
    for (int part = 0; part < COST_PART_COUNT; part++) json_key(j, cost_part_name(part)), json_f64(j, cost_part(p, part));
    json_close(j, '}');
    json_key(j, "energy"), json_f64(j, p->energy);
    json_key(j, "wall"), json_f64(j, p->wall);
}

/* Held against the irreversible run by its own model, and by the same one. */
static void json_break_even(json *j, const cost *c, int k, const costed *run, const rvm_price *p) {
    rvm_price other, same;
    rvm_break_even b, s;
    if (!c->against.counts || cost_price_against(c, k, &other) || cost_price(c, k, &c->against, -1, &same)) return;
    if (rvm_break_even_of(run->counts, p, c->against.counts, &other, &b, &c->t->err)) return;
    rvm_break_even_of(run->counts, p, c->against.counts, &same, &s, &c->t->err);
    json_key(j, "break_even");
    json_open(j, '{');
    json_key(j, "against"), json_text(j, rvm_model_name(c->other[k]));
    json_key(j, "wall"), json_f64(j, other.wall);
    json_key(j, "times"), json_f64(j, b.times);
    json_key(j, "needed"), json_f64(j, b.needed);
    json_key(j, "ratio"), json_f64(j, b.ratio);
    json_key(j, "energy"), json_f64(j, b.energy);
    json_key(j, "energy_same_model"), json_f64(j, s.energy);
    json_key(j, "landauer"), json_f64(j, b.landauer);
    json_close(j, '}');
}

static void json_points(json *j, const cost *c, int k) {
    rvm_price p;
    json_key(j, "swept"), json_text(j, rvm_model_key_name(c->sweep.key));
    json_key(j, "points");
    json_open(j, '[');
    for (int i = 0; i < COST_POINTS; i++) {
        if (cost_price(c, k, &c->run, i, &p)) continue;
        json_open(j, '{');
        json_key(j, "value"), json_f64(j, cost_point(&c->sweep, i));
        json_price(j, &p);
        json_close(j, '}');
    }
    json_close(j, ']');
    if (c->sweep.key != RVM_MODEL_CLOCK || cost_best(c, k, &c->run, &p)) return;
    json_key(j, "best");
    json_open(j, '{');
    json_price(j, &p);
    json_close(j, '}');
}

static void json_models(json *j, const cost *c, const costed *run) {
    rvm_price p;
    json_key(j, "models");
    json_open(j, '[');
    for (int k = 0; k < c->nmodels; k++) {
        if (cost_price(c, k, run, -1, &p)) continue;
        json_open(j, '{');
        json_key(j, "model"), json_text(j, rvm_model_name(c->model[k]));
        json_price(j, &p);
        json_break_even(j, c, k, run, &p);
        if (run == &c->run && c->sweep.key != RVM_MODEL_KEYS) json_points(j, c, k);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void json_costed(json *j, const cost *c, const costed *r) {
    json_open(j, '{');
    json_run(j, r);
    json_models(j, c, r);
    json_close(j, '}');
}

void cost_json(json *j, const cost *c) {
    if (c->run.counts) json_key(j, "run"), json_costed(j, c, &c->run);
    if (c->against.counts) {
        json_key(j, "against");
        json_open(j, '{');
        json_run(j, &c->against);
        json_close(j, '}');
    }
    if (!c->n) return;
    json_key(j, "schedules");
    json_open(j, '[');
    for (int k = 0; k < c->n; k++) json_costed(j, c, &c->list[k]);
    json_close(j, ']');
}
