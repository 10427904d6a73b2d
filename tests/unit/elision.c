/* elision.c: which uncomputing nobody observes. Programs say it themselves, behind each `compute`:
 *
 *     # yes       its second run may be left out when the run is unchecked
 *     # checked   and when it is not, by what the program has unchecked
 *     # trails    as yes, and segments of the trail must be emptied instead
 *     # no        never; then the reason
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "elision.h"
#include "program.h"

static const char places[] = "fn own(y: real, x: real[n])\n"
                             "    compute # yes\n"
                             "        let s: real\n"
                             "        let w: real[n] = 0\n"
                             "        for i in 0..n\n"
                             "            w[i] += x[i]\n"
                             "            s += sin(w[i]) * 2\n"
                             "        end\n"
                             "        neg s\n"
                             "        s *= 3\n"
                             "        swap w[0], s\n"
                             "        assert s < 5\n"
                             "    do\n"
                             "        y += s\n"
                             "    undo\n"
                             "end\n"
                             "fn outer(y: real, a: real, z: real, w: real[n])\n"
                             "    compute # no: a is from outside\n"
                             "        a += y ^ 2\n"
                             "    do\n"
                             "        z += a\n"
                             "    undo\n"
                             "    compute # no: so is an element\n"
                             "        let i = n - 1\n"
                             "        w[i] += y\n"
                             "    do\n"
                             "        z += w[0]\n"
                             "    undo\n"
                             "    let b: real\n"
                             "    compute # no: so is b, though the function lets it appear\n"
                             "        neg b\n"
                             "    do\n"
                             "    undo\n"
                             "    compute # no: and what is exchanged with it\n"
                             "        let c: real\n"
                             "        swap b, c\n"
                             "    do\n"
                             "    undo\n"
                             "end\n"
                             "fn views(z: real, w: real[n, m])\n"
                             "    compute # no: part of an array from outside\n"
                             "        for i in 0..n\n"
                             "            call add(w[i], 1)\n"
                             "        end\n"
                             "    do\n"
                             "        z += 1\n"
                             "    undo\n"
                             "    compute # yes\n"
                             "        let v: real[n, m] = 0\n"
                             "        for i in 0..n\n"
                             "            call add(v[i], w[0, 0])\n"
                             "        end\n"
                             "    do\n"
                             "        z += v[0, 0]\n"
                             "    undo\n"
                             "end\n"
                             "fn add(y: real[n], a: real)\n"
                             "    for i in 0..n\n"
                             "        y[i] += a\n"
                             "    end\n"
                             "end\n"
                             "fn regions(z: real, x: real)\n"
                             "    compute # yes: what borrows in it gives back what is its own\n"
                             "        let s: real\n"
                             "        let t: real\n"
                             "        compute # no\n"
                             "            s += x\n"
                             "        do\n"
                             "            t += s\n"
                             "        undo\n"
                             "    do\n"
                             "        z += t\n"
                             "    undo\n"
                             "    compute # no: in do it may change what its part may not\n"
                             "        compute # yes\n"
                             "            let u = x ^ 2\n"
                             "        do\n"
                             "            z += u\n"
                             "        undo\n"
                             "    do\n"
                             "    undo\n"
                             "    compute # no\n"
                             "        compute # no: given back, but rounded\n"
                             "            z += x\n"
                             "        do\n"
                             "        undo\n"
                             "    do\n"
                             "    undo\n"
                             "    let q: real\n"
                             "    compute # yes: do may change anything\n"
                             "        let u = x\n"
                             "    do\n"
                             "        z += u\n"
                             "        q += u\n"
                             "    undo\n"
                             "    q -= x\n"
                             "end\n"
                             "fn branches(z: real, x: real)\n"
                             "    compute # yes\n"
                             "        let s: real\n"
                             "        if x > 0\n"
                             "            s += x\n"
                             "        else\n"
                             "            s -= x\n"
                             "        end\n"
                             "        let k: i64\n"
                             "        from k == 0 while k < 3\n"
                             "            s += 1 / x\n"
                             "            k += 1\n"
                             "        end\n"
                             "    do\n"
                             "        z += s\n"
                             "    undo\n"
                             "    compute # no: one branch changes z\n"
                             "        if x > 0\n"
                             "            let s: real\n"
                             "            s += x\n"
                             "            s -= x\n"
                             "        else\n"
                             "            z += 1\n"
                             "        end\n"
                             "    do\n"
                             "    undo\n"
                             "end\n";

static const char calls[] = "fn fact(out: i64, n: i64)\n"
                            "    if n <= 1\n"
                            "        out += 1\n"
                            "    else\n"
                            "        compute # yes: by the roles of what it calls, itself too\n"
                            "            let r: i64\n"
                            "            call fact(r, n - 1)\n"
                            "        do\n"
                            "            out += n * r\n"
                            "        undo\n"
                            "    end\n"
                            "end\n"
                            "fn value(z: real, x: real, g: fn(acc real, read real))\n"
                            "    compute # yes\n"
                            "        let t: real\n"
                            "        call g(t, x)\n"
                            "        let h: fn(acc real, read real) = &square\n"
                            "        call h(t, x)\n"
                            "    do\n"
                            "        z += t\n"
                            "    undo\n"
                            "    compute # no: g adds to z\n"
                            "        call g(z, x)\n"
                            "    do\n"
                            "    undo\n"
                            "end\n"
                            "fn square(y: real, x: real)\n"
                            "    y += x ^ 2\n"
                            "end\n"
                            "fn stacks(z: real, x: real)\n"
                            "    compute # no: the stack\n"
                            "        let t = x\n"
                            "        push t\n"
                            "    do\n"
                            "        z += 1\n"
                            "    undo\n"
                            "    compute # no: the stack, by a call\n"
                            "        let t = x\n"
                            "        call pushing(t)\n"
                            "    do\n"
                            "    undo\n"
                            "    compute # trails\n"
                            "        let t = x\n"
                            "        set t = t ^ 2\n"
                            "    do\n"
                            "        z += t\n"
                            "    undo\n"
                            "    compute # trails\n"
                            "        let t = x\n"
                            "        call setting(t)\n"
                            "    do\n"
                            "        z += t\n"
                            "    undo\n"
                            "    compute # no: overwrites what is from outside\n"
                            "        set z = 1\n"
                            "    do\n"
                            "    undo\n"
                            "end\n"
                            "fn pushing(t: real)\n"
                            "    push t\n"
                            "end\n"
                            "fn setting(t: real)\n"
                            "    compute # trails: of a region within\n"
                            "        let u: real\n"
                            "        compute # yes\n"
                            "            let v = 3.0\n"
                            "        do\n"
                            "            set u = 1 + v\n"
                            "        undo\n"
                            "    do\n"
                            "    undo\n"
                            "    set t = 2\n"
                            "end\n"
                            "fn blocks(s: real, z: real[n], x: real[n])\n"
                            "    compute # yes\n"
                            "        let sum: real\n"
                            "        let w: real[n] = 0\n"
                            "        parallel i in 0..n\n"
                            "            compute # yes\n"
                            "                let e = x[i] ^ 2\n"
                            "            do\n"
                            "                w[i] += e\n"
                            "                sum += e\n"
                            "            undo\n"
                            "        end\n"
                            "    do\n"
                            "        parallel i in 0..n\n"
                            "            compute # no: its own instance's, but from outside\n"
                            "                z[i] += w[i]\n"
                            "            do\n"
                            "            undo\n"
                            "        end\n"
                            "    undo\n"
                            "    compute # no: a sum from outside\n"
                            "        parallel i in 0..n\n"
                            "            s += x[i]\n"
                            "        end\n"
                            "    do\n"
                            "    undo\n"
                            "end\n"
                            "fn checks(z: real, x: real)\n"
                            "    unchecked\n"
                            "        compute # checked\n"
                            "            let a = x\n"
                            "        do\n"
                            "            z += a\n"
                            "        undo\n"
                            "        compute # yes: what is called checks\n"
                            "            let a: real\n"
                            "            call square(a, x)\n"
                            "        do\n"
                            "            z += a\n"
                            "        undo\n"
                            "    end\n"
                            "    compute # yes: not all is unchecked\n"
                            "        let b: real\n"
                            "        unchecked\n"
                            "            b += x\n"
                            "        end\n"
                            "    do\n"
                            "        z += b\n"
                            "    undo\n"
                            "    compute # yes\n"
                            "        let a: real\n"
                            "    do\n"
                            "        unchecked\n"
                            "            z += a\n"
                            "        end\n"
                            "    undo\n"
                            "end\n";

/* Behind a jump the order of the text need not be that of execution. */
static const char jumps[] = "raw fn odd\n"
                            "    .reg f64 f64\n"
                            "    .const 1.0 0.0\n"
                            "    .param y %0\n"
                            "    start\n"
                            "    let.id %1, 1.0\n"
                            "    compute # no: a jump\n"
                            "  J: jmp L\n"
                            "  L: cf J\n"
                            "    do\n"
                            "    undo\n"
                            "    compute # checked: nothing\n"
                            "    do\n"
                            "    add.id %0, 1.0\n"
                            "    undo\n"
                            "    compute # no: gone and there again\n"
                            "    unlet.id %1, 1.0\n"
                            "    let.id %1, 0.0\n"
                            "    do\n"
                            "    undo\n"
                            "    unlet.id %1, 1.0\n"
                            "    halt\n"
                            "end\n";

