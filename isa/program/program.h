/* program.h: the program in memory: functions, signatures, variants. Not installed. builder.h makes them. */
#ifndef RVM_PROGRAM_IN_MEMORY_H
#define RVM_PROGRAM_IN_MEMORY_H

#include "instruction.h"

typedef struct rvm_param {
    char *name;
    uint8_t type, ndim;         /* ndim 0: scalar */
    uint8_t role;               /* rvm_role, inferred by the verifier */
    bool untouched;             /* read, and not even that; filled by the verifier, not stored */
    uint16_t signature;         /* i64 that are function values: 1 + the number of their type; else 0 */
    uint16_t index;             /* register or array: parameters come first, in order, each kind by itself */
    uint16_t dim[RVM_MAX_DIMS]; /* slots: a length register (set by the call, read-only), or an i64 constant */
} rvm_param;

/* Whether two parameters of a function may get the same memory, as far as their values go, and likewise their shadows. */
static inline bool rvm__may_share(const rvm_param *p, const rvm_param *q) {
    return p->untouched || q->untouched || (p->role == q->role && p->role != RVM_OWN);
}

typedef struct rvm_array_decl {
    uint8_t type, ndim;
} rvm_array_decl;

typedef struct rvm_position {
    uint32_t line;
    uint16_t column, file;
} rvm_position;

/* A source name for a register or array while pc is in [from, to). */
typedef struct rvm_symbol {
    char *name;
    bool is_array;
    uint16_t index;
    uint32_t from, to;
} rvm_symbol;

/* Open-addressed table of element numbers + 1, by a hash of the element; its capacity is 0 or a power of two. */
typedef struct rvm_index {
    uint32_t *slots, cap;
} rvm_index;

typedef struct rvm_function {
    char *name;
    rvm_param *params;
    uint8_t *reg_type; /* rvm_type of register k */
    uint8_t *const_type;
    rvm_value *consts;
    rvm_array_decl *arrays;
    rvm_insn *code; /* code[0] is start, code[ncode - 1] is halt */
    rvm_place *places;
    rvm_position *positions; /* of each instruction */
    rvm_symbol *symbols;
    uint32_t nparams, nregs, nconsts, narrays, ncode, nplaces, nsymbols;
    uint32_t cap_params, cap_regs, cap_consts, cap_arrays, cap_code, cap_places, cap_symbols; /* used by the builder */
    rvm_index const_index;                                                                    /* the same */
    /* By place; filled by the verifier, not stored: the web that it is of, the array that it is part of. See rvm__web_of. */
    uint32_t *webs;
    uint16_t *roots;
    uint32_t nwebs, cap_webs; /* cap_webs: of both */
    uint8_t value;            /* rvm_value_use; filled by rvm__mark_values, not stored */
    bool no_derived; /* transform.c: as a value it has no derivatives, since making them would never end; not stored */
} rvm_function;

/* Whether a function's number may be a function value: not; from outside; its address is taken. */
enum rvm_value_use { RVM_VALUE_NEVER, RVM_VALUE_MAY, RVM_VALUE_TAKEN };

/* The type of a function value: parameters without a name, index or lengths. A signature that is that of a parameter of
 * another stands before it. */
typedef struct rvm_signature {
    rvm_param *params;
    uint32_t nparams;
    uint32_t size;  /* parameters, those of their types included: at most RVM_MAX_SIGNATURE_SIZE */
    uint32_t shape; /* the first signature that differs in roles only */
    char *text;     /* as the language writes it: fn(acc f64, read f64[,], fn(i64)) */
} rvm_signature;

/* What a call through a function value runs. The value is always the number of a function f as written. A variant that is
 * its own parent runs f itself; another runs what `kind` makes of the parent's function for f, with `active` parameters:
 * it looks f up in `derived`. Parents stand first. */
typedef struct rvm_variant_entry {
    uint32_t fn, derived;
} rvm_variant_entry;
typedef struct rvm_variant {
    uint32_t of;                /* signature of the value */
    uint32_t signature;         /* of the arguments: `of`, or what `kind` makes of the parent's */
    uint32_t parent;            /* its own number: the functions themselves */
    uint8_t kind, level;        /* rvm_transform, and the level of its trail (transform.h); 0 of its own parent */
    bool stack, paired;         /* the stack carries shadows; as of a derivation */
    uint8_t borrowing;          /* likewise */
    bool full;                  /* transform.c: its table is */
    uint8_t *active;            /* by parameter of the parent's signature: 1 where it has a shadow; else NULL */
    rvm_variant_entry *derived; /* in order of fn; a function that is not here is refused when it is called */
    uint32_t nderived, cap_derived;
} rvm_variant;

