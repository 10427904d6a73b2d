/* fold.c: functions for given values: what they become, which copies of callees there are, and what cannot be given. That
 * results stay the same every case shows (tests/harness/fold.c).
 */
#include <criterion/criterion.h>
#include <string.h>

#include "harness.h"
#include "shaped.h"
#include "program.h"

static const char source[] = "fn total(out: real, x: real[n, m], w: real, k: i64, q: f32)\n"
                             "    let v: real[m] = 0\n"
                             "    for i in 0..n\n"
                             "        call add(v, x[i], w)\n"
                             "    end\n"
                             "    call sum(out, v)\n"
                             "    call sum(out, x[0, 1..m])\n"
                             "    if k > 0\n"
                             "        out += f64(q) * 2\n"
                             "    end\n"
                             "    for i in 0..n\n"
                             "        uncall add(v, x[i], w)\n"
                             "    end\n"
                             "end\n"
                             "fn add(y: real[m], x: real[m], w: real)\n"
                             "    for j in 0..m\n"
                             "        y[j] += x[j] * w\n"
                             "    end\n"
                             "end\n"
                             "fn sum(out: real, x: real[n])\n"
                             "    for i in 0..n\n"
                             "        out += x[i]\n"
                             "    end\n"
                             "end\n"
                             "fn deep(out: i64, n: i64, k: i64)\n"
                             "    if n > 0\n"
                             "        out += k\n"
                             "        call deep(out, n - 1, k)\n"
                             "    end\n"
                             "end\n"
                             "fn same(x: real[n], i: i64, j: i64)\n"
                             "    x[i] += x[j]\n"
                             "end\n"
                             "raw fn jump\n"
                             "    .reg i64 i64\n"
                             "    .param y %0\n"
                             "    .param c %1\n"
                             "    start\n"
                             "  J: jt %1, L\n"
                             "    inc %0\n"
                             "  L: cft %1, J\n"
                             "    halt\n"
                             "end\n";

static report rep = {.name = "fold"};
static rvm_program *program, *folded;
static rvm_error e;
static uint32_t fn;

static void setup(void) {
    program = assemble_text(source, NULL, &rep);
    cr_assert(program);
}

static void teardown(void) {
    rvm_program_free(folded);
    rvm_program_free(program);
    folded = NULL;
}

TestSuite(fold, .init = setup, .fini = teardown);

static rvm_status fold(const char *name, const rvm_constant *constants, uint32_t n) {
    rvm_program_free(folded);
    return rvm_program_fold(program, (uint32_t)rvm_program_find(program, name), constants, n, &folded, &fn, &e);
}

static bool has(const char *name) {
    return rvm_program_find(folded, name) >= 0;
}

static rvm_param_info param(const char *function, uint32_t k) {
    rvm_param_info info;
    cr_assert(rvm_program_param(folded, (uint32_t)rvm_program_find(folded, function), k, &info) == RVM_OK);
    return info;
}

Test(fold, parameters_and_lengths) {
    const rvm_constant constants[] = {{"m", {.i = 4}}, {"w", {.f = 0.5}}};
    cr_assert(fold("total", constants, 2) == RVM_OK, "%s", e.message);
    cr_expect(!strcmp(rvm_program_function_name(folded, fn), "total'const"));
    cr_expect(rvm_program_param_count(folded, fn) == 4, "w is gone");
    const rvm_param_info x = param("total'const", 1);
    cr_expect(!strcmp(x.name, "x") && !strcmp(x.dim_name[0], "n") && !x.dim_name[1] && x.dim_value[1] == 4);
    cr_expect(!strcmp(param("total'const", 2).name, "k"));
    cr_expect(rvm_program_find(folded, "total") == 0, "what was there stays");
}

/* One copy for each set of values: add for both its calls, forward and backward; sum for a local array and for a slice. */
Test(fold, callees) {
    const rvm_constant constants[] = {{"m", {.i = 4}}, {"w", {.f = 0.5}}};
    cr_assert(fold("total", constants, 2) == RVM_OK, "%s", e.message);
    cr_expect(has("add'const") && !has("add'const2") && has("sum'const") && has("sum'const2") && !has("sum'const3"));
    cr_expect(rvm_program_param_count(folded, (uint32_t)rvm_program_find(folded, "add'const")) == 2);
    cr_expect(param("add'const", 0).dim_value[0] == 4 && param("sum'const2", 1).dim_value[0] == 3);
    cr_assert(fold("total", &(rvm_constant){"k", {.i = 1}}, 1) == RVM_OK);
    cr_expect(!has("add'const") && !has("sum'const"), "nothing that they take is given");
    cr_assert(fold("deep", &(rvm_constant){"k", {.i = 7}}, 1) == RVM_OK);
    cr_expect(has("deep'const") && !has("deep'const2"), "it calls itself");
    cr_assert(fold("deep", &(rvm_constant){"n", {.i = 7}}, 1) == RVM_OK);
    cr_expect(!has("deep'const2"), "n - 1 is computed");
}

