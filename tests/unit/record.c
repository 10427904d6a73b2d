/* record.c: records of exact runs: they bring a run back bit for bit in another machine, and are refused where they do not
 * belong; whatever the bytes are, nothing outside is touched. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "rvm.h"
#include "rvm_asm.h"

static const char text[] = "fn leap(x: real[n], v: real[n], f: f32, k: real)\n"
                           "    for i in 0..20\n"
                           "        for j in 0..n\n"
                           "            x[j] += 0.01 * v[j]\n"
                           "            v[j] -= 0.01 * sin(x[j]) * k\n"
                           "        end\n"
                           "        x[0] *= 0.3\n"
                           "        f += 0.1\n"
                           "    end\n"
                           "    while v[0] < 3\n"
                           "        set v[0] = v[0] + 0.3\n"
                           "        let old: real\n"
                           "        old += v[1]\n"
                           "        v[1] += 0.5 * x[0]\n"
                           "        drop old\n"
                           "    end\n"
                           "    segment 0\n" /* what it leaves stands deeper */
                           "    set v[2] = v[2] * x[1]\n"
                           "    x[2] += v[0] / 3\n"
                           "    endsegment 0\n"
                           "    set v[2] = v[2] + 1\n"
                           "    segment 0\n"
                           "    set v[2] = v[2] * x[2]\n"
                           "    endsegment 0\n"
                           "    push k\n"
                           "    push x[1]\n"
                           "end\n"
                           "fn other(x: real[n], v: real[n], f: f32, k: real)\n"
                           "    x[0] += 1\n"
                           "    neg v[0]\n"
                           "    f += 1\n"
                           "    k *= 2\n"
                           "end\n";

enum { N = 3 };
typedef struct state {
    double x[N], v[N], f, k;
} state;
static const state start = {{1, 2, 0.3}, {0.1, 0.2, 1e-9}, 0.25, 1.7};
static rvm_error e;

static void arguments(state *s, rvm_arg a[4]) {
    const int64_t shape[] = {N};
    a[0] = rvm_arg_array_f64(s->x, 1, shape);
    a[1] = rvm_arg_array_f64(s->v, 1, shape);
    a[2] = rvm_arg_f32(s->f);
    a[3] = rvm_arg_f64(s->k);
}

static void take(state *s, const rvm_arg a[4]) {
    s->f = a[2].value.f;
    s->k = a[3].value.f;
}

static rvm_program *program(const char *source) {
    const rvm_asm_options o = {.exact = true};
    rvm_program *p;
    cr_assert(rvm_assemble(source, strlen(source), "leap", &o, &p, &e, NULL, NULL) == RVM_OK, "%s", e.message);
    return p;
}

static rvm_machine *machine(const rvm_program *p, bool exact) {
    rvm_options o = rvm_options_default();
    rvm_machine *m;
    o.exact = exact;
    o.fuel = 100000;
    cr_assert(rvm_machine_new(p, &o, &m, &e) == RVM_OK, "%s", e.message);
    return m;
}

/* The results of a run from `start`, and its record, which belongs to the machine. */
static void *run(rvm_machine *m, state *s, size_t *size, int64_t fn) {
    rvm_arg a[4];
    void *bytes;
    *s = start;
    arguments(s, a);
    cr_assert(rvm_call(m, fn, a, 4, &e) == RVM_OK, "%s", e.message);
    take(s, a);
    cr_assert(rvm_machine_record_save(m, &bytes, size, &e) == RVM_OK, "%s", e.message);
    return bytes;
}

static rvm_status load(rvm_machine *m, int64_t fn, state *s, rvm_arg a[4], const void *bytes, size_t size) {
    arguments(s, a);
    cr_assert(rvm_machine_bind(m, fn, a, 4, RVM_PRIMAL, true, &e) == RVM_OK, "%s", e.message);
    return rvm_machine_record_load(m, bytes, size, &e);
}

/* What it adds to shadows is on a stack of its own. */
static const char adjoint[] = "fn grows(k: real, x: real[n])\n"
                              "    for i in 0..n\n"
                              "        k += x[i] * x[i] / 3\n"
                              "        k *= 1.1\n"
                              "    end\n"
                              "    compute\n" /* which the adjoint runs again, and adds to x_b there */
                              "        let t = x[0] * 0.1\n"
                              "        t += x[1]\n"
                              "    do\n"
                              "        k += t\n"
                              "    undo\n"
                              "end\n"
                              "fn leap(x: real[n], v: real[n], f: f32, k: real)\n"
                              "    let k_b: real\n"
                              "    k_b += 0.7\n"
                              "    call grows'adj(k, k_b, x, v)\n"
                              "    f += 0.1\n"
                              "    drop k_b\n"
                              "end\n";

static void bring_back(const char *source) {
    rvm_program *p = program(source), *q = program(source);
    rvm_machine *m = machine(p, true), *other = machine(q, true);
    rvm_arg a[4];
    state s;
    size_t size;
    void *bytes = run(m, &s, &size, rvm_program_find(p, "leap"));
    cr_assert(memcmp(&s, &start, sizeof s) != 0);
    cr_assert(load(other, rvm_program_find(q, "leap"), &s, a, bytes, size) == RVM_OK, "%s", e.message);
    cr_assert(rvm_machine_backward(other, &e) == RVM_OK, "%s", e.message);
    take(&s, a);
    cr_assert(memcmp(&s, &start, sizeof s) == 0);
    cr_assert(rvm_machine_forward(other, &e) == RVM_OK && rvm_machine_backward(other, &e) == RVM_OK, "%s", e.message);
    take(&s, a);
    cr_assert(memcmp(&s, &start, sizeof s) == 0);
    rvm_machine_record_free(m, bytes, size);
    rvm_machine_record_free(m, NULL, 0);
    rvm_machine_free(m);
    rvm_machine_free(other);
    rvm_program_free(p);
    rvm_program_free(q);
}

