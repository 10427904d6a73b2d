#include "tool.h"

int main(int argc, char **argv) {
    static char name[] = "rasm";
    if (argc > 0) argv[0] = name;
    return tool_main(COMMAND_RASM, argc, argv);
}
