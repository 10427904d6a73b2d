/* cuda_order.c: the order of sums on a device. What instances add, as the program has it, is summed here once more in the
 * order that is documented (docs/cuda.md, docs/semantics.md, section 9), and must have the same bits. By what stands in for
 * a driver (tests/grid). */
#include "cuda_devices.h"

/* Instances count from 0, their indices from LO, up to a number that is not known where the program is compiled. */
#define LO 5
#define SUMS(name, more)                                                                                                    \
    "fn " name "(s: real, u: real, out: real[m], two: real[1], q: real[n], x: real[n], y: real[n], w: real[m], hi: i64)\n"  \
    "    parallel i in 5..hi\n"                                                                                             \
    "        s -= y[i]\n"                                                                                                   \
    "        u += x[i]\n"                                                                                                   \
    "        u -= y[i]\n"                                                                                                   \
    "        for j in 0..m\n"                                                                                               \
    "            out[j] += x[i] * w[j]\n"                                                                                   \
    "        end\n"                                                                                                         \
    "        two[0] += x[i]\n"                                                                                              \
    "        two[0] -= y[i]\n" more "    end\n"                                                                             \
    "end\n"
static const char sums[] = SUMS("sums", "") SUMS("pieces", LASTING("q[i] += 1\n"));
/* Of `one` indices depend on the instance; to the others not all instances add, or twice. */
static const char entered[] =
    "fn entered(one: real[m], some: real[m], few: real[m], k: i64[n], x: real[n], y: real[n], hi: i64)\n"
    "    parallel i in 5..hi\n"
    "        one[k[i]] += x[i]\n"
    "        if x[i] > 0\n"
    "            some[1] += x[i]\n"
    "            some[2] += x[i]\n"
    "        end\n"
    "        if y[i] > 0\n"
    "            some[2] -= y[i]\n"
    "        end\n"
    "        if k[i] == 1\n"
    "            few[0] += x[i]\n"
    "        end\n"
    "    end\n"
    "end\n";
static const char within[] = "fn within(s: real, g: real[m], own: real[n], x: real[n], w: real[m], to: i64, hi: i64)\n"
                             "    parallel i in 5..hi\n"
                             "        compute\n"
                             "            let c: real\n"
                             "            parallel j in 0..to\n"
                             "                c += x[i] * w[j]\n"
                             "            end\n"
                             "        do\n"
                             "            parallel j in 0..to\n"
                             "                g[j] += x[i] * w[j]\n"
                             "                own[i] += x[i] * w[j]\n"
                             "            end\n"
                             "            s += c\n"
                             "        undo\n"
                             "    end\n"
                             "end\n";
/* Blocks of callees, whose instances all add alike, or not; to h they add one by one. */
static const char called[] =
    "fn called(e: real[n, 4, 3], g: real[n, 3], h: real[n, 2], z: real[n], x: real[k], y: real[k], a: i64[k], b: i64[k], "
    "to: i64, hi: i64)\n"
    "    parallel i in 5..hi\n"
    "        call all(e[i], g[i], h[i], z[i], x, y, a, to)\n"
    "        call some(g[i], h[i], z[i], x, y, b, to)\n"
    "    end\n"
    "end\n"
    "fn all(e: real[4, 3], g: real[3], h: real[2], z: real, x: real[k], y: real[k], a: i64[k], to: i64)\n"
    "    parallel j in 5..to\n"
    "        g[0] += x[j] * z\n"
    "        g[1] += x[j] * z\n"
    "        h[a[j]] += x[j] * z\n"
    "        g[1] -= y[j] * z\n"
    "        for c in 1..3\n"
    "            e[c, 1] += x[j] * z\n"
    "            e[c, 2] -= y[j] * z\n"
    "        end\n"
    "    end\n"
    "end\n"
    "fn some(g: real[3], h: real[2], z: real, x: real[k], y: real[k], b: i64[k], to: i64)\n"
    "    parallel j in 5..to\n"
    "        if x[j] > 0\n"
    "            g[2] += x[j] * z\n"
    "        end\n"
    "        if b[j] == 1\n"
    "            h[b[j]] += x[j] * z\n"
    "        end\n"
    "        if y[j] > 0\n"
    "            g[2] -= y[j] * z\n"
    "        end\n"
    "    end\n"
    "end\n";
