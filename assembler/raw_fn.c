/* raw_fn.c: functions written wholly raw, as the disassembler writes them. Every bit of the program is in the text.
 *
 * The parser notes where such a function stands; it is read once the names of all functions are known. Whether the
 * instructions make sense is the verifier's business; here they must only be sayable.
 */
#include "asm.h"
#include "wellformed.h"
#include "builder.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct raw_fn {
    parser p;
    gen g;
    rvm_position at; /* of `.line` */
    bool has_line;
    bool code;        /* an instruction was read: declarations are over */
    uint32_t next[2]; /* register, array of the next parameter */
    span *symbol_at;  /* of each symbol, until the code is known */
    uint32_t cap_symbols;
} raw_fn;

/* ---- top level ---- */

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

/* Whether the line at `pos` is `end`. */
static bool is_end(const parser *p, size_t pos) {
    while (pos < p->size && (p->text[pos] == ' ' || p->text[pos] == '\t')) pos++;
    if (p->size - pos < 3 || memcmp(p->text + pos, "end", 3) != 0) return false;
    pos += 3;
    return pos == p->size || strchr(" \t\r\n#", p->text[pos]);
}

void rvm__parse_raw_fn(parser *p) {
    func *fn = rvm__arena(p->a, sizeof *fn);
    span opened = p->tok.at;
    rvm__lex_next(p);
    rvm__lex_next(p);
    if (!fn) return;
    fn->at = p->tok.at;
    fn->name = p->tok.kind == K_NAME ? p->tok.u.name : NULL;
    if (!fn->name) rvm__unexpected(p, "the name of the function");
    fn->is_raw = true;
    fn->offset = p->tok.offset;
    if (fn->name) rvm__add_func(p->a, fn);
    size_t pos = p->tok.offset;
    for (uint32_t line = p->tok.at.line;; line++) {
        const char *stop = pos < p->size ? memchr(p->text + pos, '\n', p->size - pos) : NULL;
        if (!stop) {
            span at = {line, 1, p->file, 1};
            rvm__diag(p->a, at, D_MISSING_END, "'end'", "the end of the file", NULL);
            rvm__diag_hint(p->a, D_BLOCK_BEGAN, "raw fn", rvm__number(p->a, opened.line), NULL);
            rvm__lex_seek(p, p->size, line);
            return;
        }
        pos = (size_t)(stop - p->text) + 1;
        if (!is_end(p, pos)) continue;
        rvm__lex_seek(p, pos, line + 1);
        rvm__lex_next(p);
        rvm__expect_line(p);
        return;
    }
}

/* ---- operands ---- */

static bool take_number(raw_fn *r, uint32_t limit, uint32_t *out) {
    parser *p = &r->p;
    if (p->tok.kind != K_INT || p->tok.u.i < 0 || p->tok.u.i > limit) {
        char text[48];
        snprintf(text, sizeof text, "a number up to %u", limit);
        rvm__unexpected(p, text);
        return false;
    }
    *out = (uint32_t)p->tok.u.i;
    rvm__lex_next(p);
    return true;
}

/* %k or @k, below count */
static bool take_slot(raw_fn *r, const char *mark, uint32_t count, uint16_t *out) {
    parser *p = &r->p;
    uint32_t k;
    if (!is_punct(&p->tok, mark)) {
        rvm__unexpected(p, *mark == '%' ? "a register, as %0" : "an array, as @0");
        return false;
    }
    span at = p->tok.at;
    rvm__lex_next(p);
    if (!take_number(r, UINT16_MAX, &k)) return false;
    *out = (uint16_t)k;
    if (k < count) return true;
    rvm__diag(p->a, at, D_RAW_UNDECLARED, *mark == '%' ? "register" : "array", rvm__number(p->a, k), NULL);
    return false;
}

static bool is_hex(const parser *p) {
    return p->tok.kind == K_INT && p->tok.at.length > 1 && (p->text[p->tok.offset + 1] | 32) == 'x';
}

/* -12  1.5  f64:0x7ff0000000000000  fix:1.5 */
static bool take_value(raw_fn *r, rvm_type *type, rvm_value *v) {
    parser *p = &r->p;
    int prefix = p->tok.kind == K_NAME && is_punct(&p->ahead, ":") ? p->tok.u.name->type : -1;
    if (prefix >= 0) {
        rvm__lex_next(p);
        rvm__lex_next(p);
    }
    bool minus = is_punct(&p->tok, "-"), bits = !minus && prefix >= 0 && is_hex(p);
    if (minus) rvm__lex_next(p);
    if ((p->tok.kind != K_INT && p->tok.kind != K_REAL) || (p->tok.big && !(p->tok.limit && minus))) {
        rvm__unexpected(p, "an operand");
        return false;
    }
    bool whole = p->tok.kind == K_INT;
    if (!whole && !isfinite(p->tok.u.f)) {
        rvm__diag(p->a, p->tok.at, D_REAL_RANGE, "f64", NULL, NULL);
        return false;
    }
    *type = prefix >= 0 ? (rvm_type)prefix : whole ? RVM_I64 : RVM_F64;
    double real = whole ? (double)p->tok.u.i : p->tok.u.f;
    if (minus) real = -real;
    bool fits = *type != RVM_I64 || whole;
    if (*type == RVM_I64 || bits)
        v->u = minus ? 0 - (uint64_t)p->tok.u.i : (uint64_t)p->tok.u.i;
    else if (rvm__is_floating(*type))
        v->f = *type == RVM_F32 ? (double)(float)real : real;
    else {
        v->i = rvm_fix_from_double(real);
        fits = real >= -1048576.0 && real < 1048576.0;
    }
    if (!fits) rvm__diag(p->a, p->tok.at, whole ? D_FIX_RANGE : D_REAL_AS_I64, NULL, NULL, NULL);
    rvm__lex_next(p);
    return fits;
}

