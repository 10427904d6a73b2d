/* cuda.h: inside rvm_cuda.
 *
 *   driver.c   CUDA's driver, opened       context.c  around its calls
 *   array.c    arrays that stay there      local.c    local arrays that only blocks use
 *   memory.c   buffers of the device       place.c    what a block uses, there
 *   nested.c   a CTA for each instance
 *   code.c     PTX as kernels              log.c      additions to elements, in their order
 *                                          entries.c  and with the elements
 *   block.c    a job's block as a kernel   runner.c   where a block runs: the machine's runner
 *   split.c    on several devices          merge.c    what these changed, put together
 *   changes.c  where they changed arrays   mirror.c   arrays that stay, on another device
 *   choose.c   where a block is faster     totals.c   what was done
 *   kept.c     copies of arrays, there     blocks.c   and for which blocks
 *   device.c   devices, opened             attach.c   an rvm_cuda
 *   sums.cu    kernels that put sums together, as sums.ptx
 *   ranges.c   blocks, as Nsight shows them
 */
#ifndef RVM_CUDA_INTERNAL_H
#define RVM_CUDA_INTERNAL_H

#include "native.h"
#include "rvm_cuda.h"

/* ---- driver.c ---- */
typedef struct rvm__driver {
#define FUNCTION(name, symbol, params) int(*name) params;
#include "driver.def"
#undef FUNCTION
    enum rvm__device_code code; /* RVM__KERNELS_PTX; else it is no driver, but runs kernels on the host (tests/grid) */
} rvm__driver;
/* Opened once, and stays. UNSUPPORTED: why there is none. Any thread. */
rvm_status rvm__driver_open(const rvm__driver **out, rvm_error *err);
/* Whether it looks so, in no time: the driver does not begin; and what it runs. Any thread. */
bool rvm__driver_may_be_there(enum rvm__device_code *code);
/* RVM_OK, or that the driver failed `doing` that: UNSUPPORTED, MEMORY. */
rvm_status rvm__driver_fail(const rvm__driver *d, int code, const char *doing, rvm_error *err);
/* Numbers of the driver's interface. */
enum {
    CUDA_OUT_OF_MEMORY = 2,
    CUDA_TIMEOUT = 702,
    CUDA_CLOCK = 13,
    CUDA_MULTIPROCESSORS = 16,
    CUDA_MAJOR = 75,
    CUDA_MINOR = 76,
    CUDA_SINGLE_TO_DOUBLE = 87,
    CUDA_SHARED = 97,     /* bytes that a CTA may have at most */
    CUDA_LOCAL_BYTES = 3, /* of a function */
    CUDA_REGISTERS = 4,
    CUDA_MOST_SHARED = 8,
    CUDA_STACK = 0, /* a limit of a context */
    CUDA_LOG = 5,   /* options of loading: where errors go, and bytes of that */
    CUDA_LOG_SIZE = 6,
    CUDA_LINES = 13 /* 1: the tables of lines that the text has are kept, for profilers */
};

/* ---- an rvm_cuda ---- */
typedef struct rvm__buffer {
    struct rvm__buffer *next;
    uint64_t p;
    size_t size;
    bool busy;
} rvm__buffer;

typedef struct rvm__code_entry rvm__device_code; /* code.c */
typedef struct rvm__mirror rvm__mirror;          /* mirror.c */
typedef struct rvm__chooser rvm__chooser;        /* choose.c */

/* A local array of native code that only blocks use (local.c). */
typedef struct rvm__local {
    struct rvm__local *next;
    char *data;
    size_t bytes;
    rvm__buffer *buffer; /* NULL: it was not yet used */
    bool on_host, there; /* what is right; both, where neither has changed it since */
    bool zero;           /* it has not changed since it appeared, all bits 0 */
    bool held;           /* an argument's that does not change, for several runs */
    rvm__mirror *mirrors;
} rvm__local;

