/* isa.h: the instruction set and the program in memory, for the folders above isa/. Not installed.
 *
 *   enums            from families.def, rows.def, ops.def
 *   rvm_insn         one decoded instruction; its places stand in the function's place pool
 *   rvm_function     code, registers, arrays, constants, names, lines
 *   builder          how the assembler and the transforms make programs
 *   verify           proves what the engines rely on, infers roles, fills `target` and `facts`
 *
 * A slot number names a register (below nregs) or, from nregs on, a constant: engines keep constants behind the registers
 * in the frame. Types of slots are static, so that an instruction carries none.
 */
#ifndef RVM_ISA_H
#define RVM_ISA_H

#include "rvm_program.h"

typedef union rvm_value {
    int64_t i;
    double f;
    uint64_t u;
} rvm_value;

/* ---- opcodes: pair index * 2 + direction bit; updates come first ---- */
enum rvm_pair {
#define FAMILY(name, inverse, sym, access, value, seed, sb, sd, doc) RVM_PAIR_##name,
#define INVERSE(name, inverse, sym, access, value, seed, sb, sd, doc)
#include "families.def"
#undef FAMILY
#undef INVERSE
#define PAIR(name, inverse, operands, types, doc) RVM_PAIR_##name,
#define SELF(name, operands, types, doc)          RVM_PAIR_##name,
#include "ops.def"
#undef PAIR
#undef SELF
    RVM_PAIR_COUNT
};

typedef enum rvm_op {
#define FAMILY(name, inverse, sym, access, value, seed, sb, sd, doc)  RVM_OP_##name = 2 * RVM_PAIR_##name,
#define INVERSE(name, inverse, sym, access, value, seed, sb, sd, doc) RVM_OP_##name = 2 * RVM_PAIR_##inverse + 1,
#include "families.def"
#undef FAMILY
#undef INVERSE
#define PAIR(name, inverse, operands, types, doc) RVM_OP_##name = 2 * RVM_PAIR_##name, RVM_OP_##inverse,
#define SELF(name, operands, types, doc)          RVM_OP_##name = 2 * RVM_PAIR_##name,
#include "ops.def"
#undef PAIR
#undef SELF
} rvm_op;
enum { RVM_OP_LIMIT = 2 * RVM_PAIR_COUNT }; /* opcodes are below this; some odd ones do not exist */
_Static_assert(RVM_OP_sub == (RVM_OP_add ^ 1) && RVM_OP_cf == (RVM_OP_jmp ^ 1), "the low bit is the direction");
_Static_assert(RVM_OP_unlet < RVM_OP_start, "updates come first");

typedef enum rvm_row {
#define ROW1(name, sig, f, da, doc)         RVM_ROW_##name,
#define ROW2(name, sig, f, da, db, doc)     RVM_ROW_##name,
#define ROW3(name, sig, f, da, db, dc, doc) RVM_ROW_##name,
#include "rows.def"
#undef ROW1
#undef ROW2
#undef ROW3
    RVM_ROW_COUNT
} rvm_row;

typedef enum rvm_sig {
    RVM_SIG_NUM,
    RVM_SIG_REAL,
    RVM_SIG_INT,
    RVM_SIG_QUOT,
    RVM_SIG_CMP,
    RVM_SIG_SEL,
    RVM_SIG_CONV,
    RVM_SIG_POS,
    RVM_SIG_COUNT
} rvm_sig;

enum { RVM_TYPES_N = 15, RVM_TYPES_I = 1, RVM_TYPES_R = 14, RVM_TYPES_D = 10 }; /* masks of 1 << rvm_type */
_Static_assert(RVM_TYPES_N == (1 << RVM_TYPE_COUNT) - 1 && RVM_TYPES_D == (1 << RVM_F64 | 1 << RVM_F32), "every type");
/* Whether values of the type stand in the `f` of rvm_value: floating point, rounded, released within a tolerance. */
static inline bool rvm__is_floating(rvm_type t) {
    return RVM_TYPES_D >> t & 1;
}
/* Whether a float holds x: as f32 values must be. */
static inline bool rvm__is_single(double x) {
    return x != x || (double)(float)x == x;
}

