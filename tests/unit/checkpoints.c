/* checkpoints.c: gradients whose loops run again from snapshots: progress, cancelling, files that were changed. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

static const char text[] = "fn march(out: real, x: real[n], k: i64)\n"
                           "    for t in 0..k\n"
                           "        for i in 1..n - 1\n"
                           "            set x[i] = x[i] + 0.1 * (x[i - 1] - 2 * x[i] + x[i + 1])\n"
                           "        end\n"
                           "    end\n"
                           "    out += x[1]\n"
                           "end\n"
                           "fn once(out: real, x: real[n], k: i64)\n"
                           "    for i in 0..n\n"
                           "        for t in 0..k\n"
                           "            set x[i] = sin(x[i])\n"
                           "        end\n"
                           "    end\n"
                           "    out += x[1]\n"
                           "end\n"
                           "fn until(out: real, x: real[n], k: i64)\n"
                           "    let t = 0\n"
                           "    from t == 0 while t < k\n"
                           "        for i in 1..n - 1\n"
                           "            set x[i] = x[i] + 0.1 * (x[i - 1] - 2 * x[i] + x[i + 1])\n"
                           "        end\n"
                           "        t += 1\n"
                           "    end\n"
                           "    drop t\n"
                           "    out += x[1]\n"
                           "end\n"
                           "fn nested(out: real, x: real[n], k: i64)\n"
                           "    for t in 0..k\n"
                           "        for s in 0..k\n"
                           "            for i in 0..n\n"
                           "                set x[i] = x[i] + 0.1 * sin(x[i])\n"
                           "            end\n"
                           "        end\n"
                           "    end\n"
                           "    out += x[1]\n"
                           "end\n";

enum { CELLS = 400 };
static rvm_error e;

typedef struct watch {
    rvm_machine *m;
    unsigned calls, stop_at;
    bool rises, middle; /* middle: it was told in the midst of the run */
    double share;
    const char *spoils; /* a folder whose files are to be changed */
} watch;

static void spoil(const char *folder) {
    DIR *d = opendir(folder);
    for (const struct dirent *f; d && (f = readdir(d));) {
        const int fd = strstr(f->d_name, ".trail") ? openat(dirfd(d), f->d_name, O_WRONLY) : -1;
        if (fd < 0) continue;
        cr_assert(pwrite(fd, "spoiled", 7, 1000) == 7);
        close(fd);
    }
    if (d) closedir(d);
}

static bool on_progress(void *userdata, uint64_t instructions) {
    watch *w = userdata;
    const double share = rvm_machine_share(w->m);
    w->rises = w->rises && instructions && share >= w->share && share <= 1;
    w->middle = w->middle || (share > 0.2 && share < 0.6);
    w->share = share;
    if (w->spoils) spoil(w->spoils);
    return ++w->calls == w->stop_at;
}

typedef struct run_of {
    rvm_program *p;
    rvm_machine *m;
    double x[CELLS], x_b[CELLS];
    int64_t n;
    rvm_arg a[3];
} run_of;

static void begin(run_of *r, const rvm_options *o, int64_t k) {
    report rep = {.name = "checkpoints"};
    r->p = assemble_text(text, NULL, &rep);
    cr_assert(r->p && rvm_machine_new(r->p, o, &r->m, &e) == RVM_OK);
    for (int i = 0; i < CELLS; i++) r->x[i] = i % 7, r->x_b[i] = 0.5;
    r->n = CELLS;
    r->a[0] = rvm_arg_f64(0);
    r->a[0].active = true;
    r->a[0].shadow.f = 1;
    r->a[1] = rvm_arg_array_f64(r->x, 1, &r->n);
    r->a[1].active = true;
    r->a[1].shadow_data = r->x_b;
    r->a[1].shadow_stride[0] = 1;
    r->a[2] = rvm_arg_i64(k);
}

static void end(run_of *r) {
    rvm_machine_free(r->m);
    rvm_program_free(r->p);
}

static void expect_as_before(const run_of *r) {
    for (int i = 0; i < CELLS; i++) cr_assert(r->x[i] == i % 7 && r->x_b[i] == 0.5, "element %d", i);
    cr_assert(r->a[0].value.f == 0 && r->a[0].shadow.f == 1);
}

