/* worker.c: one job after the other. While a long one runs, its polls look for more: small ones are done between, each
 * within a slice of time; what takes longer is sent back, to come again as a long one of its own. */
#include "worker.h"
#include "session.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const double slice = 0.02; /* of a job that runs beside another, seconds */

typedef struct worker {
    rvm_jit *jit;     /* NULL: it interprets */
    session *session; /* NULL: it takes jobs as they come */
    int fd;
    const worker_setup *setup;
    live *page;
    frame_in in;
    frame_packet *packet;
} worker;

/* A job that runs: beside another (outer), or by itself. */
typedef struct job {
    worker *at;
    struct job *outer;
    frame_kind kind;
    uint32_t id;
    double begun;
    bool cancelled, too_long;
} job;

static void serve(worker *at, job *outer);

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- while a run goes on ---- */

/* A message that came meanwhile. */
static void look(job *j) {
    worker *at = j->at;
    while (frame_receive(at->fd, &at->in, at->packet, FRAME_LONGEST, MSG_DONTWAIT) == FRAME_OK) {
        if (at->in.head.kind == FRAME_CANCEL)
            j->cancelled |= at->in.head.job == j->id;
        else
            serve(at, j);
    }
}

static bool hook(work *w) {
    job *j = w->userdata;
    const double spent = now() - j->begun;
    if (!j->outer) {
        look(j);
        j->at->page->job = j->id;
    }
    j->too_long = j->outer && spent > slice;
    w->out_of_time = !j->outer && spent > w->seconds;
    return j->cancelled || j->too_long || w->out_of_time;
}

/* ---- one message ---- */

static void send_parts(worker *at, frame_kind kind, uint32_t id, const part *parts, uint32_t n) {
    uint32_t size, sent = 0;
    unsigned char *body = frame_pack(parts, n, &size);
    const frame_head head = {kind, id, size, 0};
    if (!body || frame_send(at->fd, head, body, &sent, 0) != FRAME_OK) _exit(1);
    free(body);
}

static void answer(const job *j, work *w) {
    if ((w->text ? w->text_size : 0) + (w->more ? w->more_size : 0) > FRAME_ANSWER - 4096)
        work_fail(w, RVM_ERR_LIMIT, "the answer would be larger than %d bytes", FRAME_ANSWER);
    const part parts[] = {part_of(&w->out, sizeof w->out), part_of(w->text, w->text ? w->text_size : 0),
                          part_of(w->more, w->more ? w->more_size : 0)};
    const part need = part_of(w->need, strlen(w->need));
    if (j->too_long)
        send_parts(j->at, FRAME_LATER, j->id, NULL, 0);
    else if (w->need[0])
        send_parts(j->at, FRAME_NEED, j->id, &need, 1);
    else
        send_parts(j->at, FRAME_DONE, j->id, parts, 3);
}

static void work_on(frame_kind kind, work *w) {
    switch (kind) {
    case FRAME_ASSEMBLE: work_assemble(w); break;
    case FRAME_RUN: work_run(w); break;
    case FRAME_EXPORT: work_export(w); break;
    case FRAME_COMPARE: work_compare(w); break;
    case FRAME_LISTING: work_listing(w); break;
    case FRAME_OPEN: work_open(w); break;
    case FRAME_SESSION: work_session(w); break;
    case FRAME_CANCEL:
    case FRAME_DONE:
    case FRAME_NEED:
    case FRAME_LATER: break;
    }
}

/* ---- native code ---- */

/* One for all runs: what was compiled for one is there for the next; anew when it holds much. Without LLVM there is none. */
static void renew_jit(worker *at) {
    static const size_t much = 64u << 20;
    rvm_jit_options o = rvm_jit_options_default();
    rvm_jit_totals totals = {0};
    if (at->jit) rvm_jit_stats(at->jit, &totals);
    if (!at->setup->native || (at->jit && totals.code_size < much) || (at->jit && rvm_jit_busy(at->jit))) return;
    rvm_jit_free(at->jit);
    at->jit = NULL;
    o.tiers = true, o.cache = "";
    o.threads = 0; /* a worker has one for a run: processors are for the others */
    rvm_jit_new(&o, &at->jit, NULL);
}

/* Nothing of the job before is told as this one's. */
static void begin_telling(live *page, uint32_t id) {
    page->nlines = page->npaths = 0;
    page->instructions = 0;
    page->share = -1;
    page->job = id;
}

/* The message in at->in, which is taken out of it: more may come while it is worked on. */
static void serve(worker *at, job *outer) {
    job j = {.at = at, .outer = outer, .kind = (frame_kind)at->in.head.kind, .id = at->in.head.job, .begun = now()};
    work w = {.limits = at->setup->limits, .jit = at->jit, .live = at->page, .hook = hook, .userdata = &j};
    unsigned char *body = at->in.whole, *copy = NULL;
    const uint32_t size = at->in.head.size;
    live none;
    if (j.kind == FRAME_CANCEL) return;
    if (!body && !(body = copy = malloc(size + 1))) _exit(1);
    if (copy) memcpy(copy, at->in.body, size);
    at->in = (frame_in){0};
    if (!frame_parts(body, size, w.in)) _exit(1);
    if (outer)
        w.live = &none;
    else
        renew_jit(at), begin_telling(at->page, j.id);
    w.jit = at->jit;
    w.session = &at->session;
    work_on(j.kind, &w);
    if (!outer) at->page->job = 0;
    answer(&j, &w);
    work_free(&w);
    free(body);
    if (!outer && now() - j.begun > 10 * slice) malloc_trim(0);
}

void worker_main(int fd, const wall *w, const worker_setup *setup, live *page) {
    worker at = {.fd = 3, .setup = setup, .page = page, .packet = malloc(sizeof *at.packet)};
    json_object_seed(0); /* from the system's random numbers, which are out of reach then */
    if (!at.packet || !wall_enter(w, fd)) _exit(1);
    while (frame_receive(at.fd, &at.in, at.packet, FRAME_LONGEST, 0) == FRAME_OK) serve(&at, NULL);
    _exit(0);
}
