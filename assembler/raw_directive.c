/* raw_directive.c: what a raw function declares: registers, constants, arrays, parameters, symbols, lines of the source. */
#include "raw_fn.h"
#include "builder.h"
#include "support.h"
#include "wellformed.h"
#include <string.h>

/* Types that the program knows: complex and lns are reals in it. */
static bool parse_machine_type(parser *p, uint8_t *type) {
    const span at = p->tok.at;
    if (!rvm__parse_type(p, type)) return false;
    if (*type < RVM_TYPE_COUNT) return true;
    rvm__diag(p->a, at, D_RAW_TYPE, rvm__type_text(p->a, *type), NULL, NULL);
    return false;
}

static bool read_reg(raw_fn *r) {
    while (r->p.tok.kind == K_NAME) {
        uint8_t type;
        if (!parse_machine_type(&r->p, &type)) return false;
        rvm__gen_reg(&r->g, (rvm_type)type);
    }
    return true;
}

static bool read_const(raw_fn *r) {
    while (r->p.tok.kind != K_LINE && r->p.tok.kind != K_EOF) {
        rvm_type type;
        rvm_value v;
        span at = r->p.tok.at;
        uint32_t count = r->g.f->nconsts;
        if (!rvm__raw_value(r, &type, &v)) return false;
        rvm__gen_const(&r->g, type, v);
        if (!r->g.failed && r->g.f->nconsts == count) {
            rvm__diag(r->p.a, at, D_RAW_CONST_AGAIN, NULL, NULL, NULL);
            return false;
        }
    }
    return true;
}

static bool read_array(raw_fn *r) {
    parser *p = &r->p;
    while (p->tok.kind == K_NAME) {
        uint8_t type;
        int ndim = 1;
        if (!parse_machine_type(p, &type) || !rvm__expect(p, "[", "and ']'")) return false;
        for (; is_punct(&p->tok, ",") && ndim < RVM_MAX_DIMS; ndim++) rvm__lex_next(p);
        if (!rvm__expect(p, "]", "behind the dimensions")) return false;
        rvm__gen_array(&r->g, (rvm_type)type, ndim);
    }
    return true;
}

/* A name of a parameter or symbol: a word, or several with points between. */
static bool take_place_name(raw_fn *r, name **out) {
    name *tail;
    char text[MAX_TICKED];
    if (!rvm__raw_word(r, out)) return false;
    while (*out && is_punct(&r->p.tok, ".")) {
        rvm__lex_next(&r->p);
        if (!rvm__raw_word(r, &tail)) return false;
        const size_t length = (size_t)snprintf(text, sizeof text, "%s.%s", (*out)->text, tail->text);
        *out = rvm__intern(r->p.a, text, length < sizeof text ? length : sizeof text - 1);
    }
    return *out;
}

static bool read_param(raw_fn *r) {
    parser *p = &r->p;
    rvm_function *f = r->g.f;
    rvm_param q = {0};
    name *n;
    if (!take_place_name(r, &n)) return false;
    span at = p->tok.at;
    bool array = is_punct(&p->tok, "@");
    if (!rvm__raw_slot(r, array ? "@" : "%", array ? f->narrays : f->nregs, &q.index)) return false;
    q.type = array ? f->arrays[q.index].type : f->reg_type[q.index];
    if (array && !rvm__raw_subscripts(r, q.dim, &q.ndim)) return false;
    if (is_keyword(&p->tok, KW_fn) && !rvm__parse_signature(p, &q.signature)) return false;
    if (q.index != r->next[array]++ || f->nparams >= RVM_MAX_PARAMS || (array && q.ndim != f->arrays[q.index].ndim)) {
        rvm__diag(p->a, at, D_RAW_PARAM, NULL, NULL, NULL);
        return false;
    }
    if (rvm__function_add_param(p->a->program, f, &q, n->text, n->length) < 0) p->a->oom = true;
    return true;
}

static bool read_symbol(raw_fn *r) {
    parser *p = &r->p;
    rvm_symbol s = {0};
    name *n;
    const uint32_t k = r->g.f->nsymbols;
    const span at = p->tok.at;
    if (!take_place_name(r, &n)) return false;
    s.is_array = is_punct(&p->tok, "@");
    if (!rvm__raw_slot(r, s.is_array ? "@" : "%", s.is_array ? r->g.f->narrays : r->g.f->nregs, &s.index)) return false;
    if (!rvm__raw_number(r, INT32_MAX, &s.from) || !rvm__raw_number(r, INT32_MAX, &s.to)) return false;
    if (!rvm__grow(&p->a->al, (void **)&r->symbol_at, &r->cap_symbols, k + 1, sizeof at) ||
        rvm__function_add_symbol(p->a->program, r->g.f, &s, n->text, n->length) < 0)
        p->a->oom = true;
    else
        r->symbol_at[k] = at;
    return true;
}

