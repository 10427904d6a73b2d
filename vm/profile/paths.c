/* paths.c: the call paths of a run, and room to count what runs on them. */
#include "traced.h"
#include "builder.h"
#include "transform.h"

#include <string.h>

/* Beyond that much a path is shared: 2^20 places are 40 MB. */
enum { MOST_PATHS = 1 << 16, MOST_TALLIED = 1 << 20 };

static void *resize(const rvm_machine *m, void *p, size_t old_size, size_t new_size) {
    return m->al.alloc(m->al.userdata, p, old_size, new_size);
}

static void *zeroed(const rvm_machine *m, size_t size) {
    void *p = resize(m, NULL, 0, size);
    if (p) memset(p, 0, size);
    return p;
}

static size_t tallies_size(const rvm_machine *m, uint32_t fn) {
    const size_t n = m->p->functions[fn].ncode;
    return sizeof(rvm__path_head) + (n + 1) * sizeof(rvm__tally) + n * sizeof(rvm__path_link);
}

static size_t switched_size(const rvm_machine *m, uint32_t fn) {
    return m->p->functions[fn].ncode * RVM__SWITCHED * sizeof(rvm_switching);
}

static rvm__path_head *head_of(const rvm__tally *tallies) {
    return (rvm__path_head *)(uintptr_t)tallies - 1;
}

bool rvm__profile_new(rvm_machine *m) {
    m->profile = zeroed(m, sizeof *m->profile);
    if (m->profile) rvm__profile_forget_memory(m);
    return m->profile;
}

void rvm__profile_free(rvm_machine *m) {
    rvm__profile *p = m->profile;
    if (!p) return;
    for (uint32_t k = 0; k < p->npaths; k++) {
        resize(m, head_of(p->paths[k].tallies), tallies_size(m, p->paths[k].fn), 0);
        if (p->paths[k].switched) resize(m, p->paths[k].switched, switched_size(m, p->paths[k].fn), 0);
    }
    if (p->paths) resize(m, p->paths, p->cap_paths * sizeof *p->paths, 0);
    if (p->edges) resize(m, p->edges, p->cap_edges * sizeof *p->edges, 0);
    if (p->index) resize(m, p->index, p->cap_index * sizeof *p->index, 0);
    resize(m, p, sizeof *p, 0);
    m->profile = NULL;
}

/* Paths stay, since frames have their numbers. */
void rvm__profile_reset(rvm_machine *m) {
    rvm__profile *p = m->profile;
    for (uint32_t k = 0; k < p->npaths; k++) {
        const size_t n = m->p->functions[p->paths[k].fn].ncode;
        memset(p->paths[k].tallies, 0, (n + 1) * sizeof(rvm__tally));
        for (size_t pc = 0; pc < n; pc++) rvm__profile_links(m, &p->paths[k])[pc].calls = 0;
        if (p->paths[k].switched) memset(p->paths[k].switched, 0, switched_size(m, p->paths[k].fn));
    }
    for (uint32_t k = 0; k < p->nedges; k++) p->edges[k].calls = 0;
    rvm__profile_forget_memory(m);
}

bool rvm__in_compute(const rvm_function *f, uint32_t pc) {
    uint32_t end = 0;
    RVM__EACH_INSN_IN(x, f, 0, pc + 1) end = rvm__compute_end(x.in, end);
    return pc < end;
}

/* The shift of what goes down is undone; see profile.h. */
void rvm__profile_sums(const rvm__path *path, uint32_t n, uint64_t *to) {
    int64_t at[4] = {0};
    for (uint32_t pc = 0; pc < n; pc++)
        for (int k = 0; k < 4; k++) {
            const bool down = k == RVM__DOWN || k == RVM__SWEPT_DOWN;
            at[k] += down ? -path->tallies[pc].of[k] : path->tallies[pc].of[k];
            *to++ = (uint64_t)at[k];
        }
}

