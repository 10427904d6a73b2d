/* parse_table.c: the tables that go with raw functions: .file, and of function values .type and .variant. */
#include "asm.h"
#include "builder.h"
#include "support.h"
#include "transform.h"
#include <string.h>

void rvm__parse_file_directive(parser *p) {
    source *s = p->a->sources + p->file;
    rvm__lex_next(p);
    rvm__lex_next(p);
    if (p->tok.kind != K_STRING) {
        rvm__unexpected(p, "the name of a file in quotes");
        rvm__lex_skip_line(p);
        return;
    }
    int64_t k = rvm__program_add_file(p->a->program, p->tok.u.name->text);
    void *list = s->files;
    if (k < 0 || !rvm__grow(&p->a->al, &list, &s->cap_files, s->nfiles + 1, sizeof *s->files)) {
        p->a->oom = true;
        return;
    }
    s->files = list;
    s->files[s->nfiles++] = (uint16_t)k;
    rvm__lex_next(p);
    rvm__expect_line(p);
}

/* ---- function values ---- */

static bool take_below(parser *p, uint32_t limit, uint32_t *out) {
    if (p->tok.kind != K_INT || p->tok.u.i < 0 || p->tok.u.i >= limit) {
        char text[64];
        snprintf(text, sizeof text, "a number below %u", limit);
        rvm__unexpected(p, text);
        return false;
    }
    *out = (uint32_t)p->tok.u.i;
    rvm__lex_next(p);
    return true;
}

static bool take_active(parser *p, uint32_t n, uint8_t *active) {
    const name *s = p->tok.kind == K_STRING ? p->tok.u.name : NULL;
    if (!s || s->length != n || strspn(s->text, "01") != n) {
        rvm__unexpected(p, "a 0 or 1 in quotes for each parameter");
        return false;
    }
    for (uint32_t k = 0; k < n; k++) active[k] = s->text[k] == '1';
    rvm__lex_next(p);
    return true;
}

/* f f'adj ..: noted until functions have numbers. */
static bool take_derived(parser *p, uint32_t variant) {
    while (p->tok.kind == K_NAME) {
        derived *d = rvm__arena(p->a, sizeof *d);
        if (!d) return false;
        *d = (derived){.next = p->a->derived, .at = p->tok.at, .variant = variant, .fn = p->tok.u.name};
        rvm__lex_next(p);
        if (p->tok.kind != K_NAME) {
            rvm__unexpected(p, "the name of the derived function");
            return false;
        }
        d->derived = p->tok.u.name;
        p->a->derived = d;
        rvm__lex_next(p);
    }
    return true;
}

static bool read_variant(parser *p, span at) {
    rvm_program *program = p->a->program;
    uint32_t number, kind, level, ways, before = program->nvariants;
    uint8_t active[RVM_MAX_PARAMS];
    rvm_variant v = {.active = active};
    bool itself = p->ahead.kind != K_INT;
    if (!take_below(p, itself ? program->nsignatures : program->nvariants, &number)) return false;
    int64_t got;
    if (itself)
        got = rvm__program_add_variant(program, number);
    else {
        uint32_t n = program->signatures[program->variants[number].signature].nparams;
        if (!take_below(p, RVM_TRANSFORM_COUNT, &kind) || !take_below(p, RVM_MAX_ORDER, &level) ||
            !take_below(p, RVM__VARIANT_WAYS, &ways) || !take_active(p, n, active) ||
            !take_below(p, program->nsignatures, &v.signature))
            return false;
        v.parent = number;
        v.kind = (uint8_t)kind;
        v.level = (uint8_t)level;
        rvm__variant_take_ways(&v, ways);
        got = rvm__variant_make(program, &v);
    }
    if (got < 0) {
        rvm__fn_limit(p->a, at, got);
        return false;
    }
    if (got == before) return itself || take_derived(p, (uint32_t)got);
    rvm__diag(p->a, at, D_RAW_AGAIN, "variant", NULL, NULL);
    return false;
}

void rvm__parse_type_directive(parser *p) {
    bool type = !strcmp(p->ahead.u.name->text, "type"), good;
    rvm__lex_next(p);
    span at = p->tok.at;
    rvm__lex_next(p);
    if (type) {
        uint32_t before = p->a->program->nsignatures;
        uint16_t signature;
        good = rvm__parse_signature(p, &signature);
        if (good && signature != before + 1) rvm__diag(p->a, at, D_RAW_AGAIN, "type", NULL, NULL);
    } else
        good = read_variant(p, at);
    if (good)
        rvm__expect_line(p);
    else
        rvm__lex_skip_line(p);
}

void rvm__resolve_derived(assembler *a) {
    for (const derived *d = a->derived; d; d = d->next) {
        const name *missing = !d->fn->func ? d->fn : !d->derived->func ? d->derived : NULL;
        if (missing)
            rvm__diag(a, d->at, D_UNKNOWN_FUNCTION, missing->text, NULL, NULL);
        else if (!rvm__variant_set(a->program, d->variant, d->fn->func->index, d->derived->func->index))
            a->oom = true;
    }
}