/* .rule 2 f "11" */
static bool read_rule(raw_fn *r) {
    parser *p = &r->p;
    rvm_rule rule = {.fn = r->g.fn->index};
    uint32_t kind;
    name *n;
    if (!rvm__raw_number(r, RVM_TRANSFORM_COUNT - 1, &kind)) return false;
    const span at = p->tok.at;
    if (!rvm__raw_word(r, &n)) return false;
    if (!n->func) {
        rvm__diag(p->a, at, D_UNKNOWN_FUNCTION, n->text, rvm__near(p->a, n, NEAR_FUNC), NULL);
        return false;
    }
    rule.of = n->func->index;
    rule.kind = (uint8_t)kind;
    const name *s = p->tok.kind == K_STRING ? p->tok.u.name : NULL;
    if (!s || s->length > RVM_MAX_PARAMS || strspn(s->text, "01") != s->length) {
        rvm__unexpected(p, "a 0 or 1 in quotes for each parameter");
        return false;
    }
    rule.nactive = s->length;
    for (uint32_t k = 0; k < rule.nactive; k++) rule.active[k] = s->text[k] == '1';
    rvm__lex_next(p);
    if (!rvm__program_add_rule(p->a->program, &rule)) p->a->oom = true;
    return true;
}

/* .print "x is \\x01" */
static bool read_print(raw_fn *r) {
    parser *p = &r->p;
    if (p->tok.kind != K_STRING) {
        rvm__unexpected(p, "a text in quotes");
        return false;
    }
    const name *s = p->tok.u.name;
    rvm__lex_next(p);
    if (!rvm__program_add_print(p->a->program, r->g.fn->index, s->text, s->length)) p->a->oom = true;
    return true;
}

void rvm__raw_check_symbols(const raw_fn *r) {
    assembler *a = r->p.a;
    const rvm_function *f = r->g.f;
    for (uint32_t k = 0; k < f->nsymbols; k++) {
        const rvm_fault x = rvm__symbol_fault(f, f->symbols + k);
        if (!x.what) continue;
        rvm__diag(a, r->symbol_at[k], D_RAW_SYMBOL, x.what, rvm__number(a, (int64_t)x.value), rvm__number(a, f->ncode));
    }
}

static bool read_line(raw_fn *r) {
    parser *p = &r->p;
    const source *s = p->a->sources + p->file;
    uint32_t column, file;
    if (!rvm__raw_number(r, UINT32_MAX, &r->at.line) || !rvm__raw_number(r, UINT16_MAX, &column)) return false;
    if (!r->has_line) r->at.file = s->nfiles ? s->files[0] : 0;
    r->has_line = true;
    r->at.column = (uint16_t)column;
    if (p->tok.kind != K_INT) return true;
    span at = p->tok.at;
    if (!rvm__raw_number(r, UINT16_MAX, &file)) return false;
    if (file < s->nfiles) {
        r->at.file = s->files[file];
        return true;
    }
    rvm__diag(p->a, at, D_RAW_UNDECLARED, "file", rvm__number(p->a, file), NULL);
    return false;
}

bool rvm__raw_directive(raw_fn *r) {
    static const struct {
        const char *name;
        bool (*read)(raw_fn *r);
        bool anywhere;
    } directives[] = {{".reg", read_reg, false},     {".const", read_const, false},   {".array", read_array, false},
                      {".param", read_param, false}, {".symbol", read_symbol, false}, {".line", read_line, true},
                      {".rule", read_rule, false},   {".print", read_print, false}};
    parser *p = &r->p;
    span at = p->tok.at;
    name *n;
    rvm__lex_next(p);
    if (!rvm__raw_word(r, &n)) return false;
    for (size_t k = 0; k < sizeof directives / sizeof *directives; k++) {
        if (strcmp(n->text, directives[k].name + 1) != 0) continue;
        if (!r->code || directives[k].anywhere) return directives[k].read(r);
        rvm__diag(p->a, at, D_RAW_LATE, directives[k].name, NULL, NULL);
        return false;
    }
    rvm__diag(p->a, at, D_RAW_DIRECTIVE, n->text, NULL, NULL);
    return false;
}
