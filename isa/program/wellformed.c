/* wellformed.c: see wellformed.h. */
#include "wellformed.h"
#include "transform.h"
#include "builder.h"
#include "support.h"
#include <inttypes.h>
#include <string.h>

static const rvm_fault none = {NULL, 0};

static rvm_fault fault(const char *what, uint64_t value) {
    return (rvm_fault){what, value};
}

static bool is_place_name(const char *name) {
    return name && rvm__is_place_name(name, strlen(name));
}

/* ---- types of function values ---- */

rvm_fault rvm__signature_param_fault(uint32_t signature, const rvm_param *q) {
    if (q->type >= RVM_TYPE_COUNT || q->ndim > RVM_MAX_DIMS) return fault("a parameter of unknown type", q->type);
    if (q->role > RVM_OWN) return fault("unknown role of a parameter", q->role);
    if (q->signature > signature) return fault("the type of a parameter is no earlier type", q->signature);
    if (q->signature && q->type != RVM_I64) return fault("a function value that is no i64", q->type);
    return none;
}

static rvm_fault signature_fault(const rvm_program *p, uint32_t k) {
    const rvm_signature *s = p->signatures + k;
    uint32_t size = 1;
    if (s->nparams > RVM_MAX_SIGNATURE_PARAMS) return fault("too many parameters", s->nparams);
    for (uint32_t i = 0; i < s->nparams; i++) {
        const rvm_fault x = rvm__signature_param_fault(k, s->params + i);
        if (x.what) return x;
        size += 1 + (s->params[i].signature ? p->signatures[s->params[i].signature - 1].size : 0);
        if (size > RVM_MAX_SIGNATURE_SIZE) return fault("a type is too large", size);
    }
    return rvm__signature_find(p, s->params, s->nparams) == k ? none : fault("a type appears a second time", k);
}

static rvm_fault derived_fault(const rvm_program *p, const rvm_variant *v) {
    for (uint32_t k = 0; k < v->nderived; k++) {
        if (v->derived[k].fn >= p->nfunctions || v->derived[k].derived >= p->nfunctions)
            return fault("no function has this number", v->derived[k].fn);
        if (k && v->derived[k].fn <= v->derived[k - 1].fn) return fault("a function has two derived ones", v->derived[k].fn);
    }
    return none;
}

rvm_fault rvm__variant_fault(const rvm_program *p, const rvm_variant *v, uint32_t number) {
    if (v->of >= p->nsignatures || v->signature >= p->nsignatures) return fault("no type has this number", v->of);
    if (v->parent > number) return fault("the parent of a variant stands before it", v->parent);
    if (v->parent == number) {
        const bool plain = v->signature == v->of && !v->nderived && !v->kind && !v->level && !v->stack;
        return plain ? none : fault("functions themselves are derived of nothing", number);
    }
    const rvm_variant *parent = p->variants + v->parent;
    if (v->of != parent->of) return fault("a variant of other values than its parent", v->of);
    if (v->kind >= RVM_TRANSFORM_COUNT) return fault("unknown kind of a variant", v->kind);
    if (v->level >= RVM_MAX_ORDER) return fault("a level beyond the limit", v->level);
    for (uint32_t k = 0; k < p->signatures[parent->signature].nparams; k++)
        if (v->active[k] > 1) return fault("a parameter is neither active nor not", v->active[k]);
    return derived_fault(p, v);
}

static rvm_fault types_fault(const rvm_program *p) {
    if (p->nsignatures > RVM_MAX_SIGNATURES) return fault("too many types of function values", p->nsignatures);
    if (p->nvariants > RVM_MAX_VARIANTS) return fault("too many variants", p->nvariants);
    for (uint32_t k = 0; k < p->nsignatures; k++) {
        const rvm_fault x = signature_fault(p, k);
        if (x.what) return x;
    }
    for (uint32_t k = 0; k < p->nvariants; k++) {
        const rvm_fault x = rvm__variant_fault(p, p->variants + k, k);
        if (x.what) return x;
        if (rvm__variant_find(p, p->variants + k, k) != k) return fault("a variant appears a second time", k);
    }
    return none;
}

/* ---- functions ---- */

rvm_fault rvm__array_fault(rvm_array_decl d) {
    if (d.type < RVM_TYPE_COUNT && d.ndim >= 1 && d.ndim <= RVM_MAX_DIMS) return none;
    return fault("an array of unknown type or number of dimensions", d.type | (unsigned)d.ndim << 4);
}

