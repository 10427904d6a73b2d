/* parse_type.c: types, and those of function values: fn(acc real, read real[n]). */
#include "asm.h"
#include "builder.h"
#include "transform.h"
#include <string.h>

/* complex, complex(f32), lns(fix) */
static bool parse_base(parser *p, uint8_t *type) {
    if (!is_punct(&p->tok, "(")) return true;
    rvm__lex_next(p);
    const int base = p->tok.kind == K_NAME ? p->tok.u.name->type : -1;
    if (base < 0 || base == RVM_I64) {
        rvm__unexpected(p, "f64, f32, fix or real");
        return false;
    }
    *type = (uint8_t)((rvm__is_lns(*type) ? T_LNS : T_COMPLEX) + base);
    rvm__lex_next(p);
    return rvm__expect(p, ")", "behind the type of the parts");
}

/* What a word means where a type stands. False: nothing, which was not told. */
static bool find_type(parser *p, const name *n, typed *out) {
    const int number = rvm__number_type(p->a, n);
    if (n->type >= 0 || number >= 0) out->type = (uint8_t)(n->type >= 0 ? n->type : number);
    if (n->record) out->type = n->record->type;
    return n->type >= 0 || number >= 0 || n->record;
}

/* What the type is another name of; dimensions are trees, which belong to one place each. */
static bool take_alias(parser *p, const typed *alias, typed *out) {
    *out = *alias;
    for (int k = 0; k < out->ndim; k++)
        if (!(out->dim[k] = rvm__tree_copy(p->a, alias->dim[k]))) return false;
    if (out->nlengths && !(out->lengths = rvm__arena(p->a, out->nlengths * sizeof *out->lengths))) return false;
    for (uint32_t k = 0; k < out->nlengths; k++)
        if (!(out->lengths[k] = rvm__tree_copy(p->a, alias->lengths[k]))) return false;
    return true;
}

/* State'shadow: the type of a State's shadows. */
static const name *behind_tick(parser *p, const name *n, bool *shadow) {
    const char *at = strchr(n->text, '\'');
    *shadow = at && !strcmp(at, "'shadow");
    return *shadow ? rvm__intern(p->a, n->text, (size_t)(at - n->text)) : n;
}

static bool take_shadow(parser *p, const name *n, span at, typed *out) {
    const int type = rvm__shadow_type(p->a, out->type);
    if (type == T_NONE) rvm__diag(p->a, at, D_NO_SHADOW, n->text, NULL, NULL);
    out->type = (uint8_t)type;
    return type != T_NONE && type != T_ERROR;
}

static bool read_record(assembler *a, record *r);

static bool is_read(parser *p, const name *n, span at) {
    record *r = n->record;
    if (!r || r->state == 2) return true;
    if (r->state == 1) {
        rvm__diag(p->a, at, D_TYPE_CYCLE, n->text, NULL, NULL);
        r->state = 3;
    }
    return r->state != 3 && read_record(p->a, r);
}

/* State(n, 2 * n) */
static bool parse_lengths(parser *p, typed *out) {
    if (!is_punct(&p->tok, "(")) return true;
    rvm__lex_next(p);
    return rvm__parse_parts(p, ")", &out->lengths, &out->nlengths, MAX_LENGTHS);
}

static bool parse_word(parser *p, typed *out) {
    bool shadow = false;
    *out = (typed){.type = T_NONE};
    if (p->tok.kind != K_NAME) {
        rvm__unexpected(p, "a type (i64, f64, f32, fix, real, complex or lns)");
        return false;
    }
    const span at = p->tok.at;
    const name *n = behind_tick(p, p->tok.u.name, &shadow);
    if (!n || !find_type(p, n, out)) {
        if (n) rvm__diag(p->a, at, D_UNKNOWN_TYPE, n->text, rvm__near(p->a, n, NEAR_TYPE), NULL);
        return false;
    }
    if (!is_read(p, n, at)) return false;
    rvm__lex_next(p);
    if (n->record && n->record->alias && !take_alias(p, n->record->alias, out)) return false;
    const bool has_base = rvm__is_complex(out->type) || rvm__is_lns(out->type);
    if (has_base && !n->record && !parse_base(p, &out->type)) return false;
    if (n->record && !n->record->alias && !parse_lengths(p, out)) return false;
    return !shadow || take_shadow(p, n, at, out);
}

bool rvm__parse_type(parser *p, uint8_t *type) {
    const span at = p->tok.at;
    typed as;
    bool good = parse_word(p, &as);
    if (good && as.ndim) {
        rvm__diag(p->a, at, D_TYPE_ARRAY, rvm__array_text(p->a, as.type, as.ndim), NULL, NULL);
        good = false;
    }
    *type = as.type;
    return good;
}

