#include "tool.h"

#include <string.h>

/* `rvm COMMAND ...`: the command's own words begin behind its name. What is no command goes to `rvm` itself, with only the
 * option that says how to complain. */
int main(int argc, char **argv) {
    static char name[] = "rvm", as_json[] = "--json";
    const char *near;
    if (argc > 0) argv[0] = name;
    if (argc < 2 || argv[1][0] == '-') return tool_main(COMMAND_RVM, argc, argv);
    int c = command_find(name, argv[1], &near), words = 2;
    if (c >= 0) return tool_main((command_id)c, argc - 1, argv + 1);
    for (int i = 2; i < argc; i++)
        if (strcmp(argv[i], as_json) == 0) words = 3;
    return tool_main(COMMAND_RVM, words, (char *[]){name, argv[1], as_json, NULL});
}
