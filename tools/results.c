/* results.c: what commands print and save of a run: values as far as --only has them, costs, statistics. */
#include "npz.h"
#include "rvm_profile.h"
#include "tool.h"

#include <stdlib.h>
#include <string.h>

void output_values(const tool *t, const values *v) {
    for (uint32_t i = 0; i < v->n; i++)
        if (only_takes(t, i, NULL)) output_param(stdout, "", "", v, i, NULL);
}

void output_json_values(json *j, const tool *t, const values *v) {
    json_key(j, "values");
    json_open(j, '{');
    for (uint32_t i = 0; i < v->n; i++)
        if (only_takes(t, i, NULL)) output_json_param(j, v, i, NULL);
    json_close(j, '}');
}

/* ---- what derivatives cost ---- */

void output_cost(const rvm_cost *c) {
    const struct {
        const char *what;
        uint64_t n;
    } items[] = {{"tangent run", c->tangents},
                 {"sweep", c->adjoints},
                 {"colour", (uint64_t)c->colours},
                 {"instruction", c->instructions},
                 {"entry update", c->updates}};
    printf("by %s:", c->method);
    for (size_t k = 0, shown = 0; k < sizeof items / sizeof *items; k++)
        if (items[k].n)
            printf("%s %llu %s%s", shown++ ? "," : "", (unsigned long long)items[k].n, items[k].what,
                   items[k].n == 1 ? "" : "s");
    if (c->otherwise)
        printf("; by %s: %s%llu instructions", c->other, c->estimated ? "about " : "", (unsigned long long)c->otherwise);
    if (c->other_updates) printf(", %llu entry updates", (unsigned long long)c->other_updates);
    putchar('\n');
}

void output_json_cost(json *j, const rvm_cost *c) {
    json_key(j, "cost");
    json_open(j, '{');
    json_key(j, "method"), json_text(j, c->method);
    json_key(j, "tangents"), json_uint(j, c->tangents);
    json_key(j, "adjoints"), json_uint(j, c->adjoints);
    json_key(j, "instructions"), json_uint(j, c->instructions);
    json_key(j, "colours"), json_uint(j, (uint64_t)c->colours);
    json_key(j, "updates"), json_uint(j, c->updates);
    json_key(j, "entries"), json_uint(j, c->entries);
    json_key(j, "other"), json_text(j, c->other);
    json_key(j, "otherwise"), json_uint(j, c->otherwise);
    json_key(j, "other_updates"), json_uint(j, c->other_updates);
    json_key(j, "estimated"), json_bool(j, c->estimated);
    json_close(j, '}');
}

/* ---- statistics ---- */

static void json_residues(json *j, const tool *t, const rvm_stats *s) {
    json_key(j, "residues");
    json_open(j, '[');
    for (int k = 0; k < RVM_RESIDUES && s->residues[k].value > 0; k++) {
        const rvm_residue *r = &s->residues[k];
        const char *file;
        uint32_t line, column;
        char name[128];
        rvm_program_place_text(t->program, r->fn, r->pc, 0, name, sizeof name); /* what is released */
        rvm_program_position(t->program, r->fn, r->pc, &file, &line, &column);
        json_open(j, '{');
        json_key(j, "name"), json_text(j, name);
        json_key(j, "value"), json_f64(j, r->value);
        json_key(j, "function"), json_text(j, rvm_program_function_name(t->program, r->fn));
        json_key(j, "file"), json_text(j, file);
        json_key(j, "line"), json_uint(j, line);
        json_close(j, '}');
    }
    json_close(j, ']');
}

/* --profile: executions by mnemonic, whatever the operands, most frequent first. */
typedef struct tally {
    char name[48]; /* "add.mul", "jt" */
    uint64_t count;
} tally;
typedef struct tallies {
    tally *item;
    size_t n;
} tallies;

static int by_count(const void *a, const void *b) {
    const tally *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return strcmp(x->name, y->name);
}

static void tally_kind(tallies *l, const rvm_profile_kind_count *k) {
    char name[sizeof l->item->name];
    size_t at = 0;
    snprintf(name, sizeof name, "%s%s%s", k->mnemonic, k->row ? "." : "", k->row ? k->row : "");
    while (at < l->n && strcmp(l->item[at].name, name) != 0) at++;
    if (at == l->n) memcpy(l->item[l->n++].name, name, sizeof name);
    l->item[at].count += k->count;
}

/* Empty without --profile, or out of memory. */
static tallies tally_profile(const tool *t) {
    tallies l = {0};
    rvm_profile *f = NULL;
    rvm_profile_kind_count k;
    size_t n = 0;
    if (!t->o.profile || rvm_profile_new(t->machine, &f, NULL)) return l;
    while (rvm_profile_kind(f, (uint32_t)n, &k)) n++;
    l.item = calloc(n + 1, sizeof *l.item);
    for (uint32_t i = 0; l.item && rvm_profile_kind(f, i, &k); i++) tally_kind(&l, &k);
    if (l.n) qsort(l.item, l.n, sizeof *l.item, by_count);
    rvm_profile_free(f);
    return l;
}

