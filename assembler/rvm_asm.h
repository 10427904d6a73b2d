/* rvm_asm.h: the assembler, from source text to a verified program. */
#ifndef RVM_ASM_H
#define RVM_ASM_H

#include "rvm_program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Asked for the text of what a source includes. `name` is the including source's folder with the name behind it, then, if
 * that is RVM_ERR_NAME, the name as it is written; what was included by a name is not asked for again. The callback hands
 * the text over by rvm_include_text or rvm_include_std and returns the status of that; RVM_ERR_NAME where it knows no such
 * name: then files are looked for, unless no_files. Any other status ends the search, and err->message, where it is set,
 * says why in the diagnostic. Called from the thread that assembles, during the call. */
typedef struct rvm_inclusion rvm_inclusion;
typedef rvm_status (*rvm_include)(void *userdata, const char *name, rvm_inclusion *to, rvm_error *err);
/* The text is copied. Errors: LIMIT (more than 256 MiB, or too many sources), USAGE (a second text), MEMORY. */
RVM_API rvm_status rvm_include_text(rvm_inclusion *to, const char *text, size_t size);
/* The file std/... of the standard library, where this library finds it; NAME for all other names, such as std/../x, and
 * where there is no such file. It opens a file, no_files or not. Errors besides: IO, LIMIT, USAGE, MEMORY. */
RVM_API rvm_status rvm_include_std(rvm_inclusion *to, const char *name);

/* A service that assembles what others wrote sets no_files: a diagnostic shows the line that it is about, and so would show
 * lines of any file that can be read. */
typedef struct rvm_asm_options {
    rvm_type real; /* what the type name `real` means: RVM_F64 (default), RVM_F32 or RVM_FIX */
    const char *const
        *include_path; /* folders searched for `include`, after the including file's; NULL-terminated, or NULL */
    rvm_math math;     /* whose functions constants are folded with: what programs then hold, and are known by */
    const rvm_allocator *allocator; /* NULL: the C library's */
    uint32_t max_errors;            /* 0: 20 */
    rvm_include include;            /* NULL: files only */
    void *include_userdata;
    bool no_files; /* no path that a source names is opened, std/ included; that of rvm_assemble_file and rvm_open is */
    bool exact;    /* derivatives that the program calls, or that are derived of it, are for machines with that option, too:
                      their adjoints say what they take back, and have a few instructions more */
} rvm_asm_options;

/* Called for each diagnostic, in order of place: text is the whole of it as a compiler would print it (file:line:column:
 * error: message, the source line, a caret, a hint), without a newline at the end; valid during the call. A warning says
 * `warning:` there, and e->code is RVM_OK: the program is assembled all the same. */
typedef void (*rvm_diagnostic)(void *userdata, const rvm_error *e, const char *text);

/* Assemble text of `size` bytes; name appears in messages, and its folder is where `include` looks first. Verified. *out is
 * owned by the caller, NULL on failure; *err (may be NULL) is the first error. options and report may be NULL.
 * Errors: SYNTAX, TYPE, NAME, UNSUPPORTED, VERIFY, ALIAS, IO (an include), MEMORY. Any thread; no globals. */
RVM_API rvm_status rvm_assemble(const char *text, size_t size, const char *name, const rvm_asm_options *options,
                                rvm_program **out, rvm_error *err, rvm_diagnostic report, void *userdata);
RVM_API rvm_status rvm_assemble_file(const char *path, const rvm_asm_options *options, rvm_program **out, rvm_error *err,
                                     rvm_diagnostic report, void *userdata);
/* Source or bytecode, told by its first bytes. Errors: those of rvm_assemble_file and of rvm_program_load_file. */
RVM_API rvm_status rvm_open(const char *path, const rvm_asm_options *options, rvm_program **out, rvm_error *err,
                            rvm_diagnostic report, void *userdata);
/* The same of `size` bytes, as rvm_assemble takes them, and of bytecode as rvm_program_load does. */
RVM_API rvm_status rvm_open_bytes(const void *bytes, size_t size, const char *name, const rvm_asm_options *options,
                                  rvm_program **out, rvm_error *err, rvm_diagnostic report, void *userdata);
/* Write the source at path, which p was assembled from, with the instructions under each line that it became. Errors: IO,
 * MEMORY. */
RVM_API rvm_status rvm_listing(const rvm_program *p, const char *path, FILE *out, rvm_error *err);

/* An expression over named places, as debuggers ask for: text of one line in the grammar of the language. Names with a point
 * are parts: of z.re and z.im the expression may have z, a complex, of y.log y, an lns. Of several of one name the last
 * counts. The program has the function `value`, number 0: to its first parameter it adds what the expression is; the others
 * are the places that it has, which it only reads: parameter k + 1 is names[used->name[k]]. The first parameter's type is
 * i64 if that will do, else that of a place, else f64. It evaluates by rvm_call, which stops at what fails, as an index out
 * of bounds. math: as in rvm_asm_options; the machine has its own. Errors: those of rvm_assemble, with the column in text
 * and line 1, or 0 and 0; USAGE, LIMIT (it has too many places). */
typedef struct rvm_asm_name {
    const char *name;
    rvm_type type;
    int ndim;
} rvm_asm_name;
typedef struct rvm_asm_used {
    uint32_t n, name[RVM_MAX_PARAMS];
} rvm_asm_used;
RVM_API rvm_status rvm_assemble_expression(const char *text, const rvm_asm_name *names, uint32_t n, rvm_math math,
                                           const rvm_allocator *allocator, rvm_asm_used *used, rvm_program **out,
                                           rvm_error *err);

/* The line of a source that an error points at and a caret below it, as diagnostics show them, cut to what fits: for errors
 * that are met later, in a run; column 0: without a caret. False, with an empty text, where the source has no such place. */
RVM_API bool rvm_asm_excerpt(const char *source, size_t source_size, uint32_t line, uint32_t column, char *text,
                             size_t size);

#ifdef __cplusplus
}
#endif
#endif