static const struct { const char *name, *text; } programs[] = {{"places", places}, {"calls", calls}, {"jumps", jumps}};

/* ---- what is found ---- */

/* By instruction of the function; to be freed. */
static uint8_t *find(const rvm_program *p, uint32_t fn, bool unchecked) {
    const rvm_function *f = &p->functions[fn];
    rvm__reach *reach = calloc(p->nfunctions, sizeof *reach);
    uint8_t *found = calloc(f->ncode, 1);
    cr_assert(reach && found);
    cr_assert(rvm__reach_find(p, reach));
    cr_assert(rvm__elision_find(p, reach, fn, unchecked, found, NULL));
    free(reach);
    return found;
}

/* The word behind `#` of a line. */
static const char *mark_at(const char *text, uint32_t line) {
    while (--line) text = strchr(text, '\n') + 1;
    const size_t n = strcspn(text, "#\n");
    return text[n] == '#' ? text + n + 2 : "";
}

static enum rvm__elision expected(const char *mark, bool unchecked) {
    if (!strncmp(mark, "checked", 7)) return RVM__ELIDED;
    if (!unchecked) return RVM__RUNS_TWICE;
    if (!strncmp(mark, "trails", 6)) return RVM__ELIDED_ON_TRAILS;
    return strncmp(mark, "yes", 3) ? RVM__RUNS_TWICE : RVM__ELIDED;
}