static void json_profile(json *j, const tool *t) {
    tallies l = tally_profile(t);
    json_key(j, "profile");
    json_open(j, '{');
    for (size_t k = 0; k < l.n; k++) json_key(j, l.item[k].name), json_uint(j, l.item[k].count);
    json_close(j, '}');
    free(l.item);
}

/* What the counts are of: "f, then f'adj". */
static void ran_text(const tool *t, uint32_t ran, char *to, size_t size) {
    static const char *const each[] = {"%s",      "the sweep of %s", "%s with tangents",      "%s'adj",
                                       "%s'grad", "%s'tan",          "%s'grad with tangents", "%s'grad'tan"};
    size_t n = 0;
    *to = 0;
    for (size_t k = 0; k < sizeof each / sizeof *each; k++) {
        char one[200];
        const char *name = rvm_program_function_name(t->program, t->fn), *rest = strstr(each[k], "%s") + 2;
        if (!(ran >> k & 1)) continue;
        snprintf(one, sizeof one, "%.*s%.150s%s", (int)(rest - 2 - each[k]), each[k], name, rest);
        n += (size_t)snprintf(to + n, size - n, "%s%s", n ? ", then " : "", one);
        if (n >= size) return;
    }
}

void output_json_stats(json *j, const tool *t) {
    rvm_stats s;
    rvm_machine_stats(t->machine, &s);
    char ran[700];
    ran_text(t, s.ran, ran, sizeof ran);
    json_key(j, "stats");
    json_open(j, '{');
    json_key(j, "of"), json_text(j, ran);
    json_key(j, "instructions"), json_uint(j, s.forward + s.backward + s.swept);
    json_key(j, "forward"), json_uint(j, s.forward);
    json_key(j, "backward"), json_uint(j, s.backward);
    json_key(j, "swept"), json_uint(j, s.swept);
    json_key(j, "calls"), json_uint(j, s.calls);
    json_key(j, "shadows_dropped"), json_uint(j, s.shadows_dropped);
    json_key(j, "ancilla_peak"), json_uint(j, s.ancilla_peak);
    json_key(j, "memory_peak"), json_uint(j, s.memory_peak);
    json_key(j, "trail_cells"), json_uint(j, s.trail_cells);
    json_key(j, "trail_peak"), json_uint(j, s.trail_peak);
    json_key(j, "bits_erased"), json_uint(j, s.bits_erased);
    json_key(j, "bits_trail"), json_uint(j, s.bits_trail);
    json_key(j, "bits_shadows"), json_uint(j, s.bits_shadows);
    json_key(j, "bits_stack"), json_uint(j, s.bits_stack);
    json_key(j, "bits_forgotten"), json_uint(j, s.bits_forgotten);
    json_key(j, "exact_updates"), json_uint(j, s.exact_updates);
    json_key(j, "exact_bits"), json_uint(j, s.exact_bits);
    json_key(j, "exact_peak"), json_uint(j, s.exact_peak);
    json_key(j, "depth_peak"), json_uint(j, s.depth_peak);
    json_key(j, "stack_left"), json_uint(j, s.stack_left);
    json_key(j, "seconds"), json_f64(j, progress_seconds(&t->progress));
    json_residues(j, t, &s);
    json_close(j, '}');
    if (t->o.profile) json_profile(j, t);
}

static void text_stats(const tool *t) {
    rvm_stats s;
    rvm_machine_stats(t->machine, &s);
    char ran[700];
    ran_text(t, s.ran, ran, sizeof ran);
    printf("program: %s\n", ran);
    printf("instructions: %llu forward, %llu backward, %llu in the sweep; %llu calls, %u deep\n",
           (unsigned long long)s.forward, (unsigned long long)s.backward, (unsigned long long)s.swept,
           (unsigned long long)s.calls, s.depth_peak);
    printf("memory: %zu bytes at most, %zu of them ancilla arrays; %llu shadows dropped\n", s.memory_peak, s.ancilla_peak,
           (unsigned long long)s.shadows_dropped);
    if (s.trail_peak)
        printf("trail: %llu bytes at most, %llu values on it now\n", (unsigned long long)s.trail_peak,
               (unsigned long long)s.trail_cells);
    if (s.bits_erased) output_erased(stdout, &s);
    if (s.exact_updates)
        printf("exact: %llu updates; %llu bits recorded, %llu held at most, %.5f an update\n",
               (unsigned long long)s.exact_updates, (unsigned long long)s.exact_bits, (unsigned long long)s.exact_peak,
               (double)s.exact_peak / (double)s.exact_updates);
    for (int k = 0; k < RVM_RESIDUES && s.residues[k].value > 0; k++) {
        const char *file;
        uint32_t line, column;
        char name[128];
        rvm_program_place_text(t->program, s.residues[k].fn, s.residues[k].pc, 0, name, sizeof name);
        rvm_program_position(t->program, s.residues[k].fn, s.residues[k].pc, &file, &line, &column);
        printf("residue: %.3g in %s at %s:%u\n", s.residues[k].value, name, file ? file : "?", line);
    }
}

