/* job.h: inside rvm_jit. Compiling in a thread beside the runs. */
#ifndef RVM_JIT_JOB_H
#define RVM_JIT_JOB_H

#include "records.h"

/* The lock, and what else jobs need; MEMORY. End them in any case, when no job
 * is left. */
rvm_status rvm__jobs_begin(rvm_jit *j, rvm_error *err);
void rvm__jobs_end(rvm_jit *j);

/* Unlocked: the compiler belongs to the caller until it yields; waits for whom
 * it belongs to. */
void rvm__seize_compiler(rvm_jit *j);
void rvm__yield_compiler(rvm_jit *j);

/* Locked, nobody has the compiler. A thread begins to compile that, and will
 * fill the record and hand it to rvm__record_made; *key, which may be
 * empty, is the job's then. False: out of memory or threads. */
bool rvm__job_start(rvm_jit *j, const rvm__lowering *what, rvm__record *r, rvm__bytes *key);
/* Locked. Some milliseconds, or until a job has ended. */
void rvm__job_wait(rvm_jit *j);
/* Unlocked: the last job is over, for which it waits. */
void rvm__job_end(rvm_jit *j);

#endif