/* Again, and derivatives of it: other functions. */
Test(fold, names) {
    const rvm_constant m = {"m", {.i = 4}}, n = {"n", {.i = 2}};
    rvm_program *again = NULL, *derived = NULL;
    cr_assert(fold("total", &m, 1) == RVM_OK);
    cr_assert(rvm_program_fold(folded, 0, &n, 1, &again, &fn, &e) == RVM_OK, "%s", e.message);
    cr_expect(!strcmp(rvm_program_function_name(again, fn), "total'const2"));
    cr_assert(rvm_program_derive(folded, "total'const'grad", &derived, &fn, &e) == RVM_OK, "%s", e.message);
    rvm_program_free(derived);
    rvm_program_free(again);
}

/* A jump has a register for its condition. */
Test(fold, conditions) {
    for (int64_t c = 0; c < 2; c++) {
        rvm_machine *m = NULL;
        rvm_arg a = rvm_arg_i64(5);
        cr_assert(fold("jump", &(rvm_constant){"c", {.i = c}}, 1) == RVM_OK, "%s", e.message);
        cr_assert(rvm_machine_new(folded, NULL, &m, &e) == RVM_OK);
        cr_assert(rvm_call(m, fn, &a, 1, &e) == RVM_OK, "%s", e.message);
        cr_expect(a.value.i == (c ? 5 : 6), "%lld", (long long)a.value.i);
        rvm_machine_free(m);
    }
}

static void refused(const char *name, const rvm_constant *constants, uint32_t n, rvm_status status, const char *text) {
    cr_expect(fold(name, constants, n) == status && strstr(e.message, text) && !folded, "%s: %s", constants->name,
              e.message);
}

Test(fold, refused) {
    const rvm_constant twice[] = {{"n", {.i = 4}}, {"n", {.i = 4}}}, ij[] = {{"i", {.i = 4}}, {"j", {.i = 4}}};
    refused("total", &(rvm_constant){"z", {.i = 4}}, 1, RVM_ERR_ARGUMENT, "no parameter and no length `z`");
    refused("total", &(rvm_constant){"x", {.i = 4}}, 1, RVM_ERR_ARGUMENT, "`x` is an array");
    refused("total", &(rvm_constant){"out", {.f = 4}}, 1, RVM_ERR_ARGUMENT, "changes `out`");
    refused("total", &(rvm_constant){"n", {.i = -4}}, 1, RVM_ERR_ARGUMENT, "is negative: -4");
    refused("total", &(rvm_constant){"q", {.f = 0.1}}, 1, RVM_ERR_ARGUMENT, "does not fit");
    refused("total", twice, 2, RVM_ERR_ARGUMENT, "given twice");
    refused("same", ij, 2, RVM_ERR_ALIAS, "also appears as an operand");
    cr_expect(rvm_program_fold(program, 99, twice, 0, &folded, &fn, &e) == RVM_ERR_USAGE && !folded);
}

/* Lengths that disagree are found when the call is bound. */
Test(fold, shapes) {
    rvm_machine *m = NULL;
    double x[3] = {1, 2, 3};
    const int64_t shape = 3;
    rvm_arg a[] = {rvm_arg_f64(0), rvm_arg_array_f64(x, 1, &shape)};
    for (int64_t n = 2; n < 4; n++) {
        cr_assert(fold("sum", &(rvm_constant){"n", {.i = n}}, 1) == RVM_OK);
        cr_assert(rvm_machine_new(folded, NULL, &m, &e) == RVM_OK);
        cr_expect(rvm_call(m, fn, a, 2, &e) == (n == 3 ? RVM_OK : RVM_ERR_SHAPE), "%s", e.message);
        rvm_machine_free(m);
    }
    cr_expect(a[0].value.f == 6);
}

/* `total` for m = 4. */
static rvm_status shape(const rvm_program *p, rvm__shaped *to) {
    uint16_t registers[4];
    int64_t lengths[40];
    cr_assert(rvm__length_registers(&p->functions[0], registers, 4) == 2);
    for (int k = 0; k < 40; k++) lengths[k] = k == registers[1] ? 4 : -1;
    return rvm__shaped_make(p, 0, lengths, to, &e);
}