enum { MOST = 70000 + LO, MOST_W = 300, CTAS = 1024 };

/* ---- the orders ---- */

/* What n instances add to one register or element, each as often: its a-th addition, in the order in which they run; NAN:
 * it adds nothing. */
typedef struct terms {
    double v[2][MOST];
    unsigned each;
    uint64_t n;
    bool up;
} terms;
typedef double order(double was, const terms *t);

/* The instance that runs as the k-th. */
static uint64_t instance(const terms *t, uint64_t k) {
    return t->up ? k : t->n - 1 - k;
}

static bool begins_chunk(const terms *t, uint64_t k) {
    return k == 0 || instance(t, k) / 256 != instance(t, k - 1) / 256;
}

static double sum_parts(double p[8]) {
    const double s = ((p[0] + p[4]) + (p[2] + p[6])) + ((p[1] + p[5]) + (p[3] + p[7]));
    for (int k = 0; k < 8; k++) p[k] = -0.0;
    return s;
}

static double of_register(double was, const terms *t) {
    double p[8] = {-0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0};
    for (uint64_t k = 0; k < t->n; k++) {
        if (k && begins_chunk(t, k)) was += sum_parts(p);
        for (unsigned a = 0; a < t->each; a++) p[instance(t, k) % 8] += t->v[a][instance(t, k)];
    }
    return was + sum_parts(p);
}

static double one_by_one(double was, const terms *t) {
    for (uint64_t k = 0; k < t->n; k++)
        for (unsigned a = 0; a < t->each; a++)
            if (!isnan(t->v[a][instance(t, k)])) was += t->v[a][instance(t, k)];
    return was;
}

static double own_sum(const terms *t, uint64_t i) {
    double own = -0.0;
    for (unsigned a = 0; a < t->each; a++)
        if (!isnan(t->v[a][i])) own += t->v[a][i];
    return own;
}

static double by_chunks(double was, const terms *t) {
    double part = -0.0, p[8] = {-0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0};
    for (uint64_t k = 0; k < t->n; k++) {
        if (k && instance(t, k) / 8 != instance(t, k - 1) / 8) part += sum_parts(p);
        if (k && begins_chunk(t, k)) was += part, part = -0.0;
        p[instance(t, k) % 8] = own_sum(t, instance(t, k));
    }
    return was + (part + sum_parts(p));
}

static double sum_pairwise(double v[32]) {
    for (int half = 16; half > 0; half /= 2)
        for (int k = 0; k < half; k++) v[k] += v[k + half];
    return v[0];
}

static double sum_copies(double was, const double *copies, int n) {
    double v[32] = {0};
    for (int c = 0; c < n; c++) v[c % 32] += copies[c];
    return was + sum_pairwise(v);
}

/* Upwards, whichever way the block runs. */
static double by_warps(double was, const terms *t) {
    static double copies[2048];
    memset(copies, 0, sizeof copies);
    for (uint64_t first = 0; first < t->n; first += 32)
        for (unsigned a = 0; a < t->each; a++) {
            double v[32];
            for (uint64_t lane = 0; lane < 32; lane++) v[lane] = first + lane < t->n ? t->v[a][first + lane] : -0.0;
            copies[first / 32 % 2048] += sum_pairwise(v);
        }
    return sum_copies(was, copies, 2048);
}

static double by_ctas(double was, const terms *t) {
    static double copies[CTAS];
    memset(copies, 0, sizeof copies);
    for (uint64_t k = 0; k < t->n; k++)
        for (unsigned a = 0; a < t->each; a++) copies[instance(t, k) % CTAS] += t->v[a][instance(t, k)];
    return sum_copies(was, copies, CTAS);
}

/* ---- what is added ---- */

static double x[MOST], y[MOST], own[MOST], w[MOST_W];
static int64_t at[MOST];

