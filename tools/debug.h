/* debug.h: the debugger. Position is between two instructions: forward() runs the one after it, backward() takes back the
 * one before it; "at" a line means that the next instruction forward belongs to it.
 */
#ifndef RVM_TOOLS_DEBUG_H
#define RVM_TOOLS_DEBUG_H

#include "tool.h"

enum { MAX_STOPS = 64, PLACE_TEXT = 96 };

typedef struct stop {
    int id;
    bool is_watch;
    /* a breakpoint: a line of a file */
    const char *file; /* the program's */
    uint32_t line;
    /* a watch: a place of the frame that was innermost when it was set */
    char place[PLACE_TEXT];
    uint32_t height; /* frames below and including its own */
    bool present;
    uint64_t digest;
    rvm_scalar value; /* of a scalar or an element */
    bool scalar;
} stop;

typedef struct debugger {
    tool *t;
    rvm_machine *m;
    stop stops[MAX_STOPS];
    int nstops, last_id;
    int end;        /* where it stands: 1 behind the function, -1 before it, 0 inside */
    bool left;      /* the start was left, or continue has stopped there */
    uint32_t frame; /* that `print` and `locals` look at; 0 after each move */
    bool quit;
} debugger;

/* debug_move.c: each tells why it stopped. */
void debug_step(debugger *d, int direction, uint64_t n);        /* lines, into calls */
void debug_next(debugger *d, int direction, uint64_t n);        /* lines, over calls */
void debug_instruction(debugger *d, int direction, uint64_t n); /* instructions */
void debug_continue(debugger *d, int direction, uint64_t n);    /* to the n-th stop */
void debug_finish(debugger *d, int direction, uint64_t n);      /* until n calls are left */
void debug_break(debugger *d, const char *where);               /* LINE, FILE:LINE or a function */
void debug_watch(debugger *d, const char *place);
void debug_delete(debugger *d, const char *which); /* a number, or nothing: all */
void debug_stops(const debugger *d);

/* debug_show.c */
void debug_position(const debugger *d);
void debug_where(const debugger *d);
void debug_locals(const debugger *d);
void debug_print(const debugger *d, const char *place);
void debug_list(const debugger *d);
void debug_disassemble(const debugger *d);
/* A place as text, NAME or NAME[i, j] with numbers or i64 names, in a frame. False, having said why unless quiet. The
 * result views the machine's memory. */
bool debug_place(const debugger *d, uint32_t frame, const char *text, bool quiet, rvm_arg *out);

#endif
