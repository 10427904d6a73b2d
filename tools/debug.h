/* debug.h: the debugger. Position is between two instructions: forward() runs the one after it, backward() takes back the
 * one before it; "at" a line means that the next instruction forward belongs to it.
 */
#ifndef RVM_TOOLS_DEBUG_H
#define RVM_TOOLS_DEBUG_H

#include "expression.h"
#include "tool.h"
#include "rvm_debug.h"

#include <math.h>

enum { MAX_STOPS = 64, MAX_DISPLAYS = 32, PLACE_TEXT = 96 };

typedef struct display {
    int id;
    char text[PLACE_TEXT];
} display;

typedef struct stop {
    int id;
    bool is_watch;
    /* a breakpoint: a line of a file */
    const char *file; /* the program's */
    uint32_t line;
    expression condition; /* without text: none */
    /* a watch: a place of the frame that was innermost when it was set */
    char place[PLACE_TEXT], name[PLACE_TEXT]; /* name: of the machine's variable */
    rvm_watch watch;                          /* but for its name */
    uint32_t height;                          /* frames below and including its own */
    bool present;
    uint64_t digest;
    rvm_scalar value; /* of a scalar or an element */
    bool scalar;
} stop;

typedef struct debugger {
    tool *t;
    rvm_machine *m;
    rvm_timeline *timeline; /* NULL: there is no memory for one */
    bool gradient;          /* the sweep follows the end */
    display displays[MAX_DISPLAYS];
    int ndisplays, last_display;
    stop stops[MAX_STOPS];
    int nstops, last_id;
    int end;        /* where it stands: 1 behind the function, -1 before it, swept too, 0 inside */
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
void debug_seek(debugger *d, const char *where);    /* N, or sweep N */
void debug_written(debugger *d, const char *place); /* back to before its last change */
void debug_delete(debugger *d, const char *which);  /* a number, or nothing: all */
void debug_stops(const debugger *d);

/* debug_show.c */
void debug_position(const debugger *d);
void debug_where(const debugger *d);
void debug_locals(const debugger *d);
void debug_print(const debugger *d, const char *text); /* a place or an expression */
void debug_number(const debugger *d);
void debug_display(debugger *d, const char *text);
void debug_undisplay(debugger *d, const char *which);
void debug_displays(const debugger *d);
void debug_list(const debugger *d);
void debug_disassemble(const debugger *d);
/* debug_expr.c. A place as text, NAME or NAME[i, lo..hi] with expressions, in a frame; NAME_b is a shadow. False, having
 * said why unless quiet. The result views the machine's memory. */
bool debug_place(const debugger *d, uint32_t frame, const char *text, bool quiet, rvm_arg *out);
/* Of an element, or of all elements with these indices: they, and the name. False, having said why. */
bool debug_element(const debugger *d, const char *text, rvm_watch *w, char name[PLACE_TEXT]);

#endif