rvm_fault rvm__param_fault(const rvm_program *p, const rvm_function *f, const rvm_param *q, uint32_t next[2]) {
    const bool array = q->ndim > 0;
    if (!is_place_name(q->name)) return fault("the name of a parameter is not a word", next[0] + next[1]);
    if (q->role > RVM_OWN) return fault("unknown role of a parameter", q->role);
    if (q->index != next[array]++) return fault("a parameter is out of order, its register or array", q->index);
    if (q->index >= (array ? f->narrays : f->nregs)) return fault("a parameter without a register or array", q->index);
    if (q->type != (array ? f->arrays[q->index].type : f->reg_type[q->index]))
        return fault("a parameter of another type than its register or array", q->type);
    if (array && q->ndim != f->arrays[q->index].ndim)
        return fault("a parameter of other dimensions than its array", q->ndim);
    for (int d = 0; d < q->ndim; d++)
        if (q->dim[d] >= f->nregs + f->nconsts) return fault("the length of a parameter is no slot", q->dim[d]);
    if (q->signature > p->nsignatures) return fault("no type has this number", q->signature);
    if (q->signature && q->type != RVM_I64) return fault("a function value that is no i64", q->type);
    return none;
}

rvm_fault rvm__position_fault(const rvm_program *p, rvm_position at) {
    return at.file < (p->nfiles ? p->nfiles : 1) ? none : fault("no file has this number", at.file);
}

rvm_fault rvm__symbol_fault(const rvm_function *f, const rvm_symbol *s) {
    if (!is_place_name(s->name)) return fault("the name of a symbol is not a word", s->index);
    if (s->index >= (s->is_array ? f->narrays : f->nregs)) return fault("a symbol of no place", s->index);
    if (s->from > f->ncode) return fault("a symbol starts outside the code", s->from);
    if (s->to > f->ncode) return fault("a symbol ends outside the code", s->to);
    return s->from <= s->to ? none : fault("a symbol ends before it starts", s->to);
}

rvm_fault rvm__symbol_order_fault(const rvm_function *f, uint32_t k) {
    const bool good = !k || rvm__symbol_compare(f->symbols + k - 1, f->symbols + k) <= 0;
    return good ? none : fault("symbols are not in order at number", k);
}

static bool is_alike(const rvm_param *a, const rvm_param *b) {
    return a->type == b->type && a->ndim == b->ndim && a->signature == b->signature;
}

rvm_fault rvm__rule_fault(const rvm_program *p, const rvm_rule *rule) {
    if (rule->fn >= p->nfunctions) return fault("no function has this number", rule->fn);
    if (rule->of >= p->nfunctions || rule->of == rule->fn) return fault("a derivative of no function", rule->of);
    if (rule->kind != RVM_TANGENT_OF && rule->kind != RVM_ADJOINT) return fault("a rule that is no derivative", rule->kind);
    const rvm_function *f = p->functions + rule->of, *g = p->functions + rule->fn;
    uint32_t at = 0;
    if (rule->nactive != f->nparams) return fault("a derivative by other parameters than there are", rule->nactive);
    for (uint32_t k = 0; k < f->nparams; k++) {
        if (rule->active[k] && f->params[k].type == RVM_I64) return fault("a derivative by an integer, parameter", k);
        for (int copies = 0; copies <= rule->active[k]; copies++, at++)
            if (at >= g->nparams || !is_alike(&f->params[k], &g->params[at]))
                return fault("a derivative with other parameters than it would have, at", at);
    }
    return at == g->nparams ? none : fault("a derivative with other parameters than it would have, at", at);
}

static rvm_fault rules_fault(const rvm_program *p) {
    for (uint32_t k = 0; k < p->nrules; k++) {
        const rvm_rule *rule = p->rules + k;
        const rvm_fault x = rvm__rule_fault(p, rule);
        if (x.what) return x;
        for (uint32_t i = 0; i < k; i++)
            if (p->rules[i].of == rule->of && p->rules[i].kind == rule->kind &&
                !memcmp(p->rules[i].active, rule->active, rule->nactive))
                return fault("a function has two such derivatives", rule->of);
        if (k && rule[-1].fn >= rule->fn) return fault("a function is the derivative of two", rule->fn);
    }
    return none;
}

/* Parameter k of f is there, a number or an array of one of the types. */
static bool shows(const rvm_function *f, uint32_t k, unsigned types) {
    return k < f->nparams && types >> f->params[k].type & 1;
}

rvm_fault rvm__print_fault(const rvm_program *p, uint32_t k) {
    const rvm_print *show = p->prints + k;
    if (show->fn >= p->nfunctions || (k && show[-1].fn >= show->fn)) return fault("what is shown is out of order", show->fn);
    const rvm_function *f = p->functions + show->fn;
    uint32_t at = 0;
    for (const char *c = show->text; *c; c++) {
        const uint32_t size = rvm__show_size(*c);
        const unsigned types = *c == RVM_SHOW_LNS ? RVM_TYPES_R : RVM_TYPES_N;
        if (size && !shows(f, at, types)) return fault("a text shows more than there is, at", at);
        if (size == 2 && !shows(f, at + 1, 1u << f->params[at].type)) return fault("half of a complex is shown, at", at);
        if (size == 2 && f->params[at].ndim != f->params[at + 1].ndim) return fault("half of a complex is shown, at", at);
        at += size;
    }
    if (at != f->nparams) return fault("a text does not show parameter", at);
    if (f->ncode != 2) return fault("what shows its arguments has other code than none", f->ncode);
    return none;
}