/* Limits of the format: slots and arrays of a function, parameters and places of an instruction, places of an entry of the
 * trail. */
enum { RVM_MAX_ENTRY = 63 };
enum { RVM_MAX_REGS = 32767, RVM_MAX_CONSTS = 32767, RVM_MAX_ARRAYS = 65535, RVM_MAX_FILES = 4096 };
enum { RVM_MAX_SIGNATURE_PARAMS = RVM_MAX_PARAMS - 1 }; /* the value is an argument, too */
enum { RVM_MAX_SIGNATURES = 4096, RVM_MAX_SIGNATURE_SIZE = 1024, RVM_MAX_VARIANTS = 4096 };

/* What a sweep does with the shadows of what a compute part borrows (docs/semantics.md, section 5): they go along, there and
 * back; or, in exact runs, where the part runs again they are set aside, and its adjoint adds them again. */
enum rvm__borrowing { RVM__TAKES_ALONG, RVM__SETS_ASIDE, RVM__ADDS_AGAIN };

/* Of a variant, what is no number of its own in files and texts: a number below RVM__VARIANT_WAYS. */
enum { RVM__VARIANT_WAYS = (RVM__ADDS_AGAIN + 1) << 2 };
static inline unsigned rvm__variant_ways(const rvm_variant *v) {
    return v->stack | (unsigned)v->paired << 1 | (unsigned)v->borrowing << 2;
}
static inline void rvm__variant_take_ways(rvm_variant *v, unsigned ways) {
    v->stack = ways & 1;
    v->paired = ways >> 1 & 1;
    v->borrowing = (uint8_t)(ways >> 2);
}

/* A function that was derived here (transform.c). */
typedef struct rvm__derivation {
    uint32_t fn, of;
    uint8_t kind, level, depth; /* depth: of nesting */
    /* The stack carries shadows; of an adjoint for exact runs, what it takes back was recorded before, of a tangent that
     * would be apart, it is recorded, since it may be in a compute part. */
    bool stack, paired;
    uint8_t borrowing; /* of an adjoint for exact runs: rvm__borrowing of the compute part that it is in */
    uint8_t active[RVM_MAX_PARAMS];
} rvm__derivation;

/* A derivative that is written by hand: fn is what `kind` makes of `of` by its active parameters. A call of `of` is derived
 * into one of fn, by the transforms and by whoever asks for a derivative. rules.c. */
typedef struct rvm_rule {
    uint32_t fn, of;
    uint32_t nactive; /* as `of` has parameters */
    uint8_t kind;     /* RVM_TANGENT_OF or RVM_ADJOINT */
    uint8_t active[RVM_MAX_PARAMS];
} rvm_rule;

/* A function that only shows its arguments: its text, in which a byte below RVM_SHOW_COUNT stands for the next of them. A
 * call of it is a `print`; it has no code but start and halt. prints.c. */
typedef struct rvm_print {
    uint32_t fn;
    char *text;
} rvm_print;
enum rvm_show { RVM_SHOW_END, RVM_SHOW_VALUE, RVM_SHOW_LNS, RVM_SHOW_COMPLEX, RVM_SHOW_COUNT }; /* of a complex, two */

/* The functions in an order in which callees stand before callers, but for those that call each other: these are a
 * component, and stand together. In one block, which begins with order. analysis/callgraph.h makes it. */
typedef struct rvm__callgraph {
    uint32_t n;
    uint32_t *order, *component; /* component: by function */
    uint8_t *recursive;          /* by function: it may come to call itself */
} rvm__callgraph;
static inline size_t rvm__callgraph_size(uint32_t n) {
    return (size_t)n * (2 * sizeof(uint32_t) + 1) + 1;
}
void rvm__callgraph_free(const rvm_allocator *al, rvm__callgraph *g); /* and zeros it */

