/* verifier.c: programs that no assembler makes, through the builder: each lie is refused, and without a crash. */
#include <criterion/criterion.h>
#include <string.h>

#include "harness.h"
#include "builder.h"
#include "rbc.h"

/* fn f(x: i64, v: f64[n]) with registers x, n, t: i64 and r: f64, an array, and the constants 3 (i64) and 1.5 (f64). */
typedef struct built {
    rvm_program *p;
    rvm_function *f;
    uint16_t three, half; /* slots once finished */
} built;
enum { X, N, T, R, REGS };

static const rvm_position at = {1, 1, 0};

static built start_program(void) {
    built b = {.p = rvm__program_new(NULL)};
    cr_assert(b.p && rvm__program_add_file(b.p, "built.rasm") == 0 && rvm__program_add_function(b.p, "f", 1) == 0);
    b.f = &b.p->functions[0];
    for (int k = 0; k < R; k++) rvm__function_add_register(b.p, b.f, RVM_I64);
    rvm__function_add_register(b.p, b.f, RVM_F64);
    rvm__function_add_array(b.p, b.f, RVM_F64, 1);
    b.three = RVM_BUILD_CONST + (uint16_t)rvm__function_add_const(b.p, b.f, RVM_I64, (rvm_value){.i = 3});
    b.half = RVM_BUILD_CONST + (uint16_t)rvm__function_add_const(b.p, b.f, RVM_F64, (rvm_value){.f = 1.5});
    rvm_param x = {.type = RVM_I64, .index = X}, v = {.type = RVM_F64, .ndim = 1, .index = 0, .dim = {N}};
    rvm__function_add_param(b.p, b.f, &x, "x", 1);
    rvm__function_add_param(b.p, b.f, &v, "v", 1);
    rvm__function_emit(b.p, b.f, RVM_OP_start, 0, 0, 0, NULL, 0, at);
    return b;
}

static rvm_place slot(uint16_t k) {
    return (rvm_place){.kind = RVM_PLACE_SLOT, .slot = k};
}
static rvm_place element(uint16_t index) {
    return (rvm_place){.kind = RVM_PLACE_ELEM, .nidx = 1, .slot = 0, .idx = {index}};
}

static void emit(built *b, rvm_op op, rvm_row row, uint32_t target, uint32_t n, const rvm_place *places) {
    cr_assert(rvm__function_emit(b->p, b->f, op, row, 0, target, places, n, at) >= 0);
}

static rvm_status verify(built *b, rvm_error *e) {
    emit(b, RVM_OP_halt, 0, 0, 0, NULL);
    rvm__function_finish(b->f);
    return rvm__verify(b->p, e);
}

/* A sound program of one update; the lie is told behind the builder's back. */
static built sound(void) {
    built b = start_program();
    emit(&b, RVM_OP_add, RVM_ROW_add, 0, 3, (rvm_place[]){slot(X), slot(N), slot(b.three)});
    emit(&b, RVM_OP_add, RVM_ROW_id, 0, 2, (rvm_place[]){element(N), slot(b.half)});
    return b;
}

