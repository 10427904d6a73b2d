/* tool.h: what the commands share: one run of one command, from its words to its exit status.
 *
 * A command computes first and prints last, so that with --json there is one object whatever happens. It returns a status
 * with tool.err filled; main.c prints that, frees everything and gives the exit status.
 */
#ifndef RVM_TOOLS_TOOL_H
#define RVM_TOOLS_TOOL_H

#include "cli.h"
#include "file_set.h"
#include "json.h"
#include "rvm_asm.h"
#include "rvm_derivatives.h"
#include "rvm_cuda.h"
#include "rvm_jit.h"
#include "values.h"

#include <time.h>

typedef struct progress {
    struct timespec begin;
    uint64_t before, latest; /* instructions of the runs before the present one, and of it */
    double shown;            /* seconds after begin at which the line was drawn last; 0: it is not on the screen */
    bool terminal;
    bool returns;  /* the run takes back one that failed: nothing is printed */
    uint64_t most; /* instructions after which it is given up, for which `gave_up` stands then; 0: never */
    bool gave_up;
    rvm_machine *machine;                                    /* that runs */
    bool (*poll)(struct progress *p, uint64_t instructions); /* of a server, in place of the line: true cancels; or NULL */
} progress;

enum restored { RESTORED_UNKNOWN, RESTORED_YES, RESTORED_NO };

typedef struct tool {
    command_id command;
    options o;
    char **argv;  /* of the command: its name, options, words; getopt has moved the words to the end */
    char **words; /* what follows the options */
    int nwords;
    rvm_error err;
    rvm_error rerun;   /* code not OK: why a derivative was asked for again, with --exact */
    bool shown;        /* the error is told already: the assembler's diagnostics, or with the results */
    char *note;        /* words that belong to the error, however many: names of functions */
    FILE *diagnostics; /* with --json: what the assembler told, and notes, as items of an array; or NULL */
    char *diagnostics_text;
    size_t diagnostics_size, first_error[2]; /* the latter: where the first error stands; 0 0: there is none */
    bool diagnosed;                          /* there is an item */
    char *source;                            /* the program, if it came by standard input, or from who runs the command */
    size_t source_size;
    const file_set *files;  /* that it reads, from who runs it for somebody else; NULL: those of this machine */
    file_set *written;      /* takes what it writes, for them; NULL: files of this machine do */
    bool coloured;          /* with these: whether what it says on standard error is to be */
    enum restored restored; /* after a run-time error */
    char restored_text[640];
    rvm_program *program;
    rvm_machine *machine;
    rvm_jit *jit;                 /* NULL: everything is interpreted */
    rvm_cuda *cuda;               /* NULL: no device runs parallel blocks */
    bool jit_is_lent;             /* by who runs the command: it is used, not freed */
    rvm_program *derived_program; /* of --dump: what holds the gradient's program */
    uint32_t fn;
    bool chosen; /* fn is the function that is asked for: an error of what it is given has its line */
    reading reading;
    values v;
    progress progress;
} tool;

/* main.c: main() of both programs. argv[0] is the program's name for messages. */
int tool_main(command_id c, int argc, char **argv);
/* Runs t->command on t->words and t->o; reports what went wrong, frees all, and gives the exit status. *idle false:
 * something is still being compiled, so that the process is to end by _exit. */
rvm_status tool_run(tool *t);
int tool_end(tool *t, rvm_status st, bool *idle);

/* tool.c: fills t->err and returns the code; gives an error about function fn that has no position yet that of the function,
 * and returns its code. */
rvm_status tool_fail(tool *t, rvm_status code, const char *format, ...) __attribute__((format(printf, 3, 4)));
rvm_status tool_fail_in(tool *t, rvm_status code, uint32_t fn);
/* Options from the command line: the assembler's, the machine's. */
bool tool_runs_exactly(const tool *t); /* --exact, and what makes a run exact */
rvm_status tool_asm_options(tool *t, rvm_asm_options *o);
rvm_status tool_math(tool *t, rvm_math *out); /* --math */
rvm_status tool_options(tool *t, rvm_options *out);

/* open.c: opens words[0], source or bytecode. */
rvm_status tool_open(tool *t);
/* That, and the function: words[1], or the only one, or main; *first is the first word that is a value. */
rvm_status tool_choose(tool *t, int *first);
/* Function by name, derived if need be (f'grad): t->program is then another. ARGUMENT naming the nearest, and those of
 * rvm_program_derive. */
