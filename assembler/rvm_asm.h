/* rvm_asm.h: the assembler, from source text to a verified program. */
#ifndef RVM_ASM_H
#define RVM_ASM_H

#include "rvm_program.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rvm_asm_options {
    rvm_type real; /* what the type name `real` means: RVM_F64 (default), RVM_F32 or RVM_FIX */
    const char *const
        *include_path; /* folders searched for `include`, after the including file's; NULL-terminated, or NULL */
    const rvm_allocator *allocator; /* NULL: the C library's */
    uint32_t max_errors;            /* 0: 20 */
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
/* Write the source at path, which p was assembled from, with the instructions under each line that it became. Errors: IO,
 * MEMORY. */
RVM_API rvm_status rvm_listing(const rvm_program *p, const char *path, FILE *out, rvm_error *err);

/* The line of a source that an error points at and a caret below it, as diagnostics show them, cut to what fits: for errors
 * that are met later, in a run. False, with an empty text, where the source has no such place. */
RVM_API bool rvm_asm_excerpt(const char *source, size_t source_size, uint32_t line, uint32_t column, char *text,
                             size_t size);

#ifdef __cplusplus
}
#endif
#endif