/* A loop that was made a function, whose adjoint has rules of its own (derive/checkpoint.h). */
typedef struct rvm__outlined {
    uint32_t fn, step, count, rewind, mark, head, whole, note; /* the function, and those that its adjoints call */
    uint16_t lo, hi, by;                                       /* slots of fn: the first index, the end, and the step */
    bool whiles;                                               /* as long as a condition holds, which `head` computes */
    bool turns;                                                /* the adjoint of its inverse may be asked for */
} rvm__outlined;

typedef struct rvm__origins rvm__origins;
struct rvm_program {
    rvm_allocator al;
    rvm_function *functions;
    rvm_signature *signatures;
    rvm_variant *variants;
    char **files;
    uint32_t nfunctions, nsignatures, nvariants, nfiles, cap_functions, cap_signatures, cap_variants, cap_files;
    rvm_index name_index; /* functions by name */
    rvm__callgraph calls; /* of a verified program; not stored */
    rvm_print *prints;    /* in order of fn */
    rvm_rule *rules;      /* likewise */
    uint32_t nprints, nrules, cap_prints, cap_rules;
    uint8_t *ruled; /* of a verified program that has any: by function, nruled, as analysis/ruled.h has it; not stored */
    uint32_t nruled;
    rvm__derivation *derived; /* not stored in a file */
    uint32_t nderived, cap_derived;
    /* By type: 1 + the site at which shadows are set aside (derive/borrow.c); 0: none has been so far. */
    uint32_t aside[RVM_TYPE_COUNT];
    bool exact; /* what is derived is for runs that restore every bit: RVM_FLAG_SWEPT says what restores */
    bool apart; /* with that: tangents of functions that have nothing to do with compute parts are arithmetic of shadows,
                   too, for a machine that records values alone */
    rvm__origins *origins; /* where what is derived is noted (derive/origin.h); borrowed, NULL: nowhere */
    const uint32_t
        *copied; /* of functions from first_copy on: what each is a copy of (derive/shaped.h); borrowed, or NULL */
    uint32_t first_copy;
    rvm__outlined *outlined; /* not stored in a file */
    uint32_t noutlined, cap_outlined;
    uint64_t id[2]; /* of a decoded program; else 0, and rvm_program_id encodes */
    bool verified;
    bool
        roles_claimed; /* decoded: the params' roles are the file's claim, which the verifier compares with what it infers */
};

/* Whether it is an adjoint that was derived for exact runs, or calls a function and then its adjoint: swept; or, restore
 * alone, one of a higher order, through which they do not go. */
static inline bool rvm__is_marked(const rvm_function *f) {
    return f->code[0].flags & (RVM_FLAG_SWEPT | RVM_FLAG_RESTORE);
}

static inline rvm_type rvm__slot_type(const rvm_function *f, uint16_t slot) {
    return (rvm_type)(slot < f->nregs ? f->reg_type[slot] : f->const_type[slot - f->nregs]);
}
static inline const rvm_place *rvm__places(const rvm_function *f, const rvm_insn *in) {
    return f->places ? f->places + in->places : NULL; /* a function without operands has no pool */
}
static inline rvm_type rvm__place_type(const rvm_function *f, const rvm_place *p) {
    if (p->kind == RVM_PLACE_ELEM || p->kind == RVM_PLACE_ARRAY) return (rvm_type)f->arrays[p->slot].type;
    return p->kind == RVM_PLACE_RANGE ? RVM_I64 : rvm__slot_type(f, p->slot);
}

/* Webs. A register or array that appears anew is another one under the same number: a web is the places that name one such,
 * along all paths of control. What is present throughout and constants have their slot's number, arrays behind the slots;
 * the webs of all else are numbered behind those. rvm__web_of: of a place in the pool of a verified function. */
static inline uint32_t rvm__slot_number(const rvm_function *f, const rvm_place *q) {
    return q->kind == RVM_PLACE_ELEM || q->kind == RVM_PLACE_ARRAY ? f->nregs + f->nconsts + q->slot : q->slot;
}
static inline uint32_t rvm__slot_numbers(const rvm_function *f) {
    return f->nregs + f->nconsts + f->narrays;
}
static inline uint32_t rvm__web_of(const rvm_function *f, const rvm_place *q) {
    return f->webs[q - f->places];
}
/* Likewise: of an array or an element the array that it is part of, wherever that was viewed; itself if it is no view. */
static inline uint16_t rvm__root_of(const rvm_function *f, const rvm_place *q) {
    return f->roots[q - f->places];
}
/* On the way through instructions, in the order of the text:
 *
 *     RVM__EACH_INSN(x, f) { x.in at x.pc, with its places x.q }       all of f
 *     RVM__EACH_INSN_IN(x, f, lo, hi)                                  from lo up to, not including, hi
 *     RVM__EACH_INSN_UP(x, f, hi, lo)                                  up the text: from before hi to lo */
