/* gen.c: registers, instructions, temporaries.
 *
 * A register or array that was released is taken again by the next that needs one of its kind, so that frames stay small.
 * Within a region, what the compute part has used must rest until `undo`, since the do part may not change it: each compute
 * part takes from the levels around it, and gives back to a level of its own, which `do` sets aside and `undo` merges.
 */
#include "asm.h"
#include "builder.h"
#include "support.h"
#include <string.h>

static uint32_t reg_class(rvm_type t) {
    return (uint32_t)t;
}
static uint32_t array_class(rvm_type t, int ndim) {
    return RVM_TYPE_COUNT * (uint32_t)ndim + (uint32_t)t;
}

static void fail(gen *g, diag d, int64_t limit) {
    if (!g->failed) rvm__diag(g->a, g->at, d, rvm__number(g->a, limit), NULL, NULL);
    g->failed = true;
}

static void no_memory(gen *g) {
    g->a->oom = g->failed = true;
}

void rvm__gen_start(gen *g, assembler *a, const func *fn) {
    free_level *bottom = rvm__arena(a, sizeof *bottom);
    *g = (gen){.a = a, .fn = fn, .f = a->program->functions + fn->index, .level = bottom, .at = fn->at, .failed = !bottom};
    void *regs = NULL, *arrays = NULL; /* for the slots of parameters that were declared before */
    bool room = rvm__grow(&a->al, &regs, &g->cap_reg_next, g->f->nregs, sizeof *g->reg_next) &&
                rvm__grow(&a->al, &arrays, &g->cap_array_next, g->f->narrays, sizeof *g->array_next);
    g->reg_next = regs;
    g->array_next = arrays;
    if (!room) no_memory(g);
}

void rvm__gen_free(gen *g) {
    const rvm_allocator *al = &g->a->al;
    rvm__realloc(al, g->reg_next, g->cap_reg_next * sizeof *g->reg_next, 0);
    rvm__realloc(al, g->array_next, g->cap_array_next * sizeof *g->array_next, 0);
    rvm__realloc(al, g->temps, g->cap_temps * sizeof *g->temps, 0);
    rvm__realloc(al, g->guarded, g->cap_guarded * sizeof *g->guarded, 0);
    rvm__realloc(al, g->jumps, g->cap_jumps * sizeof *g->jumps, 0);
}

/* ---- slots ---- */

static uint16_t take_free(gen *g, uint32_t class, const uint16_t *next) {
    for (free_level *l = g->level; l; l = l->outer)
        if (l->head[class]) {
            uint16_t slot = (uint16_t)(l->head[class] - 1);
            l->head[class] = next[slot];
            return slot;
        }
    return UINT16_MAX;
}

uint16_t rvm__gen_reg(gen *g, rvm_type t) {
    t = rvm__part_type((int)t);
    uint16_t slot = g->failed ? 0 : take_free(g, reg_class(t), g->reg_next);
    if (g->failed || slot != UINT16_MAX) return slot;
    int64_t k = rvm__function_add_register(g->a->program, g->f, t);
    void *next = g->reg_next;
    if (k < 0 && g->f->nregs >= RVM_MAX_REGS)
        fail(g, D_REGISTERS, RVM_MAX_REGS);
    else if (k < 0 || !rvm__grow(&g->a->al, &next, &g->cap_reg_next, g->f->nregs, sizeof *g->reg_next))
        no_memory(g);
    g->reg_next = next;
    return k < 0 ? 0 : (uint16_t)k;
}