void output_erased(FILE *out, const rvm_stats *s) {
    fprintf(out, "erased: %llu bits: %llu by the trail, %llu of shadows, %llu left on the stack",
            (unsigned long long)s->bits_erased, (unsigned long long)s->bits_trail, (unsigned long long)s->bits_shadows,
            (unsigned long long)s->bits_stack);
    if (s->bits_forgotten) fprintf(out, ", %llu forgotten", (unsigned long long)s->bits_forgotten);
    fputc('\n', out);
}

void output_stats(const tool *t) {
    if (t->o.stats) text_stats(t);
    tallies l = tally_profile(t);
    for (size_t k = 0; k < l.n; k++) printf("%14llu %s\n", (unsigned long long)l.item[k].count, l.item[k].name);
    free(l.item);
}

/* ---- files ---- */

/* What a word of --save names: the parameter, and the imaginary part of a complex. */
typedef struct saved {
    const char *file;
    int length; /* of the name, which the word begins with, without the suffix of a shadow */
    bool is_shadow, pair;
    uint32_t value, im;
} saved;

static rvm_status find_saved(tool *t, const char *word, saved *s) {
    const char *equals = strchr(word, '='), *suffix = only_suffix(t);
    if (!equals || !equals[1]) return tool_fail(t, RVM_ERR_USAGE, "--save takes name=file.npy, not `%s`", word);
    const size_t tail = suffix ? strlen(suffix) : 0, length = (size_t)(equals - word);
    *s = (saved){.file = equals + 1, .length = (int)length};
    s->is_shadow = tail && length > tail && memcmp(equals - tail, suffix, tail) == 0;
    for (uint32_t i = 0; s->is_shadow && i < t->v.n; i++) /* a parameter may itself be called so */
        if (strlen(t->v.info[i].name) == length && memcmp(t->v.info[i].name, word, length) == 0) s->is_shadow = false;
    if (s->is_shadow) s->length -= (int)tail;
    const int shown = values_find_shown(&t->v, word, s->length);
    s->pair = shown >= 0 && values_shown(&t->v, (uint32_t)shown, &s->im) == SHOWN_COMPLEX;
    const int i = s->pair ? shown : values_find(&t->v, word, s->length, &t->err);
    if (i < 0) return t->err.code;
    s->value = (uint32_t)i;
    return RVM_OK;
}

static rvm_status save(tool *t, const values *v, const char *word) {
    saved s;
    const rvm_status st = find_saved(t, word, &s);
    if (st) return st;
    const rvm_arg *from = s.is_shadow ? t->v.arg : v->arg;
    if (s.is_shadow && (!from[s.value].active || (s.pair && !from[s.im].active)))
        return tool_fail(t, RVM_ERR_ARGUMENT, "--save %s: `%.*s` has no derivative here", word, s.length, word);
    return files_write_array(t, s.file, &from[s.value], s.pair ? &from[s.im] : NULL, s.is_shadow);
}

rvm_status output_check(tool *t) {
    saved s;
    rvm_status st = RVM_OK;
    for (size_t k = 0; k < t->o.save.n && !st; k++) st = find_saved(t, t->o.save.item[k], &s);
    return st;
}

/* --save-all: a complex as one array, an lns as its logarithm, a shadow behind its value. */
static rvm_status save_all(tool *t, const values *v) {
    const char *suffix = only_suffix(t);
    npz z;
    char *bytes;
    size_t size;
    rvm_status st = npz_begin(&z, &t->err);
    for (uint32_t i = 0; !st && i < v->n; i++) {
        uint32_t im = i;
        char name[600];
        const enum shown kind = values_shown(v, i, &im);
        if (kind == SHOWN_PART) continue;
        const bool complex = kind == SHOWN_COMPLEX;
        snprintf(name, sizeof name, "%s", v->info[i].name);
        if (complex) values_shown_name(v, i, name, sizeof name);
        st = npz_add(&z, name, &v->arg[i], complex ? &v->arg[im] : NULL, false, &t->err);
        if (st || !suffix || !t->v.arg[i].active || !t->v.arg[im].active) continue;
        snprintf(name + strlen(name), sizeof name - strlen(name), "%s", suffix);
        st = npz_add(&z, name, &t->v.arg[i], complex ? &t->v.arg[im] : NULL, true, &t->err);
    }
    const rvm_status end = npz_end(&z, st ? NULL : t->o.save_all, &bytes, &size, &t->err);
    if (!st) st = end;
    if (!st) st = files_write(t, t->o.save_all, bytes, size);
    free(bytes);
    return st;
}

rvm_status output_save(tool *t, const values *v) {
    rvm_error first;
    rvm_status st = RVM_OK;
    for (size_t k = 0; k < t->o.save.n; k++) {
        const rvm_status one = save(t, v, t->o.save.item[k]);
        if (one && !st) st = one, first = t->err;
    }
    const rvm_status all = t->o.save_all ? save_all(t, v) : RVM_OK;
    if (all && !st) st = all, first = t->err;
    if (st) t->err = first;
    return st;
}
