/* assemble.c: any text as source. What assembles also survives the round trips. */
#include "fuzz.h"

#include <stdlib.h>

#include "harness.h"

static void on_diagnostic(void *userdata, const rvm_error *e, const char *text) {
    unsigned *count = userdata;
    *count += e->code != RVM_OK; /* else it is a warning */
    if (e->code == RVM_ERR_INTERNAL || !text) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    rvm_program *p = NULL;
    rvm_error e;
    unsigned diagnostics = 0;
    report rep = {.name = "fuzz"};
    rvm_status s = rvm_assemble((const char *)data, size, "fuzz.rasm", NULL, &p, &e, on_diagnostic, &diagnostics);
    if ((s == RVM_OK) != (p != NULL) || (s != RVM_OK) != (diagnostics > 0)) abort();
    if (p) {
        exercise(p, size);
        check_round_trips(p, &rep);
        if (rep.failures) abort();
    }
    rvm_program_free(p);
    return 0;
}
