/* load.c: a relocatable object file of ELF64, as LLVM makes it here, becomes code in the process.
 *
 * There are three stretches in one mapping, each of whole pages: code with stubs for far functions; constants with the table
 * of addresses that code reads them from; data. They are filled, relocated, and only then get their rights.
 *
 * Our own code, because whatever else links objects brings along LLVM or starts a linker. Code from the cache is there in
 * 0.04 ms; to open LLVM takes 13 to 25 ms, before it links anything. On an AMD EPYC (Zen 5), as the first and the second of
 *
 *     RVM_CACHE_DIR=/tmp/new rvm run examples/norm.rasm norm out=0 x=[3,4] --engine=jit --verbose
 *
 * say: "ready in" is the opening, "from the cache" the loading.
 *
 * The object may be damaged: each place in it is looked up by `at`, which knows the size of the file; each place that is
 * written is a `place`, which knows how much is left of its section. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#endif
#include <dlfcn.h>
#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "load.h"
#include "native.h"
#include "support.h"

enum stretch { CODE, CONSTANTS, DATA, STRETCHES };
enum { STUB = 16 };
static const uint64_t most_memory = (uint64_t)1 << 30;

typedef struct section { /* where its memory is; NULL: it has none */
    char *memory;
    uint64_t size;
} section;

typedef struct loading {
    const char *object;
    size_t size;
    const Elf64_Ehdr *header;
    const Elf64_Shdr *shdr;
    const Elf64_Sym *symbols;
    const char *names; /* of symbols; ends with a 0 */
    uint64_t nsymbols, names_size;
    section *sections;
    uint64_t *addresses; /* of symbols */
    uint64_t stretch[STRETCHES];
    char *stubs, *table;
    uint64_t *slot; /* of symbols: 1 + their entry of the table */
    uint64_t nslots;
    void *libm;
    rvm__loaded *out;
    rvm_error *err;
} loading;

static rvm_status bad(const loading *l, const char *what) {
    return rvm__fail(l->err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "native code cannot be loaded: %s", what);
}

static rvm_status no_memory(const loading *l) {
    return rvm__fail(l->err, RVM_ERR_MEMORY, NULL, 0, 0, "out of memory");
}

/* n things of that size at an offset, aligned for numbers; NULL: the file has no such place. */
static const void *at(const loading *l, uint64_t offset, uint64_t n, size_t each) {
    if (offset > l->size || offset % 8 || n > (l->size - offset) / each) return NULL;
    return l->object + offset;
}

/* ---- what is in the file ---- */

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { MACHINE = EM_AARCH64 };
#else
enum { MACHINE = EM_NONE };
#endif

static rvm_status read_header(loading *l) {
    static const unsigned char ident[EI_VERSION + 1] = {ELFMAG0,    ELFMAG1,     ELFMAG2,   ELFMAG3,
                                                        ELFCLASS64, ELFDATA2LSB, EV_CURRENT};
    if ((uintptr_t)l->object % 8) return bad(l, "it is not aligned");
    l->header = at(l, 0, 1, sizeof *l->header);
    if (!l->header || memcmp(l->header->e_ident, ident, sizeof ident) != 0) return bad(l, "it is no object of ELF");
    if (MACHINE == EM_NONE || l->header->e_machine != MACHINE) return bad(l, "it is for another processor");
    if (l->header->e_type != ET_REL || l->header->e_shentsize != sizeof *l->shdr)
        return bad(l, "it is no object to be linked");
    l->shdr = at(l, l->header->e_shoff, l->header->e_shnum, sizeof *l->shdr);
    if (!l->shdr || !l->header->e_shnum) return bad(l, "its table of sections is damaged");
    return RVM_OK;
}