typedef struct rvm_op_info {
    const char *name; /* "add", "sub", "jmp"...; NULL: no such opcode */
    rvm_op inverse;
    const char *operands; /* letters of ops.def; NULL for updates */
    const char *symbol;   /* "+=" for updates, else NULL */
    rvm_role access;      /* of an update's target */
    uint8_t types;
    const char *doc;
} rvm_op_info;

typedef struct rvm_row_info {
    const char *name;
    rvm_sig sig;
    uint8_t arity;
    const char *f, *partial[3]; /* the text vocabulary */
    const char *doc;
} rvm_row_info;

extern const rvm_op_info rvm__op_info[RVM_OP_LIMIT];
extern const rvm_row_info rvm__row_info[RVM_ROW_COUNT];
int rvm__op_find(const char *name, size_t length);  /* opcode or -1 */
int rvm__row_find(const char *name, size_t length); /* row or -1 */
/* Types of operand k of a row whose first typed operand is T and whose target has type y: what the verifier, the assembler
 * and the engines share. Returns false where the row is not defined for (y, T). */
bool rvm__row_types(rvm_row row, rvm_type y, rvm_type t, rvm_type operand[3]);
/* Whether op y, row(...) exists for target type y (families: xor is i64 only, and so on). */
bool rvm__update_legal(rvm_op op, rvm_row row, rvm_type y);
/* Whether the last place of an update is the site of what it moves onto the trail. */
static inline bool rvm__op_sets(rvm_op op) {
    return op >> 1 == RVM_PAIR_set;
}
/* Whether something goes onto a trail or comes from it, or trails change segments. */
bool rvm__op_on_trail(rvm_op op);
static inline bool rvm__op_on_stack(rvm_op op) {
    return op >> 1 == RVM_PAIR_push || op >> 1 == RVM_PAIR_pushc || op >> 1 == RVM_PAIR_stow;
}
/* Places of an instruction, or -1 where the op lets them vary (calls, arrays, views). */
int rvm__op_places(rvm_op op, rvm_row row, uint8_t flags);
char rvm__op_target(rvm_op op); /* 'L', 'F', 'S', or 0: what its text's target is */
static inline bool rvm__op_is_update(rvm_op op) {
    return op < RVM_OP_start;
}
static inline rvm_op rvm__op_inverse(rvm_op op) {
    return rvm__op_info[op].inverse;
}

/* ---- places ---- */
typedef enum rvm_place_kind {
    RVM_PLACE_SLOT,  /* register or constant `slot` */
    RVM_PLACE_ELEM,  /* element of array `slot` at idx[0..nidx), slots of type i64; nidx == dimensions of the array */
    RVM_PLACE_ARRAY, /* the whole array `slot` */
    RVM_PLACE_RANGE, /* in a view: from slot `slot` up to slot idx[0] */
    RVM_PLACE_KIND_COUNT
} rvm_place_kind;

typedef struct rvm_place {
    uint8_t kind, nidx;
    uint16_t slot;
    uint16_t idx[RVM_MAX_DIMS];
} rvm_place;

/* ---- instructions ----
 * Places by instruction: an update has target, operands, and with RVM_FLAG_TOL (unlet and its let, reals) the tolerance
 * last, set and unset the site; the others follow ops.def, L and F being `target`. */
enum rvm_flag {
    RVM_FLAG_UNCHECKED = 1, /* its assertion is dropped: an unchecked block of the source */
    RVM_FLAG_TOL = 2,       /* let/unlet: the last place is an f64 constant, the tolerance of the release */
    RVM_FLAG_RESTORE = 4,   /* an inverse that takes back, rather than a computation of its own (matters with --exact) */
    RVM_FLAG_REVERSED = 8,  /* loops, parallel blocks, at both ends: from the last trip to the first, as their inverse */
    RVM_FLAG_ALL = 15
};
enum rvm_fact {                         /* what the verifier found; never stored in a file */
                RVM_FACT_INBOUNDS0 = 1, /* place k's indices are proved in bounds: RVM_FACT_INBOUNDS0 << k, k < 4 */
                RVM_FACT_ALIAS = 16,    /* two places may be the same element: the engine compares them */
                RVM_FACT_GUARD = 32,    /* par, endpar: roles of elements are not proved, the engine enforces them */
                RVM_FACT_SUMS = 64      /* par, endpar: several instances may add into the same element */
};