uint16_t rvm__gen_array(gen *g, rvm_type t, int ndim) {
    t = rvm__part_type((int)t);
    uint16_t slot = g->failed ? 0 : take_free(g, array_class(t, ndim), g->array_next);
    if (g->failed || slot != UINT16_MAX) return slot;
    int64_t k = rvm__function_add_array(g->a->program, g->f, t, ndim);
    void *next = g->array_next;
    if (k < 0 && g->f->narrays >= RVM_MAX_ARRAYS)
        fail(g, D_ARRAYS, RVM_MAX_ARRAYS);
    else if (k < 0 || !rvm__grow(&g->a->al, &next, &g->cap_array_next, g->f->narrays, sizeof *g->array_next))
        no_memory(g);
    g->array_next = next;
    return k < 0 ? 0 : (uint16_t)k;
}

void rvm__gen_free_reg(gen *g, uint16_t slot) {
    if (g->failed || slot >= g->f->nregs) return;
    uint16_t *head = g->level->head + reg_class((rvm_type)g->f->reg_type[slot]);
    g->reg_next[slot] = *head;
    *head = (uint16_t)(slot + 1);
}

void rvm__gen_free_array(gen *g, uint16_t array) {
    if (g->failed || array >= g->f->narrays) return;
    uint16_t *head = g->level->head + array_class((rvm_type)g->f->arrays[array].type, g->f->arrays[array].ndim);
    g->array_next[array] = *head;
    *head = (uint16_t)(array + 1);
}

void rvm__gen_level_open(gen *g, free_level *level) {
    *level = (free_level){.outer = g->level};
    g->level = level;
}

void rvm__gen_level_hold(gen *g, free_level *level) {
    g->level = level->outer;
}

void rvm__gen_level_close(gen *g, free_level *level) {
    for (uint32_t class = 0; class < CLASSES; class ++) {
        bool arrays = class >= RVM_TYPE_COUNT;
        while (!g->failed && level->head[class]) {
            uint16_t slot = (uint16_t)(level->head[class] - 1);
            level->head[class] = (arrays ? g->array_next : g->reg_next)[slot];
            (arrays ? rvm__gen_free_array : rvm__gen_free_reg)(g, slot);
        }
    }
}

/* ---- places ---- */

rvm_place rvm__gen_slot(uint16_t slot) {
    return (rvm_place){.kind = RVM_PLACE_SLOT, .slot = slot};
}

rvm_place rvm__gen_whole(uint16_t array) {
    return (rvm_place){.kind = RVM_PLACE_ARRAY, .slot = array};
}

rvm_place rvm__gen_const(gen *g, rvm_type t, rvm_value v) {
    int64_t k = g->failed ? 0 : rvm__function_add_const(g->a->program, g->f, rvm__part_type((int)t), v);
    if (k < 0 && g->f->nconsts >= RVM_MAX_CONSTS)
        fail(g, D_CONSTANTS, RVM_MAX_CONSTS);
    else if (k < 0)
        no_memory(g);
    return rvm__gen_slot((uint16_t)(RVM_BUILD_CONST + (k < 0 ? 0 : k)));
}

/* ---- instructions ---- */

/* The file of a source enters the program with the first instruction from it. */
rvm_position rvm__gen_position(gen *g, span at) {
    source *s = g->a->sources + at.file;
    if (s->number < 0) {
        int64_t k = rvm__program_add_file(g->a->program, s->name);
        if (k < 0) no_memory(g);
        s->number = k < 0 ? 0 : (int32_t)k;
    }
    return (rvm_position){at.line, (uint16_t)(at.column > UINT16_MAX ? UINT16_MAX : at.column), (uint16_t)s->number};
}

uint32_t rvm__emit(gen *g, rvm_op op, int row, uint32_t target, const rvm_place *places, uint32_t n, span at) {
    uint8_t flags = g->flags;
    if (row >= 0 && !rvm__op_sets(op) && n > 1u + rvm__row_info[row].arity) flags |= RVM_FLAG_TOL;
    rvm_position position = rvm__gen_position(g, at);
    int64_t pc = g->failed ? 0
                           : rvm__function_emit(g->a->program, g->f, op, (rvm_row)(row < 0 ? 0 : row), flags, target, places,
                                                n, position);
    if (pc < 0) no_memory(g);
    return pc < 0 ? 0 : (uint32_t)pc;
}