Test(record, brings_a_run_back_bit_for_bit) {
    bring_back(text);
    bring_back(adjoint);
}

Test(record, of_another_run_is_refused) {
    rvm_program *p = program(text),
                *q = program("fn leap(x: real[n], v: real[n], f: f32, k: real)\n    neg x[0]\n    neg v[0]\n"
                             "    f += 1\n    k *= 2\nend\n");
    rvm_machine *m = machine(p, true), *foreign = machine(q, true), *plain = machine(p, false), *same = machine(p, true);
    rvm_arg a[4];
    state s, t;
    size_t size, none;
    void *bytes = run(m, &s, &size, 0), *nothing;
    cr_assert(load(foreign, 0, &s, a, bytes, size) == RVM_ERR_ARGUMENT && strstr(e.message, "another program"));
    cr_assert(load(same, 1, &s, a, bytes, size) == RVM_ERR_ARGUMENT && strstr(e.message, "function leap"), "%s", e.message);
    cr_assert(load(plain, 0, &s, a, bytes, size) == RVM_ERR_USAGE);
    t = s;
    t.v[2] = nextafter(t.v[2], 1);
    cr_assert(load(same, 0, &t, a, bytes, size) == RVM_ERR_ARGUMENT && strstr(e.message, "`v`"), "%s", e.message);
    arguments(&s, a);
    a[0].shape[0] = a[1].shape[0] = 2;
    cr_assert(rvm_machine_bind(same, 0, a, 4, RVM_PRIMAL, true, &e) == RVM_OK);
    cr_assert(rvm_machine_record_load(same, bytes, size, &e) == RVM_ERR_SHAPE && strstr(e.message, "length 3"), "%s",
              e.message);
    cr_assert(load(same, 0, &s, a, bytes, size - 1) == RVM_ERR_FORMAT);
    cr_assert(load(same, 0, &s, a, "", 0) == RVM_ERR_FORMAT && load(same, 0, &s, a, NULL, 0) == RVM_ERR_FORMAT);
    ((char *)bytes)[40] ^= 1;
    cr_assert(load(same, 0, &s, a, bytes, size) == RVM_ERR_FORMAT && strstr(e.message, "checksum"), "%s", e.message);
    ((char *)bytes)[40] ^= 1;
    cr_assert(load(same, 0, &s, a, bytes, size) == RVM_OK, "%s", e.message);
    cr_assert(rvm_machine_record_load(same, bytes, size, &e) == RVM_ERR_USAGE); /* twice */
    cr_assert(rvm_machine_record_save(same, &nothing, &none, &e) == RVM_OK);    /* what was loaded can be saved */
    cr_assert(none == size && memcmp(nothing, bytes, size) == 0);
    rvm_machine_record_free(same, nothing, none);
    cr_assert(rvm_machine_backward(same, &e) == RVM_OK);
    cr_assert(rvm_machine_record_save(same, &nothing, &none, &e) == RVM_ERR_USAGE && !nothing);
    cr_assert(rvm_machine_record_save(NULL, &nothing, &none, &e) == RVM_ERR_USAGE);
    cr_assert(rvm_machine_record_load(NULL, bytes, size, &e) == RVM_ERR_USAGE);
    rvm_machine_record_free(m, bytes, size);
    rvm_machine_free(m);
    rvm_machine_free(foreign);
    rvm_machine_free(plain);
    rvm_machine_free(same);
    rvm_program_free(p);
    rvm_program_free(q);
}

static void seal(unsigned char *bytes, size_t size) {
    for (int k = 0; k < 8; k++) bytes[16 + k] = (unsigned char)((uint64_t)size >> 8 * k);
    const uint64_t sealed = XXH3_64bits(bytes + 16, size - 16);
    for (int k = 0; k < 8; k++) bytes[8 + k] = (unsigned char)(sealed >> 8 * k);
}

/* Every byte changed, every length cut, the checksum made right: it is refused, or the run back ends as any run does. */
Test(record, hostile_bytes_do_no_harm) {
    static const unsigned char change[] = {1, 0x80, 0xff};
    rvm_program *p = program(text);
    rvm_machine *m = machine(p, true), *other = machine(p, true);
    rvm_arg a[4];
    state s, t;
    size_t size;
    unsigned char *bytes = run(m, &s, &size, 0), *bad = malloc(size);
    int loaded = 0;
    for (size_t at = 16; at < size; at++)
        for (size_t c = 0; c < sizeof change; c++) {
            memcpy(bad, bytes, size);
            bad[at] ^= change[c];
            seal(bad, size);
            t = s;
            if (load(other, 0, &t, a, bad, size)) continue;
            rvm_machine_backward(other, &e);
            loaded++;
        }
    cr_assert(loaded > 0);
    for (size_t n = 0; n < size; n++) {
        memcpy(bad, bytes, size);
        if (n >= 24) seal(bad, n);
        t = s;
        cr_assert(load(other, 0, &t, a, bad, n) == RVM_ERR_FORMAT, "%zu of %zu bytes", n, size);
    }
    free(bad);
    rvm_machine_record_free(m, bytes, size);
    rvm_machine_free(m);
    rvm_machine_free(other);
    rvm_program_free(p);
}
