/* cli.h: the command line, from the tables options.def and commands.def. */
#ifndef RVM_TOOLS_CLI_H
#define RVM_TOOLS_CLI_H

#include "rvm_program.h"

typedef enum command_id {
#define COMMAND(id, program, name, words, least, most, doc) COMMAND_##id,
#include "commands.def"
#undef COMMAND
    COMMAND_COUNT
} command_id;

typedef struct text_list {
    const char **item; /* NULL-terminated once an option was given, else NULL */
    size_t n;
} text_list;

enum option_index {
#define OPTION(name, letter, kind, metavar, commands, help) OPTION_##name,
#include "options.def"
#undef OPTION
    OPTION_COUNT
};

typedef struct options {
#define TYPE_FLAG                                           bool
#define TYPE_TEXT                                           const char *
#define TYPE_LIST                                           text_list
#define TYPE_REAL                                           double
#define TYPE_COUNT                                          uint64_t
#define TYPE_BYTES                                          uint64_t
#define OPTION(name, letter, kind, metavar, commands, help) TYPE_##kind name;
#include "options.def"
#undef OPTION
    bool given[OPTION_COUNT]; /* see option_given */
} options;

#define option_given(o, name) ((o)->given[OPTION_##name])

/* The command of `program` called `name`, or -1, with the nearest name in *near (NULL: none is near). */
int command_find(const char *program, const char *name, const char **near);
/* "rvm run" */
void command_title(command_id c, char title[32]);
/* Fills *o from argv[1..argc); the words that are no options are moved to argv[*first..argc). USAGE on mistakes. */
rvm_status cli_parse(command_id c, int argc, char **argv, options *o, int *first, rvm_error *err);
/* Calls take with a word for each option that is given, as "--of=out", which parse to the same options; until it returns
 * false, which is returned. */
bool cli_each_option(command_id c, const options *o, bool (*take)(void *userdata, const char *word), void *userdata);
const char *cli_option_name(enum option_index option);
const char *cli_command_name(command_id c);
void cli_free(options *o);
void cli_help(command_id c, FILE *out);

#endif