rvm_status tool_function(tool *t, const char *name, uint32_t *fn);
/* What a transform makes of the function of that name, by the parameters of --wrt: t->program is then another. */
rvm_status tool_derive(tool *t, rvm_transform kind, const char *name, uint32_t *index);
/* Whether function fn has the parameter that the word, name=value, gives a value to. */
bool tool_takes(const tool *t, uint32_t fn, const char *word);
/* Marks in active[] the parameter of that name, which is real; of a complex and an lns its parts. ARGUMENT. */
rvm_status tool_mark(tool *t, uint32_t fn, const char *name, size_t length, uint8_t *active);

/* prepare.c: tool_choose, the values, and a machine; another machine like it. */
rvm_status tool_prepare(tool *t);
rvm_status tool_machine(tool *t, rvm_machine **out);

/* files.c: USAGE where a file that the command is to write is one that it reads, or writes already: one of them would be
 * lost. Before anything is run. */
rvm_status files_check(tool *t);
/* The same of one more file, as its name becomes known. */
rvm_status files_check_output(tool *t, const char *path);
/* Calls take with each file that values, directions, weights, patterns and records come from, or that is
 * to be written, until one fails. */
rvm_status files_each_input(tool *t, rvm_status (*take)(void *userdata, const char *path), void *userdata);
rvm_status files_each_output(tool *t, rvm_status (*take)(void *userdata, const char *path), void *userdata);
/* Writes a file of this machine, whole, or into t->written; as an array of NumPy. IO, ARGUMENT, MEMORY. */
rvm_status files_write(tool *t, const char *path, const void *bytes, size_t size);
rvm_status files_write_array(tool *t, const char *path, const rvm_arg *a, const rvm_arg *im, bool shadow);

/* constants.c: --const: t->program becomes one in which t->fn has these values folded in. words: the values that are given,
 * among which they are not. ARGUMENT, and those of rvm_program_fold. */
rvm_status constants_fold(tool *t, char **words, int n);

/* shadows.c: gives every real of t->v a shadow, marks it in real[], and reads the values of the named ones from name=value
 * words. option and shadow are for messages: "--dot", "tangent". */
rvm_status tool_read_shadows(tool *t, bool *real, const text_list *words, const char *option, const char *shadow);

/* report.c: what is wrong, as text with the line of the source, a caret and a hint, or as JSON. */
void report(tool *t, rvm_status st);
void report_add_note(tool *t, const char *word);
/* What is good to know beside results: on standard error under the command's name, or with --json, which is printed
 * afterwards, a diagnostic with the place that e has. */
void report_note(tool *t, const rvm_error *e);
void report_note_text(tool *t, const char *text);
void report_free(tool *t);
/* Whether what is wrong is said in colours. */
bool report_in_colour(const tool *t);
/* The source that the program was made from, of that name, if it is there and still the same: text of size bytes and a 0, to
 * be freed; false and NULL: it is not. */
bool report_source(tool *t, const char *file, char **text, size_t *size);
/* rvm_diagnostic: userdata is the tool. */
void tool_diagnostic(void *userdata, const rvm_error *e, const char *text);

/* checkpoints.c: notes the loops that the option --checkpoints is not for. */
void checkpoints_note(tool *t);
/* Notes that the last gradient ran loops again since its trail would pass the limit. */
void checkpoints_tell(tool *t);

/* points.c: notes where a run from t->v meets points at which what it does has no derivative by what `by`
 * names, so that a rule takes its place. Unchecked runs are looked at with --points only, and long ones as a whole. */
void points_note(tool *t, const rvm_part *by, uint32_t nby);
void points_note_active(tool *t); /* by all that has a shadow */
/* "no derivative by `x` at f.rasm:3, in f (abs): by its rule it is -1" */
void points_text(const rvm_nonsmooth_point *point, char *text, size_t size);

/* growth.c: text that names the update at which rounding grew most on the way back, or nothing: from the results of a run
 * that is given (start), held against an exact one; or from results `end`, held against such with other last bits. The
 * latter only where inputs are not determined by them. */
void growth_of_run(tool *t, const values *start, char *text, size_t size);
void growth_from_end(tool *t, const values *end, char *text, size_t size);

/* exactly.c: whether a derivative that was not restorable, or failed a check on the way back (*st, t->err), is to be asked
 * for once more, with --exact: then that is said, and t->machine is another. With --no-exact it is not. */
bool exactly_again(tool *t, rvm_status *st);
/* Of what came from such a run: says that there is a nan among it. */
void exactly_note_nan(tool *t, bool nan);

/* The object of --json, from its bracket to behind "ok", with the error if st says so, which is then told; to its end. */
void tool_json_begin(json *j, tool *t, rvm_status st);
void tool_json_end(json *j);
/* Prints such an object that a server made, with what was told here among its "diagnostics". */
void tool_json_pass(const tool *t, const char *text, size_t size, FILE *out);

