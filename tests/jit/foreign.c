/* foreign.c: a module of native code of another version of the interface, which is refused. */
#include "module.h"

__attribute__((visibility("default"))) const rvm__module *rvm_llvm_module(void);
const rvm__module *rvm_llvm_module(void) {
    static const rvm__module module = {
        .interface = RVM__MODULE_INTERFACE + 1, .machine_size = sizeof(rvm_machine), .version = RVM_VERSION_STRING};
    return &module;
}
