/* proofs.c: which indices the verifier proves to be in bounds, and which it must not: there nothing looks at the index any
 * more when the program runs. */
#include <criterion/criterion.h>
#include <string.h>

#include "harness.h"
#include "program.h"

typedef struct proof {
    bool proved;
    const char *body; /* of f(y: f64[n], a: f64[4], b: f64[5, n], k: i64); every element in it is proved, or none */
} proof;

static const proof proofs[] = {
    /* constants */
    {true, "a[0] += 1"},
    {true, "a[3] += 1"},
    {false, "a[4] += 1"},
    {false, "a[5] += 1"},
    {false, "a[-1] += 1"},
    {false, "y[0] += 1"},
    {false, "a[k] += 1"},
    {false, "y[n] += 1"},
    /* loops */
    {true, "for i in 0..n\n y[i] += 1\n end"},
    {true, "for i in 2..n\n y[i] += 1\n end"},
    {true, "for i in 0..n step 3\n y[i] += 1\n end"},
    {true, "for i in 0..4\n a[i] += 1\n end"},
    {true, "for i in 1..3\n a[i] += 1\n end"},
    {false, "for i in 0..5\n a[i] += 1\n end"},
    {false, "for i in -1..4\n a[i] += 1\n end"},
    {false, "for i in -1..n\n y[i] += 1\n end"},
    {false, "for i in k..n\n y[i] += 1\n end"},
    {false, "for i in 0..k\n y[i] += 1\n end"},
    {false, "for i in 0..n\n a[i] += 1\n end"},
    {false, "for i in 0..4\n y[i] += 1\n end"},
    /* downwards: the upper end itself is an index */
    {false, "for i in 3..-1 step -1\n a[i] += 1\n end"},
    {false, "for i in n..0 step -1\n y[i] += 1\n end"},
    {false, "for i in 4..0 step -1\n a[i] += 1\n end"},
    {false, "for i in 0..n step k\n y[i] += 1\n end"},
    /* ends that are indices themselves */
    {true, "for i in 0..n\n for j in 0..i\n y[j] += 1\n end\n end"},
    {true, "for i in 0..n\n for j in i..n\n y[j] += 1\n end\n end"},
    {false, "for i in 0..5\n for j in 0..i\n for l in j..i\n y[l] += 1\n end\n end\n end"},
    {false, "for i in 0..6\n for j in 0..i\n a[j] += 1\n end\n end"},
    {false, "for i in n..0 step -1\n for j in 0..i\n y[j] += 1\n end\n end"},
    /* two dimensions, the wrong one */
    {true, "for i in 0..n\n b[4, i] += 1\n end"},
    {false, "for i in 0..n\n b[5, i] += 1\n end"},
    {false, "for i in 0..n\n b[i, 4] += 1\n end"},
    /* local arrays: of the length that every appearance names */
    {true, "compute\n let w: f64[3] = 0\n w[2] += 1\n do\n undo"},
    {false, "compute\n let w: f64[3] = 0\n w[3] += 1\n do\n undo"},
    {true, "compute\n let w: f64[n] = 0\n for i in 0..n\n w[i] += 1\n end\n do\n undo"},
    {false, "compute\n let w: f64[n + 1] = 0\n for i in 0..n\n w[i] += 1\n end\n do\n undo"},
    /* blocks */
    {true, "parallel i in 0..n\n y[i] += 1\n end"},
    {false, "parallel i in -1..n\n y[i] += 1\n end"},
    {false, "parallel i in 0..k\n y[i] += 1\n end"},
};

/* Of all elements that the code takes. */
static void count(const rvm_function *f, unsigned *elements, unsigned *proved) {
    *elements = *proved = 0;
    for (uint32_t pc = 0; pc < f->ncode; pc++) {
        const rvm_place *q = rvm__places(f, &f->code[pc]);
        for (int k = 0; k < f->code[pc].nplaces && k < 4; k++) {
            if (q[k].kind != RVM_PLACE_ELEM) continue;
            ++*elements;
            *proved += (f->code[pc].facts & (RVM_FACT_INBOUNDS0 << k)) != 0;
        }
    }
}

Test(proofs, indices) {
    for (size_t k = 0; k < sizeof proofs / sizeof *proofs; k++) {
        char text[400];
        unsigned elements, proved;
        report rep = {.name = proofs[k].body};
        snprintf(text, sizeof text, "fn f(y: f64[n], a: f64[4], b: f64[5, n], k: i64)\n%s\nend\n", proofs[k].body);
        rvm_program *p = assemble_text(text, NULL, &rep);
        cr_assert(p, "%s", proofs[k].body);
        count(&p->functions[0], &elements, &proved);
        cr_assert(elements && proved == (proofs[k].proved ? elements : 0), "%u of %u proved: %s", proved, elements,
                  proofs[k].body);
        rvm_program_free(p);
    }
}
