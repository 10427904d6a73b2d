/* profile_json.c: a profile as JSON and as CSV. */
#include "profiled.h"

#include <string.h>

static void json_counts(json *j, const rvm_profile_counts *c) {
    json_open(j, '{');
    for (int mode = 0; mode < RVM_PROFILE_MODES; mode++) {
        const uint64_t *n = c->n[mode];
        if (!n[0] && !n[1]) continue;
        json_key(j, rvm_profile_mode_name((rvm_profile_mode)mode));
        json_open(j, '[');
        json_uint(j, n[0]), json_uint(j, n[1]);
        json_close(j, ']');
    }
    json_close(j, '}');
}

/* Element k of a list; false: there is none. */
typedef bool json_element(json *j, const profiled *p, uint32_t k);
static void json_list(json *j, const char *name, const profiled *p, json_element *element) {
    json_key(j, name);
    json_open(j, '[');
    for (uint32_t k = 0; element(j, p, k); k++) {}
    json_close(j, ']');
}

void json_switching(json *j, const rvm_switching *s) {
    json_open(j, '{');
    json_key(j, "register_bits"), json_uint(j, s->bits[0]);
    json_key(j, "register_flips"), json_uint(j, s->flipped[0]);
    json_key(j, "memory_bits"), json_uint(j, s->bits[1]);
    json_key(j, "memory_flips"), json_uint(j, s->flipped[1]);
    json_close(j, '}');
}

static bool json_kind(json *j, const profiled *p, uint32_t n) {
    rvm_profile_kind_count k;
    if (!rvm_profile_kind(p->f, n, &k)) return false;
    json_open(j, '{');
    json_key(j, "mnemonic"), json_text(j, k.mnemonic);
    json_key(j, "row"), json_text(j, k.row);
    json_key(j, "type"), json_text(j, rvm_type_name(k.type));
    json_key(j, "operands"), json_text(j, rvm_type_name(k.operands));
    json_key(j, "places"), json_text(j, k.places);
    json_key(j, "direction"), json_text(j, k.direction > 0 ? "up" : "down");
    json_key(j, "mode"), json_text(j, rvm_profile_mode_name(k.mode));
    json_key(j, "tangents"), json_bool(j, k.tangents);
    json_key(j, "count"), json_uint(j, k.count);
    rvm_switching s;
    if (p->t->o.activity && rvm_profile_kind_switching(p->f, n, &s)) json_key(j, "switching"), json_switching(j, &s);
    json_close(j, '}');
    return true;
}

static bool json_function(json *j, const profiled *p, uint32_t fn) {
    rvm_profile_function g;
    if (!rvm_profile_function_at(p->f, fn, &g)) return false;
    if (!g.calls && !g.total) return true;
    const char *file;
    uint32_t line;
    rvm_program_position(p->t->program, fn, 0, &file, &line, NULL);
    json_open(j, '{');
    json_key(j, "name"), json_text(j, rvm_program_function_name(p->t->program, fn));
    json_key(j, "file"), json_text(j, file);
    json_key(j, "line"), json_uint(j, line);
    json_key(j, "calls"), json_uint(j, g.calls);
    json_key(j, "total"), json_uint(j, g.total);
    json_key(j, "own"), json_counts(j, &g.own);
    json_close(j, '}');
    return true;
}

static bool json_line(json *j, const profiled *p, uint32_t k) {
    rvm_profile_line line;
    if (!rvm_profile_line_at(p->f, k, &line)) return false;
    json_open(j, '{');
    json_key(j, "file"), json_text(j, line.file);
    json_key(j, "line"), json_uint(j, line.line);
    json_key(j, "own"), json_counts(j, &line.own);
    json_close(j, '}');
    return true;
}