/* By the interpreter, and by native code. */
uint64_t rvm__profile_calls(const rvm_machine *m, const rvm__path_edge *e) {
    const rvm__profile *p = m->profile;
    return e->calls + (e->from < p->npaths ? rvm__profile_links(m, &p->paths[e->from])[e->pc].calls : 0);
}

/* ---- room ---- */

static bool grow(const rvm_machine *m, void **list, uint32_t *cap, uint32_t need, size_t element) {
    const uint32_t more = *cap ? 2 * *cap : 16;
    if (need <= *cap) return true;
    void *grown = resize(m, *list, *cap * element, more * element);
    if (!grown) return false;
    *list = grown;
    *cap = more;
    return true;
}

static uint32_t hash(uint32_t from, uint32_t pc, uint32_t callee) {
    uint64_t h = (from * UINT64_C(0x9e3779b97f4a7c15) ^ pc) * UINT64_C(0xbf58476d1ce4e5b9) ^ callee;
    h *= UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(h >> 32);
}

/* Where the edge is, or belongs. */
static uint32_t *slot_of(const rvm__profile *p, uint32_t from, uint32_t pc, uint32_t callee) {
    for (uint32_t k = hash(from, pc, callee);; k++) {
        uint32_t *slot = &p->index[k & (p->cap_index - 1)];
        const rvm__path_edge *e = *slot ? &p->edges[*slot - 1] : NULL;
        if (!e || (e->from == from && e->pc == pc && e->callee == callee)) return slot;
    }
}

/* Half of it stays free. */
static bool grow_index(const rvm_machine *m) {
    rvm__profile *p = m->profile;
    const uint32_t cap = p->cap_index ? 2 * p->cap_index : 64;
    if (2 * (p->nedges + 1) <= p->cap_index) return true;
    uint32_t *grown = zeroed(m, cap * sizeof *grown);
    if (!grown) return false;
    if (p->index) resize(m, p->index, p->cap_index * sizeof *p->index, 0);
    p->index = grown;
    p->cap_index = cap;
    for (uint32_t k = 0; k < p->nedges; k++) {
        const rvm__path_edge *e = &p->edges[k];
        *slot_of(p, e->from, e->pc, e->callee) = k + 1;
    }
    return true;
}

static bool add_path(const rvm_machine *m, rvm__path path, uint32_t *number) {
    rvm__profile *p = m->profile;
    void *paths = p->paths;
    const bool room = grow(m, &paths, &p->cap_paths, p->npaths + 1, sizeof *p->paths);
    p->paths = paths;
    rvm__path_head *head = room ? zeroed(m, tallies_size(m, path.fn)) : NULL;
    if (!head) return false;
    if (m->o.activity && !(path.switched = zeroed(m, switched_size(m, path.fn)))) {
        resize(m, head, tallies_size(m, path.fn), 0);
        return false;
    }
    head->number = p->npaths;
    path.tallies = (rvm__tally *)(head + 1);
    p->tallied += m->p->functions[path.fn].ncode;
    *number = p->npaths;
    p->paths[p->npaths++] = path;
    return true;
}

/* ---- edges ---- */

static rvm__path_edge *find(const rvm__profile *p, uint32_t from, uint32_t pc, uint32_t callee) {
    const uint32_t k = p->cap_index ? *slot_of(p, from, pc, callee) : 0;
    return k ? &p->edges[k - 1] : NULL;
}

/* `to` is set by the caller, at once. */
static rvm__path_edge *add(const rvm_machine *m, rvm__path_edge edge) {
    rvm__profile *p = m->profile;
    void *edges = p->edges;
    const bool room = grow_index(m) && grow(m, &edges, &p->cap_edges, p->nedges + 1, sizeof edge);
    p->edges = edges;
    if (!room) return NULL;
    *slot_of(p, edge.from, edge.pc, edge.callee) = p->nedges + 1;
    p->edges[p->nedges] = edge;
    return &p->edges[p->nedges++];
}

