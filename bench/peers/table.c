#include "peers.h"

extern peer_function *const PEER(table)[PEERS];
peer_function *const PEER(table)[PEERS] = {
#define X(name) [PEER_##name] = PEER(name),
    PEER_LIST(X)
#undef X
};
