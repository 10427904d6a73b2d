/* lines.c: kernels with line tables, by which Nsight shows the source. Of what LLVM writes into PTX for debug information
 * only directives of lines are wanted: with more, CUDA's assembler does not optimise. LLVM's C interface cannot change the
 * kind of what there is; its text can. */
#include "device.h"
#include "support.h"

#include <llvm-c/DebugInfo.h>
#include <llvm-c/IRReader.h>
#include <string.h>

static const char full[] = "emissionKind: FullDebug", lines[] = "emissionKind: DebugDirectivesOnly";

/* NULL: out of memory. */
static LLVMMemoryBufferRef replaced(const rvm__build *k, const char *text) {
    const char *at = strstr(text, full), *rest = at ? at + sizeof full - 1 : "";
    const size_t before = at ? (size_t)(at - text) : strlen(text), size = before + sizeof lines + strlen(rest);
    char *all = rvm__realloc(k->al, NULL, 0, size);
    if (!all) return NULL;
    memcpy(all, text, before);
    strcpy(all + before, at ? lines : "");
    strcat(all + before, rest);
    LLVMMemoryBufferRef out = LLVMCreateMemoryBufferWithMemoryRangeCopy(all, strlen(all), "kernels");
    rvm__realloc(k->al, all, size, 0);
    return out;
}

LLVMModuleRef rvm__device_copy_with_lines(const rvm__build *k) {
    char *text = LLVMPrintModuleToString(k->module), *why = NULL;
    LLVMMemoryBufferRef copy = replaced(k, text);
    LLVMModuleRef module = NULL;
    LLVMDisposeMessage(text);
    if (copy && LLVMParseIRInContext(k->context, copy, &module, &why)) { /* which takes the text */
        LLVMDisposeMessage(why);
        module = NULL;
    }
    return module;
}