/* The same, and the path that it leads to is new. */
static rvm__path_edge *add_with_path(const rvm_machine *m, rvm__path_edge edge, rvm__path path) {
    return add_path(m, path, &edge.to) ? add(m, edge) : NULL; /* a path too many does no harm */
}

static bool full(const rvm_machine *m, uint32_t fn) {
    const rvm__profile *p = m->profile;
    return p->npaths >= MOST_PATHS || p->tallied + m->p->functions[fn].ncode > MOST_TALLIED;
}

/* On the way to the entry, a path of that function which counts alike; a derivative's, for the same path. */
static uint32_t recurs(const rvm__profile *p, const rvm__path *path) {
    for (uint32_t k = path->parent; k != (uint32_t)RVM__NO_PATH; k = p->paths[k].parent) {
        const rvm__path *above = &p->paths[k];
        if (above->fn != path->fn) continue;
        if (p->source.of ? above->origin == path->origin : above->up == path->up) return k;
    }
    return (uint32_t)RVM__NO_PATH;
}

/* What all paths of a function share that there is no room for. */
static rvm__path_edge *shared_path(const rvm_machine *m, rvm__path path) {
    const rvm__path_edge edge = {.from = (uint32_t)RVM__SHARED_PATH, .pc = path.up + 4u * path.tangents, .callee = path.fn};
    rvm__path_edge *e = find(m->profile, edge.from, edge.pc, edge.callee);
    path.parent = (uint32_t)RVM__NO_PATH;
    path.shared = true;
    return e ? e : add_with_path(m, edge, path);
}

/* ---- where code comes from ---- */

/* A function as written, of which fn is a derivative of a derivative. */
uint32_t rvm__profile_written(const rvm_machine *m, uint32_t fn) {
    const rvm_program *source = m->profile->source.of->p;
    rvm_transform kind;
    const uint8_t *active;
    while (fn >= source->nfunctions && rvm__transform_of(m->p, fn, &kind, &fn, &active)) continue;
    return fn;
}

bool rvm__profile_is_gradient(const rvm_machine *m, uint32_t fn) {
    rvm_transform kind;
    const uint8_t *active;
    uint32_t of;
    return fn >= m->profile->source.of->p->nfunctions && rvm__transform_of(m->p, fn, &kind, &of, &active) &&
           kind == RVM_GRADIENT_OF;
}

/* The instruction of the function as written. False: there is none. */
bool rvm__profile_written_at(const rvm_machine *m, uint32_t fn, uint32_t *pc) {
    const rvm__profile_source *s = &m->profile->source;
    rvm_transform kind;
    const uint8_t *active;
    while (fn >= s->of->p->nfunctions) {
        const rvm__origin *x = rvm__origin_at(rvm__origins_of(s->origins, fn), *pc);
        if (!x || !rvm__transform_of(m->p, fn, &kind, &fn, &active)) return false;
        *pc = x->pc;
    }
    return true;
}

static uint32_t lost(const rvm_machine *m) {
    m->profile->source.lost = true;
    return 0;
}

/* A program may bring a function of a derivative's name, which stands for something else. */
static bool may_call(const rvm_program *p, const rvm_insn *in, uint32_t callee) {
    RVM__EACH_CALLEE(g, p, in)
        if (g == callee) return true;
    return false;
}

/* f'grad calls f, then f'adj: both are runs of f. */
static uint32_t call_origin(const rvm_machine *m, uint32_t from, uint32_t pc, uint32_t callee) {
    const rvm_machine *of = m->profile->source.of;
    const rvm__path *caller = &m->profile->paths[from];
    const uint32_t to = rvm__profile_written(m, callee);
    const uint32_t fn = rvm__profile_written(m, caller->fn);
    if (rvm__profile_is_gradient(m, caller->fn)) return to == fn ? caller->origin : lost(m);
    if (!rvm__profile_written_at(m, caller->fn, &pc) || !may_call(of->p, &of->p->functions[fn].code[pc], to)) return lost(m);
    const rvm__path_edge *e = rvm__profile_edge(of, caller->origin, pc, to);
    return e ? e->to : lost(m);
}