/* Code has fewer instructions than that. */
#define GUARDED (UINT32_C(1) << 31)

static bool note_temp(gen *g, uint32_t what) {
    void *list = g->temps;
    if (g->failed || !rvm__grow(&g->a->al, &list, &g->cap_temps, g->ntemps + 1, sizeof *g->temps)) {
        no_memory(g);
        return false;
    }
    g->temps = list;
    g->temps[g->ntemps++] = what;
    return true;
}

void rvm__emit_temp(gen *g, rvm_op op, int row, const rvm_place *places, uint32_t n, span at) {
    const uint32_t pc = rvm__emit(g, op, row, 0, places, n, at);
    if (!g->failed) note_temp(g, pc);
}

void rvm__emit_guarded(gen *g, const guard *x) {
    x->emit(g, x);
    void *list = g->guarded; /* emitting adds to it where operands have guards of their own */
    if (g->failed) return;
    if (!rvm__grow(&g->a->al, &list, &g->cap_guarded, g->nguarded + 1, sizeof *g->guarded)) {
        no_memory(g);
        return;
    }
    g->guarded = list;
    g->guarded[g->nguarded] = *x;
    note_temp(g, g->nguarded++ | GUARDED);
}

uint32_t rvm__emit_jump(gen *g, rvm_op op, const rvm_place *c, uint32_t target, span at) {
    return rvm__emit(g, op, -1, target, c, c ? 1 : 0, at);
}

void rvm__gen_aim(gen *g, uint32_t pc, uint32_t target) {
    if (!g->failed) g->f->code[pc].target = target;
}

void rvm__unwind(gen *g, uint32_t mark) {
    while (g->ntemps > mark && !g->failed) {
        uint32_t pc = g->temps[--g->ntemps];
        if (pc & GUARDED) {
            const guard x = g->guarded[pc & ~GUARDED];
            x.emit(g, &x);
            continue;
        }
        rvm_insn in = g->f->code[pc];
        rvm_place places[2 + RVM_MAX_DIMS];
        memcpy(places, g->f->places + in.places, in.nplaces * sizeof *places);
        int64_t at = rvm__function_emit(g->a->program, g->f, rvm__op_inverse((rvm_op)in.op), (rvm_row)in.row, in.flags,
                                        in.target, places, in.nplaces, g->f->positions[pc]);
        if (at < 0) no_memory(g);
        if (places[0].kind == RVM_PLACE_ARRAY)
            rvm__gen_free_array(g, places[0].slot);
        else
            rvm__gen_free_reg(g, places[0].slot);
    }
    if (g->failed) g->ntemps = mark;
}

rvm_place rvm__gen_site(gen *g) {
    return rvm__gen_const(g, RVM_I64, (rvm_value){.i = g->a->nsites++});
}

void rvm__emit_drop(gen *g, int64_t to, rvm_place what, span at) {
    const rvm_place level = rvm__gen_const(g, RVM_I64, (rvm_value){.i = to}), site = rvm__gen_site(g);
    const rvm_place value = rvm__gen_const(g, RVM_I64, (rvm_value){.i = 1}); /* the position in its entry */
    const rvm_place places[4] = {level, site, value, what};
    rvm__emit(g, RVM_OP_drop, -1, 0, places, 4, at);
}

/* ---- names ---- */

static expr *substitute(assembler *a, const expr *e, name *const *names, expr *const *by, uint32_t n, span at) {
    expr *copy = rvm__tree_copy(a, e);
    for (uint32_t k = 0; copy && copy->kind == E_NAME && k < n; k++)
        if (names[k] == e->u.name) {
            copy = rvm__tree_copy(a, by[k]);
            break;
        }
    if (copy) copy->at = at;
    for (int k = 0; copy && k < copy->nkids; k++) copy->kids[k] = substitute(a, copy->kids[k], names, by, n, at);
    return copy;
}

