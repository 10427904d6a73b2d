/* support.h: memory, errors and files, for any folder. Not installed. */
#ifndef RVM_SUPPORT_H
#define RVM_SUPPORT_H

#include "rvm_program.h"

extern const rvm_allocator rvm__libc_allocator;
void *rvm__realloc(const rvm_allocator *al, void *p, size_t old_size, size_t new_size); /* NULL when size 0 or failing */
/* Make room for `need` elements; false when out of memory (the array is unchanged). */
bool rvm__grow(const rvm_allocator *al, void **p, uint32_t *cap, uint32_t need, size_t element_size);
/* The same for two arrays that share a capacity. */
bool rvm__grow_two(const rvm_allocator *al, void **a, size_t a_size, void **b, size_t b_size, uint32_t *cap, uint32_t need);
/* Zeroed memory, and back; none is NULL only where there is no memory. */
void *rvm__make(const rvm_allocator *al, size_t bytes);
void rvm__release(const rvm_allocator *al, void *p, size_t bytes); /* NULL is allowed */
/* A zone: zeroed memory that is given back at once, when the work that it is for is done. */
typedef struct rvm__zone {
    const rvm_allocator *al;
    struct rvm__zone_block *last;
    bool failed; /* there was no memory for something */
} rvm__zone;
/* For `count` elements, none included, of any alignment up to 16; NULL: there is no memory. */
void *rvm__zone_make(rvm__zone *z, size_t count, size_t size);
void rvm__zone_free(rvm__zone *z);
static inline uint64_t rvm__least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}
static inline uint64_t rvm__most(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}
char *rvm__strdup(const rvm_allocator *al, const char *s, size_t length);
void rvm__strfree(const rvm_allocator *al, char *s);
/* What lies at `way` from the folder of the binary that holds this code, as a real path; false: nothing there. `found` has
 * room for PATH_MAX. */
bool rvm__find_installed(const char *way, char *found);
/* Fill *err (may be NULL) and return the code. Position 0 where there is none. */
rvm_status rvm__fail(rvm_error *err, rvm_status code, const char *file, uint32_t line, uint32_t column, const char *format,
                     ...) __attribute__((format(printf, 6, 7)));
/* The same with the position of instruction pc of function fn. */
rvm_status rvm__fail_at(rvm_error *err, rvm_status code, const rvm_program *p, uint32_t fn, uint32_t pc, const char *format,
                        ...) __attribute__((format(printf, 6, 7)));
/* "out of memory". */
rvm_status rvm__fail_memory(rvm_error *err);
/* Returns the status of a call that failed. */
#define RVM__TRY(call)                                                                                                      \
    do {                                                                                                                    \
        rvm_status status_ = (call);                                                                                        \
        if (status_) return status_;                                                                                        \
    } while (0)
/* At the start of a public function: USAGE where one of these parameters is NULL, which the message names. */
#define RVM__NEEDS(...)                                                                                                     \
    do {                                                                                                                    \
        const void *const needed_[] = {__VA_ARGS__};                                                                        \
        for (size_t k_ = 0; k_ < sizeof needed_ / sizeof *needed_; k_++)                                                    \
            if (!needed_[k_]) return rvm__fail_null(err, #__VA_ARGS__, k_);                                                 \
    } while (0)
/* USAGE: the k-th of the names, which commas separate, is NULL. */
rvm_status rvm__fail_null(rvm_error *err, const char *names, size_t k);
/* Returns code. An error about what a caller gave to function fn, which has no position yet, gets that of the function. */
rvm_status rvm__fail_in(rvm_error *err, rvm_status code, const rvm_program *p, int64_t fn);

#endif