#define REFUSED(code_, what, ...)                                                                                           \
    do {                                                                                                                    \
        built b = sound();                                                                                                  \
        rvm_function *f = b.f;                                                                                              \
        rvm_error e = {0};                                                                                                  \
        emit(&b, RVM_OP_halt, 0, 0, 0, NULL);                                                                               \
        rvm__function_finish(f);                                                                                            \
        __VA_ARGS__;                                                                                                        \
        rvm_status s = rvm__verify(b.p, &e);                                                                                \
        cr_assert(s == RVM_ERR_##code_, "%s: %s", what, rvm_status_name(s));                                                \
        cr_assert(e.message[0] && !b.p->verified, "%s", what);                                                              \
        rvm_program_free(b.p);                                                                                              \
    } while (0)

Test(verifier, sound_program) {
    built b = sound();
    rvm_error e = {0};
    cr_assert(verify(&b, &e) == RVM_OK && b.p->verified, "%s", e.message);
    cr_assert(b.f->params[0].role == RVM_ACC && b.f->params[1].role == RVM_ACC);
    rvm_program_free(b.p);
}

Test(verifier, operands) {
    REFUSED(VERIFY, "slot past the constants", f->places[1].slot = 60);
    REFUSED(VERIFY, "slot at the end of the field", f->places[1].slot = UINT16_MAX);
    REFUSED(VERIFY, "a constant as the target", f->places[0].slot = (uint16_t)f->nregs);
    REFUSED(VERIFY, "a register of another type", f->places[1].slot = R);
    REFUSED(VERIFY, "a register that is not present", f->places[1].slot = T);
    REFUSED(VERIFY, "a length as the target", f->places[0].slot = N, f->places[1].slot = X);
    REFUSED(ALIAS, "the target among the operands", f->places[1].slot = X);
    REFUSED(VERIFY, "a whole array as an operand", f->places[1].kind = RVM_PLACE_ARRAY, f->places[1].slot = 0);
    REFUSED(VERIFY, "a range as an operand", f->places[1].kind = RVM_PLACE_RANGE);
    REFUSED(VERIFY, "a kind that does not exist", f->places[1].kind = 77);
    REFUSED(VERIFY, "an array that does not exist", f->places[3].slot = 9);
    REFUSED(VERIFY, "too few indices", f->places[3].nidx = 0);
    REFUSED(VERIFY, "too many indices", f->places[3].nidx = 2);
    REFUSED(VERIFY, "an index that is a real", f->places[3].idx[0] = R);
    REFUSED(VERIFY, "an index past the slots", f->places[3].idx[0] = 999);
}

Test(verifier, instructions) {
    REFUSED(VERIFY, "an opcode that does not exist", f->code[1].op = 255);
    REFUSED(VERIFY, "an odd opcode without an inverse", f->code[1].op = RVM_OP_swap + 1);
    REFUSED(VERIFY, "a row that does not exist", f->code[1].row = 255);
    REFUSED(VERIFY, "a row of another type", f->code[1].row = RVM_ROW_div);
    REFUSED(VERIFY, "a row of another arity", f->code[1].row = RVM_ROW_fma);
    REFUSED(VERIFY, "places past the pool", f->code[1].places = 5);
    REFUSED(VERIFY, "places far past the pool", f->code[1].places = UINT32_MAX - 1);
    REFUSED(VERIFY, "more places than it takes", f->code[1].nplaces = 4);
    REFUSED(VERIFY, "fewer places than it takes", f->code[1].nplaces = 2);
    REFUSED(VERIFY, "flags that do not exist", f->code[1].flags = 0x80);
    REFUSED(VERIFY, "a tolerance on an update", f->code[1].flags = RVM_FLAG_TOL);
    REFUSED(VERIFY, "no start", f->code[0].op = RVM_OP_trap);
    REFUSED(VERIFY, "no halt", f->code[f->ncode - 1].op = RVM_OP_trap);
    REFUSED(VERIFY, "halt in the middle", f->code[1] = f->code[f->ncode - 1]);
    REFUSED(VERIFY, "start in the middle", f->code[1] = f->code[0]);
    REFUSED(VERIFY, "no code", f->ncode = 0);
    REFUSED(VERIFY, "one instruction", f->ncode = 1);
}

Test(verifier, declarations) {
    REFUSED(VERIFY, "a register of no type", f->reg_type[T] = 9);
    REFUSED(VERIFY, "a constant of no type", f->const_type[0] = 9);
    REFUSED(VERIFY, "an array of no type", f->arrays[0].type = 9);
    REFUSED(VERIFY, "an array of no dimension", f->arrays[0].ndim = 0);
    REFUSED(VERIFY, "an array of five dimensions", f->arrays[0].ndim = 5);
    REFUSED(VERIFY, "a parameter of another type than its register", f->params[0].type = RVM_F64);
    REFUSED(VERIFY, "a parameter of another shape than its array", f->params[1].ndim = 2);
    REFUSED(VERIFY, "a parameter past the registers", f->params[0].index = 99);
    REFUSED(VERIFY, "a parameter past the arrays", f->params[1].index = 3);
    REFUSED(VERIFY, "a length that is a real", f->params[1].dim[0] = R);
    REFUSED(VERIFY, "a length that is a parameter", f->params[1].dim[0] = X);
    REFUSED(VERIFY, "a length past the slots", f->params[1].dim[0] = 500);
    REFUSED(VERIFY, "an f32 constant that no float holds", (f->const_type[1] = RVM_F32, f->consts[1].f = 0.1));
}

/* Control: each is a program of its own. */
static void refuse_code(const char *what, uint32_t n, const rvm_insn *code, const rvm_place *places) {
    built b = start_program();
    rvm_error e = {0};
    for (uint32_t k = 0; k < n; k++)
        emit(&b, (rvm_op)code[k].op, (rvm_row)code[k].row, code[k].target, code[k].nplaces, places + code[k].places);
    rvm_status s = verify(&b, &e);
    cr_assert(s == RVM_ERR_VERIFY, "%s: %s", what, rvm_status_name(s));
    rvm_program_free(b.p);
}

Test(verifier, control) {
    const rvm_place x[] = {slot(X)}, loop[] = {slot(T), slot(N), slot(N), slot(X)},
                    other[] = {slot(T), slot(N), slot(X), slot(X)};
#define CODE(...) (sizeof((rvm_insn[]){__VA_ARGS__}) / sizeof(rvm_insn)), (rvm_insn[]){__VA_ARGS__}
    refuse_code("a jump past the code", CODE({.op = RVM_OP_jmp, .target = 99}), x);
    refuse_code("a jump to itself", CODE({.op = RVM_OP_jmp, .target = 1}), x);
    refuse_code("a jump to the start", CODE({.op = RVM_OP_jmp, .target = 0}), x);
    refuse_code("a jump to the last number", CODE({.op = RVM_OP_jmp, .target = UINT32_MAX}), x);
    refuse_code("a come-from of nothing", CODE({.op = RVM_OP_cf, .target = 0}), x);
    refuse_code("two come-froms of one jump",
                CODE({.op = RVM_OP_jt, .nplaces = 1, .target = 2}, {.op = RVM_OP_cft, .nplaces = 1, .target = 1},
                     {.op = RVM_OP_cft, .nplaces = 1, .target = 1}),
                x);
    refuse_code("jt with cff",
                CODE({.op = RVM_OP_jt, .nplaces = 1, .target = 2}, {.op = RVM_OP_cff, .nplaces = 1, .target = 1}), x);
    refuse_code("for without next", CODE({.op = RVM_OP_for, .nplaces = 4, .target = 1}), loop);
    refuse_code("next before for",
                CODE({.op = RVM_OP_next, .nplaces = 4, .target = 2}, {.op = RVM_OP_for, .nplaces = 4, .target = 1}), loop);
    refuse_code(
        "for and next of other places",
        CODE({.op = RVM_OP_for, .nplaces = 4, .target = 2}, {.op = RVM_OP_next, .nplaces = 4, .places = 4, .target = 1}),
        (rvm_place[]){loop[0], loop[1], loop[2], loop[3], other[0], other[1], other[2], other[3]});
    refuse_code("compute alone", CODE({.op = RVM_OP_compute}), x);
    refuse_code("undo alone", CODE({.op = RVM_OP_undo}), x);
    refuse_code("do before compute", CODE({.op = RVM_OP_do}, {.op = RVM_OP_compute}, {.op = RVM_OP_undo}), x);
    refuse_code("two do", CODE({.op = RVM_OP_compute}, {.op = RVM_OP_do}, {.op = RVM_OP_do}, {.op = RVM_OP_undo}), x);
    refuse_code("a call of no function", CODE({.op = RVM_OP_call, .nplaces = 1, .target = 7}), x);
    refuse_code("a call with too few arguments", CODE({.op = RVM_OP_call, .nplaces = 1, .target = 0}), x);
    refuse_code(
        "a jump into a loop",
        CODE({.op = RVM_OP_jt, .nplaces = 1, .places = 4, .target = 3}, {.op = RVM_OP_for, .nplaces = 4, .target = 4},
             {.op = RVM_OP_cft, .nplaces = 1, .places = 4, .target = 1}, {.op = RVM_OP_next, .nplaces = 4, .target = 2}),
        (rvm_place[]){loop[0], loop[1], loop[2], loop[3], slot(X)});
    refuse_code("a jump out of a region",
                CODE({.op = RVM_OP_compute}, {.op = RVM_OP_jt, .nplaces = 1, .target = 5}, {.op = RVM_OP_do},
                     {.op = RVM_OP_undo}, {.op = RVM_OP_cft, .nplaces = 1, .target = 2}),
                x);
}

/* A file may claim roles; other ones than the verifier infers are refused, as is a checksum-right file with them. */
Test(verifier, claimed_roles) {
    report rep = {.name = "verifier"};
    rvm_program *p = assemble_text("fn f(y: i64, x: i64)\n    y += x\nend\n", NULL, &rep), *q = NULL;
    rvm_error e;
    for (int k = 0; k < 2; k++)
        for (int role = 0; role < 3; role++) {
            void *bytes = NULL;
            size_t size;
            uint8_t truth = p->functions[0].params[k].role;
            p->functions[0].params[k].role = (uint8_t)role;
            cr_assert(rvm__encode(p, &bytes, &size, &e) == RVM_OK);
            rvm_status s = rvm_program_load(bytes, size, "roles.rbc", NULL, &q, &e);
            cr_assert(s == (role == truth ? RVM_OK : RVM_ERR_VERIFY), "parameter %d as %d: %s", k, role, rvm_status_name(s));
            rvm_program_free(q);
            rvm_program_free_bytes(p, bytes, size);
            p->functions[0].params[k].role = truth;
        }
    rvm_program_free(p);
}

/* Roles over the call graph: recursion, and a role that rises through three functions. */
Test(verifier, roles_over_calls) {
    report rep = {.name = "verifier"};
    rvm_program *p = assemble_text("fn a(x: i64, n: i64)\n    if n > 0\n        call b(x, n - 1)\n    end\nend\n"
                                   "fn b(x: i64, n: i64)\n    call a(x, n)\n    call c(x, n)\nend\n"
                                   "fn c(x: i64, n: i64)\n    call d(x)\nend\n"
                                   "fn d(x: i64)\n    neg x\nend\n",
                                   NULL, &rep);
    cr_assert(p);
    for (int k = 0; k < 3; k++) {
        cr_assert(p->functions[k].params[0].role == RVM_OWN, "function %d", k);
        cr_assert(p->functions[k].params[1].role == RVM_READ, "function %d", k);
    }
    rvm_program_free(p);
}
