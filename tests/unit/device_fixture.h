/* device_fixture.h: a machine whose blocks run on a device, for tests of these. */
#ifndef RVM_TEST_DEVICE_FIXTURE_H
#define RVM_TEST_DEVICE_FIXTURE_H

#include "rvm_cuda.h"
#include "rvm_jit.h"

typedef struct fixture {
    rvm_program *p;
    rvm_machine *m;
    rvm_jit *j;
    rvm_cuda *c;
    rvm_error e;
} fixture;

static inline void end(fixture *f) {
    rvm_machine_free(f->m);
    rvm_cuda_free(f->c);
    rvm_jit_free(f->j);
    rvm_program_free(f->p);
}

#endif