static uint64_t next(void) {
    static uint64_t state = 1;
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* At least 1, less than 2. */
static double fraction(void) {
    return 1 + ldexp((double)(next() >> 12), -52);
}

/* Of magnitudes from 2^-25 to 2^25, in pairs that all but cancel: in another order the sum is another one. */
static void make_terms(double *v) {
    for (int i = 0; i < MOST; i++)
        v[i] = i % 2 ? -v[i - 1] * (1 + ldexp(fraction(), -20))
                     : (next() & 1 ? -1 : 1) * ldexp(fraction(), (int)(next() % 50) - 25);
}

/* w: powers of 2, so that terms are exact. */
static void make_inputs(void) {
    make_terms(x), make_terms(y);
    for (int i = 0; i < MOST; i++) at[i] = (int64_t)(next() % 3);
    for (int j = 0; j < MOST_W; j++) w[j] = ldexp(1, j % 7 - 3);
}

/* The a-th addition of the instances, forward, is so much of v's. */
static void add_of(terms *t, const double *v, double times) {
    for (uint64_t k = 0; k < t->n; k++) t->v[t->each][k] = v[LO + k] * times;
    t->each++;
}

/* Backward, each takes back what it has added, the last first. */
static void turn(terms *t) {
    for (uint64_t k = 0; k < t->n && !t->up; k++) {
        const double first = t->v[0][k];
        t->v[0][k] = -t->v[t->each - 1][k];
        if (t->each > 1) t->v[1][k] = -first;
    }
}

/* ---- the device ---- */

typedef struct setup {
    bool fast;
    int devices;
    const char *multiprocessors, *nested;
} setup;

static fixture *begin_setup(const char *text_of, const setup *s) {
    setenv("RVM_GRID_MULTIPROCESSORS", s->multiprocessors, 1);
    setenv("RVM_CUDA_NESTED", s->nested, 1);
    fixture *f = begin_program(text_of, s->fast);
    cr_assert(!open_devices(f, s->devices, 0), "%s", f->e.message);
    return f;
}

/* The block runs on a device, as a kernel of that kind. */
static void run(fixture *f, const setup *s, const char *fn, rvm_arg *a, size_t n, bool up, bool splits) {
    const rvm_cuda_totals was = totals(f);
    cr_assert(!rvm_machine_bind(f->m, rvm_program_find(f->p, fn), a, n, RVM_PRIMAL, !up, &f->e), "%s", f->e.message);
    cr_assert(!(up ? rvm_machine_forward : rvm_machine_backward)(f->m, &f->e), "%s", f->e.message);
    rvm_machine_unbind(f->m);
    const rvm_cuda_totals t = totals(f);
    cr_assert(t.blocks == was.blocks + 1 && !t.on_host, "%s: %s", fn, t.why);
    cr_assert_eq(t.split - was.split, splits, "%s: %s", fn, t.why_one);
    cr_assert_eq(t.nested - was.nested, *s->nested == '1', "%s", fn);
}

static bool differ(double a, double b) {
    return memcmp(&a, &b, sizeof a) != 0;
}

/* Of terms as added forward. What it was in `was`. */
static void expect(const char *what, const setup *s, terms *t, order *in, double was, double is) {
    turn(t);
    const double expected = in(was, t);
    cr_assert(!differ(is, expected), "%s of %d instances, %s, %s, %d devices of %s: %a, not %a", what, (int)t->n,
              t->up ? "forward" : "backward", s->fast ? "fast" : "strict", s->devices, s->multiprocessors, is, expected);
}

static terms *no_terms(uint64_t n, bool up) {
    static terms t;
    t.each = 0, t.n = n, t.up = up;
    return &t;
}

static void try_sums(fixture *f, const setup *s, const char *fn, int n, bool up) {
    double out[3] = {.1, .2, .3}, two = .4;
    const double was[3] = {.1, .2, .3};
    rvm_arg a[9] = {rvm_arg_f64(.5), rvm_arg_f64(.6), reals(out, 3), reals(&two, 1),     reals(own, MOST),
                    reals(x, MOST),  reals(y, MOST),  reals(w, 3),   rvm_arg_i64(LO + n)};
    run(f, s, fn, a, 9, up, s->devices > 1 && n > 256);
    terms *t = no_terms((uint64_t)n, up);
    add_of(t, y, -1);
    expect("the sum in a register", s, t, of_register, .5, a[0].value.f);
    for (int j = 0; j < 3; j++) {
        t = no_terms((uint64_t)n, up);
        add_of(t, x, w[j]);
        expect("the sum in an element", s, t, s->fast ? by_warps : by_chunks, was[j], out[j]);
    }
    t = no_terms((uint64_t)n, up);
    add_of(t, x, 1), add_of(t, y, -1);
    expect("the sum of two additions", s, t, s->fast ? by_warps : by_chunks, .4, two);
    if (s->fast) return; /* in a register these are one term, or two, as LLVM likes */
    t = no_terms((uint64_t)n, up);
    add_of(t, x, 1), add_of(t, y, -1);
    expect("the sum of two terms", s, t, of_register, .6, a[1].value.f);
}

/* ---- */

static const int sizes[] = {1, 7, 8, 9, 31, 32, 33, 127, 128, 129, 255, 256, 257, 1000, 5000, 70000};
enum { SIZES = sizeof sizes / sizeof *sizes, FEWER = SIZES - 1 };

static void try_all_sums(bool fast, int devices, const char *multiprocessors) {
    const setup s = {fast, devices, multiprocessors, "0"};
    fixture *f = begin_setup(sums, &s);
    make_inputs();
    for (int k = 0; k < (TRY_ONE_IN > 1 ? FEWER : SIZES); k++)
        for (int up = 0; up < 2; up++) try_sums(f, &s, "sums", sizes[k], up);
    end(f);
}

/* Few sums have the same bits in two orders by chance. */
Test(cuda_order, orders_differ) {
    static order *const all[] = {of_register, one_by_one, by_chunks, by_warps, by_ctas};
    enum { ORDERS = sizeof all / sizeof *all, TIMES = 40, SOME = 1500 };
    make_inputs();
    for (int k = 0; k < ORDERS; k++)
        for (int j = 0; j < k; j++) {
            int differing = 0;
            for (int i = 0; i < TIMES; i++) {
                terms *t = no_terms(SOME, i % 2);
                add_of(t, x + i * SOME, 1);
                differing += differ(all[k](.5, t), all[j](.5, t));
            }
            cr_assert_gt(differing, TIMES / 2, "%d and %d: %d", k, j, differing);
        }
}

Test(cuda_order, strict) {
    try_all_sums(false, 1, "1");
    try_all_sums(false, 1, "132");
    try_all_sums(false, DEVICES, "1");
}

Test(cuda_order, fast) {
    try_all_sums(true, 1, "1");
    try_all_sums(true, 1, "132");
    try_all_sums(true, DEVICES, "132");
}

/* Launches take some of the instances each. */
Test(cuda_order, in_pieces) {
    if (TRY_ONE_IN > 1) return; /* a minute under sanitizers, in kernels, which are compiled without */
    make_inputs();
    for (int fast = 0; fast < 2; fast++) {
        const setup s = {fast, 1, "132", "0"};
        fixture *f = begin_setup(sums, &s);
        for (int up = 0; up < 2; up++) {
            const uint64_t was = totals(f).launches;
            try_sums(f, &s, "pieces", 70000, up);
            cr_assert_gt(totals(f).launches, was + 1);
        }
        end(f);
    }
}

/* ---- additions that are kept with their elements ---- */

/* Only the instances for which it says so add that. */
static void leave(double *v, const terms *t, bool (*adds)(int)) {
    for (int k = 0; k < (int)t->n; k++)
        if (!adds(k)) v[k] = NAN;
}

static int element;
static bool finds_element(int k) {
    return at[LO + k] == element;
}
static bool has_x(int k) {
    return x[LO + k] > 0;
}
static bool has_y(int k) {
    return y[LO + k] > 0;
}

static void try_entered(fixture *f, const setup *s, int n, bool up) {
    double one[3] = {.1, .2, .3}, some[3] = {.4, .5, .6}, few[3] = {.7, .8, .9};
    const double was[3] = {.1, .2, .3};
    rvm_arg a[7] = {reals(one, 3),  reals(some, 3), reals(few, 3),      numbers(at, MOST),
                    reals(x, MOST), reals(y, MOST), rvm_arg_i64(LO + n)};
    run(f, s, "entered", a, 7, up, false);
    for (element = 0; element < 3; element++) {
        terms *t = no_terms((uint64_t)n, up);
        add_of(t, x, 1), leave(t->v[0], t, finds_element);
        expect("the sum of those that find it", s, t, one_by_one, was[element], one[element]);
    }
    terms *t = no_terms((uint64_t)n, up);
    add_of(t, x, 1), leave(t->v[0], t, has_x);
    expect("the sum of some", s, t, by_chunks, .5, some[1]);
    t = no_terms((uint64_t)n, up);
    add_of(t, x, 1), leave(t->v[0], t, has_x);
    add_of(t, y, -1), leave(t->v[1], t, has_y);
    expect("the sum of some, twice", s, t, by_chunks, .6, some[2]);
    t = no_terms((uint64_t)n, up);
    element = 1;
    add_of(t, x, 1), leave(t->v[0], t, finds_element);
    expect("the sum of few", s, t, by_chunks, .7, few[0]);
    cr_assert(some[0] == .4 && few[1] == .8 && few[2] == .9);
}

Test(cuda_order, entries) {
    make_inputs();
    for (int k = 0; k < 2; k++) {
        const setup s = {false, 1 + k, k ? "132" : "1", "0"};
        fixture *f = begin_setup(entered, &s);
        for (int i = 0; i < (TRY_ONE_IN > 1 ? FEWER : SIZES); i++)
            for (int up = 0; up < 2; up++) try_entered(f, &s, sizes[i], up);
        end(f);
    }
}

/* ---- a CTA for each instance ---- */

/* The block within of m instances adds x to `was`, which is the instance's alone. */
static double sum_within(order *in, double was, double of, bool up, int m) {
    static terms t;
    t.n = (uint64_t)m, t.each = 1, t.up = up;
    for (int j = 0; j < m; j++) t.v[0][j] = of * w[j] * (up ? 1 : -1);
    return in(was, &t);
}

static void expect_own(int n, int m, bool up) {
    for (int i = 0; i < LO + n; i++) {
        const double expected = i < LO ? y[i] : sum_within(one_by_one, y[i], x[i], up, m);
        cr_assert(!differ(own[i], expected), "%d of %d, %d: %a, not %a", i, n, up, own[i], expected);
    }
}

static void try_within(fixture *f, const setup *s, int n, int m, bool up) {
    double g[MOST_W], c[MOST];
    for (int j = 0; j < MOST_W; j++) g[j] = .1 * j;
    memcpy(own, y, sizeof own);
    rvm_arg a[7] = {rvm_arg_f64(.5),  reals(g, MOST_W), reals(own, MOST),   reals(x, MOST),
                    reals(w, MOST_W), rvm_arg_i64(m),   rvm_arg_i64(LO + n)};
    run(f, s, "within", a, 7, up, s->devices > 1 && n > 256);
    for (int j = 0; j < m; j++) {
        terms *t = no_terms((uint64_t)n, up);
        add_of(t, x, w[j]);
        expect("the sum in an element", s, t, s->fast ? by_ctas : by_chunks, .1 * j, g[j]);
    }
    for (int k = 0; k < n; k++) c[LO + k] = sum_within(of_register, 0, x[LO + k], true, m); /* computed forward either way */
    terms *t = no_terms((uint64_t)n, up);
    add_of(t, c, 1);
    expect("the sum in a register", s, t, of_register, .5, a[0].value.f);
    expect_own(n, m, up);
}

/* ---- blocks of callees ---- */

enum { MOST_CALLED = 40, MOST_TO = 1200 + LO };

static void expect_called(const setup *s, int i, int n, bool up, double (*e)[3], const double *g, const double *h,
                          double z) {
    terms *t = no_terms((uint64_t)n, up);
    add_of(t, x, z);
    expect("the sum of all", s, t, by_chunks, .1 * i, g[0]);
    for (int c = 0; c < 4; c++) {
        t = no_terms((uint64_t)n, up);
        add_of(t, x, z);
        if (c == 1 || c == 2) expect("the sum in a row", s, t, by_chunks, .6 * i, e[c][1]);
        t = no_terms((uint64_t)n, up);
        add_of(t, y, -z);
        if (c == 1 || c == 2) expect("the sum behind it", s, t, by_chunks, .6 * i, e[c][2]);
        cr_assert(e[c][0] == .6 * i);
    }
    t = no_terms((uint64_t)n, up);
    add_of(t, x, z), add_of(t, y, -z);
    expect("the sum of all, twice", s, t, by_chunks, .2 * i, g[1]);
    t = no_terms((uint64_t)n, up);
    add_of(t, x, z), leave(t->v[0], t, has_x);
    add_of(t, y, -z), leave(t->v[1], t, has_y);
    expect("the sum of some, twice", s, t, by_chunks, .3 * i, g[2]);
    t = no_terms((uint64_t)n, up);
    add_of(t, x, z);
    expect("the sum of all that find it", s, t, one_by_one, .4 * i, h[0]);
    t = no_terms((uint64_t)n, up);
    add_of(t, x, z), leave(t->v[0], t, finds_element);
    expect("the sum of some that find it", s, t, one_by_one, .5 * i, h[1]);
}

static void try_called(fixture *f, const setup *s, int n, int m, bool up) {
    static double e[MOST_CALLED][4][3], g[MOST_CALLED][3], h[MOST_CALLED][2], z[MOST_CALLED];
    static int64_t none[MOST_TO];
    for (int i = 0; i < MOST_CALLED; i++) {
        z[i] = ldexp(1, i % 5 - 2);
        for (int c = 0; c < 4 * 3; c++) e[i][c / 3][c % 3] = .6 * i;
        for (int c = 0; c < 3; c++) g[i][c] = .1 * (c + 1) * i;
        for (int c = 0; c < 2; c++) h[i][c] = .1 * (c + 4) * i;
    }
    rvm_arg a[10] = {rvm_arg_array_f64(e[0][0], 3, (int64_t[]){MOST_CALLED, 4, 3}),
                     rvm_arg_array_f64(g[0], 2, (int64_t[]){MOST_CALLED, 3}),
                     rvm_arg_array_f64(h[0], 2, (int64_t[]){MOST_CALLED, 2}),
                     reals(z, MOST_CALLED),
                     reals(x, MOST_TO),
                     reals(y, MOST_TO),
                     numbers(none, MOST_TO),
                     numbers(at, MOST_TO),
                     rvm_arg_i64(LO + m),
                     rvm_arg_i64(LO + n)};
    run(f, s, "called", a, 10, up, false);
    element = 1;
    for (int i = LO; i < LO + n; i++) expect_called(s, i, m, up, e[i], g[i], h[i], z[i]);
}

Test(cuda_order, of_callees) {
    make_inputs();
    for (int k = 0; k < 2; k++) {
        const setup s = {false, 1, "132", k ? "1" : "0"};
        fixture *f = begin_setup(called, &s);
        for (int i = 0; i < SIZES && sizes[i] <= MOST_TO - LO; i++)
            for (int up = 0; up < 2; up++) try_called(f, &s, 3, sizes[i], up);
        try_called(f, &s, MOST_CALLED - LO, 100, false);
        end(f);
    }
}

Test(cuda_order, a_cta_each) {
    static const struct {
        int n, m; /* instances; of the block within */
    } few[] = {{1, 5}, {257, 5}, {1000, 9}, {1025, 5}, {2500, 3}, {33, 37}, {40, 257}, {2, MOST_W}};
    enum { FEW = sizeof few / sizeof *few };
    make_inputs();
    for (int k = 0; k < 2 * 3; k++) {
        const setup s = {k & 1, k / 2 == 2 ? DEVICES : 1, k / 2 == 1 ? "132" : "1", "1"};
        fixture *f = begin_setup(within, &s);
        for (int i = 0; i < FEW; i++)
            for (int up = 0; up < 2 && few[i].n <= (TRY_ONE_IN > 1 ? 1000 : MOST); up++)
                try_within(f, &s, few[i].n, few[i].m, up);
        end(f);
    }
}