/* The dimensions behind a type, before those that it has itself. */
static bool parse_dims(parser *p, typed *out) {
    if (!is_punct(&p->tok, "[")) return true;
    const span at = p->tok.at;
    expr **dims;
    uint32_t n;
    rvm__lex_next(p);
    if (!rvm__parse_parts(p, "]", &dims, &n, UINT8_MAX)) return false;
    if (!n || n + out->ndim > RVM_MAX_DIMS) {
        rvm__diag(p->a, at, D_DIMS, rvm__number(p->a, RVM_MAX_DIMS), NULL, NULL);
        return false;
    }
    memmove(out->dim + n, out->dim, out->ndim * sizeof *out->dim);
    memcpy(out->dim, dims, n * sizeof *dims);
    out->ndim = (uint8_t)(out->ndim + n);
    return true;
}

/* ---- records ---- */

static bool parse_member(parser *p, const member *list, uint32_t n, member *out) {
    span at;
    *out = (member){.name = rvm__parse_new_name(p, n ? "the name of a member" : "')' or the name of a member", &at)};
    if (!out->name || !rvm__expect(p, ":", "and a type behind the name of a member")) return false;
    for (uint32_t k = 0; k < n; k++)
        if (list[k].name == out->name) {
            rvm__diag(p->a, at, D_MEMBER_AGAIN, out->name->text, NULL, NULL);
            return false;
        }
    if (!strcmp(out->name->text, "re") || !strcmp(out->name->text, "im") || !strcmp(out->name->text, "log")) {
        rvm__diag(p->a, at, D_MEMBER_OWN, out->name->text, NULL, NULL);
        return false;
    }
    return parse_word(p, &out->as) && parse_dims(p, &out->as);
}

static bool parse_members(parser *p, record *r) {
    member *list = rvm__arena(p->a, RVM_MAX_PARAMS * sizeof *list);
    uint32_t n = 0;
    if (!list || !rvm__expect(p, "(", "and the members")) return false;
    for (;; rvm__lex_next(p)) {
        if (n == RVM_MAX_PARAMS) {
            rvm__diag(p->a, p->tok.at, D_TOO_MANY, rvm__number(p->a, RVM_MAX_PARAMS), NULL, NULL);
            return false;
        }
        if (!parse_member(p, list, n, list + n)) return false;
        n++;
        if (!is_punct(&p->tok, ",")) break;
    }
    return rvm__expect(p, ")", "or ',' behind a member") && rvm__record_finish(p->a, r, list, n);
}

static bool parse_alias(parser *p, record *r) {
    typed *as = rvm__arena(p->a, sizeof *as);
    r->alias = as;
    return as && parse_word(p, as) && parse_dims(p, as);
}

/* Behind its name. */
static bool parse_definition(parser *p, record *r) {
    if (r->fallback)
        rvm__lex_next(p);
    else if (!rvm__expect(p, "=", "and the members, or another type"))
        return false;
    return p->tok.kind == K_NAME ? parse_alias(p, r) : parse_members(p, r);
}

/* From where its definition stands. */
static bool read_record(assembler *a, record *r) {
    parser state, *p = &state;
    r->state = 1;
    rvm__lex_start(p, a, r->at.file);
    rvm__lex_seek(p, r->offset, r->at.line);
    rvm__lex_next(p);
    rvm__lex_next(p);
    const bool good = parse_definition(p, r) && r->state != 3 && rvm__expect_line(p);
    r->state = good ? 2 : 3;
    return good;
}

bool rvm__parse_record(parser *p) {
    record *r = p->ahead.u.name->record;
    const bool own = r && r->offset == p->tok.offset && r->at.file == p->file;
    const bool good = !own || r->state == 2 || (!r->state && read_record(p->a, r));
    while (good && p->tok.kind != K_LINE && p->tok.kind != K_EOF) rvm__lex_next(p);
    if (!good) rvm__lex_skip_line(p);
    return good;
}

/* ---- of function values ---- */

/* acc, read or own before a type; own where there is none. */
static rvm_role parse_role(parser *p) {
    static const char *const words[] = {[RVM_READ] = "read", [RVM_ACC] = "acc", [RVM_OWN] = "own"};
    for (int r = RVM_READ; r <= RVM_OWN; r++)
        if (p->tok.kind == K_NAME && p->ahead.kind == K_NAME && !strcmp(p->tok.u.name->text, words[r])) {
            rvm__lex_next(p);
            return (rvm_role)r;
        }
    return RVM_OWN;
}