/* What stands for the lengths of a record: what the type says where it stands, or a name for each. */
typedef struct lengths {
    name *names[MAX_LENGTHS];
    expr *by[MAX_LENGTHS];
    uint32_t n;
} lengths;

static bool find_lengths(assembler *a, const record *r, uint32_t nby, expr *const *by, span at, lengths *l) {
    l->n = rvm__record_lengths(a, r, l->names);
    if (by && nby != l->n) {
        rvm__diag(a, at, D_STATE_LENGTHS, rvm__type_text(a, r->type), rvm__number(a, l->n), rvm__number(a, nby));
        return false;
    }
    for (uint32_t k = 0; k < l->n; k++) {
        l->by[k] = by ? by[k] : rvm__expr_new(a, E_NAME, at, 0);
        if (!l->by[k]) return false;
        if (!by) l->by[k]->u.name = l->names[k];
    }
    return true;
}

static bool make_parts(gen *g, var *v, const record *r, uint32_t nby, expr *const *by);

/* Its dimensions are those of the whole, then its own. */
static bool make_part(gen *g, var *part, const member *m, var *whole, const lengths *l) {
    assembler *a = g->a;
    *part = *whole;
    part->type = m->as.type;
    part->member = m;
    part->whole = whole;
    part->part = NULL;
    part->nparts = 0;
    part->ndim = (uint8_t)(whole->ndim + m->as.ndim);
    if (part->ndim > RVM_MAX_DIMS) {
        rvm__diag(a, whole->at, D_DIMS, rvm__number(a, RVM_MAX_DIMS), NULL, NULL);
        return false;
    }
    for (int k = 0; k < part->ndim; k++) {
        const bool own = k >= whole->ndim;
        const expr *e = own ? m->as.dim[k - whole->ndim] : whole->dim[k];
        if (e && !(part->dim[k] = own ? substitute(a, e, l->names, l->by, l->n, whole->at) : rvm__tree_copy(a, e)))
            return false;
    }
    const record *within = rvm__record(a, m->as.type);
    if (!within) return true;
    lengths inner = {.n = 0};
    if (!find_lengths(a, within, m->as.nlengths, m->as.lengths, whole->at, &inner)) return false;
    for (uint32_t k = 0; k < inner.n; k++)
        if (!(inner.by[k] = substitute(a, inner.by[k], l->names, l->by, l->n, whole->at))) return false;
    return make_parts(g, part, within, inner.n, inner.by);
}

static bool make_parts(gen *g, var *v, const record *r, uint32_t nby, expr *const *by) {
    lengths l;
    v->part = rvm__arena(g->a, (r->nmembers + 1) * sizeof *v->part);
    if (!v->part || !find_lengths(g->a, r, nby, by, v->at, &l)) return false;
    for (; v->nparts < r->nmembers; v->nparts++) {
        var *part = v->part[v->nparts] = rvm__arena(g->a, sizeof *part);
        if (!part || !make_part(g, part, r->members + v->nparts, v, &l)) return false;
    }
    return true;
}

var *rvm__declare(gen *g, name *n, var_kind kind, const typed *as, span at) {
    var *v = rvm__arena(g->a, sizeof *v);
    if (!v) return NULL;
    *v = (var){.below = g->vars,
               .name = n,
               .kind = (uint8_t)kind,
               .type = as->type,
               .ndim = as->ndim,
               .signature = as->signature,
               .types = as->types,
               .from = g->f->ncode,
               .failed = !rvm__is_value_type(as->type),
               .at = at};
    memcpy(v->dim, as->dim, sizeof v->dim);
    const record *r = rvm__record(g->a, as->type);
    if (r && !make_parts(g, v, r, as->nlengths, as->lengths)) v->failed = true;
    if (n->var)
        rvm__diag(g->a, at, D_AGAIN, n->text, rvm__line_of(g->a, at, n->var->at), NULL);
    else if (n->constant)
        rvm__diag(g->a, at, D_AGAIN, n->text, rvm__line_of(g->a, at, n->constant->at), NULL);
    else
        n->var = v;
    g->vars = v;
    return v;
}

