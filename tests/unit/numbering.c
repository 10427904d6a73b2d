/* numbering.c: what straight code knows to be the same. Programs say it themselves, behind instructions:
 *
 *     # holds       the release passes for certain      # checked    it may fail
 *     # inside      all indices are in bounds           # outside    some may not be
 */
#include <criterion/criterion.h>
#include <string.h>

#include "harness.h"
#include "numbering.h"

static const char source[] = "fn chain(y: real, a: real, x: real[n], i: i64)\n"
                             "    reg t: f64\n"
                             "    reg u: f64\n"
                             "    reg v: f64\n"
                             "    reg w: f64\n"
                             "    let.mul t, a, x[i] # outside\n"
                             "    let.sub u, t, 1.0\n"
                             "    let.id v, u\n"
                             "    let.max w, u, a\n"
                             "    y += w\n"
                             "    unlet.max w, u, a # checked\n"
                             "    unlet.id v, u # checked\n"
                             "    unlet.sub u, t, 1.0 # holds\n"
                             "    unlet.mul t, a, x[i] # holds\n"
                             "    let.mul t, a, x[i] # inside\n"
                             "    unlet.mul t, a, x[i] # holds\n"
                             "end\n"
                             "fn corners(y: real, a: real)\n"
                             "    reg t: f64\n"
                             "    reg u: f64\n"
                             "    let.sub t, a, 1.0\n"
                             "    let.max u, t, a\n"
                             "    y += u\n"
                             "    unlet.max u, t, a # checked\n"
                             "    unlet.sub t, a, 1.0 # checked\n"
                             "end\n"
                             "fn changed(y: real, a: real, x: real[n], i: i64)\n"
                             "    reg t: f64\n"
                             "    reg k: i64\n"
                             "    reg m: i64\n"
                             "    let.mul t, a, x[i]\n"
                             "    let.add k, i, 1\n"
                             "    let.add m, i, 1\n"
                             "    x[k] += 1 # outside\n"
                             "    x[m] += 1 # inside\n"
                             "    y += t\n"
                             "    x[k] -= 1\n"
                             "    x[m] -= 1\n"
                             "    unlet.mul t, a, x[i] # checked\n"
                             "    unlet.add m, i, 1 # holds\n"
                             "    unlet.add k, i, 1 # holds\n"
                             "    let.mul t, a, 2.0\n"
                             "    let.add k, i, 1\n"
                             "    y += t\n"
                             "    a += 1\n"
                             "    i += 1\n"
                             "    i -= 1\n"
                             "    a -= 1\n"
                             "    unlet.add k, i, 1 # checked\n"
                             "    unlet.mul t, a, 2.0 # checked\n"
                             "end\n"
                             "fn exchanged(y: i64, a: i64, x: i64[n], i: i64)\n"
                             "    reg s: i64\n"
                             "    reg t: i64\n"
                             "    let.sqr s, a\n"
                             "    let.sqr t, y\n"
                             "    swap s, t\n"
                             "    unlet.sqr s, y # holds\n"
                             "    unlet.sqr t, a # holds\n"
                             "    let.sqr s, a\n"
                             "    swap x[i], s\n"
                             "    let.id t, x[i]\n"
                             "    swap x[i], s\n"
                             "    unlet.id t, s # holds\n"
                             "    unlet.sqr s, a # holds\n"
                             "end\n"
                             "fn lengths(y: real, x: real[n, n], z: real[n], p: i64[k], i: i64)\n"
                             "    let w: real[n] = 0\n"
                             "    w[i] += 1 # outside\n"
                             "    y += z[i] # inside\n"
                             "    y += x[i, i] # inside\n"
                             "    p[i] += 1 # outside\n"
                             "    w[i] -= 1 # inside\n"
                             "end\n"
                             "fn calls(y: real, a: real, x: real[n], i: i64)\n"
                             "    reg t: f64\n"
                             "    reg k: i64\n"
                             "    let.mul t, a, x[i]\n"
                             "    let.add k, i, 1\n"
                             "    call reads(y, x, i)\n"
                             "    unlet.add k, i, 1 # holds\n"
                             "    unlet.mul t, a, x[i] # checked\n"
                             "    let.mul t, a, x[i]\n"
                             "    y += t\n"
                             "    unlet.mul t, a, x[i] # holds\n"
                             "    let.add k, i, 1\n"
                             "    call counts(i)\n"
                             "    uncall counts(i)\n"
                             "    unlet.add k, i, 1 # checked\n"
                             "end\n"
                             "fn reads(y: real, x: real[n], i: i64)\n"
                             "    y += x[i]\n"
                             "end\n"
                             "fn counts(i: i64)\n"
                             "    i += 1\n"
                             "end\n"
                             "fn dropped(y: real, a: real, i: i64)\n"
                             "    reg t: f64\n"
                             "    reg u: f64\n"
                             "    let.mul t, a, 2.0\n"
                             "    let.sqr u, t\n"
                             "    y += u\n"
                             "    unchecked\n"
                             "        unlet.sqr u, t\n"
                             "    end\n"
                             "    unlet.mul t, a, 2.0 # checked\n"
                             "end\n";