/* One device. The caller's is the first of its devices, and has the others: these have no arrays of their own. */
struct rvm_cuda {
    rvm_cuda *first; /* itself, but in the others */
    rvm_cuda *others[RVM_CUDA_MAX_DEVICES - 1];
    unsigned nothers;
    const rvm__driver *d;
    rvm_allocator al;
    rvm_cuda_options o;                  /* its `device` is this one */
    int wanted[RVM_CUDA_MAX_DEVICES];    /* o.ndevices, by number */
    int device, multiprocessors, shared; /* shared: bytes that a CTA may have */
    void *context, *stream, *events[2];
    bool own_stream;
    rvm_status lost; /* the device fails for good: why, and */
    char why_lost[200];
    uint32_t lost_at; /* the line of the block that it ran; 0: none */
    bool spoilt;      /* and what a block has changed of arrays that stay could not be taken back: nobody is to read them */
    rvm__buffer *buffers;
    rvm__device_code *codes;
    void *sums, *sum_terms, *sum_copies, *sum_log, *find_changes; /* the module of sums.ptx, and its kernels */
    void *count_digits, *place_digits, *sort_digits, *sum_items, *find_far, *find_doubles, *fill;
    rvm_cuda_array *arrays;
    rvm__local *locals;
    struct rvm__kept *kept;
    rvm__chooser *chooser;        /* NULL: all blocks that may go to the device do; else d is NULL till one is to */
    rvm__kernel_control *control; /* on the host, and */
    uint64_t device_control;
    size_t stack;  /* bytes of local memory that threads have, as it was set */
    void *staging; /* on the host, for what comes back, so that it does at once or not at all */
    size_t staging_size;
    rvm_cuda_totals totals;
    rvm_cuda_block *blocks; /* of the first device, nblocks, with room for `capacity` */
    size_t nblocks, capacity;
    uint32_t line; /* of the block that runs; 0: none; of the first device */
};
extern const char *const rvm__sums_ptx;

/* Calls between these see the context. False: it is lost. */
bool rvm__cuda_enter(rvm_cuda *c);
void rvm__cuda_leave(rvm_cuda *c);
/* Whether it failed; then err says so, and what is lost for good is noted. */
bool rvm__cuda_failed(rvm_cuda *c, int code, const char *doing, rvm_error *err);
rvm_status rvm__cuda_fail_lost(const rvm_cuda *c, rvm_error *err); /* it is, or one of its others: UNSUPPORTED, why */
void rvm__cuda_spoil(rvm_cuda *c); /* an array that stays there is neither as it was nor as it should be */

/* ---- code.c ---- */
/* A kernel of the code, which is loaded when it is met first; NULL: err. It stays, and what it was found to need is to be
 * set. */
typedef struct rvm__loaded_kernel {
    char name[40];
    void *function;
    int local_bytes;
    uint64_t trips;      /* nested: instances that blocks within had, at most; 0: not known yet */
    bool too_large;      /* local arrays are, for a thread */
    uint64_t arena;      /* bytes of local arrays, */
    uint64_t additions;  /* and additions to elements that are kept, of an instance; */
    uint64_t each;       /* nested: of one of a block within */
    uint64_t met;        /* nested: of one of a block within, of those that wait for its end */
    uint64_t width;      /* of those that are kept with their elements */
    bool knows_width;    /* some run has told it */
    uint64_t *addresses; /* of these, as they were last, `naddresses`, then of elements; and what sum_log takes for them: */
    uint64_t naddresses, nelements;
    rvm__buffer *lists; /* elements, from, list; or NULL */
} rvm__loaded_kernel;
rvm__loaded_kernel *rvm__cuda_kernel(rvm_cuda *c, const rvm__native_kernel *k, rvm_error *err);
bool rvm__cuda_is_loaded(const rvm_cuda *c, const rvm__native_kernel *k);
rvm_status rvm__cuda_load_sums(rvm_cuda *c, rvm_error *err);
void rvm__cuda_unload(rvm_cuda *c);

/* ---- memory.c ---- */
/* Of at least so many bytes, till it is put back; NULL: err. */
rvm__buffer *rvm__cuda_take(rvm_cuda *c, size_t size, rvm_error *err);
void rvm__cuda_put(rvm__buffer *b);
void rvm__cuda_free_buffers(rvm_cuda *c);

