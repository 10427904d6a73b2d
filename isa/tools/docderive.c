/* docderive.c: the part of docs/isa.md that shows every row's tangent and adjoint as instructions: the transforms are run on
 * a function of one instruction, and what they made is printed. */
#include "docderive.h"

#include "text.h"
#include "transform.h"

typedef struct sample { /* a function of one update, y += row(a, b, c) */
    rvm_program *p;
    uint32_t fn;
    rvm_type y, t, operand[3];
} sample;

static bool add_param(rvm_program *p, rvm_function *f, const char *name, rvm_type type, uint32_t k) {
    const rvm_param q = {.type = (uint8_t)type, .index = (uint16_t)k};
    const rvm_symbol s = {.index = (uint16_t)k, .from = 0, .to = 3};
    return rvm__function_add_register(p, f, type) == k && rvm__function_add_param(p, f, &q, name, 1) == k &&
           rvm__function_add_symbol(p, f, &s, name, 1) >= 0;
}

static bool make(sample *s, rvm_row row) {
    const int n = rvm__row_info[row].arity;
    const rvm_position nowhere = {0, 0, 0};
    rvm_place places[4] = {{.kind = RVM_PLACE_SLOT}};
    s->p = rvm__program_new(NULL);
    const int64_t fn = s->p ? rvm__program_add_function(s->p, "f", 1) : -1;
    if (fn < 0) return false;
    s->fn = (uint32_t)fn;
    rvm_function *f = &s->p->functions[fn];
    bool good = add_param(s->p, f, "y", s->y, 0);
    for (int k = 0; k < n && good; k++) {
        places[k + 1] = (rvm_place){.kind = RVM_PLACE_SLOT, .slot = (uint16_t)(k + 1)};
        good = add_param(s->p, f, &"abc"[k], s -> operand[k], (uint32_t)k + 1);
    }
    good = good && rvm__function_emit(s->p, f, RVM_OP_start, 0, 0, 0, NULL, 0, nowhere) == 0;
    good = good && rvm__function_emit(s->p, f, RVM_OP_add, row, 0, 0, places, (uint32_t)n + 1, nowhere) == 1;
    good = good && rvm__function_emit(s->p, f, RVM_OP_halt, 0, 0, 0, NULL, 0, nowhere) == 2;
    if (good) rvm__function_finish(f);
    return good;
}

/* Instructions from..to - 1 of a function, a line of the table's cell each. */
static void print_code(const rvm_program *p, uint32_t fn, uint32_t from, uint32_t to) {
    const rvm_function *f = &p->functions[fn];
    for (uint32_t pc = from; pc < to; pc++) {
        const rvm_view v = {.p = p, .f = f, .pc = pc};
        rvm_sink out = {.file = stdout};
        printf("%s`", pc > from ? "<br>" : "");
        rvm__put_insn(&out, &v);
        printf("`");
    }
}

static bool print_row(rvm_row row) {
    sample s = {.y = RVM_F64, .t = RVM_F64};
    uint32_t tangent, adjoint;
    bool good = true;
    const bool converts = rvm__row_info[row].sig == RVM_SIG_CONV;
    if (!rvm__row_types(row, s.y, converts ? RVM_FIX : s.t, s.operand)) return true; /* of integers: it has neither */
    good = make(&s, row) && !rvm__transform_declare(s.p, s.fn, RVM_TANGENT_OF, NULL, &tangent, NULL) &&
           !rvm__transform_declare(s.p, s.fn, RVM_ADJOINT, NULL, &adjoint, NULL) && !rvm__transform_resolve(s.p, NULL);
    if (good) {
        printf("| ");
        print_code(s.p, s.fn, 1, 2);
        printf(" | ");
        print_code(s.p, tangent, 1, s.p->functions[tangent].ncode - 1);
        printf(" | ");
        print_code(s.p, adjoint, 1, s.p->functions[adjoint].ncode - 1);
        printf(" |\n");
    }
    rvm_program_free(s.p);
    return good;
}

bool docgen_derivatives(void) {
    bool good = true;
    printf("\n## Updates: tangents and adjoints as instructions\n\n"
           "What `f'tan` and `f'adj` have in place of an update of a real, all of whose operands are active: shadows are "
           "x_d and "
           "x_b,\n"
           "temporaries %%k. Made by the transforms from the partial derivatives above.\n\n"
           "| update | tangent | adjoint |\n|--|--|--|\n");
    for (int row = 0; row < RVM_ROW_COUNT && good; row++) good = print_row((rvm_row)row);
    return good;
}
