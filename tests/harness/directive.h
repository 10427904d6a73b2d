/* directive.h: the lines "#: KIND ..." of a case file.
 *
 *     #: run      FN name=value ... -> name=value ...     outputs; what is not named must come out as it went in
 *     #: unrun    FN name=value ... -> name=value ...     the same from the end of the function to its start
 *     #: gradient FN of=out wrt=x,y name=value ... -> x=...    shadows after a seed of 1 (of= may be an array)
 *     #: tangent  FN wrt=x name=value ... -> y=...        tangents of the outputs for a tangent of 1 in wrt=
 *                 an element may stand for an array: of=y[2]
 *     #: hessian  FN of=out wrt=x*7,y*8 name=value ... -> x=...   second derivatives of out times 7 in x and 8 in y, by
 * every method there is; wrt=x is 1 in all of x
 *     #: fail     FN name=value ... -> STATUS LINE "text"      and back to the start: inputs restored
 *     #: unfail   FN name=value ... -> STATUS LINE "text"      the same going from end to start
 *     #: accident FN wrt=x name=value ... -> LINE "text"       runs, but with tangents of 1 in wrt= (or all) fails: TANGENT
 *     #: nonsmooth FN name=value ... -> LINE:PLACE ...     where derivatives end by rule, in the order met, and nowhere else
 *     #: lost     FN name=value ... -> "text"             forward ends well, going back says NOT_RESTORABLE
 *     #: error    STATUS LINE "text"                      one for each diagnostic of the assembler
 *     #: warning  LINE "text"                            one for each warning of it
 *     #: roles    FN name=role ...                        as the verifier infers them
 *     #: options  fuel= depth= memory= tolerance= restore= real= orders= exact=    for the whole file
 *              (orders: up to which derivatives are checked as programs; 3)
 *     #: reals    fix~TOL f32~TOL !FN   or   none "why"    every run and unrun but of FN again with these for `real`, values
 *                                                        within TOL; i64 and fix come back bit for bit as ever
 *     #: without  differences|derivatives|products|transforms|undoing|erased "why"
 *              skipped in this file, and said so (undoing: of derived programs; erased: gradients dropped by them)
 *
 * FN may be a derived function, as f'grad'tan or f'adj[out,x]. The message must hold each "text" (any number of them). LINE
 * is a number, or @name for the line that ends in "#@name"; 0 for none. A value may end in ~tol, and ? is any. Values are
 * those of args_set. A missing argument is 0 where its shape is known.
 */
#ifndef RVM_TEST_DIRECTIVE_H
#define RVM_TEST_DIRECTIVE_H

#include <stdbool.h>

enum { DIRECTIVE_WORDS = 63 };

/* Words are split at blanks outside of quotes and brackets, quotes removed; words[arrow] is "->", or arrow is count. */
typedef struct directive {
    unsigned line, count, arrow;
    char *words[DIRECTIVE_WORDS + 1]; /* NULL behind the last */
    char *text, *storage;             /* the line for messages; what words point into */
} directive;

typedef struct directives {
    directive *list;
    unsigned count;
} directives;

/* All directives of a source. Lines are those of the text. */
directives directives_parse(const char *source);
void directives_free(directives *d);
/* Word k, or "" past the last; and from word k on, NULL-terminated. */
const char *directive_word(const directive *d, unsigned k);
char *const *directive_words(const directive *d, unsigned k);
/* The line that a LINE word means; 0 where no line carries the mark. */
unsigned directive_target(const char *source, const char *word);

#endif