typedef struct rvm__cursor {
    const rvm_function *f;
    const rvm_insn *in;
    const rvm_place *q;
    uint32_t pc, end;
} rvm__cursor;
static inline bool rvm__cursor_at(rvm__cursor *c) {
    c->in = c->f->code + c->pc;
    c->q = rvm__places(c->f, c->in);
    return true;
}
static inline bool rvm__cursor_next(rvm__cursor *c) {
    return ++c->pc < c->end && rvm__cursor_at(c);
}
static inline bool rvm__cursor_up(rvm__cursor *c) {
    return c->pc-- > c->end && rvm__cursor_at(c);
}
#define RVM__EACH_INSN_IN(x, of, lo, hi) for (rvm__cursor x = {.f = (of), .pc = (lo)-1u, .end = (hi)}; rvm__cursor_next(&x);)
#define RVM__EACH_INSN_UP(x, of, hi, lo) for (rvm__cursor x = {.f = (of), .pc = (hi), .end = (lo)}; rvm__cursor_up(&x);)
#define RVM__EACH_INSN(x, of)            RVM__EACH_INSN_IN(x, of, 0, (of)->ncode)
/* Whether the region at `compute` of a verified function ends by `forget`. */
static inline bool rvm__forgets(const rvm_function *f, uint32_t compute) {
    return f->code[f->code[f->code[compute].target].target].flags & RVM_FLAG_FORGETS;
}
static inline uint32_t rvm__ops_in(const rvm_function *f, rvm_op op) {
    uint32_t n = 0;
    RVM__EACH_INSN(x, f) n += x.in->op == op;
    return n;
}

/* Whether the name of a parameter is STEM "." PART REST: of z: complex the parts are z.re and z.im, of its shadow z_b in a
 * derived function z.re_b and z.im_b; of y: lns the part is y.log. */
bool rvm__is_part(const char *name, const char *part, int *stem, const char **rest);
/* The text of a place becomes that of the complex or lns that it is a part of: y[2] of y.log[2], z_b of z.re_b. */
void rvm__drop_part(char *text);
/* Name of a place's register or array at pc, or NULL. */
const char *rvm__symbol_at(const rvm_function *f, bool is_array, uint16_t index, uint32_t pc);
/* Text of a value as raw mnemonics write it: an i64 as a whole number, an f64 with a point or an exponent, else TYPE:NUMBER
 * or TYPE:0xBITS; reads back as the same bits. snprintf's convention. */
int rvm__value_text(rvm_type t, rvm_value v, char *text, size_t size);
/* Text of a place at pc with source names where known ("x[i]", "%3"); snprintf's convention. values: registers of a running
 * frame, so that an index without a name goes by its value ("x[4]"); or NULL. */
int rvm__place_text(const rvm_function *f, const rvm_place *p, uint32_t pc, const rvm_value *values, char *text,
                    size_t size);
/* By its name, whether the assembler wrote a function, or what it is derived of, for a statement: elementwise'3, print'2;
 * or, SHARED, for all of a kind, swap'f64'1, whose positions are those of the first one. */
typedef enum rvm__written { RVM__BY_SOURCE, RVM__WRITTEN, RVM__WRITTEN_SHARED } rvm__written;
rvm__written rvm__is_written(const char *name);

/* ---- verifier ----
 * Proves: operand kinds, types and slots; pairing of jumps, loops and regions; calls with the right arguments; every place
 * present where used and absent where it appears, alike on all paths to an instruction, and all locals absent at both ends;
 * read-only lengths and loop bounds; static aliasing; regions whose `do` leaves alone what compute used. Fills target,
 * facts, roles and p->calls, and sets p->verified. Nothing unverified runs. */
rvm_status rvm__verify(rvm_program *p, rvm_error *err);

#endif
