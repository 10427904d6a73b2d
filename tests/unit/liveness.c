/* liveness.c: which instructions of a run nobody observes. Programs say it themselves, behind updates and changes in place:
 *
 *     # dead       in a run of the function that is unchecked and trusted
 *     # proved     in one that is unchecked
 *     # used       never; then the reason
 *
 * That leaving them out has no effect every case shows (tests/harness/liveness.c).
 */
#include <criterion/criterion.h>
#include <string.h>

#include "harness.h"
#include "liveness.h"
#include "program.h"

static const char source[] = "fn arrays(y: real, x: real[n])\n"
                             "    let w: real[n] = 0\n"
                             "    let s: real\n"
                             "    for i in 0..n\n"
                             "        w[i] += x[i] # used: y gains it\n"
                             "        s += x[i] # proved: by itself only\n"
                             "    end\n"
                             "    for i in 0..n\n"
                             "        y += w[i] # used: the result\n"
                             "    end\n"
                             "    neg s # proved\n"
                             "    for i in 0..n\n"
                             "        w[i] -= x[i] # used: by a factor\n"
                             "        s += x[i] # proved\n"
                             "    end\n"
                             "    w[n // 2] *= 3 # used: a factor may be 0\n"
                             "    w[n // 2] /= 3 # used\n"
                             "    w[n // 2] += 1 # dead: an index that is not proved\n"
                             "    w[n // 2] -= 1 # dead\n"
                             "end\n"
                             "fn rows(y: real, x: real[n, m])\n"
                             "    let w: real[n, m] = 0\n"
                             "    let v: real[n, m] = 0\n"
                             "    for i in 0..n\n"
                             "        for j in 0..m\n"
                             "            w[i, j] += x[i, j] # used\n"
                             "            v[0, j] += x[i, j] # used: by the next row\n"
                             "            v[0, j] += v[1, j] # used\n"
                             "        end\n"
                             "        for j in 0..m\n"
                             "            y += w[i, j] # used\n"
                             "            y += v[0, j] # used\n"
                             "        end\n"
                             "        for j in 0..m\n"
                             "            w[i, j] -= x[i, j] # proved: the next row is another\n"
                             "            v[0, j] -= x[i, j] # used: not so\n"
                             "        end\n"
                             "        call scale(w[i], y) # used: a row\n"
                             "    end\n"
                             "end\n"
                             "fn scale(x: real[m], a: real)\n"
                             "    for j in 0..m\n"
                             "        x[j] -= a # proved: no caller looks at it\n"
                             "    end\n"
                             "end\n"
                             "fn steps(y: real, n: i64)\n"
                             "    let w: real[n] = 1\n"
                             "    let v: real[n] = 1\n"
                             "    for i in 1..n\n"
                             "        w[i] += w[i - 1] # used: by the next step\n"
                             "        v[i - 1] += v[i] # used: by y\n"
                             "    end\n"
                             "    for i in 0..n\n"
                             "        y += w[i] # used\n"
                             "        y += v[i] # used\n"
                             "    end\n"
                             "    for i in n - 1..0 step -1\n"
                             "        y += v[i] # used\n"
                             "        w[i] -= w[i - 1] # dead: later steps are below\n"
                             "        v[i - 1] -= v[i] # used: by y, a step later\n"
                             "    end\n"
                             "end\n"
                             "fn offsets(y: real, n: i64, k: i64)\n"
                             "    let w: real[n] = 1\n"
                             "    let v: real[n] = 1\n"
                             "    let u: real[n] = 1\n"
                             "    let t: real[n] = 1\n"
                             "    for i in 1..n - 1\n"
                             "        y += w[i] # used\n"
                             "        w[i - 1] += 1 # dead: later steps are above\n"
                             "        let j = i\n"
                             "        v[i] -= v[j] # used: fails\n"
                             "        v[i] -= v[k] # used: may fail\n"
                             "        u[i] -= u[i + 1] # dead\n"
                             "    end\n"
                             "    for i in 1..n - 1\n"
                             "        t[i + 1] += 1 # used: by the next step\n"
                             "        y += t[i] # used\n"
                             "        let j = i + 1\n"
                             "        j -= 1 # used\n"
                             "        t[j] += 1 # used: it is i\n"
                             "        y += t[i] # used\n"
                             "        j += 1 # proved\n"
                             "    end\n"
                             "end\n"
                             "fn ways(y: real, x: real, k: i64)\n"
                             "    let s: real = x\n"
                             "    if k > 0\n"
                             "        s += x # used: in one of two\n"
                             "        s *= 2 # used\n"
                             "    else\n"
                             "        s -= x # used\n"
                             "    end\n"
                             "    y += s # used\n"
                             "    let t: real = x\n"
                             "    from t == x while t < 5\n"
                             "        t += 1 # used: by the condition\n"
                             "        s -= 1 # proved: not here\n"
                             "    end\n"
                             "    if k > 0\n"
                             "        s += x # proved\n"
                             "    end\n"
                             "end\n"
                             "fn caller(y: real, x: real[n])\n"
                             "    let w: real[n] = 0\n"
                             "    let u: real[n] = 0\n"
                             "    call callee(w, y, x, 3) # used\n"
                             "    call callee(u, y, x, 2) # used\n"
                             "    uncall other(u, x) # used\n"
                             "    call other(w, x) # used\n"
                             "    for i in 0..n\n"
                             "        y += w[i] # used\n"
                             "    end\n"
                             "end\n"
                             "fn callee(w: real[n], y: real, x: real[n], depth: i64)\n"
                             "    if depth > 0\n"
                             "        call callee(w, y, x, depth - 1) # used\n"
                             "    end\n"
                             "    let z: real\n"
                             "    for i in 0..n\n"
                             "        w[i] += x[i] # used: by one of the callers\n"
                             "        y += x[i] # used\n"
                             "        z += x[i] # proved\n"
                             "    end\n"
                             "end\n"
                             "fn other(w: real[n], x: real[n])\n"
                             "    for i in 0..n\n"
                             "        w[i] += x[i] # used: when it goes forward\n"
                             "    end\n"
                             "end\n"
                             "fn places(y: real, x: fix)\n"
                             "    let a: real\n"
                             "    let b: real\n"
                             "    let f: fix\n"
                             "    swap a, b # used: by what b gives\n"
                             "    a += 1 # used\n"
                             "    swap a, b # used\n"
                             "    y += b # used\n"
                             "    rot a, b, 0.5 # used: a is pushed\n"
                             "    f += x # proved\n"
                             "    push a # used\n"
                             "    pop a # used\n"
                             "    rot a, b, 0.5 # proved\n"
                             "    swap a, b # proved\n"
                             "end\n"
                             "fn regions(y: real, x: real)\n"
                             "    let q: real\n"
                             "    compute\n"
                             "        q += x # used: before do, though not behind it\n"
                             "        let s: real\n"
                             "        s += x # used\n"
                             "    do\n"
                             "        y += q * s # used\n"
                             "    undo\n"
                             "    parallel i in 0..3\n"
                             "        y += x # used\n"
                             "        q += x # proved: a sum nobody wants\n"
                             "    end\n"
                             "end\n";