/* native.c: t->jit, if --engine asks for it and it is there; machines are attached to it. */
rvm_status native_open(tool *t);
rvm_status native_jit(tool *t, bool tiers, rvm_error *err); /* or why it is not there */
rvm_status native_attach(tool *t, rvm_machine *m);
rvm_status native_check_lanes(tool *t); /* the option is one of two words */
bool native_has_no_lanes(const tool *t);
bool native_close(tool *t);      /* false: something is still being compiled: the process is to end by _exit */
void native_tell(const tool *t); /* --verbose: why the last run or derivative was interpreted, if it was */

/* dump.c: --dump, in place of the command. */
rvm_status native_dump(tool *t);

/* progress.c: draws and erases the line; SIGINT cancels the machine, a second one ends the process. */
void progress_begin(progress *p, rvm_machine *m);
void progress_end(progress *p);
bool progress_callback(void *userdata, uint64_t instructions);
void printed(void *userdata, const rvm_printed *what);        /* rvm_options.print: on standard output */
void printed_beside(void *userdata, const rvm_printed *what); /* the same on standard error */
double progress_seconds(const progress *p);
bool progress_interrupted(void); /* since progress_begin */
/* Draws the line, on a terminal, now and then; share: of the run that is done, below 0: not known. */
void progress_show(progress *p, uint64_t instructions, double share);

/* cmd_grad.c: --of, --wrt: marks in wrt[] what is differentiated by, finds the element that is seeded, and gives what takes
 * part a shadow. */
rvm_status tool_choose_gradient(tool *t, bool *wrt, uint32_t *of, size_t *element);

/* The commands. */
#define COMMAND(id, program, name, words, least, most, doc) rvm_status command_##id(tool *t);
#include "commands.def"
#undef COMMAND

/* signature.c: "fn norm(out: accumulate f64, x: read f64[n])"; an object with all of it */
void output_signature(const tool *t, uint32_t fn, FILE *out);
void output_json_signature(json *j, const tool *t, uint32_t fn);

/* output.c */
enum shadow_kind { NO_SHADOW, SHADOW };
void output_value(FILE *out, const rvm_arg *a, enum shadow_kind which); /* without a newline; long ones are cut */
void output_json_value(json *j, const rvm_arg *a, enum shadow_kind which);
/* PREFIX NAME SUFFIX = value, a line, with complex and lns as users write them; nothing for an imaginary part. shadows:
 * NULL, or the parameters whose shadows are shown in place of values, i among them. */
void output_param(FILE *out, const char *prefix, const char *suffix, const values *v, uint32_t i, const bool *shadows);
void output_json_param(json *j, const values *v, uint32_t i, const bool *shadows); /* the same as a member */
/* The name that parameter i has there; false: it is no line of its own. */
bool output_param_name(const values *v, uint32_t i, const bool *shadows, char *name, size_t size);

/* results.c */
void output_values(const tool *t, const values *v);               /* name = value, a line each */
void output_json_values(json *j, const tool *t, const values *v); /* the member "values" of the open object */
void output_json_stats(json *j, const tool *t);                   /* "stats" and, if asked for, "profile" */
void output_cost(const rvm_cost *c);                              /* of derivatives, a line */
void output_json_cost(json *j, const rvm_cost *c);                /* "cost" */
void output_erased(FILE *out, const rvm_stats *s);                /* erased bits by cause, a line */
void output_stats(const tool *t);                                 /* as text, if --stats or --profile */
/* --save, --save-all: NAME is a parameter, whose value is taken from v, or its shadow in t->v. All that can be; the first
 * failure. */
rvm_status output_save(tool *t, const values *v);
rvm_status output_check(tool *t); /* whether what --save names is there: before a run, so that it is not lost */

/* only.c: --only, --quiet. */

/* The shadows of the parameters in set[], and how text has them: "d out / d NAME", "NAME_b". */
typedef struct shadow_lines {
    const bool *set;
    const char *prefix, *suffix;
} shadow_lines;
/* The suffix of the shadows that the command computes, in files: "_b", "_d"; NULL: none. */
const char *only_suffix(const tool *t);
/* Length of NAME in "NAME_b", which a gradient may be called; 0: it is not. */
size_t shadow_stem(const char *name);
/* Calls take with each name of a result. alias: there is another, which messages have. */
typedef void only_take(void *to, const char *name, bool alias);
typedef void only_names(const tool *t, const void *of, only_take *take, void *to);
/* Whether a result is to be printed: parameter i (s NULL), or its shadow; what has these names. */
bool only_takes(const tool *t, uint32_t i, const shadow_lines *s);
bool only_has(const tool *t, only_names *names, const void *of);
/* ARGUMENT, with the names there are, where one of --only is none: of a parameter, of a shadow (unless s is NULL), or of
 * more (unless NULL). */
rvm_status only_check(tool *t, const shadow_lines *s, only_names *more, const void *of);

#endif