static bool json_path(json *j, const profiled *p, uint32_t k) {
    rvm_profile_path path, parent;
    const char *file = NULL;
    uint32_t line = 0;
    if (!rvm_profile_path_at(p->f, k, &path)) return false;
    const bool called = path.parent >= 0 && rvm_profile_path_at(p->f, (uint32_t)path.parent, &parent);
    if (called) rvm_program_position(p->t->program, parent.fn, path.call_pc, &file, &line, NULL);
    json_open(j, '{');
    json_key(j, "function"), json_text(j, rvm_program_function_name(p->t->program, path.fn));
    json_key(j, "parent");
    if (called)
        json_uint(j, (uint64_t)path.parent);
    else
        json_none(j);
    json_key(j, "file"), json_text(j, file);
    json_key(j, "line"), json_uint(j, line);
    json_key(j, "calls"), json_uint(j, path.calls);
    json_key(j, "recursions"), json_uint(j, path.recursions);
    json_key(j, "shared"), json_bool(j, path.shared);
    json_key(j, "total"), json_uint(j, path.total);
    json_key(j, "own"), json_counts(j, &path.own);
    json_close(j, '}');
    return true;
}

static void json_erased(json *j, const profiled *p) {
    rvm_stats s;
    rvm_machine_stats(p->t->machine, &s);
    json_key(j, "erased");
    json_open(j, '{');
    json_key(j, "bits"), json_uint(j, s.bits_erased);
    json_key(j, "trail"), json_uint(j, s.bits_trail);
    json_key(j, "shadows"), json_uint(j, s.bits_shadows);
    json_key(j, "stack"), json_uint(j, s.bits_stack);
    json_key(j, "forgotten"), json_uint(j, s.bits_forgotten);
    json_close(j, '}');
}

static void json_held(json *j, const rvm_profile_memory *h, bool when) {
    json_open(j, '{');
    if (when) json_key(j, "instructions"), json_uint(j, h->instructions);
    json_key(j, "states"), json_uint(j, h->states);
    json_key(j, "trail"), json_uint(j, h->trail);
    json_key(j, "stack"), json_uint(j, h->stack);
    json_key(j, "shadows"), json_uint(j, h->shadows);
    json_close(j, '}');
}

static bool json_sample(json *j, const profiled *p, uint32_t k) {
    rvm_profile_memory h;
    if (!rvm_profile_memory_at(p->f, k, &h)) return false;
    json_held(j, &h, true);
    return true;
}

static void json_memory(json *j, const profiled *p) {
    rvm_profile_memory h;
    json_key(j, "memory");
    json_open(j, '{');
    rvm_profile_memory_peak(p->f, &h);
    json_key(j, "peak"), json_held(j, &h, false);
    json_list(j, "samples", p, json_sample);
    json_close(j, '}');
}

void profile_json(json *j, const profiled *p) {
    rvm_profile_counts total;
    rvm_profile_total(p->f, &total);
    json_key(j, "of"), json_text(j, p->of);
    json_key(j, "instructions"), json_uint(j, rvm_profile_sum(&total));
    json_key(j, "modes"), json_counts(j, &total);
    json_list(j, "kinds", p, json_kind);
    json_list(j, "functions", p, json_function);
    json_list(j, "lines", p, json_line);
    json_list(j, "paths", p, json_path);
    json_memory(j, p);
    json_erased(j, p);
}

void profile_csv(const profiled *p) {
    const bool measured = p->t->o.activity;
    rvm_profile_kind_count k;
    rvm_switching s;
    fprintf(p->out, "mnemonic,row,type,operands,places,direction,mode,tangents,count%s\n",
            measured ? ",register_bits,register_flips,memory_bits,memory_flips" : "");
    for (uint32_t i = 0; rvm_profile_kind(p->f, i, &k); i++) {
        fprintf(p->out, "%s,%s,%s,%s,%s,%s,%s,%d,%llu", k.mnemonic, k.row ? k.row : "", rvm_type_name(k.type),
                rvm_type_name(k.operands), k.places, k.direction > 0 ? "up" : "down", rvm_profile_mode_name(k.mode),
                k.tangents, (unsigned long long)k.count);
        if (measured && rvm_profile_kind_switching(p->f, i, &s))
            fprintf(p->out, ",%llu,%llu,%llu,%llu", (unsigned long long)s.bits[0], (unsigned long long)s.flipped[0],
                    (unsigned long long)s.bits[1], (unsigned long long)s.flipped[1]);
        fputc('\n', p->out);
    }
}
