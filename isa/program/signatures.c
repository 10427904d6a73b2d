/* signatures.c: the types of function values, and what calls through them run. builder.h says how they are used.
 *
 * Both tables are short, and searched along. What is in them is as good as its file: a call looks at the value, at the
 * function's type and at the derived function's each time, so that a wrong table can only make it fail.
 */
#include "text.h"
#include "transform.h"
#include "builder.h"
#include "support.h"
#include <string.h>

/* ---- types ---- */

int rvm__params_text(const rvm_program *p, const rvm_param *params, uint32_t nparams, char *text, size_t size) {
    static const char *const roles[] = {[RVM_READ] = "read ", [RVM_ACC] = "acc ", [RVM_OWN] = ""};
    rvm_sink to = {.text = text, .size = size};
    if (size) *text = 0;
    rvm__put(&to, "fn(");
    for (uint32_t k = 0; k < nparams; k++) {
        const char *type = rvm_type_name((rvm_type)params[k].type);
        if (params[k].signature) type = p->signatures[params[k].signature - 1].text;
        rvm__put(&to, "%s%s%s", k ? ", " : "", roles[params[k].role], type);
        if (params[k].ndim) rvm__put(&to, "[%.*s]", params[k].ndim - 1, ",,,");
    }
    rvm__put(&to, ")");
    return to.used;
}

static bool same_params(const rvm_param *a, const rvm_param *b, uint32_t n) {
    for (uint32_t k = 0; k < n; k++)
        if (a[k].type != b[k].type || a[k].ndim != b[k].ndim || a[k].role != b[k].role || a[k].signature != b[k].signature)
            return false;
    return true;
}

static bool all_fit(const rvm_param *from, uint32_t nfrom, const rvm_signature *to, bool roles) {
    bool good = nfrom == to->nparams;
    for (uint32_t k = 0; good && k < nfrom; k++) {
        const rvm_param *a = from + k, *b = to->params + k;
        good = a->type == b->type && a->ndim == b->ndim && a->signature == b->signature;
        if (roles) good = good && (a->role == b->role || b->role == RVM_OWN || a->untouched);
    }
    return good;
}

/* Parameters with those of their types; 0: a type that does not exist, or too many. */
static uint32_t size_of(const rvm_program *p, const rvm_param *params, uint32_t n) {
    uint32_t size = n + 1;
    for (uint32_t k = 0; k < n; k++) {
        if (params[k].signature > p->nsignatures || (params[k].signature && params[k].type != RVM_I64)) return 0;
        if (params[k].signature) size += p->signatures[params[k].signature - 1].size;
        if (size > RVM_MAX_SIGNATURE_SIZE) return 0;
    }
    return size;
}

int64_t rvm__signature_find(const rvm_program *p, const rvm_param *params, uint32_t nparams) {
    for (uint32_t k = 0; k < p->nsignatures; k++)
        if (p->signatures[k].nparams == nparams && same_params(p->signatures[k].params, params, nparams)) return k;
    return -1;
}

int64_t rvm__program_add_signature(rvm_program *p, const rvm_param *params, uint32_t nparams) {
    const int64_t found = rvm__signature_find(p, params, nparams);
    if (found >= 0) return found;
    const uint32_t size = size_of(p, params, nparams);
    rvm_signature s = {.nparams = nparams, .size = size};
    if (!size || nparams > RVM_MAX_SIGNATURE_PARAMS || p->nsignatures >= RVM_MAX_SIGNATURES) return -2;
    if (!rvm__grow(&p->al, (void **)&p->signatures, &p->cap_signatures, p->nsignatures + 1, sizeof *p->signatures))
        return -1;
    const size_t length = (size_t)rvm__params_text(p, params, nparams, NULL, 0);
    if (!(s.text = rvm__realloc(&p->al, NULL, 0, length + 1))) return -1;
    rvm__params_text(p, params, nparams, s.text, length + 1);
    if (nparams && !(s.params = rvm__realloc(&p->al, NULL, 0, nparams * sizeof *s.params))) {
        rvm__strfree(&p->al, s.text);
        return -1;
    }
    for (uint32_t k = 0; k < nparams; k++) {
        const rvm_param *q = params + k;
        s.params[k] = (rvm_param){.type = q->type, .ndim = q->ndim, .role = q->role, .signature = q->signature};
    }
    while (s.shape < p->nsignatures && !all_fit(params, nparams, p->signatures + s.shape, false)) s.shape++;
    p->signatures[p->nsignatures] = s;
    return p->nsignatures++;
}