typedef struct rvm_insn {
    uint8_t op;  /* rvm_op */
    uint8_t row; /* rvm_row of an update, else 0 */
    uint8_t flags;
    uint8_t nplaces;
    uint8_t facts;
    uint32_t places; /* first in rvm_function.places */
    uint32_t target; /* L: code index of the paired instruction (for, par too); F: function; S: variant; compute, do, undo:
                        see below */
} rvm_insn; /* target of compute: its do; of do: its undo; of undo: its compute. Filled by the verifier, not stored */

/* The flags that an instruction may have. */
static inline unsigned rvm__op_flags(rvm_op op) {
    const unsigned flags = RVM_FLAG_UNCHECKED | RVM_FLAG_RESTORE;
    if (op >> 1 == RVM_PAIR_let) return flags | RVM_FLAG_TOL;
    return op >> 1 == RVM_PAIR_for || op >> 1 == RVM_PAIR_par ? flags | RVM_FLAG_REVERSED : flags;
}

/* Whether the first place is an array that appears there or disappears, whole or as part of another. */
bool rvm__op_names_array(rvm_op op);
/* A letter for each place of an instruction that has the right number of them: those of ops.def, and for updates y and a, t
 * for a target that appears or disappears, w for one that is set and may be an operand, e for a tolerance. t, X, i and r
 * appear where the direction bit is 0, else they disappear. Those that do stand together, behind constants at most. */
const char *rvm__place_letters(const rvm_insn *in, char buffer[256]);
static inline bool rvm__letter_toggles(char letter) {
    return letter == 't' || letter == 'X' || letter == 'i' || letter == 'r';
}

/* How a place is accessed, as bits: own is read and accumulate at once. */
enum rvm__access_bits { RVM__BITS_NONE = 0, RVM__BITS_READ = 1, RVM__BITS_ACC = 2, RVM__BITS_OWN = 3 };
/* By its letter; '*' apart, which has the access of the parameter. */
static inline unsigned rvm__letter_access(const rvm_insn *in, char letter) {
    switch (letter) {
    case 'y':
        if (!rvm__op_is_update((rvm_op)in->op)) return RVM__BITS_OWN;
        return rvm__op_info[in->op].access == RVM_ACC ? RVM__BITS_ACC : RVM__BITS_OWN;
    case 'w':
    case 't':
    case 'X':
    case 'i':
    case 'd':
    case 'r': return RVM__BITS_OWN;
    case 'V':
    case 'W': return RVM__BITS_NONE;
    }
    return RVM__BITS_READ;
}
static inline unsigned rvm__role_access(rvm_role role) {
    return role == RVM_READ ? RVM__BITS_READ : role == RVM_ACC ? RVM__BITS_ACC : RVM__BITS_OWN;
}

typedef struct rvm_param {
    char *name;
    uint8_t type, ndim;         /* ndim 0: scalar */
    uint8_t role;               /* rvm_role, inferred by the verifier */
    bool untouched;             /* read, and not even that; filled by the verifier, not stored */
    uint16_t signature;         /* i64 that are function values: 1 + the number of their type; else 0 */
    uint16_t index;             /* register or array: parameters come first, in order, each kind by itself */
    uint16_t dim[RVM_MAX_DIMS]; /* slots: a length register (set by the call, read-only), or an i64 constant */
} rvm_param;

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
    uint32_t *webs; /* by place: the web that it is of; filled by the verifier, not stored. See rvm__web_of */
    uint32_t nwebs, cap_webs;
    uint8_t value;   /* rvm_value_use; filled by rvm__mark_values, not stored */
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
    bool stack;                 /* the stack carries shadows */
    bool full;                  /* transform.c: its table is */
    uint8_t *active;            /* by parameter of the parent's signature: 1 where it has a shadow; else NULL */
    rvm_variant_entry *derived; /* in order of fn; a function that is not here is refused when it is called */
    uint32_t nderived, cap_derived;
} rvm_variant;

/* Limits of the format: slots and arrays of a function, parameters and places of an instruction, places of a slot of the
 * trail. */
enum { RVM_MAX_SLOT = 63 };
enum { RVM_MAX_REGS = 32767, RVM_MAX_CONSTS = 32767, RVM_MAX_ARRAYS = 65535, RVM_MAX_PARAMS = 255, RVM_MAX_FILES = 4096 };
enum { RVM_MAX_SIGNATURE_PARAMS = RVM_MAX_PARAMS - 1 }; /* the value is an argument, too */
enum { RVM_MAX_SIGNATURES = 4096, RVM_MAX_SIGNATURE_SIZE = 1024, RVM_MAX_VARIANTS = 4096 };