static rvm_status read_symbols(loading *l) {
    for (uint32_t k = 0; k < l->header->e_shnum; k++) {
        const Elf64_Shdr *s = &l->shdr[k];
        if (s->sh_type != SHT_SYMTAB) continue;
        if (l->symbols) return bad(l, "it has two tables of symbols");
        l->nsymbols = s->sh_size / sizeof *l->symbols;
        l->symbols = at(l, s->sh_offset, l->nsymbols, sizeof *l->symbols);
        if (!l->symbols || s->sh_link >= l->header->e_shnum) return bad(l, "its table of symbols is damaged");
        const Elf64_Shdr *names = &l->shdr[s->sh_link];
        l->names_size = names->sh_size;
        if (names->sh_offset > l->size || names->sh_size > l->size - names->sh_offset || !names->sh_size)
            return bad(l, "its names are damaged");
        l->names = l->object + names->sh_offset;
        if (l->names[l->names_size - 1]) return bad(l, "its names are damaged");
    }
    return l->nsymbols ? RVM_OK : bad(l, "it has no symbols");
}

/* ---- memory ---- */

static enum stretch stretch_of(const Elf64_Shdr *s) {
    return s->sh_flags & SHF_EXECINSTR ? CODE : s->sh_flags & SHF_WRITE ? DATA : CONSTANTS;
}

/* Adds n bytes to a stretch; false: too much. *offset is where they begin. */
static bool extend(loading *l, enum stretch k, uint64_t n, uint64_t align, uint64_t *offset) {
    if (align == 0) align = 1;
    if ((align & (align - 1)) || align > 4096 || n > most_memory) return false;
    *offset = (l->stretch[k] + align - 1) & ~(align - 1);
    l->stretch[k] = *offset + n;
    return l->stretch[k] <= most_memory;
}

/* Offsets first, in place of addresses. */
static rvm_status lay_out(loading *l, uint64_t *stubs, uint64_t *table) {
    for (uint32_t k = 0; k < l->header->e_shnum; k++) {
        const Elf64_Shdr *s = &l->shdr[k];
        uint64_t offset;
        if (!(s->sh_flags & SHF_ALLOC) || !s->sh_size) continue;
        if (s->sh_flags & SHF_TLS) return bad(l, "it has data of threads");
        if (s->sh_type != SHT_NOBITS && (s->sh_offset > l->size || s->sh_size > l->size - s->sh_offset))
            return bad(l, "a section is damaged");
        if (!extend(l, stretch_of(s), s->sh_size, s->sh_addralign, &offset)) return bad(l, "a section is too large");
        if (stretch_of(s) == CODE) l->out->code_size += s->sh_size;
        l->sections[k] = (section){(char *)(uintptr_t)offset, s->sh_size};
    }
    if (!extend(l, CODE, l->nsymbols * STUB, STUB, stubs) || !extend(l, CONSTANTS, l->nsymbols * 8, 8, table))
        return bad(l, "it is too large");
    return RVM_OK;
}

static rvm_status map_memory(loading *l) {
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t begin[STRETCHES], stubs = 0, table = 0, total = 0;
    rvm_status status = lay_out(l, &stubs, &table);
    if (status) return status;
    for (int k = 0; k < STRETCHES; k++) {
        begin[k] = total;
        l->stretch[k] = (l->stretch[k] + page - 1) & ~(page - 1);
        total += l->stretch[k];
    }
    char *base = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) return no_memory(l);
    l->out->base = base;
    l->out->size = total;
    l->stubs = base + begin[CODE] + stubs;
    l->table = base + begin[CONSTANTS] + table;
    for (uint32_t k = 0; k < l->header->e_shnum; k++) {
        const Elf64_Shdr *s = &l->shdr[k];
        if (!l->sections[k].size) continue;
        l->sections[k].memory = base + begin[stretch_of(s)] + (uintptr_t)l->sections[k].memory;
        if (s->sh_type != SHT_NOBITS) memcpy(l->sections[k].memory, l->object + s->sh_offset, s->sh_size);
    }
    return RVM_OK;
}