/* hot: instructions before native code is entered, 0: at once; NULL: all is interpreted. */
static void expect_progress(const char *name, int64_t k, const uint64_t *hot) {
    run_of r;
    watch w = {.rises = true, .share = -1};
    rvm_options o = rvm_options_default();
    rvm_jit_options jo = rvm_jit_options_default();
    rvm_jit *j = NULL;
    o.progress = on_progress;
    o.userdata = &w;
    o.checkpoints = 5;
    begin(&r, &o, k);
    w.m = r.m;
    jo.cache = "";
    jo.wait = true;
    jo.level = 0;
    jo.tiers = hot && *hot;
    if (hot && *hot) jo.hot = *hot;
    if (hot && rvm_jit_new(&jo, &j, &e)) cr_skip_test("%s", e.message);
    if (hot) cr_assert(rvm_jit_attach(j, r.m, &e) == RVM_OK, "%s", e.message);
    cr_assert(rvm_gradient(r.m, (uint32_t)rvm_program_find(r.p, name), r.a, 3, &e) == RVM_OK, "%s", e.message);
    cr_assert(w.calls > 5 && w.rises, "%s: %u calls", name, w.calls);
    cr_assert(w.middle && w.share > 0.8, "%s: at last %g", name, w.share);
    end(&r);
    rvm_jit_free(j);
}

static const struct {
    const char *name;
    int64_t k;
} loops[] = {{"march", 300}, {"until", 300}, {"nested", 16}};

Test(checkpoints, progress) {
    for (size_t n = 0; n < sizeof loops / sizeof *loops; n++) expect_progress(loops[n].name, loops[n].k, NULL);
}

Test(checkpoints, progress_natively) {
    static const uint64_t hot[] = {0, 1000, 6000000}; /* the last: in the midst of the way back */
    for (size_t n = 0; n < sizeof loops / sizeof *loops; n++)
        for (size_t h = 0; h < sizeof hot / sizeof *hot; h++)
            if (TRY_ONE_IN == 1 || h == n) expect_progress(loops[n].name, 2 * loops[n].k, &hot[h]);
}

Test(checkpoints, cancelled) {
    rvm_options o = rvm_options_default();
    o.progress = on_progress;
    o.checkpoints = 5;
    for (unsigned at = 1; at < 8; at += 3) {
        run_of r;
        watch w = {.stop_at = at};
        o.userdata = &w;
        begin(&r, &o, 300);
        cr_assert(rvm_gradient(r.m, 0, r.a, 3, &e) == RVM_ERR_CANCELLED && w.calls == at, "%s", e.message);
        expect_as_before(&r);
        end(&r);
    }
}

/* What marches took a copy of its arguments; of a trail that is lost there is none. */
static void expect_spoiled(uint32_t fn, uint64_t states, int64_t k) {
    run_of r;
    char dir[] = "/tmp/rvm_spoiled_XXXXXX";
    watch w = {.spoils = dir};
    rvm_options o = rvm_options_default();
    cr_assert(mkdtemp(dir));
    o.progress = on_progress;
    o.userdata = &w;
    o.checkpoints = states;
    o.checkpoint_dir = dir;
    o.trail_limit = 20000;
    begin(&r, &o, k);
    const rvm_status st = rvm_gradient(r.m, fn, r.a, 3, &e);
    cr_assert(st == RVM_ERR_FORMAT, "%s: %s", rvm_status_name(st), e.message);
    cr_assert(strstr(e.message, "checksum"), "%s", e.message);
    if (states != RVM_CHECKPOINTS_NEVER) expect_as_before(&r);
    end(&r);
    cr_assert(rmdir(dir) == 0, "files are left");
}

Test(checkpoints, spoiled) {
    expect_spoiled(0, 20, 100);                     /* states are read */
    expect_spoiled(1, RVM_CHECKPOINTS_NEVER, 3000); /* values, one by one */
}

Test(checkpoints, limit) {
    run_of r;
    rvm_stats s;
    rvm_options o = rvm_options_default();
    o.trail_limit = 100000;
    for (int never = 0; never < 2; never++) {
        o.checkpoints = never ? RVM_CHECKPOINTS_NEVER : 0;
        begin(&r, &o, 300);
        const rvm_status st = rvm_gradient(r.m, 0, r.a, 3, &e);
        rvm_machine_stats(r.m, &s);
        cr_assert(st == (never ? RVM_ERR_LIMIT : RVM_OK) && s.marched == !never, "%s", e.message);
        end(&r);
    }
}