/* ---- place.c ---- */
/* Where a view of a job stands on the device. */
typedef struct rvm__place {
    uint64_t p;          /* of the first element of its root */
    size_t bytes;        /* of that */
    rvm__buffer *buffer; /* NULL: of an array that stays there, */
    rvm_cuda_array *stays;
    struct rvm__local *local; /* or of a local array that is there as long as it is at all */
    size_t offset;            /* behind the beginning of it, bytes */
    rvm__buffer *before;      /* what it was, where the block may fail, or changes are looked for (changes.c); or NULL */
    uint32_t *changed;        /* of each part of it, whether some have changed; NULL: maybe of all */
    uint64_t *image;          /* merge.c; or NULL */
} rvm__place;
size_t rvm__cuda_bytes(const rvm__native_view *v, uint64_t ndim); /* from its first element to its last */
/* Of each view of the job: those that are whole are found, or uploaded; false: err. may_fail: so may the block. */
bool rvm__cuda_places(rvm_cuda *c, const rvm__native_job *job, bool may_fail, rvm__place *places, rvm_error *err);
/* Memory of the host that the device writes fast; till it is asked for again. NULL: err. */
char *rvm__cuda_staging(rvm_cuda *c, size_t bytes, rvm_error *err);
bool rvm__cuda_is_there(const rvm__place *p); /* it stays, or is a local array's */
/* What stays, and has been kept, is as it was. False: err, and it is spoilt. */
bool rvm__cuda_take_back(rvm_cuda *c, const rvm__native_job *job, const rvm__place *places, rvm_error *err);
void rvm__cuda_locals_changed(const rvm__native_kernel *k, const rvm__place *places); /* on the first device: by the block */
/* What was changed goes back; or, taken back, does not. False: err. */
bool rvm__cuda_return(rvm_cuda *c, const rvm__native_job *job, rvm__place *places, bool taken_back, rvm_error *err);

/* ---- array.c ---- */
/* The array that has that address, and bytes behind it, or NULL. */
rvm_cuda_array *rvm__cuda_array_at(rvm_cuda *c, const char *p, size_t bytes, size_t *offset);
/* A kernel on that device, or host code, is about to read it or to change it. Another device than its own has a copy, which
 * it may change in a block that changes the array, if it asks before the array's own does. 0, false: err. */
uint64_t rvm__cuda_array_for_kernel(rvm_cuda *on, rvm_cuda_array *a, bool changes, rvm_error *err);
bool rvm__cuda_array_for_host(rvm_cuda_array *a, bool changes, rvm_error *err);
bool rvm__cuda_array_is_there(
    const rvm_cuda_array *a);                          /* the device has what is right, and host code has not asked for it */
bool rvm__cuda_array_is_away(const rvm_cuda_array *a); /* and the host has not */
/* All of so many bytes are about to be written there: what the array has in their place need not be copied. 0: err. */
uint64_t rvm__cuda_array_rewrite(rvm_cuda_array *a, size_t bytes, rvm_error *err);
void rvm__cuda_array_lose(rvm_cuda_array *a);        /* what it should have is lost with the device */
bool rvm__cuda_array_stays(const rvm_cuda_array *a); /* not: host code uses it, too, between blocks of this run */
void rvm__cuda_array_share(rvm_cuda_array *a);       /* it does so from now on: the array is on the host */
/* As in rvm__runner. */
rvm_status rvm__cuda_enter_run(rvm_machine *m);
rvm_status rvm__cuda_bring(const rvm_machine *m, const rvm_arg *args, uint32_t n);
int64_t rvm__cuda_elements(const rvm_machine *m, const char *from);