/* A register, or a constant that .const lists. */
static bool take_operand(raw_fn *r, uint16_t *slot) {
    parser *p = &r->p;
    if (is_punct(&p->tok, "%")) return take_slot(r, "%", r->g.f->nregs, slot);
    span at = p->tok.at;
    rvm_type type;
    rvm_value v;
    if (!take_value(r, &type, &v)) return false;
    uint32_t count = r->g.f->nconsts;
    *slot = rvm__gen_const(&r->g, type, v).slot;
    if (r->g.f->nconsts == count) return true;
    rvm__diag(p->a, at, D_RAW_CONST, NULL, NULL, NULL);
    return false;
}

static bool take_subscripts(raw_fn *r, uint16_t *out, uint8_t *n) {
    parser *p = &r->p;
    span at = p->tok.at;
    if (!rvm__expect(p, "[", "and subscripts")) return false;
    for (*n = 0; *n < RVM_MAX_DIMS;) {
        if (!take_operand(r, out + (*n)++)) return false;
        if (!is_punct(&p->tok, ",")) return rvm__expect(p, "]", "or ','");
        rvm__lex_next(p);
    }
    rvm__diag(p->a, at, D_DIMS, rvm__number(p->a, RVM_MAX_DIMS), NULL, NULL);
    return false;
}

static bool take_place(raw_fn *r, rvm_place *out) {
    parser *p = &r->p;
    *out = (rvm_place){.kind = RVM_PLACE_SLOT};
    if (is_punct(&p->tok, "@")) {
        span at = p->tok.at;
        out->kind = RVM_PLACE_ARRAY;
        if (!take_slot(r, "@", r->g.f->narrays, &out->slot)) return false;
        if (!is_punct(&p->tok, "[")) return true;
        out->kind = RVM_PLACE_ELEM;
        if (!take_subscripts(r, out->idx, &out->nidx)) return false;
        uint8_t ndim = r->g.f->arrays[out->slot].ndim;
        if (out->nidx == ndim) return true;
        rvm__diag(p->a, at, D_SUBSCRIPTS, "@", rvm__number(p->a, ndim), rvm__number(p->a, out->nidx));
        return false;
    }
    if (!take_operand(r, &out->slot)) return false;
    if (!is_punct(&p->tok, "..")) return true;
    rvm__lex_next(p);
    out->kind = RVM_PLACE_RANGE;
    out->nidx = 1;
    return take_operand(r, out->idx);
}

/* ---- directives ---- */