/* Of a line, the word behind `#`, up to the end of the line; or NULL. */
static const char *said_at(uint32_t line, size_t *length) {
    const char *at = source;
    for (uint32_t k = 1; k < line; k++) at = strchr(at, '\n') + 1;
    const size_t whole = strcspn(at, "\n");
    const char *word = memchr(at, '#', whole);
    *length = word ? whole - (size_t)(word + 2 - at) : 0;
    return word ? word + 2 : NULL;
}

static bool is(const char *word, size_t length, const char *what) {
    return strlen(what) == length && !strncmp(word, what, length);
}

static bool all_inside(rvm__numbering *n, const rvm__cursor *x) {
    bool inside = true;
    for (uint32_t k = 0; k < x->in->nplaces; k++)
        for (int d = 0; d < x->q[k].nidx && x->q[k].kind == RVM_PLACE_ELEM; d++)
            inside &= rvm__numbering_inbounds(n, x->in, k, d);
    return inside;
}

static unsigned look_at(rvm__numbering *n, const rvm__cursor *x) {
    size_t length;
    const uint32_t line = x->f->positions[x->pc].line;
    const char *word = said_at(line, &length);
    if (!word) return 0;
    if (x->in->op == RVM_OP_unlet && (is(word, length, "holds") || is(word, length, "checked"))) {
        cr_expect(rvm__numbering_agrees(n, x->in, false) == is(word, length, "holds"), "line %u", line);
        return 1;
    }
    if (x->q[0].kind != RVM_PLACE_ELEM && x->q[x->in->nplaces - 1].kind != RVM_PLACE_ELEM) return 0;
    cr_expect(all_inside(n, x) == is(word, length, "inside"), "line %u", line);
    return 1;
}

Test(numbering, straight_code) {
    report rep = {.name = "numbering"};
    rvm_program *p = assemble_text(source, NULL, &rep);
    cr_assert(p);
    rvm__zone zone = {.al = &rvm__libc_allocator};
    rvm__numbering *n = rvm__numbering_new(&zone, p);
    unsigned looked = 0, said = 0;
    for (const char *at = source; (at = strchr(at, '#')); at++) said++;
    cr_assert(n);
    for (uint32_t fn = 0; fn < p->nfunctions; fn++) {
        rvm__numbering_begin(n, &p->functions[fn]);
        RVM__EACH_INSN(x, &p->functions[fn]) {
            looked += look_at(n, &x);
            rvm__numbering_pass(n, x.in, (rvm_op)x.in->op);
        }
    }
    cr_assert(looked == said, "%u of %u", looked, said);
    rvm__zone_free(&zone);
    rvm_program_free(p);
}
