/* load.c: relocations at the edge of what fits, and every bit damaged (jit/host/load.h), in an object of one function, made
 * here. */
#include <criterion/criterion.h>
#include <elf.h>
#include <stddef.h>
#include <string.h>

#include "harness.h"
#include "load.h"

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64, RELATIVE = R_X86_64_PC32, CALL = R_X86_64_PLT32, ABSOLUTE = R_X86_64_64 };
#else
enum { MACHINE = EM_AARCH64, RELATIVE = R_AARCH64_PREL32, CALL = R_AARCH64_PREL32, ABSOLUTE = R_AARCH64_ABS64 };
#endif
enum { CODE_SIZE = 16, NSECTIONS = 6, NSYMBOLS = 3, UNKNOWN_KIND = 1000 };

typedef struct object {
    Elf64_Ehdr header;
    Elf64_Shdr sections[NSECTIONS]; /* none, code, data, relocations of code, symbols, names */
    unsigned char code[CODE_SIZE];
    uint64_t data;
    Elf64_Rela relocation;
    Elf64_Sym symbols[NSYMBOLS]; /* none, the function, the object */
    char names[16];
} object;

static Elf64_Shdr section(uint32_t type, uint64_t flags, size_t offset, size_t size, uint32_t link, uint32_t info) {
    return (Elf64_Shdr){.sh_type = type,
                        .sh_flags = flags,
                        .sh_offset = offset,
                        .sh_size = size,
                        .sh_link = link,
                        .sh_info = info,
                        .sh_addralign = 8};
}

#define OF(member) offsetof(object, member), sizeof(((object *)NULL)->member)

/* One relocation of the code, against the function itself, which is where the code begins. */
static object with(uint32_t kind, uint64_t offset, int64_t addend) {
    object o = {.header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                           .e_type = ET_REL,
                           .e_machine = MACHINE,
                           .e_shoff = offsetof(object, sections),
                           .e_shentsize = sizeof(Elf64_Shdr),
                           .e_shnum = NSECTIONS},
                .relocation = {offset, ELF64_R_INFO(1, kind), addend},
                .symbols = {{0},
                            {.st_name = 1, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 1},
                            {.st_name = 3, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), .st_shndx = 2, .st_size = 8}},
                .names = "\0f\0need"};
    o.sections[1] = section(SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, OF(code), 0, 0);
    o.sections[2] = section(SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, OF(data), 0, 0);
    o.sections[3] = section(SHT_RELA, 0, OF(relocation), 4, 1);
    o.sections[4] = section(SHT_SYMTAB, 0, OF(symbols), 5, 0);
    o.sections[5] = section(SHT_STRTAB, 0, OF(names), 0, 0);
    return o;
}

/* Loads it; the 4 bytes at offset must then be `value`. */
static void fits(uint32_t kind, uint64_t offset, int64_t addend, int32_t want) {
    const object o = with(kind, offset, addend);
    rvm__loaded l;
    rvm_error e = {0};
    int32_t got;
    cr_assert(rvm__object_load(&o, sizeof o, NULL, &l, &e) == RVM_OK, "%lld: %s", (long long)addend, e.message);
    memcpy(&got, (const char *)l.entry + offset, sizeof got);
    cr_assert(got == want, "%d instead of %d", got, want);
    rvm__object_unload(&l);
}

static void refused(uint32_t kind, uint64_t offset, int64_t addend, const char *why) {
    const object o = with(kind, offset, addend);
    rvm__loaded l;
    rvm_error e = {0};
    cr_assert(rvm__object_load(&o, sizeof o, NULL, &l, &e) == RVM_ERR_UNSUPPORTED && !l.base, "kind %u at %llu, %lld", kind,
              (unsigned long long)offset, (long long)addend);
    cr_assert(strstr(e.message, why), "%s", e.message);
}

Test(load, distances) {
    static const int64_t most = INT32_MAX, least = INT32_MIN;
    for (uint64_t at = 0; at <= CODE_SIZE - 4; at += 4) { /* the distance is the addend less `at` */
        const int64_t a = (int64_t)at;
        fits(RELATIVE, at, a, 0);
        fits(RELATIVE, at, a + most, INT32_MAX);
        fits(RELATIVE, at, a + least, INT32_MIN);
        refused(RELATIVE, at, a + most + 1, "does not fit");
        refused(RELATIVE, at, a + least - 1, "does not fit");
        refused(RELATIVE, at, INT64_MAX, "does not fit");
        refused(RELATIVE, at, INT64_MIN, "does not fit");
        fits(CALL, at, a + most, INT32_MAX);
        refused(CALL, at, INT64_MAX / 2, "does not fit"); /* nor would a stub help */
    }
}

Test(load, places) {
    fits(RELATIVE, CODE_SIZE - 4, CODE_SIZE, 4);
    for (uint64_t left = 0; left < 4; left++) refused(RELATIVE, CODE_SIZE - left, 0, "does not fit");
    for (uint64_t left = 0; left < 8; left++) refused(ABSOLUTE, CODE_SIZE - left, 0, "does not fit");
    refused(RELATIVE, CODE_SIZE + 1, 0, "damaged");
    refused(RELATIVE, UINT64_MAX, 0, "damaged");
    refused(UNKNOWN_KIND, 0, 0, "not known");
}

/* Every bit wrong, every end cut off; and an object of nothing at all. */
Test(load, damaged) {
    object o = with(RELATIVE, 0, 0);
    unsigned char *const bytes = (unsigned char *)&o;
    unsigned good = 0;
    rvm__loaded l;
    rvm_error e;
    for (size_t k = 0; k < 8 * sizeof o; k++) {
        bytes[k / 8] ^= (unsigned char)(1 << k % 8);
        const rvm_status s = rvm__object_load(&o, sizeof o, NULL, &l, &e);
        cr_assert((s == RVM_OK && l.base) || (s == RVM_ERR_UNSUPPORTED && !l.base), "bit %zu: %s", k, e.message);
        good += s == RVM_OK;
        rvm__object_unload(&l);
        bytes[k / 8] ^= (unsigned char)(1 << k % 8);
    }
    cr_assert(good > 8 * CODE_SIZE && good < 6 * sizeof o, "%u of %zu", good, 8 * sizeof o);
    for (size_t size = 0; size < sizeof o - sizeof o.names; size++)
        cr_assert(rvm__object_load(&o, size, NULL, &l, &e) == RVM_ERR_UNSUPPORTED && !l.base, "%zu bytes", size);
    o.sections[4].sh_size = 0;
    for (int k = 1; k < 3; k++) o.sections[k].sh_flags = 0;
    cr_assert(rvm__object_load(&o, sizeof o, NULL, &l, &e) == RVM_ERR_UNSUPPORTED && strstr(e.message, "no symbols"));
}
