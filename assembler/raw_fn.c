/* raw_fn.c: functions written wholly raw, as the disassembler writes them. Every bit of the program is in the text.
 *
 * Such a function is no tree: it is read once the names of all functions are known, token by token into instructions.
 * Whether these make sense is the verifier's business; here they must only be sayable.
 */
#include "raw_fn.h"
#include "builder.h"
#include "support.h"
#include <stdlib.h>
#include <string.h>

typedef struct raw_insn {
    rvm_op op;
    rvm_row row;
    uint8_t flags;
    uint32_t target, n;
    name *label;
    span label_at;
    bool has_function;
    rvm_place places[UINT8_MAX];
} raw_insn;

static bool read_mnemonic(raw_fn *r, raw_insn *in) {
    parser *p = &r->p;
    for (; p->tok.kind == K_NAME; rvm__lex_next(p)) {
        const unsigned flag = rvm__flag_find(p->tok.u.name->text);
        if (!flag) break;
        in->flags |= (uint8_t)flag;
    }
    if (p->tok.kind != K_NAME || p->tok.u.name->op < 0) {
        rvm__unexpected(p, "a mnemonic");
        return false;
    }
    in->op = (rvm_op)p->tok.u.name->op;
    rvm__lex_next(p);
    if (!rvm__op_is_update(in->op)) return true;
    if (!rvm__expect(p, ".", "and the name of a row")) return false;
    if (p->tok.kind != K_NAME || p->tok.u.name->row < 0) {
        rvm__unexpected(p, "the name of a row");
        return false;
    }
    in->row = (rvm_row)p->tok.u.name->row;
    rvm__lex_next(p);
    return true;
}

static bool read_function(raw_fn *r, raw_insn *in) {
    span at = r->p.tok.at;
    name *n;
    if (!rvm__raw_word(r, &n)) return false;
    if (!n->func) {
        rvm__diag(r->p.a, at, D_UNKNOWN_FUNCTION, n->text, rvm__near(r->p.a, n, NEAR_FUNC), NULL);
        return false;
    }
    in->target = n->func->index;
    in->has_function = true;
    return true;
}

static bool read_callee(raw_fn *r, raw_insn *in) {
    return read_function(r, in) && rvm__expect(&r->p, "(", "and arguments");
}

/* v0: the variant by which a function value is called. */
static bool read_variant(raw_fn *r, raw_insn *in) {
    parser *p = &r->p;
    const rvm_program *program = p->a->program;
    span at = p->tok.at;
    name *n;
    char *end = NULL;
    if (!rvm__raw_word(r, &n)) return false;
    unsigned long k = n->text[0] == 'v' && n->length > 1 ? strtoul(n->text + 1, &end, 10) : 0;
    if (!end || *end || k >= program->nvariants) {
        rvm__diag(p->a, at, D_RAW_UNDECLARED, "variant", n->text, NULL);
        return false;
    }
    in->target = (uint32_t)k;
    return rvm__expect(p, "(", "and the function value");
}

static bool at_end_of_operands(const parser *p, bool call) {
    return call ? is_punct(&p->tok, ")") : p->tok.kind == K_LINE || p->tok.kind == K_EOF;
}

/* Places, then ~ tolerance or a label. */
static bool read_operands(raw_fn *r, raw_insn *in) {
    parser *p = &r->p;
    char target = rvm__op_target(in->op);
    bool call = rvm__is_call(&(rvm_insn){.op = (uint8_t)in->op});
    if (call && !(target == 'F' ? read_callee(r, in) : read_variant(r, in))) return false;
    for (bool more = !at_end_of_operands(p, call); more;) {
        if (target == 'F' && !call && p->tok.kind == K_NAME && !is_punct(&p->ahead, ":")) return read_function(r, in);
        if (target == 'L' && p->tok.kind == K_NAME && !is_punct(&p->ahead, ":")) {
            in->label_at = p->tok.at;
            return rvm__raw_word(r, &in->label);
        }
        if (in->n == UINT8_MAX) {
            rvm__diag(p->a, p->tok.at, D_TOO_MANY, rvm__number(p->a, UINT8_MAX), NULL, NULL);
            return false;
        }
        if (!rvm__raw_place(r, in->places + in->n++)) return false;
        more = is_punct(&p->tok, ",");
        if (is_punct(&p->tok, "~") && !(in->flags & RVM_FLAG_TOL)) {
            in->flags |= RVM_FLAG_TOL;
            more = true;
        }
        if (more) rvm__lex_next(p);
    }
    return !call || rvm__expect(p, ")", "or ','");
}

