/* raw.c: mnemonics among statements, by the letters of their operands in ops.def, and by the signature of their row. */
#include "asm.h"
#include "instruction.h"
#include <string.h>

void rvm__lower_reg(gen *g, const stmt *s) {
    var *v = rvm__declare(g, s->name, V_LOCAL, s->as, s->name_at);
    if (v && !g->a->oom) rvm__gen_var(g, v);
}

/* ---- operands by letter ---- */

typedef struct raw_op {
    const stmt *s;
    const rvm_op_info *info;
    uint32_t next;  /* argument */
    int type, ndim; /* T, and dimensions of the array X or V; -1: none seen */
    name *label;    /* of L */
    span label_at;
    bool jumps;       /* no temporaries: they would not stand on both sides of the jump */
    expr *changed[2]; /* places that must differ */
    uint32_t nchanged;
} raw_op;

static bool check_array_name(gen *g, raw_op *r, expr *e) {
    if (e->kind != E_NAME || rvm__check_part(g->a, e) < 1) {
        if (e->kind != E_ERROR) rvm__diag(g->a, e->at, D_ARRAY_NAME, r->info->name, NULL, NULL);
        return false;
    }
    return true;
}

static bool check_typed_place(gen *g, raw_op *r, expr *e, bool change) {
    if (!rvm__check_place(g->a, e, change)) return false;
    if (!(r->info->types >> e->type & 1) && !(rvm__is_lns(e->type) && rvm__op_on_lns(g->a, (rvm_op)r->s->op) >= 0)) {
        rvm__diag(g->a, e->at, D_OP_TYPE, r->info->name, rvm__type_text(g->a, e->type), NULL);
        return false;
    }
    if (r->type >= 0 && r->type != e->type) {
        rvm__diag(g->a, e->at, D_MISMATCH, rvm__type_text(g->a, r->type), rvm__type_text(g->a, e->type), NULL);
        return false;
    }
    r->type = e->type;
    for (uint32_t k = 0; change && k < r->nchanged; k++)
        if (rvm__same_place(r->changed[k], e)) {
            rvm__diag(g->a, e->at, D_SAME_PLACE, r->info->name, NULL, NULL);
            return false;
        }
    if (change && r->nchanged < 2) r->changed[r->nchanged++] = e;
    return true;
}

/* A value read by an instruction that changes places: none of them may be in it. */
static bool check_read(gen *g, raw_op *r, char letter, expr *e, rvm_type type) {
    if (!rvm__check_value(g->a, e, type)) return false;
    if (r->jumps && e->kind != E_VAR && (letter == 'c' || e->kind != E_VALUE)) {
        rvm__diag(g->a, e->at, D_JUMP_OPERAND, r->info->name, NULL, NULL);
        return false;
    }
    for (uint32_t k = 0; k < r->nchanged; k++)
        if (rvm__finds_place(e, r->changed[k])) {
            rvm__diag(g->a, e->at, D_SAME_PLACE, r->info->name, NULL, NULL);
            return false;
        }
    return true;
}

static bool check_label(gen *g, raw_op *r, expr *e) {
    if (e->kind != E_NAME) {
        rvm__diag(g->a, e->at, D_LABEL, NULL, NULL, NULL);
        return false;
    }
    r->label = e->u.name;
    r->label_at = e->at;
    return true;
}

/* A leading dimension of a view: an index, or a range */
static bool check_sub(gen *g, raw_op *r, expr *e) {
    if (e->kind != E_RANGE) return check_read(g, r, '#', e, RVM_I64);
    bool good = check_read(g, r, '#', e->kids[0], RVM_I64);
    return check_read(g, r, '#', e->kids[1], RVM_I64) && good;
}

/* A whole number that is known: a level of trails, a site, positions in an entry. */
static bool check_known(gen *g, const char *mnemonic, char letter, expr *e) {
    const char *what = letter == 'l' ? "level of the trail" : letter == 's' ? "site" : "positions in the entry";
    if (!rvm__check_value(g->a, e, RVM_I64)) return false;
    if (e->kind == E_VALUE && e->u.value.i >= 0) return true;
    rvm__diag(g->a, e->at, D_LEVEL_SITE, mnemonic, what, NULL);
    return false;
}