/* ---- local.c ---- */
rvm__local *rvm__cuda_local_at(rvm_cuda *c, const char *p, size_t bytes, size_t *offset); /* NULL: none */
/* Where a kernel finds it on that device, likewise; 0: err. */
uint64_t rvm__cuda_local_for_kernel(rvm_cuda *on, rvm__local *l, bool changes, rvm_error *err);
void rvm__cuda_local_share(rvm_cuda *c, rvm__local *l); /* on the host: for each block it is an array of the host then */
bool rvm__cuda_local_to_host(rvm_cuda *c, rvm__local *l, rvm_error *err); /* where host code does, which changes it */
/* As in rvm__runner. */
void rvm__cuda_local(rvm_machine *m, char *data, uint64_t n, uint64_t bits);
void rvm__cuda_hold(rvm_machine *m, const char *data, uint64_t n);
void rvm__cuda_let_go(rvm_machine *m);
rvm_status rvm__cuda_leave_run(rvm_machine *m);

/* ---- blocks.c ---- */
enum { RVM__NO_BLOCK = -1 };
/* The number of the job's block among c's; RVM__NO_BLOCK: out of memory, nobody counts it. */
long rvm__cuda_block_of(rvm_cuda *c, const rvm_machine *m, const rvm__native_job *job);
void rvm__cuda_free_blocks(rvm_cuda *c);

/* ---- kept.c ---- */
extern const rvm__keeper rvm__cuda_keeper;
void rvm__cuda_kept_free(rvm_cuda *c); /* of all machines */

/* ---- ranges.c ---- */
void rvm__cuda_range_begin(const rvm_machine *m, const rvm__native_kernel *k); /* in one thread, nested */
void rvm__cuda_range_end(void);

/* ---- mirror.c: a copy of what stays on the first device, on another one, till either changes ---- */
/* The address there of the `bytes` bytes at p on the first device; *list: the mirrors of what stands there. 0: err. */
uint64_t rvm__cuda_mirror(rvm_cuda *on, rvm__mirror **list, uint64_t p, size_t bytes, rvm_error *err);
void rvm__cuda_mirrors_stale(rvm__mirror *list);
void rvm__cuda_mirrors_free(rvm_cuda *first, rvm__mirror **list);

/* ---- block.c, log.c, entries.c, nested.c ---- */
enum { RVM__MOST_KERNEL_PARAMS = 512, RVM__MOST_TRIES = 12 };
typedef struct rvm__gaining { /* an element */
    uint64_t view, offset;    /* of the array; bytes */
    rvm_value *home;          /* merge.c */
} rvm__gaining;
typedef struct rvm__chunk_sums { /* what the chunks of a piece add to elements, where somebody else adds them up */
    struct rvm__chunk_sums *next;
    size_t size; /* of it, bytes */
    uint64_t nchunks, nelements;
    rvm__gaining *to; /* [element] */
    double *sums;     /* [chunk][element], in the order of instances */
} rvm__chunk_sums;

/* A block that runs as a kernel, or what one of several devices has of it: of every `period` instances, those numbered from
 * `first` on, `width`. They are counted from 0 on, and run piece by piece. */
typedef struct rvm__block_run {
    rvm_cuda *c;
    rvm_machine *m;
    const rvm__native_job *job;
    const rvm__native_kernel *k;
    rvm__native *native;
    rvm__loaded_kernel *kernel;
    rvm__place *places;
    uint64_t first, width, period, count; /* the first three: whole chunks, or all that there are; count: of all periods */
    long number;                          /* of the block, among those that are counted */
    uint64_t done, at, n, each;           /* instances that are done; the piece's first, and how many; the next one's */
    bool apart;                           /* sums of elements go to `chunks`, not to the elements */
    bool cleared;                         /* the control block has been, for this try: what it says is of it */
    bool launched;                        /* a kernel, which may have changed arrays */
    bool too_large;                       /* local arrays are, as the last try tells */
    rvm__chunk_sums *chunks, **last_chunks;
    rvm__buffer *copies, *terms, *totals, *log, *addresses, *entries, *locals; /* NULL: none */
    uint64_t entered;                                                          /* in pieces that are done */
    rvm__buffer *chunk_sums;
    uint64_t offsets[RVM__MOST_KERNEL_PARAMS]; /* by view, of its root's copy within one */
    uint64_t stride;                           /* bytes of a copy of all arrays that are copied */
    uint64_t ncopies, nterms, nchunks;         /* nterms: of an instance */
    rvm_value *sums;                           /* on the host: [register][chunk] */
    int64_t fuel;
    rvm_error *err;
} rvm__block_run;
/* How copies of arrays are laid out, and how many there are: the same on any device. First of all. */
void rvm__cuda_plan_copies(rvm__block_run *r);
/* In the order in which they are called, in the device's context; places are there. False: err. What waits for the device is
 * `wait` alone, and `sum` where sums of elements are kept. */