struct rvm_program {
    rvm_allocator al;
    rvm_function *functions;
    rvm_signature *signatures;
    rvm_variant *variants;
    char **files;
    uint32_t nfunctions, nsignatures, nvariants, nfiles, cap_functions, cap_signatures, cap_variants, cap_files;
    rvm_index name_index;         /* functions by name */
    struct rvm__derived *derived; /* functions that were derived here (transform.c); not stored in a file */
    uint32_t nderived, cap_derived;
    uint64_t id[2]; /* of a decoded program; else 0, and rvm_program_id encodes */
    bool verified;
    bool
        roles_claimed; /* decoded: the params' roles are the file's claim, which the verifier compares with what it infers */
};

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
 * along all ways of control. What is present throughout and constants have their slot's number, arrays behind the slots; the
 * webs of all else are numbered behind those. rvm__web_of: of a place in the pool of a verified function. */
static inline uint32_t rvm__slot_number(const rvm_function *f, const rvm_place *q) {
    return q->kind == RVM_PLACE_ELEM || q->kind == RVM_PLACE_ARRAY ? f->nregs + f->nconsts + q->slot : q->slot;
}
static inline uint32_t rvm__slot_numbers(const rvm_function *f) {
    return f->nregs + f->nconsts + f->narrays;
}
static inline uint32_t rvm__web_of(const rvm_function *f, const rvm_place *q) {
    return f->webs[q - f->places];
}
/* Name of a place's register or array at pc, or NULL. */
const char *rvm__symbol_at(const rvm_function *f, bool is_array, uint16_t index, uint32_t pc);
/* Text of a value as raw mnemonics write it: an i64 as a whole number, an f64 with a point or an exponent, else TYPE:NUMBER
 * or TYPE:0xBITS; reads back as the same bits. snprintf's convention. */
int rvm__value_text(rvm_type t, rvm_value v, char *text, size_t size);
/* Text of a place at pc with source names where known ("x[i]", "%3"); snprintf's convention. values: registers of a running
 * frame, so that an index without a name goes by its value ("x[4]"); or NULL. */
int rvm__place_text(const rvm_function *f, const rvm_place *p, uint32_t pc, const rvm_value *values, char *text,
                    size_t size);

/* How the body of the parallel block at pc accesses registers, by register: rvm__access_bits. In a verified function a
 * register of the surroundings has READ or ACC, one of the instances' own has OWN. */
void rvm__block_registers(const rvm_program *p, const rvm_function *f, uint32_t pc, uint8_t *bits);

/* The site of a finished instruction, or -1. Sites of a program: how many instructions have one; the different ones, rising,
 * into as much room, and their number; the index of one among them. */
int64_t rvm__insn_site(const rvm_function *f, const rvm_insn *in);
size_t rvm__sites_most(const rvm_program *p);
uint32_t rvm__sites_collect(const rvm_program *p, uint32_t *sites);
uint32_t rvm__sites_find(const uint32_t *sites, uint32_t n, int64_t site);
/* flags.c: of n sites: whether what goes onto the trail there is always 0 or 1. */
void rvm__sites_flags(const rvm_program *p, const uint32_t *sites, uint32_t n, uint8_t *flags);

/* ---- memory and errors (any folder) ---- */
extern const rvm_allocator rvm__libc_allocator;
void *rvm__realloc(const rvm_allocator *al, void *p, size_t old_size, size_t new_size); /* NULL when size 0 or failing */
/* Make room for `need` elements; false when out of memory (the array is unchanged). */
bool rvm__grow(const rvm_allocator *al, void **p, uint32_t *cap, uint32_t need, size_t element_size);
/* The same for two arrays that share a capacity. */
bool rvm__grow_two(const rvm_allocator *al, void **a, size_t a_size, void **b, size_t b_size, uint32_t *cap, uint32_t need);
char *rvm__strdup(const rvm_allocator *al, const char *s, size_t length);
void rvm__strfree(const rvm_allocator *al, char *s);
/* Whether the name of a parameter is STEM "." PART REST: of z: complex the parts are z.re and z.im, of its shadow z_b in a
 * derived function z.re_b and z.im_b; of y: lns the part is y.log. */