static bool check_register(gen *g, const raw_op *r, expr *e) {
    if (!rvm__check_place(g->a, e, true)) return false;
    if (e->kind == E_VAR) return true;
    rvm__diag(g->a, e->at, D_NEEDS_REGISTER, r->info->name, NULL, NULL);
    return false;
}

/* What goes onto the trail: a place, or a whole array. */
static bool check_dropped(gen *g, raw_op *r, expr *e) {
    if (e->kind == E_NAME && rvm__names_whole(e)) return check_array_name(g, r, e);
    return rvm__check_place(g->a, e, true);
}

static bool check_letter(gen *g, raw_op *r, char letter, expr *e) {
    switch (letter) {
    case 'y': return check_typed_place(g, r, e, true);
    case 'p': return check_typed_place(g, r, e, false);
    case 'a': return check_read(g, r, letter, e, r->type < 0 ? g->a->options.real : (rvm_type)r->type);
    case 'c':
    case 'k': return check_read(g, r, letter, e, RVM_I64);
    case 'L': return check_label(g, r, e);
    case '#': return check_sub(g, r, e);
    case 'i': return check_register(g, r, e) && rvm__coerce(g->a, e, RVM_I64);
    case 'l':
    case 'm':
    case 's': return check_known(g, r->info->name, letter, e);
    case 'd': return check_dropped(g, r, e);
    case 'r': return check_register(g, r, e);
    case 'X':
    case 'V':
    case 'W':
        if (!check_array_name(g, r, e)) return false;
        if (letter == 'X') r->type = e->type;
        if (letter != 'W') r->ndim = e->op;
        return true;
    }
    rvm__diag(g->a, e->at, D_OPERAND, r->info->name, NULL, NULL);
    return false;
}

/* How many arguments a letter takes; + is a length for each dimension, then a value; # at most one for each dimension; d and
 * r are one or more. */
static uint32_t letter_count(const raw_op *r, char letter) {
    uint32_t left = r->s->nargs > r->next ? r->s->nargs - r->next : 0;
    if (letter == '+') return r->ndim < 0 ? 0 : (uint32_t)r->ndim + 1;
    if (letter == 'd' || letter == 'r') return left ? left : 1;
    if (letter != '#') return 1;
    return left > (uint32_t)r->ndim ? (uint32_t)r->ndim : left;
}

static bool check_letters(gen *g, raw_op *r) {
    bool good = true;
    for (const char *l = r->info->operands; good && *l; l++) {
        uint32_t n = letter_count(r, *l);
        for (uint32_t k = 0; good && k < n; k++, r->next++) {
            char letter = *l;
            if (letter == '+') letter = "ka"[k + 1 == n];
            if (r->next >= r->s->nargs) {
                rvm__diag(g->a, r->s->at, D_FEW_OPERANDS, r->info->name, rvm__number(g->a, r->s->nargs), NULL);
                return false;
            }
            good = check_letter(g, r, letter, r->s->args[r->next]);
        }
    }
    if (good && r->next < r->s->nargs) {
        rvm__diag(g->a, r->s->args[r->next]->at, D_MANY_OPERANDS, r->info->name, rvm__number(g->a, r->next), NULL);
        good = false;
    }
    return good;
}

static uint32_t lower_letter(gen *g, char letter, expr *e, rvm_place *out) {
    switch (letter) {
    case 'L': return 0;
    case 'c': *out = rvm__lower_register(g, e); return 1;
    case 'X':
    case 'V':
    case 'W':
    case 'y':
    case 'p':
    case 'd':
    case 'r':
    case 'i': *out = rvm__lower_place(g, e); return 1;
    case '#': return rvm__lower_subs(g, &e, 1, out);
    }
    *out = rvm__lower_operand(g, e);
    return 1;
}

static void lower_op(gen *g, const stmt *s) {
    raw_op r = {.s = s, .info = rvm__op_info + s->op, .type = -1, .ndim = -1};
    r.jumps = strchr(r.info->operands, 'L') != NULL;
    if (!check_letters(g, &r)) return;
    uint32_t mark = g->ntemps, n = 0;
    rvm_place places[UINT8_MAX];
    const char *l = r.info->operands;
    for (uint32_t k = 0; k < s->nargs; k++) {
        n += lower_letter(g, *l, s->args[k], places + n);
        if (l[1]) l++;
    }
    const int op = rvm__is_lns(r.type) ? rvm__op_on_lns(g->a, (rvm_op)s->op) : s->op;
    if (op < 0) return; /* no memory */
    uint32_t pc = rvm__emit(g, (rvm_op)op, -1, 0, places, n, s->at);
    if (r.label) rvm__note_jump(g, pc, r.label, r.label_at);
    rvm__unwind(g, mark);
}