/* Types that the program knows: complex and lns are reals in it. */
static bool parse_machine_type(parser *p, uint8_t *type) {
    const span at = p->tok.at;
    if (!rvm__parse_type(p, type)) return false;
    if (*type < RVM_TYPE_COUNT) return true;
    rvm__diag(p->a, at, D_RAW_TYPE, rvm__type_text(*type), NULL, NULL);
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
        if (!take_value(r, &type, &v)) return false;
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

static bool take_word(raw_fn *r, name **out) {
    if (r->p.tok.kind != K_NAME) {
        rvm__unexpected(&r->p, "a name");
        return false;
    }
    *out = r->p.tok.u.name;
    rvm__lex_next(&r->p);
    return true;
}

/* A name of a parameter or symbol: a word, or two with a point between. */
static bool take_place_name(raw_fn *r, name **out) {
    name *tail;
    if (!take_word(r, out)) return false;
    if (!is_punct(&r->p.tok, ".")) return true;
    rvm__lex_next(&r->p);
    if (!take_word(r, &tail)) return false;
    char text[2 * MAX_NAME + 2];
    const int length = snprintf(text, sizeof text, "%s.%s", (*out)->text, tail->text);
    *out = rvm__intern(r->p.a, text, (size_t)length);
    return *out;
}

static bool read_param(raw_fn *r) {
    parser *p = &r->p;
    rvm_function *f = r->g.f;
    rvm_param q = {0};
    uint8_t type;
    name *n;
    if (!take_place_name(r, &n)) return false;
    span at = p->tok.at;
    bool array = is_punct(&p->tok, "@");
    if (!take_slot(r, array ? "@" : "%", array ? f->narrays : f->nregs, &q.index)) return false;
    q.type = array ? f->arrays[q.index].type : f->reg_type[q.index];
    if (array && !take_subscripts(r, q.dim, &q.ndim)) return false;
    if (is_keyword(&p->tok, KW_fn) && !rvm__parse_any_type(p, &type, &q.signature, NULL)) return false;
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
    if (!take_slot(r, s.is_array ? "@" : "%", s.is_array ? r->g.f->narrays : r->g.f->nregs, &s.index)) return false;
    if (!take_number(r, INT32_MAX, &s.from) || !take_number(r, INT32_MAX, &s.to)) return false;
    if (!rvm__grow(&p->a->al, (void **)&r->symbol_at, &r->cap_symbols, k + 1, sizeof at) ||
        rvm__function_add_symbol(p->a->program, r->g.f, &s, n->text, n->length) < 0)
        p->a->oom = true;
    else
        r->symbol_at[k] = at;
    return true;
}

/* Symbols stand before the code that they are of. */
static void check_symbols(const raw_fn *r) {
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
    if (!take_number(r, UINT32_MAX, &r->at.line) || !take_number(r, UINT16_MAX, &column)) return false;
    if (!r->has_line) r->at.file = s->nfiles ? s->files[0] : 0;
    r->has_line = true;
    r->at.column = (uint16_t)column;
    if (p->tok.kind != K_INT) return true;
    span at = p->tok.at;
    if (!take_number(r, UINT16_MAX, &file)) return false;
    if (file < s->nfiles) {
        r->at.file = s->files[file];
        return true;
    }
    rvm__diag(p->a, at, D_RAW_UNDECLARED, "file", rvm__number(p->a, file), NULL);
    return false;
}

static bool read_directive(raw_fn *r) {
    static const struct {
        const char *name;
        bool (*read)(raw_fn *r);
        bool anywhere;
    } directives[] = {{".reg", read_reg, false},     {".const", read_const, false},   {".array", read_array, false},
                      {".param", read_param, false}, {".symbol", read_symbol, false}, {".line", read_line, true}};
    parser *p = &r->p;
    span at = p->tok.at;
    name *n;
    rvm__lex_next(p);
    if (!take_word(r, &n)) return false;
    for (size_t k = 0; k < sizeof directives / sizeof *directives; k++) {
        if (strcmp(n->text, directives[k].name + 1) != 0) continue;
        if (!r->code || directives[k].anywhere) return directives[k].read(r);
        rvm__diag(p->a, at, D_RAW_LATE, directives[k].name, NULL, NULL);
        return false;
    }
    rvm__diag(p->a, at, D_RAW_DIRECTIVE, n->text, NULL, NULL);
    return false;
}

/* ---- code ---- */

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
        const char *word = p->tok.u.name->text;
        const uint8_t flag = is_keyword(&p->tok, KW_unchecked) ? RVM_FLAG_UNCHECKED
                             : !strcmp(word, "restore")        ? RVM_FLAG_RESTORE
                             : !strcmp(word, "reversed")       ? RVM_FLAG_REVERSED
                                                               : 0;
        if (!flag) break;
        in->flags |= flag;
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
    if (!take_word(r, &n)) return false;
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
    if (!take_word(r, &n)) return false;
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
            return take_word(r, &in->label);
        }
        if (in->n == UINT8_MAX) {
            rvm__diag(p->a, p->tok.at, D_TOO_MANY, rvm__number(p->a, UINT8_MAX), NULL, NULL);
            return false;
        }
        if (!take_place(r, in->places + in->n++)) return false;
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

static bool read_label(raw_fn *r) {
    stmt s = {.kind = S_LABEL, .name = r->p.tok.u.name, .name_at = r->p.tok.at};
    rvm__lower_label(&r->g, &s);
    rvm__lex_next(&r->p);
    rvm__lex_next(&r->p);
    return true;
}

/* Calls from statements see the parameters as they do others'. */
static void describe(assembler *a, func *fn, const rvm_function *f) {
    fn->params = rvm__arena(a, (f->nparams + 1) * sizeof *fn->params);
    if (!fn->params) return;
    fn->nparams = f->nparams;
    for (uint32_t k = 0; k < f->nparams; k++) {
        const rvm_param *q = f->params + k;
        fn->params[k] = (param){.name = rvm__intern(a, q->name, strlen(q->name)),
                                .type = q->type,
                                .ndim = q->ndim,
                                .at = fn->at,
                                .place = {(uint16_t)k}};
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
        else if (is_punct(&p->tok, ".") ? read_directive(&r) : read_insn(&r))
            rvm__expect_line(p);
        else
            rvm__lex_skip_line(p);
    }
    rvm__resolve_jumps(&r.g);
    if (!r.g.failed) {
        check_symbols(&r);
        rvm__function_finish(r.g.f);
    }
    rvm__realloc(&a->al, r.symbol_at, r.cap_symbols * sizeof *r.symbol_at, 0);
    describe(a, fn, r.g.f);
    fn->broken = a->nerrors > errors;
    rvm__gen_free(&r.g);
}