static unsigned compare(const char *text, const rvm_program *p, uint32_t fn, bool unchecked) {
    const rvm_function *f = &p->functions[fn];
    uint8_t *found = find(p, fn, unchecked);
    unsigned n = 0;
    for (uint32_t pc = 0; pc < f->ncode; pc++) {
        if (f->code[pc].op != RVM_OP_compute) continue;
        const uint32_t line = f->positions[pc].line;
        const char *mark = mark_at(text, line);
        cr_assert(*mark, "%s line %u says nothing", f->name, line);
        cr_expect(found[pc] == expected(mark, unchecked), "%s line %u, %s: found %d", f->name, line,
                  unchecked ? "unchecked" : "checked", found[pc]);
        n++;
    }
    free(found);
    return n;
}

Test(elision, regions) {
    report rep = {.name = "elision"};
    for (size_t k = 0; k < sizeof programs / sizeof *programs; k++) {
        rep.about = programs[k].name;
        rvm_program *p = assemble_text(programs[k].text, NULL, &rep);
        cr_assert(p, "%s", programs[k].name);
        unsigned n = 0;
        for (uint32_t fn = 0; fn < p->nfunctions; fn++)
            n += compare(programs[k].text, p, fn, true) + compare(programs[k].text, p, fn, false);
        cr_assert(n > 0);
        rvm_program_free(p);
    }
}

/* ---- examples ---- */

static unsigned count_regions(const rvm_program *p, uint32_t fn) {
    uint8_t *found = find(p, fn, true);
    unsigned n = 0;
    for (uint32_t pc = 0; pc < p->functions[fn].ncode; pc++) {
        if (p->functions[fn].code[pc].op != RVM_OP_compute) continue;
        cr_expect(found[pc] == RVM__ELIDED, "%s line %u stays", p->functions[fn].name, p->functions[fn].positions[pc].line);
        n++;
    }
    free(found);
    return n;
}

/* Every region of the source and of what derives from it; an adjoint has none (isa/derive/derive.c). */
static void check_example(const char *path, const char *fn) {
    static const char *const ticks[] = {"'inv", "'tan", "'adj", "'grad", "'grad'tan"};
    rvm_error e;
    rvm_program *p = NULL, *q = NULL;
    cr_assert(rvm_open(path, NULL, &p, &e, NULL, NULL) == RVM_OK, "%s", e.message);
    unsigned regions = 0;
    for (uint32_t k = 0; k < p->nfunctions; k++) regions += count_regions(p, k);
    cr_expect(regions > 0, "%s", path);
    for (size_t t = 0; t < sizeof ticks / sizeof *ticks; t++) {
        char name[64];
        uint32_t index;
        snprintf(name, sizeof name, "%s%s", fn, ticks[t]);
        cr_assert(rvm_program_derive(p, name, &q, &index, &e) == RVM_OK, "%s: %s", name, e.message);
        for (uint32_t k = 0; k < q->nfunctions; k++) count_regions(q, k);
        rvm_program_free(q);
    }
    rvm_program_free(p);
}

Test(elision, examples) {
    check_example(RVM_EXAMPLES "/norm.rasm", "norm");
    check_example(RVM_EXAMPLES "/gmm/gmm.rasm", "gmm");
    check_example(RVM_EXAMPLES "/bundle_adjustment/camera11.rasm", "residual11");
}
