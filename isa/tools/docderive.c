/* docderive.c: the part of docs/isa.md that shows every row's tangent and adjoint as instructions: the transforms are run on
 * a function of one instruction, and what they made is printed. */
#include "docderive.h"
#include "builder.h"

#include "text.h"
#include "transform.h"

typedef struct sample { /* a function of one update, y op row(a, b, c) */
    rvm_program *p;
    uint32_t fn;
    rvm_op op;
    rvm_type y, t, operand[3];
} sample;

static const rvm_position here = {1, 0, 0}, elsewhere = {2, 0, 0}; /* the update and what is made of it; the rest */

static bool toggles(const sample *s) {
    return s->op == RVM_OP_let || s->op == RVM_OP_unlet;
}

static bool add_register(const sample *s, rvm_function *f, const char *name, rvm_type type, bool param) {
    const int64_t k = rvm__function_add_register(s->p, f, type);
    const rvm_param q = {.type = (uint8_t)type, .index = (uint16_t)k};
    const rvm_symbol symbol = {.index = (uint16_t)k, .from = 0, .to = toggles(s) ? 4 : 3};
    return k >= 0 && (!param || rvm__function_add_param(s->p, f, &q, name, 1) >= 0) &&
           rvm__function_add_symbol(s->p, f, &symbol, name, 1) >= 0;
}

/* The update between start and halt; where it makes its target appear or disappear, with its inverse. */
static bool emit(const sample *s, rvm_function *f, rvm_row row, const rvm_place *places, uint32_t n) {
    const rvm_op ops[] = {RVM_OP_start, s->op == RVM_OP_unlet ? RVM_OP_let : s->op,
                          s->op == RVM_OP_let ? RVM_OP_unlet : s->op, RVM_OP_halt};
    for (int k = 0; k < 4; k++) {
        const bool update = k == 1 || k == 2;
        if (k == 2 && !toggles(s)) continue;
        if (rvm__function_emit(s->p, f, ops[k], update ? row : 0, 0, 0, places, update ? n : 0,
                               update && ops[k] == s->op ? here : elsewhere) < 0)
            return false;
    }
    rvm__function_finish(f);
    return true;
}

static bool make(sample *s, rvm_row row) {
    const int n = rvm__row_info[row].arity;
    rvm_place places[5] = {{.kind = RVM_PLACE_SLOT}};
    s->p = rvm__program_new(NULL);
    const int64_t fn = s->p ? rvm__program_add_function(s->p, "f", 1) : -1;
    if (fn < 0) return false;
    s->fn = (uint32_t)fn;
    rvm_function *f = &s->p->functions[fn];
    bool good = toggles(s) || add_register(s, f, "y", s->y, true);
    for (int k = 0; k < n && good; k++) {
        places[k + 1] = (rvm_place){.kind = RVM_PLACE_SLOT, .slot = (uint16_t)f->nregs};
        good = add_register(s, f, &"abc"[k], s -> operand[k], true);
    }
    if (toggles(s)) { /* parameters come first */
        places[0].slot = (uint16_t)f->nregs;
        good = good && add_register(s, f, "y", s->y, false);
    }
    if (!rvm__op_sets(s->op)) return good && emit(s, f, row, places, (uint32_t)n + 1);
    const int64_t site = rvm__function_add_const(s->p, f, RVM_I64, (rvm_value){.i = 0});
    places[n + 1] = (rvm_place){.kind = RVM_PLACE_SLOT, .slot = (uint16_t)(RVM_BUILD_CONST + site)};
    return good && site >= 0 && emit(s, f, row, places, (uint32_t)n + 2);
}

/* What stands for the update in a function, a line of the table's cell each. */
static void print_code(const rvm_program *p, uint32_t fn) {
    bool first = true;
    RVM__EACH_INSN(x, &p->functions[fn]) {
        const rvm_view v = {.p = p, .f = x.f, .pc = x.pc};
        rvm_sink out = {.file = stdout};
        if (x.f->positions[x.pc].line != here.line) continue;
        printf("%s`", first ? "" : "<br>");
        rvm__put_insn(&out, &v);
        printf("`");
        first = false;
    }
}

static bool print_row(rvm_op op, rvm_row row) {
    sample s = {.op = op, .y = RVM_F64, .t = RVM_F64};
    uint32_t tangent, adjoint;
    bool good = true;
    const bool converts = rvm__row_info[row].sig == RVM_SIG_CONV;
    if (!rvm__row_types(row, s.y, converts ? RVM_FIX : s.t, s.operand)) return true; /* of integers: it has neither */
    good = make(&s, row) && !rvm__transform_declare(s.p, s.fn, RVM_TANGENT_OF, NULL, &tangent, NULL) &&
           !rvm__transform_declare(s.p, s.fn, RVM_ADJOINT, NULL, &adjoint, NULL) && !rvm__transform_resolve(s.p, NULL);
    if (good) {
        printf("| ");
        print_code(s.p, s.fn);
        printf(" | ");
        print_code(s.p, tangent);
        printf(" | ");
        print_code(s.p, adjoint);
        printf(" |\n");
    }
    rvm_program_free(s.p);
    return good;
}

bool docgen_derivatives(void) {
    static const rvm_op families[] = {RVM_OP_sub, RVM_OP_mul, RVM_OP_div, RVM_OP_let, RVM_OP_unlet, RVM_OP_set};
    static const char head[] = "| update | tangent | adjoint |\n|--|--|--|\n";
    bool good = true;
    printf("\n## Updates: tangents and adjoints as instructions\n\n"
           "What `f'tan` and `f'adj` have in place of an update of a real, all of whose operands are active: shadows are "
           "x_d and x_b,\n"
           "temporaries %%k; `shed` and `drop` move what would be lost onto the trail. Made by the transforms from the "
           "partial\nderivatives above. Each row, added:\n\n%s",
           head);
    for (int row = 0; row < RVM_ROW_COUNT && good; row++) good = print_row(RVM_OP_add, (rvm_row)row);
    printf("\nThe other families, with a product:\n\n%s", head);
    for (size_t k = 0; k < sizeof families / sizeof *families && good; k++) good = print_row(families[k], RVM_ROW_mul);
    return good;
}