static rvm_status protect(const loading *l) {
    static const int rights[STRETCHES] = {PROT_READ | PROT_EXEC, PROT_READ, PROT_READ | PROT_WRITE};
    char *begin = l->out->base;
    for (int k = 0; k < STRETCHES; begin += l->stretch[k++])
        if (l->stretch[k] && mprotect(begin, l->stretch[k], rights[k]))
            return bad(l, "this system lets no memory be executed that was written");
    __builtin___clear_cache(l->out->base, (char *)l->out->base + l->stretch[CODE]);
    return RVM_OK;
}

/* ---- symbols ---- */

static void *find_outside(loading *l, const char *name) {
    for (size_t k = 0; k < rvm__native_nsymbols; k++)
        if (strcmp(name, rvm__native_symbols[k].name) == 0) return rvm__native_symbols[k].address;
    if (!l->libm) l->libm = dlopen("libm.so.6", RTLD_NOW | RTLD_NODELETE);
    void *found = l->libm ? dlsym(l->libm, name) : NULL;
    if (found || strncmp(name, "_ZGV", 4) != 0) return found;
    void *vectors = dlopen("libmvec.so.1", RTLD_NOW | RTLD_NODELETE); /* functions of vectors have such names */
    found = vectors ? dlsym(vectors, name) : NULL;
    if (vectors) dlclose(vectors);
    return found;
}

static rvm_status bind_symbol(loading *l, uint64_t k) {
    const Elf64_Sym *s = &l->symbols[k];
    if (s->st_name >= l->names_size) return bad(l, "a name is damaged");
    if (s->st_shndx == SHN_UNDEF) {
        const char *name = l->names + s->st_name;
        l->addresses[k] = *name ? (uintptr_t)find_outside(l, name) : 0;
        if (!*name || l->addresses[k]) return RVM_OK;
        return rvm__fail(l->err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "native code cannot be loaded: there is no `%.60s`", name);
    }
    if (s->st_shndx >= l->header->e_shnum) return RVM_OK; /* of a file, or a number: not used, else a relocation says so */
    const section *in = &l->sections[s->st_shndx];
    if (!in->memory) return RVM_OK;
    if (s->st_value > in->size || s->st_size > in->size - s->st_value) return bad(l, "a symbol is damaged");
    char *const p = in->memory + s->st_value;
    const int type = ELF64_ST_TYPE(s->st_info);
    l->addresses[k] = (uintptr_t)p;
    if (ELF64_ST_BIND(s->st_info) != STB_GLOBAL) return RVM_OK;
    if (type == STT_FUNC && stretch_of(&l->shdr[s->st_shndx]) == CODE) {
        if (l->out->entry) return bad(l, "it has two entries");
        l->out->entry = p;
    } else if (type == STT_OBJECT) {
        l->out->need = p;
        l->out->need_size = s->st_size;
    }
    return RVM_OK;
}

/* An entry of the table of addresses. */
static uint64_t table_entry(loading *l, uint64_t symbol) {
    if (!l->slot[symbol]) l->slot[symbol] = ++l->nslots;
    char *const entry = l->table + 8 * (l->slot[symbol] - 1);
    memcpy(entry, &l->addresses[symbol], 8);
    return (uintptr_t)entry;
}

/* Code that jumps to a symbol from near by. */
static uint64_t stub_of(loading *l, uint64_t symbol) {
#if defined(__x86_64__)
    static const unsigned char jump[] = {0xff, 0x25, 0, 0, 0, 0}; /* jmp *0(%rip) */
    const size_t address = sizeof jump;
#else
    static const uint32_t jump[] = {0x58000050, 0xd61f0200}; /* ldr x16, .+8; br x16 */
    const size_t address = sizeof jump;
#endif
    char *const stub = l->stubs + STUB * symbol;
    memcpy(stub, jump, sizeof jump);
    memcpy(stub + address, &l->addresses[symbol], 8);
    return (uintptr_t)stub;
}

/* ---- relocations ---- */

