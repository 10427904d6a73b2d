// taped.cpp: the list of tapes, and its interface.
#include "taped.h"

#include <new>

#include "tapes.h"

namespace {

typedef tape *maker(const void *data);

maker *const makers[PEERS] = { // by enum peer
#define X(name) name,
    PEER_LIST(X)
#undef X
};

} // namespace

extern "C" bool adolc_present(void) {
    return true;
}

extern "C" void *adolc_open(peer task, void *data) {
    try {
        return makers[task](data);
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

extern "C" bool adolc_run(void *state) {
    return static_cast<tape *>(state)->run();
}

extern "C" void adolc_close(void *state) {
    delete static_cast<tape *>(state);
}