/* Under an adjoint, what was read is accumulated into and the reverse; but of arrays elements may be set aside. */
static uint8_t shadow_role(const rvm_param *q, const rvm_variant *d) {
    if (d->kind == RVM_TANGENT_OF || q->role == RVM_OWN) return q->role;
    if (q->role == RVM_ACC && q->ndim && d->borrowing) return RVM_OWN;
    return q->role == RVM_READ ? RVM_ACC : RVM_READ;
}

/* The type of what d makes of functions of its parent's: shadows behind active parameters. */
static int64_t derive_signature(rvm_program *p, const rvm_variant *d) {
    const rvm_signature *s = p->signatures + p->variants[d->parent].signature;
    rvm_param params[2 * RVM_MAX_PARAMS];
    uint32_t n = 0;
    for (uint32_t k = 0; k < s->nparams; k++) {
        params[n++] = s->params[k];
        if (d->kind == RVM_INVERSE || !d->active[k]) continue;
        params[n] = s->params[k];
        params[n++].role = shadow_role(&s->params[k], d);
    }
    return n > RVM_MAX_SIGNATURE_PARAMS ? -2 : rvm__program_add_signature(p, params, n);
}

bool rvm__fits_types(const rvm_program *p, uint32_t fn, uint32_t signature) {
    return all_fit(p->functions[fn].params, p->functions[fn].nparams, p->signatures + signature, false);
}

bool rvm__fits(const rvm_program *p, uint32_t fn, uint32_t signature) {
    return all_fit(p->functions[fn].params, p->functions[fn].nparams, p->signatures + signature, true);
}

bool rvm__signature_fits(const rvm_program *p, uint32_t from, uint32_t to) {
    return from == to || all_fit(p->signatures[from].params, p->signatures[from].nparams, p->signatures + to, true);
}

void rvm__mark_values(rvm_program *p) {
    for (uint32_t k = 0; k < p->nfunctions; k++)
        p->functions[k].value = strchr(p->functions[k].name, '\'') ? RVM_VALUE_NEVER : RVM_VALUE_MAY;
    for (uint32_t k = 0; k < p->nfunctions; k++)
        RVM__EACH_INSN(x, &p->functions[k])
            if (rvm__pair_of(x.in->op) == RVM_PAIR_addr && x.in->target < p->nfunctions)
                p->functions[x.in->target].value = RVM_VALUE_TAKEN;
}

/* ---- variants ---- */

static int64_t add_variant(rvm_program *p, const rvm_variant *v, uint32_t nactive) {
    if (p->nvariants >= RVM_MAX_VARIANTS) return -2;
    if (!rvm__grow(&p->al, (void **)&p->variants, &p->cap_variants, p->nvariants + 1, sizeof *p->variants)) return -1;
    rvm_variant *copy = p->variants + p->nvariants;
    *copy = *v;
    copy->active = NULL;
    if (nactive && !(copy->active = rvm__realloc(&p->al, NULL, 0, nactive))) return -1;
    if (nactive) memcpy(copy->active, v->active, nactive);
    return p->nvariants++;
}

/* Both not their own parents. */
static bool same_variant(const rvm_variant *a, const rvm_variant *b, uint32_t nactive) {
    return a->parent == b->parent && a->kind == b->kind && a->level == b->level && a->stack == b->stack &&
           a->paired == b->paired && a->borrowing == b->borrowing && a->signature == b->signature &&
           (!nactive || !memcmp(a->active, b->active, nactive));
}

int64_t rvm__variant_find(const rvm_program *p, const rvm_variant *v, uint32_t number) {
    const bool itself = v->parent == number;
    const uint32_t n = itself ? 0 : p->signatures[p->variants[v->parent].signature].nparams;
    for (uint32_t k = itself ? 0 : v->parent + 1; k < p->nvariants; k++) {
        const rvm_variant *w = p->variants + k;
        if ((w->parent == k) == itself && (itself ? w->of == v->of : same_variant(w, v, n))) return k;
    }
    return -1;
}

int64_t rvm__program_add_variant(rvm_program *p, uint32_t signature) {
    const rvm_variant v = {.of = signature, .signature = signature, .parent = p->nvariants, .full = true};
    const int64_t found = rvm__variant_find(p, &v, p->nvariants);
    return found >= 0 ? found : add_variant(p, &v, 0);
}

