/* lines.c: line tables: which statement of the source an instruction of machine code belongs to, functions inlined in others
 * included. Derived functions have the lines of what they derive. */
#include "emit.h"
#include "program.h"

#include <limits.h>
#include <llvm-c/DebugInfo.h>
#include <string.h>
#include <unistd.h>

struct rvm__lines {
    LLVMDIBuilderRef b;
    LLVMMetadataRef type, *file;      /* of a function; by number, the last one stands for an unknown file */
    LLVMMetadataRef function, inside; /* the subprogram that is built; the part of it in file `at` */
    uint32_t own, at;                 /* numbers of files: the function's and the present one */
};

static LLVMMetadataRef file_of(struct rvm__lines *l, const char *name, const char *folder) {
    return LLVMDIBuilderCreateFile(l->b, name, strlen(name), folder, strlen(folder));
}

static void add_flag(rvm__build *k) {
    static const char name[] = "Debug Info Version";
    LLVMValueRef version = LLVMConstInt(k->i32, LLVMDebugMetadataVersion(), false);
    LLVMAddModuleFlag(k->module, LLVMModuleFlagBehaviorWarning, name, strlen(name), LLVMValueAsMetadata(version));
}

bool rvm__lines_begin(rvm__unit *u) {
    static const char producer[] = "rvm " RVM_VERSION_STRING;
    char folder[PATH_MAX];
    if (!u->w->lines) return true;
    struct rvm__lines *l = u->lines = rvm__unit_alloc(u, sizeof *l);
    LLVMMetadataRef *file = rvm__unit_alloc(u, (u->p->nfiles + 1) * sizeof *file);
    if (!l || !file) return false;
    if (!getcwd(folder, sizeof folder)) *folder = 0;
    l->b = LLVMCreateDIBuilder(u->k->module);
    l->file = file;
    for (uint32_t k = 0; k < u->p->nfiles; k++) file[k] = file_of(l, u->p->files[k], folder);
    file[u->p->nfiles] = file_of(l, "unknown", folder);
    LLVMDIBuilderCreateCompileUnit(l->b, LLVMDWARFSourceLanguageMips_Assembler, file[0], producer, strlen(producer), true,
                                   "", 0, 0, "", 0, LLVMDWARFEmissionFull, 0, false, false, "", 0, "", 0);
    l->type = LLVMDIBuilderCreateSubroutineType(l->b, file[0], NULL, 0, LLVMDIFlagZero);
    add_flag(u->k);
    return true;
}

void rvm__lines_end(rvm__unit *u) {
    if (!u->lines || !u->lines->b) return;
    LLVMDIBuilderFinalize(u->lines->b);
    LLVMDisposeDIBuilder(u->lines->b);
    u->lines = NULL;
}

/* NULL: the function has no positions. */
static const rvm_position *position(const rvm__unit *u, uint32_t fn, uint32_t pc) {
    const rvm_function *f = &u->p->functions[fn];
    return f->positions && pc < f->ncode ? &f->positions[pc] : NULL;
}

static uint32_t file_number(const rvm__unit *u, const rvm_position *at) {
    return at && at->file < u->p->nfiles ? at->file : u->p->nfiles;
}

static void set(rvm__unit *u, const rvm_position *at) {
    struct rvm__lines *l = u->lines;
    const uint32_t file = file_number(u, at);
    if (file != l->at) l->inside = LLVMDIBuilderCreateLexicalBlockFile(l->b, l->function, l->file[file], 0);
    if (file == l->own) l->inside = l->function;
    l->at = file;
    LLVMMetadataRef where =
        LLVMDIBuilderCreateDebugLocation(u->k->context, at ? at->line : 0, at ? at->column : 0, l->inside, NULL);
    LLVMSetCurrentDebugLocation2(u->k->b, where);
}

void rvm__lines_function(rvm__unit *u, LLVMValueRef f, uint32_t fn, const char *name) {
    struct rvm__lines *l = u->lines;
    const rvm_position *at = position(u, fn, 0);
    const unsigned line = at ? at->line : 0;
    if (!l) return;
    l->own = l->at = file_number(u, at);
    l->function = l->inside =
        LLVMDIBuilderCreateFunction(l->b, l->file[l->own], name, strlen(name), "", 0, l->file[l->own], line, l->type,
                                    LLVMGetLinkage(f) == LLVMInternalLinkage, true, line, LLVMDIFlagZero, true);
    LLVMSetSubprogram(f, l->function);
    rvm__attribute(u->k, f, -1, "uwtable", 2); /* a debugger finds the caller */
    set(u, at);
}

void rvm__lines_at(rvm__emit *e) {
    if (e->u->lines) set(e->u, position(e->u, e->fn, e->control.pc));
}

void rvm__lines_none(rvm__unit *u) {
    if (u->lines) LLVMSetCurrentDebugLocation2(u->k->b, NULL);
}