/* The symbol of a variable: z is z.re and z.im where it is complex, y.log where it is lns. */
static void add_symbol(gen *g, const var *v) {
    char text[LEAF_NAME];
    for (uint32_t k = 0; k < v->nparts; k++) add_symbol(g, v->part[k]);
    rvm_symbol s = {.is_array = v->ndim > 0, .index = v->slot, .from = v->from, .to = g->f->ncode};
    if (v->part || s.from >= s.to) return;
    const int length = rvm__part_name(v, text, sizeof text);
    if (rvm__function_add_symbol(g->a->program, g->f, &s, text, (size_t)length) < 0) no_memory(g);
}

int rvm__part_name(const var *v, char *text, size_t size) {
    const int used = v->whole ? rvm__part_name(v->whole, text, size) : snprintf(text, size, "%s", v->name->text);
    if (!v->whole && !rvm__is_lns(v->type)) return used;
    return used + snprintf(text + used, size - (size_t)used, "%s%s%s", v->whole ? "." : "",
                           v->whole ? v->member->name->text : "", rvm__is_lns(v->type) ? ".log" : "");
}

void rvm__undeclare(gen *g) {
    var *v = g->vars;
    g->vars = v->below;
    if (v->name->var != v) return; /* it was a redeclaration */
    v->name->var = NULL;
    if (v->failed || g->failed) return;
    add_symbol(g, v);
}

void rvm__gen_var(gen *g, var *v) {
    for (uint32_t k = 0; k < v->nparts; k++) rvm__gen_var(g, v->part[k]);
    if (v->part || v->failed) return;
    v->slot = v->ndim ? rvm__gen_array(g, (rvm_type)v->type, v->ndim) : rvm__gen_reg(g, (rvm_type)v->type);
}

void rvm__gen_free_var(gen *g, const var *v) {
    for (uint32_t k = v->nparts; k--;) rvm__gen_free_var(g, v->part[k]);
    if (v->part) return;
    if (v->ndim)
        rvm__gen_free_array(g, v->slot);
    else
        rvm__gen_free_reg(g, v->slot);
}

/* ---- labels ---- */

static label *label_of(gen *g, name *n) {
    if (n->label && n->label->owner == g->fn) return n->label;
    label *l = rvm__arena(g->a, sizeof *l);
    if (l) l->owner = g->fn;
    return n->label = l;
}

void rvm__gen_label(gen *g, name *n, span at) {
    label *l = label_of(g, n);
    if (!l) return;
    if (l->placed) rvm__diag(g->a, at, D_LABEL_AGAIN, n->text, rvm__number(g->a, l->at.line), NULL);
    l->placed = true;
    l->pc = g->f->ncode;
    l->at = at;
}

void rvm__resolve_jumps(gen *g) {
    for (uint32_t k = 0; k < g->njumps; k++) {
        const forward *j = g->jumps + k;
        const label *l = label_of(g, j->name);
        if (!l || !l->placed)
            rvm__diag(g->a, j->at, D_UNKNOWN_LABEL, j->name->text, NULL, NULL);
        else if (!g->failed)
            g->f->code[j->pc].target = l->pc;
    }
}

void rvm__note_jump(gen *g, uint32_t pc, name *n, span at) {
    void *list = g->jumps;
    if (!rvm__grow(&g->a->al, &list, &g->cap_jumps, g->njumps + 1, sizeof *g->jumps)) {
        g->a->oom = g->failed = true;
        return;
    }
    g->jumps = list;
    g->jumps[g->njumps++] = (forward){pc, n, at};
}