static report rep = {.name = "dead"};
static rvm_program *program;

static void setup(void) {
    program = assemble_text(source, NULL, &rep);
    cr_assert(program);
}

static void teardown(void) {
    rvm_program_free(program);
}

TestSuite(liveness, .init = setup, .fini = teardown);

static const char *mark_at(uint32_t line) {
    const char *text = source;
    while (--line) text = strchr(text, '\n') + 1;
    const size_t n = strcspn(text, "#\n");
    return text[n] == '#' ? text + n + 2 : "";
}

static bool expected(const char *mark, bool unchecked, bool trust) {
    return unchecked && (!strncmp(mark, "proved", 6) || (trust && !strncmp(mark, "dead", 4)));
}

static bool reached(const rvm__liveness *liveness, uint32_t fn, bool backward) {
    return rvm__liveness_at(liveness, fn, backward, 0, backward) != RVM__NOT_PASSED;
}

/* Going the way in which the function is called. Temporaries that appear and disappear on the line are passed over. */
static void check_function(const rvm__liveness *liveness, uint32_t fn, const rvm__liveness_run *run) {
    const rvm_function *f = &program->functions[fn];
    for (uint32_t pc = 0; pc < f->ncode; pc++) {
        const char *mark = mark_at(f->positions[pc].line);
        const rvm_op op = (rvm_op)f->code[pc].op;
        const bool temporary = rvm__pair_of(op) == RVM_PAIR_let || rvm__pair_of(op) == RVM_PAIR_view;
        if (!*mark || temporary || !reached(liveness, fn, false)) continue;
        const bool is = rvm__liveness_at(liveness, fn, false, pc, false) == RVM__DEAD;
        cr_expect(is == expected(mark, run->unchecked, run->trust), "%s line %u, %s%s: %s", f->name, f->positions[pc].line,
                  run->unchecked ? "unchecked" : "checked", run->trust ? ", trusted" : "", is ? "dead" : "needed");
    }
}

static void check_run_of(const char *name, bool unchecked, bool trust) {
    rvm__liveness *liveness;
    const rvm__liveness_run run = {
        .fn = (uint32_t)rvm_program_find(program, name), .unchecked = unchecked, .trust = trust, .discarded = 0};
    cr_assert(rvm__liveness_new(program, &run, &liveness) == RVM_OK);
    for (uint32_t fn = 0; fn < program->nfunctions; fn++) check_function(liveness, fn, &run);
    rvm__liveness_free(liveness);
}

Test(liveness, marks) {
    static const char *const names[] = {"arrays", "rows", "steps", "offsets", "ways", "caller", "places", "regions"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        check_run_of(names[k], true, true);
        check_run_of(names[k], true, false);
        check_run_of(names[k], false, false);
    }
}

