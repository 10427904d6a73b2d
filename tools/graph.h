/* graph.h: the memory-oriented computational graph of a function, as the second NiLang paper draws it (J.-G. Liu, T. Zhao,
 * "Instruction level automatic differentiation on a reversible Turing machine"): one column for each place, from where it
 * appears to where it disappears, one row for each instruction, a dot where a place is read, a box where it changes.
 *
 *     graph_make     program -> rows, marks, lives, regions: facts only
 *     graph_values   what a run leaves in the boxes
 *     graph_svg      the picture
 *     graph_dot      the data-flow graph, in Graphviz's language: a node for each operation, an edge for each value
 */
#ifndef RVM_TOOLS_GRAPH_H
#define RVM_TOOLS_GRAPH_H

#include "tool.h"

typedef struct graph_mark {
    uint32_t column;
    bool box;       /* changed; else read */
    bool element;   /* of an array */
    bool gone;      /* it disappears here */
    char text[12];  /* within the box */
    char place[48]; /* as the source writes it */
    char value[24]; /* after the run's last pass, or empty */
} graph_mark;

typedef struct graph_row {
    uint32_t pc, last; /* instructions, of a statement several */
    uint32_t line;     /* 0: unknown */
    uint32_t marks, nmarks;
    uint32_t undone; /* the row brings back a compute part: its region; else UINT32_MAX */
    char *label;
} graph_row;

/* A place from where it appears to where it disappears. */
typedef struct graph_life {
    uint32_t column, from, to; /* rows; from: above the first where it is a parameter, to: one past the last likewise */
    bool array, param;
    char name[48];
} graph_life;

enum graph_kind { GRAPH_LOOP, GRAPH_PARALLEL, GRAPH_BRANCH, GRAPH_COMPUTE };
typedef struct graph_region {
    enum graph_kind kind;
    uint32_t from, to;   /* rows, both included */
    uint32_t undone;     /* GRAPH_COMPUTE: the row where it is undone */
    uint32_t low, high;  /* columns, both included */
    uint32_t depth;      /* regions around it */
    uint32_t number, pc; /* GRAPH_COMPUTE: from 1; where it is opened */
} graph_region;

typedef struct graph {
    const rvm_program *p;
    uint32_t fn, ncolumns, nvariables;
    uint32_t *column; /* by variable, or UINT32_MAX */
    graph_row *rows;
    graph_mark *marks;
    graph_life *lives;
    graph_region *regions;
    uint32_t nrows, nmarks, nlives, nregions, cap_rows, cap_marks, cap_lives, cap_regions;
} graph;

/* statements: a row for each line of the source, temporaries left out. *g is to be freed whatever comes. Errors: MEMORY. */
rvm_status graph_make(tool *t, uint32_t fn, bool statements, graph *g);
void graph_free(graph *g);

/* Runs the bound function of t->machine, instruction by instruction, and notes in the boxes what they hold after their last
 * pass forward. Errors: those of the run. */
rvm_status graph_values(tool *t, graph *g);

rvm_status graph_svg(const graph *g, FILE *out);
rvm_status graph_dot(const graph *g, FILE *out);

#endif
