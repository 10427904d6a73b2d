#include "tapes.h"

tape::~tape() {
    removeTape(TAG, ADOLC_REMOVE_COMPLETELY);
}

void tape_begin() {
    const unsigned entries = 1u << 26; // of each buffer; pages that no entry reaches cost nothing
    trace_on(TAG, 0, entries, entries, entries, entries, 0);
}

void tape_end() {
    trace_off();
}
