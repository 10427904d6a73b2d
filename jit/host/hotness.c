/* hotness.c: see hotness.h. Counts come where the interpreter polls; they are for the functions of all frames, so
 * callers are as hot as what they call. Of several loops the outermost is the best one to enter, since the code has all that
 * is in it; so a function that waits for that polls where control jumps, for some time, and then takes a deeper one;
 * and, where what it calls goes on for longer, when that returns. */
#include "hotness.h"
#include "program.h"

/* Instructions interpreted that make a function worth looking for in the cache, which takes some 0.1 ms, and worth
 * compiling, which takes 50 to 100: about as long as interpreting them did. */
enum { WARM = 1 << 18, HOT = 1 << 24 };
/* With so many polls a loop within one more will do. After so many, fewer where only the cache may have code, they
 * come no sooner than ever. */
enum {
    PATIENCE = 512,
    MOST_POLLS = (RVM__MOST_AROUND + 1) * PATIENCE,
    MOST_WARM = 2 * PATIENCE,
    MOST_ASKED = 8,
    MOST_RETURNS = 512
};
enum { MOST_ENTRIES = 4 }; /* code that is left again and again is not made for each loop of a function */

const uint64_t rvm__usual_hot = HOT;

static bool wants_loop(const rvm__profiled *w, const rvm__hotness *f) {
    return !f->passed_by && f->entries < MOST_ENTRIES && (f->ran >= w->hot || f->ran >= WARM);
}

static bool is_waiting(const rvm__profiled *w, const rvm__hotness *f) {
    return wants_loop(w, f) && f->polls < (f->ran >= w->hot ? MOST_POLLS : MOST_WARM);
}

static bool has_loop(const rvm_function *f) {
    RVM__EACH_INSN(x, f)
        if (rvm__begins_loop(f, x.pc)) return true;
    return false;
}

bool rvm__hotness_ran(rvm__profiled *w, rvm_machine *m, uint64_t instructions) {
    bool waits = false;
    w->round++;
    for (uint32_t k = 0; k < m->store.nframes; k++) {
        const uint32_t fn = m->store.frames[k].fn;
        rvm__hotness *f = &w->functions[fn];
        if (f->round == w->round) continue;
        const uint64_t before = f->ran;
        f->round = w->round;
        f->ran += instructions;
        if ((before < WARM && f->ran >= WARM) || (before < w->hot && f->ran >= w->hot)) {
            w->ask[fn] = true;
            f->polls = f->returns = 0;
            f->passed_by |= !has_loop(&m->p->functions[fn]);
        }
        if (k + 1 < m->store.nframes && wants_loop(w, f) && f->returns < MOST_RETURNS && !m->store.frames[k + 1].looks)
            f->returns++, m->store.frames[k + 1].looks = true;
        if (!is_waiting(w, f)) continue;
        f->polls++;
        waits = true;
    }
    return waits;
}

void rvm__hotness_again(rvm__profiled *w, const rvm_machine *m) {
    for (uint32_t k = 0; k < m->store.nframes; k++) {
        rvm__hotness *f = &w->functions[m->store.frames[k].fn];
        f->polls = f->returns = 0;
    }
}

/* Whether a caller is as hot, and may soon be entered at a loop: its code has what it calls. */
static bool callers_wait(const rvm__profiled *w, const rvm_machine *m) {
    enum { MOST_CALLERS = 16 };
    for (uint32_t k = 0; k + 1 < m->store.nframes && k < MOST_CALLERS; k++) {
        const rvm__hotness *f = &w->functions[m->store.frames[k].fn];
        if (f->ran >= w->hot && is_waiting(w, f)) return true;
    }
    return false;
}

bool rvm__hotness_asks(rvm__profiled *w, const rvm_machine *m, const rvm__native_place *at, bool known, bool *compiles) {
    rvm__hotness *f = &w->functions[m->store.frames[m->store.nframes - 1].fn];
    const bool patient = w->hot >= WARM;
    *compiles = f->ran >= w->hot;
    if (at->pc) {
        if (f->passed_by || (patient && at->loops * PATIENCE > f->polls)) return false;
        if (*compiles) return *compiles = f->entries < MOST_ENTRIES, true;
        return f->ran >= WARM && f->asked++ < MOST_ASKED;
    }
    const bool called = m->store.nframes > 1;
    *compiles |= called ? w->hot <= 1 : !w->tiers;
    if (*compiles && called && patient && !known && callers_wait(w, m)) return false;
    return *compiles || known || f->ran >= WARM;
}
