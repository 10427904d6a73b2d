/* module.c: the one thing that the module exports. */
#include "engine.h"

RVM_API const rvm__module *rvm_llvm_module(void);

const rvm__module *rvm_llvm_module(void) {
    static const rvm__module module = {.interface = RVM__MODULE_INTERFACE,
                                       .machine_size = sizeof(rvm_machine),
                                       .version = RVM_VERSION_STRING,
                                       .open = rvm__compiler_open,
                                       .close = rvm__compiler_close,
                                       .compile = rvm__compiler_compile,
                                       .link = rvm__compiler_link,
                                       .print = rvm__compiler_print,
                                       .object = rvm__compiler_object};
    return &module;
}