typedef struct place {
    loading *l;
    char *p;
    uint64_t left; /* bytes from there to the end of its section */
    uint64_t symbol;
    int64_t addend;
} place;

static bool put(const place *q, int64_t v, unsigned bytes, bool fits) {
    if (!fits || bytes > q->left) return false;
    memcpy(q->p, &v, bytes);
    return true;
}

static bool fits_signed(int64_t v, unsigned bits) {
    return v >= -((int64_t)1 << (bits - 1)) && v < (int64_t)1 << (bits - 1);
}

static int64_t distance(const place *q, uint64_t target) {
    return (int64_t)(target + (uint64_t)q->addend - (uintptr_t)q->p);
}

#if defined(__x86_64__)
/* False: of a kind that does not occur here, or a value that does not fit. */
static bool relocate(const place *q, uint32_t kind) {
    const uint64_t symbol = q->l->addresses[q->symbol];
    int64_t d = distance(q, symbol);
    switch (kind) {
    case R_X86_64_NONE: return true;
    case R_X86_64_64: return put(q, (int64_t)(symbol + (uint64_t)q->addend), 8, true);
    case R_X86_64_PC64: return put(q, d, 8, true);
    case R_X86_64_PLT32:
        if (!fits_signed(d, 32)) d = distance(q, stub_of(q->l, q->symbol));
        return put(q, d, 4, fits_signed(d, 32));
    case R_X86_64_PC32: return put(q, d, 4, fits_signed(d, 32));
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX: d = distance(q, table_entry(q->l, q->symbol)); return put(q, d, 4, fits_signed(d, 32));
    default: return false;
    }
}
#elif defined(__aarch64__)
/* Bits of an instruction. */
static bool put_bits(const place *q, uint64_t v, unsigned width, unsigned at, bool fits) {
    uint32_t in;
    if (!fits || q->left < sizeof in) return false;
    const uint32_t mask = (((uint32_t)1 << width) - 1) << at;
    memcpy(&in, q->p, sizeof in);
    in = (in & ~mask) | ((uint32_t)(v << at) & mask);
    memcpy(q->p, &in, sizeof in);
    return true;
}

static bool put_page(const place *q, uint64_t target) {
    const int64_t pages = (int64_t)((target & ~(uint64_t)4095) - ((uintptr_t)q->p & ~(uintptr_t)4095)) >> 12;
    return put_bits(q, (uint64_t)pages & 3, 2, 29, fits_signed(pages, 21)) && put_bits(q, (uint64_t)pages >> 2, 19, 5, true);
}

/* The offset in its page of what a load of 1 << scale bytes wants. */
static bool put_low(const place *q, uint64_t target, unsigned scale) {
    const uint64_t low = target & 4095;
    return put_bits(q, low >> scale, 12, 10, low % ((uint64_t)1 << scale) == 0);
}

static bool relocate(const place *q, uint32_t kind) {
    const uint64_t symbol = q->l->addresses[q->symbol], target = symbol + (uint64_t)q->addend;
    int64_t d = distance(q, symbol);
    switch (kind) {
    case R_AARCH64_NONE: return true;
    case R_AARCH64_ABS64: return put(q, (int64_t)target, 8, true);
    case R_AARCH64_PREL64: return put(q, d, 8, true);
    case R_AARCH64_PREL32: return put(q, d, 4, fits_signed(d, 32));
    case R_AARCH64_CALL26:
    case R_AARCH64_JUMP26:
        if (!fits_signed(d, 28)) d = distance(q, stub_of(q->l, q->symbol));
        return put_bits(q, (uint64_t)d >> 2, 26, 0, fits_signed(d, 28) && d % 4 == 0);
    case R_AARCH64_ADR_PREL_PG_HI21: return put_page(q, target);
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC: return put_low(q, target, 0);
    case R_AARCH64_LDST16_ABS_LO12_NC: return put_low(q, target, 1);
    case R_AARCH64_LDST32_ABS_LO12_NC: return put_low(q, target, 2);
    case R_AARCH64_LDST64_ABS_LO12_NC: return put_low(q, target, 3);
    case R_AARCH64_LDST128_ABS_LO12_NC: return put_low(q, target, 4);
    case R_AARCH64_ADR_GOT_PAGE: return put_page(q, table_entry(q->l, q->symbol));
    case R_AARCH64_LD64_GOT_LO12_NC: return put_low(q, table_entry(q->l, q->symbol), 3);
    default: return false;
    }
}
#else
static bool relocate(const place *q, uint32_t kind) {
    (void)q, (void)kind;
    return false;
}
#endif

