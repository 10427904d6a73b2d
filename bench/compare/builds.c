/* builds.c: the builds of the peers that there are. */
#include <stddef.h>

#include "peers.h"

#ifdef HAVE_PEERS_GCC
extern peer_function *const gcc_table[PEERS], *const gcc_scalar_table[PEERS], *const gcc_fast_table[PEERS];
#else
#define gcc_table        NULL
#define gcc_scalar_table NULL
#define gcc_fast_table   NULL
#endif
#ifdef HAVE_PEERS_CLANG
extern peer_function *const clang_table[PEERS], *const clang_scalar_table[PEERS], *const clang_fast_table[PEERS];
#else
#define clang_table        NULL
#define clang_scalar_table NULL
#define clang_fast_table   NULL
#endif

const struct peer_build_entry peer_builds[PEER_BUILDS] = {[PEER_GCC] = {gcc_table},
                                                          [PEER_CLANG] = {clang_table},
                                                          [PEER_GCC_SCALAR] = {gcc_scalar_table},
                                                          [PEER_CLANG_SCALAR] = {clang_scalar_table},
                                                          [PEER_GCC_FAST] = {gcc_fast_table},
                                                          [PEER_CLANG_FAST] = {clang_fast_table}};