bool rvm__is_part(const char *name, const char *part, int *stem, const char **rest);
/* What lies at `way` from the folder of the binary that holds this code, as a real path; false: nothing there. `found` has
 * room for PATH_MAX. */
bool rvm__beside_binary(const char *way, char *found);
/* Fill *err (may be NULL) and return the code. Position 0 where there is none. */
rvm_status rvm__fail(rvm_error *err, rvm_status code, const char *file, uint32_t line, uint32_t column, const char *format,
                     ...) __attribute__((format(printf, 6, 7)));
/* The same with the position of instruction pc of function fn. */
rvm_status rvm__fail_at(rvm_error *err, rvm_status code, const rvm_program *p, uint32_t fn, uint32_t pc, const char *format,
                        ...) __attribute__((format(printf, 6, 7)));
/* At the start of a public function: USAGE where one of these parameters is NULL, which the message names. */
#define RVM__NEEDS(...)                                                                                                     \
    do {                                                                                                                    \
        const void *const needed_[] = {__VA_ARGS__};                                                                        \
        for (size_t k_ = 0; k_ < sizeof needed_ / sizeof *needed_; k_++)                                                    \
            if (!needed_[k_]) return rvm__fail_null(err, #__VA_ARGS__, k_);                                                 \
    } while (0)
/* USAGE: the k-th of the names, which commas separate, is NULL. */
rvm_status rvm__fail_null(rvm_error *err, const char *names, size_t k);
/* Returns code. An error about what a caller gave to function fn, which has no position yet, gets that of the function. */
rvm_status rvm__fail_in(rvm_error *err, rvm_status code, const rvm_program *p, int64_t fn);

/* ---- builder: all return an index, or -1 when out of memory or past a limit of the format ----
 * Names of functions are words ([A-Za-z_][A-Za-z0-9_']*) without repetition, those of parameters and symbols place names: -1
 * else.
 * A file added twice is one file. */
rvm_program *rvm__program_new(const rvm_allocator *al);
bool rvm__is_word(const char *name, size_t length);
bool rvm__is_place_name(const char *name, size_t length); /* a word, or two with a point between: z.re */
int64_t rvm__program_find(const rvm_program *p, const char *name, size_t length); /* function or -1 */
int64_t rvm__program_add_file(rvm_program *p, const char *name);
int64_t rvm__program_add_function(rvm_program *p, const char *name, size_t length);
int64_t rvm__function_add_register(const rvm_program *p, rvm_function *f, rvm_type t);
/* Constants number from 0 here and become slot nregs + k: while building, refer to constant k as RVM_BUILD_CONST + k in
 * places and params, and call rvm__function_finish once all registers are known. Equal constants share one. */
enum { RVM_BUILD_CONST = 1 << 15 };
int64_t rvm__function_add_const(const rvm_program *p, rvm_function *f, rvm_type t, rvm_value v);
int64_t rvm__function_find_const(const rvm_function *f, rvm_type t, rvm_value v); /* -1: there is none */
int64_t rvm__function_add_array(const rvm_program *p, rvm_function *f, rvm_type t, int ndim);
int64_t rvm__function_add_param(const rvm_program *p, rvm_function *f, const rvm_param *param, const char *name,
                                size_t length);
int64_t rvm__function_add_symbol(const rvm_program *p, rvm_function *f, const rvm_symbol *s, const char *name,
                                 size_t length);
/* Appends an instruction and a copy of its places; returns its pc. */
int64_t rvm__function_emit(const rvm_program *p, rvm_function *f, rvm_op op, rvm_row row, uint8_t flags, uint32_t target,
                           const rvm_place *places, uint32_t nplaces, rvm_position at);
void rvm__function_finish(rvm_function *f); /* once; also sorts the symbols by rvm__symbol_compare */
int rvm__symbol_compare(const void *a, const void *b);

/* ---- function values (signatures.c) ----
 * A function value is an i64, the number of a function. Nothing is proved of it: a call through it names a variant, whose
 * signature its arguments have, and looks at the value when it runs. What may be a value are the functions whose address is
 * taken, and those of the source, whose names have no tick, since such a number can come from outside.
 * So a transform leaves values as they are, and turns
 *
 *     calli v(g, a, ..)   into   calli v'(g, a, a_b, ..)   where   v' = rvm__variant_derive(p, &{.parent = v, ..})
 *
 * with `active` by parameter of v's signature. The signature of v' has for each parameter its own, then that of its shadow,
 * with the roles that transforms give them. transform.c then fills the table of v' for all that may be values and fit.
 * All return the same number for the same request, so that a second asking finds what the first made. -1: out of
 * memory; -2: past a limit of the format. Roles of functions are known once they are verified. */
static inline bool rvm__is_call(const rvm_insn *in) {
    return in->op >> 1 == RVM_PAIR_call || in->op >> 1 == RVM_PAIR_calli;
}
int64_t rvm__program_add_signature(rvm_program *p, const rvm_param *params, uint32_t nparams);
int64_t rvm__signature_find(const rvm_program *p, const rvm_param *params, uint32_t nparams); /* -1: there is none */
int64_t rvm__program_add_variant(rvm_program *p, uint32_t signature);                         /* the functions themselves */
/* The first variant that is what v is as number `number`, or -1. */
int64_t rvm__variant_find(const rvm_program *p, const rvm_variant *v, uint32_t number);
/* Of d: parent, kind, level, stack, active (NULL: every real). The rest is found. */
int64_t rvm__variant_derive(rvm_program *p, const rvm_variant *d);
/* The same with a signature that is given. */
int64_t rvm__variant_make(rvm_program *p, const rvm_variant *d);
bool rvm__variant_has(const rvm_program *p, uint32_t variant, uint32_t fn);
bool rvm__variant_set(rvm_program *p, uint32_t variant, uint32_t fn, uint32_t derived); /* false: out of memory */
/* Fill `value` of all functions. */
void rvm__mark_values(rvm_program *p);
/* Whether a function fits the type: the same kinds and types of parameters; and roles equal, or `own` in the type. */
bool rvm__fits_types(const rvm_program *p, uint32_t fn, uint32_t signature);
bool rvm__fits(const rvm_program *p, uint32_t fn, uint32_t signature);
/* The same of the values of type `from` where one of type `to` is needed. */
bool rvm__signature_fits(const rvm_program *p, uint32_t from, uint32_t to);
/* The function that a call by the variant runs for a value, or -1: no function, one of another type, one without that
 * derivative. */
int64_t rvm__variant_callee(const rvm_program *p, uint32_t variant, int64_t value);
/* The functions that an instruction which calls may run, one after the other: *at counts from 0. False past the last. */
bool rvm__next_callee(const rvm_program *p, const rvm_insn *in, uint32_t *at, uint32_t *callee);
bool rvm__next_callee_types(const rvm_program *p, const rvm_insn *in, uint32_t *at, uint32_t *callee); /* types only */
/* Text of parameters as of a type. snprintf's convention. */
int rvm__params_text(const rvm_program *p, const rvm_param *params, uint32_t nparams, char *text, size_t size);

/* What an instruction that calls passes its arguments to; they stand from place `first` on. */
typedef struct rvm_callee {
    const rvm_param *params;
    uint32_t nparams, first;
    const char *name; /* NULL through a function value */
} rvm_callee;
rvm_callee rvm__callee_of(const rvm_program *p, const rvm_insn *in);

/* ---- encoding ---- */
/* A file is there whole, or as it was before; what is no regular file, as a pipe, is written where it is. IO. */
rvm_status rvm__write_file(const char *path, const void *bytes, size_t size, rvm_error *err);
rvm_status rvm__encode(const rvm_program *p, void **bytes, size_t *size, rvm_error *err);
rvm_status rvm__decode(const void *bytes, size_t size, const char *name, const rvm_allocator *al, rvm_program **out,
                       rvm_error *err);

/* ---- verifier ----
 * Proves: operand kinds, types and slots; pairing of jumps, loops and regions; calls with the right arguments; every place
 * present where used and absent where it appears, alike on all ways to an instruction, and all locals absent at both ends;
 * read-only lengths and loop bounds; static aliasing; regions whose `do` leaves alone what compute used. Fills target, facts
 * and roles, and sets p->verified. Nothing unverified runs. */
rvm_status rvm__verify(rvm_program *p, rvm_error *err);

#endif