int64_t rvm__variant_make(rvm_program *p, const rvm_variant *d) {
    const uint32_t n = p->signatures[p->variants[d->parent].signature].nparams;
    const int64_t found = rvm__variant_find(p, d, p->nvariants);
    if (found >= 0) return found;
    rvm_variant v = *d;
    v.of = p->variants[d->parent].of;
    return add_variant(p, &v, n);
}

int64_t rvm__variant_derive(rvm_program *p, const rvm_variant *d) {
    const rvm_signature *s = p->signatures + p->variants[d->parent].signature;
    uint8_t active[RVM_MAX_PARAMS] = {0};
    rvm_variant v = *d;
    for (uint32_t k = 0; k < s->nparams && d->kind != RVM_INVERSE; k++)
        active[k] = d->active ? d->active[k] != 0 : s->params[k].type != RVM_I64;
    v.active = active;
    const int64_t signature = derive_signature(p, &v);
    v.signature = (uint32_t)signature;
    return signature < 0 ? signature : rvm__variant_make(p, &v);
}

/* Where fn stands in the variant's table, or would. */
static uint32_t find_derived(const rvm_variant *v, uint32_t fn) {
    uint32_t lo = 0, hi = v->nderived;
    while (lo < hi) {
        uint32_t middle = lo + (hi - lo) / 2;
        if (v->derived[middle].fn < fn)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

bool rvm__variant_has(const rvm_program *p, uint32_t variant, uint32_t fn) {
    const rvm_variant *v = p->variants + variant;
    const uint32_t at = find_derived(v, fn);
    return at < v->nderived && v->derived[at].fn == fn;
}

bool rvm__variant_set(rvm_program *p, uint32_t variant, uint32_t fn, uint32_t derived) {
    rvm_variant *v = p->variants + variant;
    uint32_t at = find_derived(v, fn);
    if (at == v->nderived || v->derived[at].fn != fn) {
        if (!rvm__grow(&p->al, (void **)&v->derived, &v->cap_derived, v->nderived + 1, sizeof *v->derived)) return false;
        memmove(v->derived + at + 1, v->derived + at, (v->nderived - at) * sizeof *v->derived);
        v->nderived++;
    }
    v->derived[at] = (rvm_variant_entry){fn, derived};
    return true;
}

static int64_t callee_of(const rvm_program *p, uint32_t variant, int64_t value,
                         bool (*fits)(const rvm_program *, uint32_t, uint32_t)) {
    const rvm_variant *v = p->variants + variant;
    if (value < 0 || value >= p->nfunctions || p->functions[value].value == RVM_VALUE_NEVER) return -1;
    if (!fits(p, (uint32_t)value, v->of)) return -1;
    if (v->parent == variant) return value;
    uint32_t at = find_derived(v, (uint32_t)value);
    if (at == v->nderived || v->derived[at].fn != value || !fits(p, v->derived[at].derived, v->signature)) return -1;
    return v->derived[at].derived;
}

int64_t rvm__variant_callee(const rvm_program *p, uint32_t variant, int64_t value) {
    return callee_of(p, variant, value, rvm__fits);
}

/* ---- instructions ---- */

static bool next_callee(const rvm_program *p, const rvm_insn *in, uint32_t *at, uint32_t *callee,
                        bool (*fits)(const rvm_program *, uint32_t, uint32_t)) {
    *callee = in->target;
    if (rvm__op_target((rvm_op)in->op) == 'F') return !(*at)++;
    const rvm_variant *v = p->variants + in->target;
    const bool itself = v->parent == in->target;
    for (const uint32_t end = itself ? p->nfunctions : v->nderived; *at < end;) {
        const uint32_t k = (*at)++;
        const int64_t found = callee_of(p, in->target, itself ? k : v->derived[k].fn, fits);
        *callee = (uint32_t)found;
        if (found >= 0) return true;
    }
    return false;
}

bool rvm__next_callee(const rvm_program *p, const rvm_insn *in, uint32_t *at, uint32_t *callee) {
    return next_callee(p, in, at, callee, rvm__fits);
}

bool rvm__next_callee_types(const rvm_program *p, const rvm_insn *in, uint32_t *at, uint32_t *callee) {
    return next_callee(p, in, at, callee, rvm__fits_types);
}

rvm_callee rvm__callee_of(const rvm_program *p, const rvm_insn *in) {
    if (rvm__op_target((rvm_op)in->op) == 'S') {
        const rvm_signature *s = p->signatures + p->variants[in->target].signature;
        return (rvm_callee){s->params, s->nparams, 1, NULL};
    }
    const rvm_function *f = p->functions + in->target;
    return (rvm_callee){f->params, f->nparams, 0, f->name};
}