static bool read_insn(raw_fn *r) {
    parser *p = &r->p;
    raw_insn in;
    memset(&in, 0, offsetof(raw_insn, places));
    span at = p->tok.at;
    r->code = true;
    if (!read_mnemonic(r, &in) || !read_operands(r, &in)) return false;
    int wanted = rvm__op_places(in.op, in.row, in.flags);
    if (wanted >= 0 && (uint32_t)wanted != in.n) {
        rvm__diag(p->a, at, D_RAW_OPERANDS, rvm__op_info[in.op].name, rvm__number(p->a, wanted), rvm__number(p->a, in.n));
        return false;
    }
    if (rvm__op_target(in.op) == 'L' && !in.label) {
        rvm__diag(p->a, at, D_LABEL, NULL, NULL, NULL);
        return false;
    }
    if (rvm__op_target(in.op) == 'F' && !in.has_function) {
        rvm__diag(p->a, at, D_RAW_FUNCTION, rvm__op_info[in.op].name, NULL, NULL);
        return false;
    }
    rvm_position position = r->has_line ? r->at : rvm__gen_position(&r->g, at);
    int64_t pc = r->g.failed ? 0
                             : rvm__function_emit(p->a->program, r->g.f, in.op, in.row, in.flags, in.target, in.places, in.n,
                                                  position);
    if (pc < 0) p->a->oom = r->g.failed = true;
    if (in.label) rvm__note_jump(&r->g, (uint32_t)pc, in.label, in.label_at);
    return true;
}

static void read_label(raw_fn *r) {
    rvm__gen_label(&r->g, r->p.tok.u.name, r->p.tok.at);
    rvm__lex_next(&r->p);
    rvm__lex_next(&r->p);
}

/* Calls from statements see the parameters as they do others'. */
static void describe(assembler *a, func *fn, const rvm_function *f) {
    fn->params = rvm__arena(a, (f->nparams + 1) * sizeof *fn->params);
    if (!fn->params) return;
    fn->nparams = f->nparams;
    for (uint32_t k = 0; k < f->nparams; k++) {
        const rvm_param *q = f->params + k;
        uint16_t *place = rvm__arena(a, sizeof *place);
        if (!place) return;
        *place = (uint16_t)k;
        fn->params[k] = (param){.name = rvm__intern(a, q->name, strlen(q->name)),
                                .as = {.type = q->type, .ndim = q->ndim},
                                .at = fn->at,
                                .place = place};
    }
}

void rvm__lower_raw_fn(assembler *a, func *fn) {
    raw_fn r = {.has_line = false};
    parser *p = &r.p;
    uint32_t errors = a->nerrors;
    rvm__lex_start(p, a, fn->at.file);
    rvm__lex_seek(p, fn->offset, fn->at.line);
    rvm__lex_next(p);
    rvm__expect_line(p);
    rvm__gen_start(&r.g, a, fn);
    while (p->tok.kind != K_EOF && !is_keyword(&p->tok, KW_end)) {
        r.g.at = p->tok.at;
        if (p->tok.kind == K_LINE)
            rvm__lex_next(p);
        else if (p->tok.kind == K_NAME && is_punct(&p->ahead, ":"))
            read_label(&r);
        else if (is_punct(&p->tok, ".") ? rvm__raw_directive(&r) : read_insn(&r))
            rvm__expect_line(p);
        else
            rvm__lex_skip_line(p);
    }
    rvm__resolve_jumps(&r.g);
    if (!r.g.failed) {
        rvm__raw_check_symbols(&r);
        rvm__function_finish(r.g.f);
    }
    rvm__realloc(&a->al, r.symbol_at, r.cap_symbols * sizeof *r.symbol_at, 0);
    describe(a, fn, r.g.f);
    fn->broken = a->nerrors > errors;
    rvm__gen_free(&r.g);
}
