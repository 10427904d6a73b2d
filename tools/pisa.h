/* pisa.h: programs for the Pendulum processor: read, translated into rasm, run.
 *
 *   pisa_read.c   a source into words of memory       pisa_flow.c   functions, if it has the form of some
 *   pisa_rasm.c   these as a source of rasm           pisa_run.c    its state, what runs it, what went wrong
 *   pisa_show.c   values from words, results as text       cmd_pisa.c    the command
 */
#ifndef RVM_TOOLS_PISA_H
#define RVM_TOOLS_PISA_H

#include "tool.h"

/* As std/pisa.rasm numbers them. */
typedef enum pisa_kind {
    PISA_ADD,
    PISA_LOGIC,
    PISA_EXCHANGE,
    PISA_BRANCH,
    PISA_NEG,
    PISA_ROTATE,
    PISA_SWAP,
    PISA_TURN,
    PISA_OUTPUT,
    PISA_EMIT,
    PISA_START,
    PISA_FINISH,
    PISA_DATA
} pisa_kind;

typedef struct pisa_instruction {
    const char *name, *operands;
    pisa_kind kind;
    int k;
} pisa_instruction;

enum { PISA_REGISTERS = 32, PISA_LONGEST = 1 << 24 }; /* words of a source */

/* One word that the source fills. */
typedef struct pisa_word {
    const pisa_instruction *is; /* of data: NULL */
    uint8_t reg[3];             /* the registers among the operands, in order */
    int nregs;
    int32_t number;        /* immediate or amount; how far a branch goes; the data */
    uint32_t line, column; /* of the instruction */
    const char *label;     /* the last that names it, or NULL */
    const char *text;      /* of the instruction, in the source */
    int length;
} pisa_word;

typedef struct pisa_label {
    char *name;
    uint32_t address, line;
} pisa_label;

typedef struct pisa_source {
    const char *file;
    char *text; /* read from file, with a 0 behind it */
    pisa_word *word;
    uint32_t n;
    pisa_label *label; /* sorted by name */
    uint32_t nlabels;
    uint32_t start; /* where a run begins: .start, or 0 */
} pisa_source;

/* The kind of the word at an address: DATA behind the last, too. */
pisa_kind pisa_kind_at(const pisa_source *s, int64_t address);
/* Fills *s from file. SYNTAX, NAME, FORMAT, with the line; IO, LIMIT, MEMORY. Free with pisa_free either way. */
rvm_status pisa_read(const char *file, pisa_source *s, rvm_error *err);
void pisa_free(pisa_source *s);
/* The label of that name, or NULL. */
const pisa_label *pisa_find(const pisa_source *s, const char *name, size_t length);
/* A number from -2^31 to 2^32 - 1, as C writes it, which ends the text. */
bool pisa_number(const char *text, int32_t *out);

/* ---- functions ---- */

/* How control comes to an instruction: from the one before it, or by the branch that it is paired with. */
enum { PISA_FALLS = 1, PISA_LANDS = 2 };

typedef struct pisa_function {
    uint32_t entry, exit; /* the first instruction that it runs; SWAPBR, or FINISH, where it ends */
    uint32_t first, last; /* of its instructions */
} pisa_function;

typedef struct pisa_flow {
    pisa_function *function; /* the program itself first */
    uint32_t nfunctions;
    uint32_t *owner;  /* of each word the function, or UINT32_MAX: control does not come to it */
    uint8_t *arrives; /* of each word: PISA_FALLS, PISA_LANDS */
    /* Why the program is none of functions: the line, and text; line 0: it is. */
    uint32_t line;
    char why[160];
} pisa_flow;

/* MEMORY; that the program has no such form is none. Free with pisa_flow_free either way. */
rvm_status pisa_flow_find(const pisa_source *s, pisa_flow *flow, rvm_error *err);
void pisa_flow_free(pisa_flow *flow);
/* Whether a branch calls: it goes to a SWAPBR. */
bool pisa_calls(const pisa_source *s, uint32_t address);

/* ---- the program in rasm ---- */

/* The translation: its main has a parameter for each register of pisa_used, then mem, out, waste, shown, emitted, steps.
 * *text is the caller's to free, NULL on failure. MEMORY. */
rvm_status pisa_translate(const pisa_source *s, const pisa_flow *flow, char **text, size_t *size, rvm_error *err);
/* Which registers a program names, as bits. */
uint32_t pisa_used(const pisa_source *s);

/* ---- a run ---- */

enum { PISA_ZERO = PISA_REGISTERS }; /* the register that is 0 always */

/* The state of a processor, and what it put out; words are held as std/pisa.rasm says. */
typedef struct pisa_state {
    const pisa_source *source;
    int64_t *r, *memory, *output, *waste, *code;
    uint32_t nr;    /* registers, with constants behind them */
    uint64_t words; /* of memory, of output, of waste */
    int64_t shown, emitted, pc, br, dir, steps;
    int64_t most;  /* steps; -1: any number */
    int64_t *kept; /* registers, memory, output and waste, before it ran */
    int64_t kept_shown, kept_emitted, kept_pc, kept_br, kept_dir;
} pisa_state;

/* As the source says, with so many words of memory, at least those of the source. MEMORY. Free with pisa_state_free either
 * way. */
rvm_status pisa_state_new(const pisa_source *s, uint64_t words, pisa_state *p, rvm_error *err);
void pisa_state_free(pisa_state *p);
int64_t pisa_cell(int32_t word); /* a word as it is held, and back */
int32_t pisa_word_of(int64_t cell);
void pisa_keep(pisa_state *p);          /* this is where it begins */
void pisa_go_back(pisa_state *p);       /* to there, at once */
bool pisa_is_back(const pisa_state *p); /* whether it is there */
/* What a run forward, or back, of the interpreter by t->machine makes of it. Errors of the program are told in its terms,
 * with its line; it is then at the start again. */
rvm_status pisa_interpret(tool *t, pisa_state *p, bool backward);
/* The same of the translation, which knows no pc. After an error it is anywhere: the interpreter can tell more. */
rvm_status pisa_run_translated(tool *t, pisa_state *p, bool backward);

/* ---- values and results ---- */

/* NAME=WORD or NAME=[WORD, ...]: $1 or r1; a label or an address, and what follows there; output, garbage. ARGUMENT. */
rvm_status pisa_take(tool *t, pisa_state *p, const char *word);
/* What there is at the end, but for zeros without a name; members of an object. */
void pisa_show(const pisa_state *p);
void pisa_show_json(json *j, const pisa_state *p);

#endif