/* For engines: the frames stay. */
Test(fold, frames) {
    rvm__shaped s;
    const rvm_function *f = &program->functions[0];
    uint16_t registers[4];
    cr_assert(rvm__length_registers(f, registers, 1) == 1 && rvm__length_registers(f, registers, 4) == 2);
    cr_assert(rvm__verify(program, &e) == RVM_OK && shape(program, &s) == RVM_OK, "%s", e.message);
    cr_expect(s.first == program->nfunctions && s.ncopies == 4 && s.fn == s.first, "total, add, and two of sum");
    for (uint32_t k = 0; k < s.ncopies; k++) {
        const rvm_function *of = &s.p->functions[s.copies[k].of], *g = &s.p->functions[s.first + k];
        cr_expect(rvm__shaped_at(&s, s.first + k) == &s.copies[k] && !rvm__shaped_at(&s, s.copies[k].of));
        cr_expect(g->ncode == of->ncode && g->nregs == of->nregs && g->narrays == of->narrays && g->nparams == of->nparams);
        for (uint32_t pc = 0; pc < g->ncode; pc++) cr_expect(g->code[pc].op == of->code[pc].op);
        for (uint32_t n = 0; n < g->nparams; n++) {
            cr_expect(g->params[n].index == of->params[n].index);
            for (int d = 0; d < g->params[n].ndim; d++)
                cr_expect(g->params[n].dim[d] == of->params[n].dim[d], "the register of a length stays one");
        }
    }
    cr_expect(s.copies[0].value[registers[0]] == -1 && s.copies[0].value[registers[1]] == 4);
    cr_expect(s.copies[1].of == 1 && s.copies[1].value[s.p->functions[1].params[0].dim[0]] == 4);
    rvm__shaped_free(&s);
    cr_expect(!s.p && !rvm__shaped_at(&s, 0));
}

/* Recursion gets copies for some of its lengths, then the function itself; also where there are no more such lengths. */
Test(fold, recursion) {
    static const char chain[] = "fn chain(s: real, x: real[n])\n"
                                "    if n > 0\n"
                                "        s += x[0]\n"
                                "        call chain(s, x[1..n])\n"
                                "    end\n"
                                "end\n";
    rvm_program *p;
    int64_t lengths[40];
    cr_assert(rvm_assemble(chain, sizeof chain - 1, "chain.rasm", NULL, &p, &e, NULL, NULL) == RVM_OK, "%s", e.message);
    cr_assert(rvm__verify(p, &e) == RVM_OK);
    for (int64_t n = 20; n > 0; n -= 15) {
        const uint32_t copies = n > 8 ? 8 : 6; /* of 5, 4, 3, 2, 1 and 0 */
        rvm__shaped s;
        for (int k = 0; k < 40; k++) lengths[k] = k == p->functions[0].params[1].dim[0] ? n : -1;
        cr_assert(rvm__shaped_make(p, 0, lengths, &s, &e) == RVM_OK && s.ncopies == copies, "%s", e.message);
        const rvm_function *last = &s.p->functions[s.first + copies - 1];
        for (uint32_t pc = 0; pc < last->ncode; pc++)
            cr_expect(last->code[pc].op != RVM_OP_call || last->code[pc].target == 0);
        rvm__shaped_free(&s);
    }
    rvm_program_free(p);
}

static rvm_status try(const counting *c) {
    const rvm_constant constants[] = {{"m", {.i = 4}}, {"w", {.f = 0.5}}};
    rvm_program *p = NULL, *q = NULL;
    rvm__shaped s = {0};
    uint32_t index;
    rvm_status st =
        rvm_assemble(source, sizeof source - 1, "fold.rasm", &(rvm_asm_options){.allocator = &c->al}, &p, NULL, NULL, NULL);
    if (!st) st = rvm_program_fold(p, 0, constants, 2, &q, &index, NULL);
    if (!st) st = shape(p, &s);
    rvm__shaped_free(&s);
    rvm_program_free(q);
    rvm_program_free(p);
    return st;
}

Test(fold, out_of_memory) {
    counting c;
    rvm_status st = RVM_ERR_MEMORY;
    counting_init(&c);
    for (uint64_t k = 1; st == RVM_ERR_MEMORY && k < 100000; k++) {
        c.calls = 0;
        c.fail_at = k;
        st = try(&c);
        cr_assert(st == RVM_OK || st == RVM_ERR_MEMORY, "allocation %llu: %d", (unsigned long long)k, st);
        cr_assert(c.live_blocks == 0 && !c.mismatch, "allocation %llu", (unsigned long long)k);
    }
    cr_assert(st == RVM_OK);
}
