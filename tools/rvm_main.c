#include "tool.h"
#include "isa.h"

#include <string.h>

/* `rvm COMMAND ...`: the command's own words begin behind its name. */
int main(int argc, char **argv) {
    static char name[] = "rvm";
    if (argc > 0) argv[0] = name;
    if (argc < 2 || argv[1][0] == '-') return tool_main(COMMAND_RVM, argc, argv);
    const char *near;
    int c = command_find(name, argv[1], &near);
    if (c < 0) {
        fprintf(stderr, "rvm: error: there is no command `%s`%s%s%s; see rvm --help\n", argv[1],
                near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
        return rvm_status_exit(RVM_ERR_USAGE);
    }
    return tool_main((command_id)c, argc - 1, argv + 1);
}