/* [], [,], [n], [n, 3]: only how many dimensions there are. */
static bool count_dims(parser *p, uint8_t *ndim) {
    span at = p->tok.at;
    uint32_t n = 1;
    rvm__lex_next(p);
    for (; !is_punct(&p->tok, "]"); rvm__lex_next(p)) {
        if (is_punct(&p->tok, ","))
            n++;
        else if (p->tok.kind != K_NAME && p->tok.kind != K_INT) {
            rvm__unexpected(p, "']', ',' or the name of a length");
            return false;
        }
    }
    if (n + *ndim > RVM_MAX_DIMS) {
        rvm__diag(p->a, at, D_DIMS, rvm__number(p->a, RVM_MAX_DIMS), NULL, NULL);
        return false;
    }
    *ndim = (uint8_t)(*ndim + n);
    rvm__lex_next(p);
    return true;
}

static bool parse_any(parser *p, typed *out);

static bool parse_signature_param(parser *p, rvm_param *out) {
    typed as;
    *out = (rvm_param){.role = (uint8_t)parse_role(p)};
    if (!parse_any(p, &as) || (is_punct(&p->tok, "[") && !count_dims(p, &as.ndim))) return false;
    out->type = as.type;
    out->ndim = as.ndim;
    out->signature = as.signature;
    uint32_t n;
    const leaf_type *leaves = rvm__leaves(p->a, as.type, &n);
    for (uint32_t k = 0; k < n; k++)
        if (as.ndim + leaves[k].ndim > RVM_MAX_DIMS) {
            rvm__diag(p->a, p->last, D_DIMS, rvm__number(p->a, RVM_MAX_DIMS), NULL, NULL);
            return false;
        }
    return true;
}

/* As the program has it: the leaves of a record, the real of an lns. How many it is, of which `room` fit. */
static uint32_t split_param(const assembler *a, rvm_param *q, uint32_t room) {
    const rvm_param whole = *q;
    uint32_t n;
    const leaf_type *leaves = rvm__leaves(a, whole.type, &n);
    for (uint32_t k = 0; k < n && k < room; k++) {
        q[k] = whole;
        q[k].type = (uint8_t)rvm__part_type(leaves[k].type);
        q[k].ndim = (uint8_t)(whole.ndim + leaves[k].ndim);
    }
    return n;
}

/* Behind `fn`. */
static bool parse_signature(parser *p, uint16_t *signature, const uint8_t **types) {
    rvm_param *params = rvm__arena(p->a, (RVM_MAX_PARAMS + 1) * sizeof *params);
    uint8_t *list = rvm__arena(p->a, RVM_MAX_PARAMS + 1);
    uint32_t n = 0, count = 0;
    span at = p->tok.at;
    *types = NULL;
    if (!params || !list || !rvm__expect(p, "(", "and the types of the parameters")) return false;
    while (count || !is_punct(&p->tok, ")")) {
        if (n >= RVM_MAX_SIGNATURE_PARAMS || count == RVM_MAX_PARAMS) {
            rvm__diag(p->a, at, D_TOO_MANY, rvm__number(p->a, RVM_MAX_SIGNATURE_PARAMS), NULL, NULL);
            return false;
        }
        if (!parse_signature_param(p, params + n)) return false;
        list[count++] = params[n].type;
        if (params[n].type >= RVM_TYPE_COUNT) *types = list;
        n += split_param(p->a, params + n, RVM_MAX_PARAMS - n);
        if (n > RVM_MAX_SIGNATURE_PARAMS) break;
        if (!is_punct(&p->tok, ",")) break;
        rvm__lex_next(p);
    }
    if (n > RVM_MAX_SIGNATURE_PARAMS) {
        rvm__diag(p->a, at, D_TOO_MANY, rvm__number(p->a, RVM_MAX_SIGNATURE_PARAMS), NULL, NULL);
        return false;
    }
    if (!rvm__expect(p, ")", "or ',' behind the type of a parameter")) return false;
    int64_t k = rvm__program_add_signature(p->a->program, params, n);
    if (k < 0) rvm__fn_limit(p->a, at, k);
    *signature = (uint16_t)(k + 1);
    return k >= 0;
}

static bool parse_any(parser *p, typed *out) {
    if (!is_keyword(&p->tok, KW_fn)) return parse_word(p, out);
    *out = (typed){.type = RVM_I64};
    if (p->depth++ >= MAX_NESTING) {
        rvm__diag(p->a, p->tok.at, D_NESTING, rvm__number(p->a, MAX_NESTING), NULL, NULL);
        return false;
    }
    rvm__lex_next(p);
    bool good = parse_signature(p, &out->signature, &out->types);
    p->depth--;
    return good;
}

bool rvm__parse_typed(parser *p, typed *out) {
    return parse_any(p, out) && parse_dims(p, out);
}

bool rvm__parse_signature(parser *p, uint16_t *signature) {
    typed as;
    if (!parse_any(p, &as)) return false;
    *signature = as.signature;
    return true;
}