bool rvm__cuda_take_room(rvm__block_run *r);
bool rvm__cuda_begin_try(rvm__block_run *r);
bool rvm__cuda_launch_piece(rvm__block_run *r);
bool rvm__cuda_sum_piece(rvm__block_run *r);
bool rvm__cuda_wait_piece(rvm__block_run *r);
bool rvm__cuda_goes_on(const rvm__block_run *runs, unsigned n); /* of all; false: the block is to be the host's */
bool rvm__cuda_wants_more(rvm__block_run *r);                   /* it failed: whether it may not in another try */
bool rvm__cuda_add_copies(const rvm__block_run *r);
bool rvm__cuda_fetch_sums(const rvm__block_run *r);
void rvm__cuda_merge_sums(const rvm__block_run *runs, unsigned n); /* by `first`, ascending */
void rvm__cuda_merge_counts(const rvm__block_run *r);
void rvm__cuda_put_room(rvm__block_run *r);
/* The number in the block of the instance that is the run's k-th. */
uint64_t rvm__cuda_number(const rvm__block_run *r, uint64_t k);
/* All of it on r->c. Whether all instances are done; else nothing has changed. */
bool rvm__cuda_run_block(rvm__block_run *r);

/* Room for the additions to elements of n instances, if they are kept; of how many there is, in multiples of a chunk; and,
 * once the kernel is launched, they are added, in their order. False: err, or that an instance failed. */
bool rvm__cuda_take_log(rvm__block_run *r, uint64_t n);
uint64_t rvm__cuda_most_logged(const rvm__block_run *r);
bool rvm__cuda_sum_log(rvm__block_run *r, uint64_t n);
/* The same of those that are kept with their elements. */
bool rvm__cuda_take_entries(rvm__block_run *r, uint64_t n);
uint64_t rvm__cuda_most_entered(const rvm__block_run *r);
bool rvm__cuda_sum_entries(rvm__block_run *r, uint64_t n);
bool rvm__cuda_wants_entries(const rvm__block_run *r); /* it failed: whether there is more room in another try */
void rvm__cuda_learn_entries(const rvm__block_run *r); /* all are done */
/* The kernel that the job's block runs as; the device's context is current. */
const rvm__native_kernel *rvm__cuda_kind(rvm_cuda *c, const rvm__native_job *job);
/* As what else, once it has failed: local arrays are too large for a thread; NULL: as nothing. */
const rvm__native_kernel *rvm__cuda_other_kind(const rvm__block_run *r);
int rvm__cuda_nested_option(int given); /* what is asked for, by who calls or $RVM_CUDA_NESTED: 0, 1 */
typedef struct rvm__shape {             /* of a launch */
    unsigned ctas, threads, shared;
    uint64_t locals; /* where local arrays are that are not in shared memory; or 0 */
} rvm__shape;
/* Of a kernel that has a CTA for each of n instances; left as it is of another one. False: err. */
bool rvm__cuda_nested_shape(rvm__block_run *r, uint64_t n, rvm__shape *s);
uint64_t rvm__cuda_nested_copies(const rvm__block_run *r);
void rvm__cuda_nested_learn(const rvm__block_run *r); /* it has run */
void rvm__cuda_free_chunk_sums(rvm__block_run *r);

/* Does that with each, in its context, till one fails. */
bool rvm__cuda_on_each(rvm__block_run *runs, unsigned n, bool (*step)(rvm__block_run *)); /* context.c */