static rvm_status relocate_section(loading *l, const Elf64_Shdr *s) {
    if (s->sh_info >= l->header->e_shnum) return bad(l, "its relocations are damaged");
    const section *to = &l->sections[s->sh_info];
    const uint64_t n = s->sh_size / sizeof(Elf64_Rela);
    const Elf64_Rela *r = at(l, s->sh_offset, n, sizeof *r);
    if (!to->memory) return RVM_OK; /* of what is not loaded */
    if (!r) return bad(l, "its relocations are damaged");
    for (uint64_t k = 0; k < n; k++) {
        const uint64_t symbol = ELF64_R_SYM(r[k].r_info);
        if (r[k].r_offset > to->size || symbol >= l->nsymbols || !l->addresses[symbol])
            return bad(l, "a relocation is damaged");
        const place q = {l, to->memory + r[k].r_offset, to->size - r[k].r_offset, symbol, r[k].r_addend};
        if (!relocate(&q, (uint32_t)ELF64_R_TYPE(r[k].r_info)))
            return rvm__fail(l->err, RVM_ERR_UNSUPPORTED, NULL, 0, 0,
                             "native code cannot be loaded: a relocation of kind %u is not known or does not fit",
                             (unsigned)ELF64_R_TYPE(r[k].r_info));
    }
    return RVM_OK;
}

static rvm_status relocate_all(loading *l) {
    rvm_status status = RVM_OK;
    for (uint64_t k = 0; k < l->nsymbols && !status; k++) status = bind_symbol(l, k);
    for (uint32_t k = 0; k < l->header->e_shnum && !status; k++) {
        if (l->shdr[k].sh_type == SHT_REL) return bad(l, "its relocations have no addends");
        if (l->shdr[k].sh_type == SHT_RELA) status = relocate_section(l, &l->shdr[k]);
    }
    if (!status && (!l->out->entry || !l->out->need)) status = bad(l, "it has no entry");
    return status;
}

rvm_status rvm__object_load(const void *object, size_t size, const rvm_allocator *al, rvm__loaded *out, rvm_error *err) {
    loading l = {.object = object, .size = size, .out = out, .err = err};
    *out = (rvm__loaded){0};
    rvm_status status = read_header(&l);
    if (!status) status = read_symbols(&l);
    if (status) return status;
    const size_t sections = l.header->e_shnum * sizeof *l.sections, symbols = l.nsymbols * sizeof *l.addresses;
    l.sections = rvm__realloc(al, NULL, 0, sections);
    l.addresses = rvm__realloc(al, NULL, 0, 2 * symbols + 1);
    if (!l.sections || !l.addresses) {
        status = no_memory(&l);
        goto done;
    }
    memset(l.sections, 0, sections);
    memset(l.addresses, 0, 2 * symbols);
    l.slot = l.addresses + l.nsymbols;
    status = map_memory(&l);
    if (!status) status = relocate_all(&l);
    if (!status) status = protect(&l);
done:
    rvm__realloc(al, l.sections, sections, 0);
    rvm__realloc(al, l.addresses, 2 * symbols + 1, 0);
    if (l.libm) dlclose(l.libm); /* which stays */
    if (status) rvm__object_unload(out);
    return status;
}

void rvm__object_unload(rvm__loaded *l) {
    if (l->base) munmap(l->base, l->size);
    *l = (rvm__loaded){0};
}