/* What the caller does not want need not be computed. */
Test(liveness, parameters) {
    static const uint8_t unused[] = {1, 0};
    rvm__liveness *liveness;
    rvm__liveness_run run = {.fn = (uint32_t)rvm_program_find(program, "other"), .unchecked = true, .dead_params = unused};
    cr_assert(rvm__liveness_new(program, &run, &liveness) == RVM_OK);
    cr_expect(rvm__dead_param(liveness, run.fn, false, 0) && !reached(liveness, run.fn, true));
    cr_expect(rvm__liveness_at(liveness, run.fn, false, 2, false) == RVM__DEAD);
    cr_expect(rvm__liveness_at(liveness, run.fn, false, 2, true) == RVM__NOT_PASSED);
    rvm__liveness_free(liveness);
    run.dead_params = NULL;
    run.backward = true;
    cr_assert(rvm__liveness_new(program, &run, &liveness) == RVM_OK);
    cr_expect(rvm__liveness_at(liveness, run.fn, true, 2, true) == RVM__NEEDED);
    cr_expect(rvm__liveness_at(liveness, run.fn, false, 2, false) == RVM__NOT_PASSED);
    rvm__liveness_free(liveness);
}

/* In the adjoints of examples, what takes back a local place is dead. */
static unsigned count_uncomputing(const rvm_program *p, const rvm__liveness *liveness, uint32_t fn) {
    const rvm_function *f = &p->functions[fn];
    unsigned n = 0;
    for (uint32_t pc = 0; pc < f->ncode; pc++) {
        const rvm_insn *in = &f->code[pc];
        const rvm_place *q = rvm__places(f, in);
        if (rvm__pair_of(in->op) != RVM_PAIR_add || !(in->flags & RVM_FLAG_RESTORE)) continue;
        bool from_outside = false;
        for (uint32_t k = 0; k < f->nparams; k++)
            from_outside |= !rvm__dead_param(liveness, fn, false, k) && f->params[k].index == q->slot &&
                            (f->params[k].ndim > 0) == (q->kind != RVM_PLACE_SLOT);
        const enum rvm__liveness_answer answer = rvm__liveness_at(liveness, fn, false, pc, false);
        if (from_outside || answer == RVM__NOT_PASSED) continue;
        cr_expect(answer == RVM__DEAD, "%s line %u", f->name, f->positions[pc].line);
        n++;
    }
    return n;
}

static void check_example(const char *path, const char *name) {
    rvm_error e;
    rvm_program *p = NULL, *q = NULL;
    rvm__liveness *liveness;
    rvm__liveness_run run = {.unchecked = true, .trust = true, .discarded = UINT32_MAX};
    cr_assert(rvm_open(path, NULL, &p, &e, NULL, NULL) == RVM_OK, "%s", e.message);
    cr_assert(rvm_program_derive(p, name, &q, &run.fn, &e) == RVM_OK, "%s", e.message);
    cr_assert(rvm__liveness_new(q, &run, &liveness) == RVM_OK);
    unsigned n = 0;
    for (uint32_t fn = 0; fn < q->nfunctions; fn++) n += count_uncomputing(q, liveness, fn);
    cr_expect(n > 0, "%s", name);
    rvm__liveness_free(liveness);
    rvm_program_free(q);
    rvm_program_free(p);
}

Test(liveness, examples) {
    check_example(RVM_EXAMPLES "/norm.rasm", "norm'adj");
    check_example(RVM_EXAMPLES "/gmm/gmm.rasm", "gmm'adj");
    check_example(RVM_EXAMPLES "/bundle_adjustment/reproject.rasm", "cost'adj");
    check_example(RVM_EXAMPLES "/bundle_adjustment/camera11.rasm", "residual11'adj");
}

static rvm_status try(const counting *c) {
    rvm__liveness *liveness;
    rvm_program *q = NULL;
    rvm_error e;
    rvm_status st =
        rvm_assemble(source, sizeof source - 1, "idle.rasm", &(rvm_asm_options){.allocator = &c->al}, &q, &e, NULL, NULL);
    const rvm__liveness_run run = {.fn = 0, .unchecked = true};
    if (!st) st = rvm__liveness_new(q, &run, &liveness);
    if (!st) rvm__liveness_free(liveness);
    rvm_program_free(q);
    return st;
}

Test(liveness, out_of_memory) {
    counting c;
    counting_init(&c);
    rvm_status st = RVM_ERR_MEMORY;
    for (uint64_t k = 1; st == RVM_ERR_MEMORY && k < 100000; k++) {
        c.calls = 0;
        c.fail_at = k;
        st = try(&c);
        cr_assert(st == RVM_OK || st == RVM_ERR_MEMORY, "%d", st);
        cr_assert(c.live_blocks == 0 && !c.mismatch, "allocation %llu", (unsigned long long)k);
    }
    cr_assert(st == RVM_OK);
}