static rvm__path_edge *new_call(const rvm_machine *m, uint32_t from, uint32_t pc, uint32_t callee) {
    const rvm__path *caller = &m->profile->paths[from];
    const rvm_function *f = &m->p->functions[caller->fn];
    const uint8_t way = rvm__in_compute(f, pc) ? RVM_PROFILE_COMPUTE : caller->up;
    const bool by_rule = m->run.by_rule, sweeps = by_rule && m->run.by_rule > m->store.nframes && m->run.sweep_begun;
    rvm__path path = {.fn = callee, .parent = from, .call_pc = pc, .tangents = caller->tangents && !by_rule};
    rvm__path_edge edge = {.from = from, .pc = pc, .callee = callee};
    path.up = (bool)rvm__is_inverse(f->code[pc].op) != sweeps ? rvm__profile_opposite(way) : way;
    if (m->profile->source.of) path.origin = call_origin(m, from, pc, callee);
    edge.to = recurs(m->profile, &path);
    if (edge.to != (uint32_t)RVM__NO_PATH) return add(m, edge);
    if (m->profile->source.of || !full(m, callee)) return add_with_path(m, edge, path);
    const rvm__path_edge *shared = shared_path(m, path);
    if (!shared) return NULL;
    edge.to = shared->to;
    return add(m, edge);
}

rvm__path_edge *rvm__profile_edge(const rvm_machine *m, uint32_t from, uint32_t pc, uint32_t callee) {
    rvm__path_edge *e = find(m->profile, from, pc, callee);
    return e ? e : new_call(m, from, pc, callee);
}

rvm__path_edge *rvm__profile_call(rvm_machine *m, uint32_t pc, uint32_t callee) {
    return rvm__profile_edge(m, m->store.frames[m->store.nframes - 1].path, pc, callee);
}

rvm__tally *rvm__profile_below(rvm_machine *m, const rvm__tally *from, uint32_t pc, uint32_t callee, bool counts) {
    const uint32_t caller = rvm__profile_number(from);
    rvm__path_edge *e = rvm__profile_edge(m, caller, pc, callee);
    if (!e) return NULL;
    rvm__tally *to = m->profile->paths[e->to].tallies;
    if (counts)
        e->calls++;
    else
        rvm__profile_links(m, &m->profile->paths[caller])[pc].to = to;
    return to;
}

static uint32_t entry_origin(const rvm_machine *m) {
    rvm_machine *of = m->profile->source.of;
    const rvm__path_edge *e = rvm__profile_entry(of, rvm__profile_written(m, m->bound.entry), m->profile->source.tangents);
    return e ? e->to : lost(m);
}

rvm__path_edge *rvm__profile_entry(rvm_machine *m, uint32_t fn, bool tangents) {
    const rvm__path_edge edge = {.from = (uint32_t)RVM__NO_PATH, .pc = tangents, .callee = fn};
    rvm__path path = {.fn = fn, .parent = edge.from, .up = RVM_PROFILE_FORWARD, .tangents = tangents};
    rvm__path_edge *e = find(m->profile, edge.from, edge.pc, edge.callee);
    if (!e && m->profile->source.of) path.origin = entry_origin(m);
    return e ? e : add_with_path(m, edge, path);
}

rvm_status rvm__profile_enter(rvm_machine *m) {
    rvm__path_edge *e = rvm__profile_entry(m, m->bound.entry, m->bound.mode == RVM_TANGENT);
    if (!e) return RVM_ERR_MEMORY;
    if (m->run.where != INSIDE) { /* there are no local arrays yet */
        e->calls++;
        m->profile->shadows = m->store.arena_used;
    }
    m->store.frames[0].path = e->to;
    return RVM_OK;
}