/* ---- device.c ---- */
/* Not open; NULL: out of memory. first: whose other it is, or NULL. */
rvm_cuda *rvm__cuda_make(const rvm_cuda_options *o, rvm_cuda *first);
void rvm__cuda_drop(rvm_cuda *c); /* its others apart */
void rvm__cuda_close(rvm_cuda *c);
rvm_status rvm__cuda_open(rvm_cuda *c, rvm_error *err); /* where it was left for later; again: nothing happens */

/* ---- choose.c: whether a block should go to the device, where that is the machine's to choose ----
 * What is known of a block, of about so many instances. Seconds are those from where it is entered to where the next one is,
 * or native code ends: of either the shortest so far, 0: not known. */
typedef struct rvm__choice {
    const rvm__native_kernel *kernel;
    unsigned log; /* of the number of instances */
    unsigned tries;
    double host, device;
    double missed; /* seconds that the device might have saved so far */
    uint64_t used;
} rvm__choice;
typedef struct rvm__prospect {
    uint64_t work;     /* instructions of all instances, as far as the text tells */
    double least;      /* seconds that it takes there if kernels take none: copies and launches */
    bool open, loaded; /* the driver is; its code is */
} rvm__prospect;
/* NULL: it should; else why not. */
const char *rvm__choice_why_not(const rvm__choice *choice, const rvm__prospect *p);
bool rvm__chooser_new(rvm_cuda *c);
void rvm__chooser_free(rvm_cuda *c);
/* Of the block that is entered: NULL: it should go to the device; else why not. What follows is its time, till that is
 * settled. */
const char *rvm__cuda_choose(rvm_cuda *c, const rvm__native_job *job);
/* Whether a block, small as it may be, costs less there than to copy what it uses, and only the device has. */
bool rvm__cuda_saves_copies(rvm_cuda *c, const rvm__native_job *job);
void rvm__cuda_chosen(rvm_cuda *c, bool done); /* it was to run on the device, and did, or could not */
void rvm__cuda_settle(rvm_cuda *c);

/* ---- split.c ---- */
rvm_cuda *rvm__cuda_alive(rvm_cuda *c, unsigned n); /* of its devices that are not lost, number n from 0 on; NULL: none */
/* On how many of r->c's devices the block should run; 1: *why tells, unless there is only one. */
unsigned rvm__cuda_devices_for(const rvm__block_run *r, const char **why);
/* What each of n devices has of the block, of which `like` is what they have in common; of how many instances at a time. */
void rvm__cuda_share_out(rvm__block_run *runs, unsigned n, const rvm__block_run *like, rvm__place *places);
uint64_t rvm__cuda_share_unit(const rvm__block_run *r);
/* On these. Whether all instances are done; else nothing has changed. */
bool rvm__cuda_run_split(rvm__block_run *like, unsigned n);

/* ---- changes.c ---- */
enum { RVM__CHANGED_PART = 8192 }; /* elements: sums.cu */
/* Of large arrays of the host: as they are now, for later; then, once it is done, the device sends where they, and those
 * that stay, differ, which places[].changed tell once it has been waited for. False: err. */
bool rvm__cuda_keep_for_changes(rvm__block_run *r);
bool rvm__cuda_find_changes(rvm__block_run *r);
void rvm__cuda_free_changes(rvm__block_run *r);
/* Whether some elements of the array's n-th part may have changed; there are so many parts. */
bool rvm__cuda_part_changed(const rvm__place *p, uint64_t n);
uint64_t rvm__cuda_parts(const rvm__place *p);
/* Whether the view is an array that the block changes; whether one that stays is. */
bool rvm__cuda_is_changed(const rvm__block_run *r, uint64_t view);
bool rvm__cuda_changes_what_stays(const rvm__block_run *r);

/* ---- merge.c ---- */
/* Elements that one of the devices has changed, on the host and, of arrays that stay, on the first device; then what is
 * summed chunk by chunk. False: err: nothing of the host's has changed, and what stays is to be taken back. */
bool rvm__cuda_merge(rvm__block_run *runs, unsigned n);

/* ---- runner.c ---- */
extern const rvm__runner rvm__cuda_runner;

#endif
