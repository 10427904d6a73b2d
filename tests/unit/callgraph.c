/* callgraph.c: components of the call graph, callees first, and fixpoints along them. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rvm_asm.h"
#include "solver.h"

static rvm_program *assemble(const char *text) {
    rvm_program *p = NULL;
    rvm_error e = {0};
    cr_assert(!rvm_assemble(text, strlen(text), "t.rasm", NULL, &p, &e, NULL, NULL), "%s", e.message);
    return p;
}

static uint32_t at(const rvm_program *p, const char *name) {
    return (uint32_t)rvm_program_find(p, name);
}

static uint32_t position(const rvm__callgraph *g, uint32_t fn) {
    uint32_t k = 0;
    while (g->order[k] != fn) k++;
    return k;
}

/* Callees stand before callers, and those that call each other stand together. */
static void check_order(const rvm_program *p) {
    const rvm__callgraph *g = &p->calls;
    cr_assert_eq(g->n, p->nfunctions);
    for (uint32_t fn = 0; fn < g->n; fn++)
        RVM__EACH_INSN(x, &p->functions[fn])
            RVM__EACH_CALLEE(callee, p, x.in) {
                const bool same = g->component[fn] == g->component[callee];
                cr_expect(same || position(g, callee) < position(g, fn), "%s", p->functions[fn].name);
                cr_expect(!same || g->recursive[fn], "%s", p->functions[fn].name);
            }
    for (uint32_t k = 2; k < g->n; k++)
        for (uint32_t j = 0; j + 1 < k; j++)
            if (g->component[g->order[j]] == g->component[g->order[k]])
                cr_expect_eq(g->component[g->order[k - 1]], g->component[g->order[k]]);
}

Test(callgraph, components) {
    rvm_program *p =
        assemble("fn top(y: i64, n: i64)\n    call even(y, n)\n    call self(y, n)\n    call leaf(y)\nend\n"
                 "fn even(y: i64, n: i64)\n    if n > 0\n        let m = n - 1\n        call odd(y, m)\n    end\nend\n"
                 "fn odd(y: i64, n: i64)\n    if n > 0\n        let m = n - 1\n        call even(y, m)\n"
                 "        call leaf(y)\n    end\nend\n"
                 "fn self(y: i64, n: i64)\n    if n > 0\n        let m = n - 1\n        call self(y, m)\n    end\nend\n"
                 "fn leaf(y: i64)\n    y += 1\nend\n");
    const rvm__callgraph *g = &p->calls;
    check_order(p);
    cr_expect_eq(g->component[at(p, "even")], g->component[at(p, "odd")]);
    cr_expect_neq(g->component[at(p, "self")], g->component[at(p, "even")]);
    cr_expect(g->recursive[at(p, "even")] && g->recursive[at(p, "odd")] && g->recursive[at(p, "self")]);
    cr_expect(!g->recursive[at(p, "top")] && !g->recursive[at(p, "leaf")]);
    rvm_program_free(p);
}

Test(callgraph, function_values) {
    rvm_program *p = assemble("fn apply(y: i64, f: fn(i64))\n    call f(y)\nend\n"
                              "fn one(y: i64)\n    y += 1\nend\n"
                              "fn back(y: i64)\n    let g = &one\n    call apply(y, g)\nend\n");
    check_order(p);
    cr_expect_eq(p->calls.component[at(p, "apply")], p->calls.component[at(p, "back")], "the value may be `back`");
    cr_expect(!p->calls.recursive[at(p, "one")]);
    rvm_program_free(p);
}

/* By function: how many calls it is from the leaf. */
typedef struct heights {
    const rvm_program *p;
    uint32_t *of, visits;
} heights;

static bool raise_height(void *userdata, uint32_t fn) {
    heights *h = userdata;
    const uint32_t old = h->of[fn];
    h->visits++;
    RVM__EACH_INSN(x, &h->p->functions[fn])
        RVM__EACH_CALLEE(g, h->p, x.in)
            if (h->of[g] >= h->of[fn]) h->of[fn] = h->of[g] + 1;
    return h->of[fn] != old;
}

/* Longer than a recursion over it would have a stack for; callers come first, so that an order by number is the worst. */
Test(callgraph, long_chain) {
    enum { N = 20000, LINE = 64 };
    char *text = malloc((size_t)N * LINE);
    size_t n = 0;
    for (int k = 0; k + 1 < N; k++) n += (size_t)sprintf(text + n, "fn f%d(y: i64)\n    call f%d(y)\nend\n", k, k + 1);
    sprintf(text + n, "fn f%d(y: i64)\n    y += 1\nend\n", N - 1);
    rvm_program *p = assemble(text);
    heights h = {.p = p, .of = calloc(N, sizeof *h.of)};
    rvm__solve_calls(&p->calls, RVM__CALLEES_FIRST, raise_height, &h);
    cr_expect_eq(h.of[at(p, "f0")], N - 1);
    cr_expect_leq(h.visits, 2 * N, "each, and once more to see that it is quiet");
    free(h.of);
    free(text);
    rvm_program_free(p);
}