void rvm__lower_op(gen *g, const stmt *s) {
    stmt half[2];
    if (!rvm__takes_parts(s)) {
        lower_op(g, s);
        return;
    }
    const uint32_t n = rvm__split_op(g->a, s, half);
    for (uint32_t k = 0; k < n; k++) lower_op(g, half + k);
}

/* ---- family.row ---- */

/* The type of a row's first typed operand: that of the target, but for comparisons and conversions. */
static int row_type(gen *g, const stmt *s, rvm_sig sig) {
    int type = s->args[0]->type;
    if (sig != RVM_SIG_CMP && sig != RVM_SIG_CONV) return type;
    type = T_INT;
    for (uint32_t k = 1; k <= rvm__row_info[s->row].arity; k++) {
        rvm__check(g->a, s->args[k], T_NONE);
        int t = s->args[k]->type;
        if (t == T_ERROR) return T_ERROR;
        if (type == T_INT || (type == RVM_I64 && t < RVM_TYPE_COUNT) || (type == T_REAL && t != T_INT)) type = t;
    }
    return type == T_INT ? RVM_I64 : type == T_REAL ? (int)g->a->options.real : type;
}

static bool check_raw_update(gen *g, const stmt *s) {
    const rvm_row_info *row = rvm__row_info + s->row;
    const char *family = rvm__op_info[s->op].name;
    rvm_type operand[3];
    bool sets = rvm__op_sets((rvm_op)s->op);
    if (s->nargs != 1u + row->arity + sets) {
        rvm__diag(g->a, s->at, D_ROW_OPERANDS, row->name, rvm__number(g->a, row->arity), rvm__number(g->a, s->nargs));
        if (sets) rvm__diag_hint(g->a, D_SITE_LAST, NULL, NULL, NULL);
        return false;
    }
    expr *y = s->args[0];
    if (!rvm__check_place(g->a, y, true)) return false;
    int type = row_type(g, s, row->sig);
    if (type == T_ERROR) return false;
    if (!rvm__row_types((rvm_row)s->row, (rvm_type)y->type, (rvm_type)type, operand) ||
        !rvm__update_legal((rvm_op)s->op, (rvm_row)s->row, (rvm_type)y->type)) {
        rvm__diag(g->a, s->at, D_ROW_TYPE, family, row->name, rvm__type_text(g->a, y->type));
        return false;
    }
    for (uint32_t k = 1; k <= row->arity; k++) {
        expr *e = s->args[k];
        if (!rvm__check_value(g->a, e, operand[k - 1]) || (!sets && !rvm__check_target(g->a, s, y, e))) return false;
    }
    if (sets && !check_known(g, family, 's', s->args[s->nargs - 1])) return false;
    if (s->tolerance && (rvm__pair_of(s->op) != RVM_PAIR_let || !rvm__is_floating((rvm_type)y->type))) {
        rvm__diag(g->a, s->tolerance->at, D_TOLERANCE_HERE, NULL, NULL, NULL);
        return false;
    }
    return rvm__check_factor(g->a, s, y, s->args[1]) && rvm__check_tolerance(g->a, s->tolerance, y->type);
}

void rvm__lower_raw_update(gen *g, const stmt *s) {
    if (!check_raw_update(g, s)) return;
    uint32_t mark = g->ntemps, n = 1;
    rvm_place places[5];
    places[0] = rvm__lower_place(g, s->args[0]);
    for (uint32_t k = 1; k < s->nargs; k++) places[n++] = rvm__lower_operand(g, s->args[k]);
    if (s->tolerance) places[n++] = rvm__gen_const(g, RVM_F64, s->tolerance->u.value);
    rvm__emit(g, (rvm_op)s->op, s->row, 0, places, n, s->at);
    rvm__unwind(g, mark);
}