static rvm_fault prints_fault(const rvm_program *p) {
    for (uint32_t k = 0; k < p->nprints; k++) {
        const rvm_fault x = rvm__print_fault(p, k);
        if (x.what) return x;
    }
    return none;
}

static rvm_fault slots_fault(const rvm_function *f) {
    if (f->nregs > RVM_MAX_REGS) return fault("too many registers", f->nregs);
    if (f->nconsts > RVM_MAX_CONSTS) return fault("too many constants", f->nconsts);
    if (f->narrays > RVM_MAX_ARRAYS) return fault("too many arrays", f->narrays);
    if (f->nparams > RVM_MAX_PARAMS) return fault("too many parameters", f->nparams);
    for (uint32_t k = 0; k < f->nregs; k++)
        if (f->reg_type[k] >= RVM_TYPE_COUNT) return fault("unknown type of a register", f->reg_type[k]);
    for (uint32_t k = 0; k < f->nconsts; k++) {
        if (f->const_type[k] >= RVM_TYPE_COUNT) return fault("unknown type of a constant", f->const_type[k]);
        if (rvm__function_find_const(f, (rvm_type)f->const_type[k], f->consts[k]) != k)
            return fault("a constant appears a second time", k);
    }
    for (uint32_t k = 0; k < f->narrays; k++) {
        const rvm_fault x = rvm__array_fault(f->arrays[k]);
        if (x.what) return x;
    }
    return none;
}

static rvm_fault function_fault(const rvm_program *p, const rvm_function *f, uint32_t number) {
    uint32_t next[2] = {0, 0};
    rvm_fault x;
    if (!f->name || !rvm__is_word(f->name, strlen(f->name))) return fault("the name of a function is not a word", number);
    if (rvm__program_find(p, f->name, strlen(f->name)) != number) return fault("two functions have one name", number);
    if ((x = slots_fault(f)).what) return x;
    for (uint32_t k = 0; k < f->nparams; k++)
        if ((x = rvm__param_fault(p, f, f->params + k, next)).what) return x;
    if (f->ncode > INT32_MAX || f->nplaces > INT32_MAX) return fault("too many instructions", f->ncode);
    RVM__EACH_INSN(i, f)
        if ((x = rvm__position_fault(p, f->positions[i.pc])).what) return x;
    if (f->nsymbols > INT32_MAX) return fault("too many symbols", f->nsymbols);
    for (uint32_t k = 0; k < f->nsymbols; k++)
        if ((x = rvm__symbol_fault(f, f->symbols + k)).what || (x = rvm__symbol_order_fault(f, k)).what) return x;
    return none;
}

/* ---- the program ---- */

static rvm_fault files_fault(const rvm_program *p) {
    if (p->nfiles > RVM_MAX_FILES) return fault("too many files", p->nfiles);
    for (uint32_t k = 0; k < p->nfiles; k++)
        for (uint32_t i = 0; i < k; i++)
            if (!strcmp(p->files[i], p->files[k])) return fault("a file appears a second time", k);
    return none;
}

rvm_status rvm__well_formed(const rvm_program *p, const uint8_t *skip, rvm_error *err) {
    rvm_fault x = files_fault(p);
    if (!x.what && p->nfunctions > INT32_MAX) x = fault("too many functions", p->nfunctions);
    if (!x.what && !skip) x = types_fault(p);
    if (x.what) return rvm__fail(err, RVM_ERR_VERIFY, NULL, 0, 0, "%s (%" PRIu64 ")", x.what, x.value);
    for (uint32_t k = 0; k < p->nfunctions; k++) {
        if (skip && skip[k]) continue;
        x = function_fault(p, p->functions + k, k);
        if (!x.what) continue;
        return rvm__fail_at(err, RVM_ERR_VERIFY, p, k, 0, "function '%s': %s (%" PRIu64 ")",
                            p->functions[k].name ? p->functions[k].name : "", x.what, x.value);
    }
    x = rules_fault(p);
    if (!x.what) x = prints_fault(p);
    if (x.what) return rvm__fail(err, RVM_ERR_VERIFY, NULL, 0, 0, "%s (%" PRIu64 ")", x.what, x.value);
    return RVM_OK;
}
