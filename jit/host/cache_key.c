/* cache_key.c: all that compiled code depends on. The module is known by its path, size and time, so that LLVM need not be
 * opened to know it; processors by what they say of themselves, more than LLVM asks them. */
#include "cache_key.h"

#include <string.h>
#include <sys/stat.h>

#if defined(__x86_64__)
#include <cpuid.h>

/* Model and features, but not which of several processors this is; of the system, which registers it saves. */
static void add_host(rvm__bytes *b) {
    static const struct {
        unsigned leaf, sub;
        unsigned char kept; /* bit k: eax, ebx, ecx, edx */
    } asked[] = {{0, 0, 15},   {1, 0, 13},   {7, 0, 14},   {7, 1, 15},          {7, 2, 15},        {0xd, 1, 1},
                 {0x14, 0, 2}, {0x19, 0, 2}, {0x24, 0, 2}, {0x80000001, 0, 12}, {0x80000008, 0, 2}};
    bool saves = false;
    for (size_t k = 0; k < sizeof asked / sizeof *asked; k++) {
        unsigned r[4] = {0};
        if (!__get_cpuid_count(asked[k].leaf, asked[k].sub, &r[0], &r[1], &r[2], &r[3])) memset(r, 0, sizeof r);
        for (int i = 0; i < 4; i++)
            if (!(asked[k].kept >> i & 1)) r[i] = 0;
        if (asked[k].leaf == 1) saves = r[2] & bit_OSXSAVE;
        rvm__bytes_add(b, r, sizeof r);
    }
    unsigned low = 0, high = 0;
    if (saves) __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    rvm__bytes_add(b, &low, sizeof low);
    rvm__bytes_add(b, &high, sizeof high);
}
#else
#include <sys/auxv.h>

static void add_host(rvm__bytes *b) {
    const char *platform = (const char *)getauxval(AT_PLATFORM);
    const uint64_t features[] = {getauxval(AT_HWCAP), getauxval(AT_HWCAP2)};
    rvm__bytes_add(b, features, sizeof features);
    if (platform) rvm__bytes_add(b, platform, strlen(platform) + 1);
#if defined(__aarch64__)
    uint64_t model = 0;
    if (features[0] & 1 << 11) __asm__("mrs %0, MIDR_EL1" : "=r"(model)); /* HWCAP_CPUID: the system answers this */
    rvm__bytes_add(b, &model, sizeof model);
#endif
}
#endif

static void add_text(rvm__bytes *b, const char *s) {
    rvm__bytes_add(b, s, strlen(s) + 1);
}

/* Path, size and time; false: it is not there. */
static bool add_file(rvm__bytes *b, const char *path) {
    struct stat s;
    if (stat(path, &s)) return false;
    const int64_t file[] = {(int64_t)s.st_size, (int64_t)s.st_mtim.tv_sec, s.st_mtim.tv_nsec};
    add_text(b, path);
    rvm__bytes_add(b, file, sizeof file);
    return true;
}

bool rvm__cache_key_begin(rvm__bytes *b, const char *module, const char *libdevice, const char *cpu, unsigned level) {
    const uint32_t sizes[] = {RVM__MODULE_INTERFACE, sizeof(rvm_machine), sizeof(rvm__array), sizeof(rvm__native), level};
    add_text(b, RVM_VERSION_STRING);
    rvm__bytes_add(b, sizes, sizeof sizes);
    if (!add_file(b, module)) return false;
    if (!*libdevice || !add_file(b, libdevice)) add_text(b, "");
    add_text(b, cpu);
    add_host(b);
    return !b->failed;
}

void rvm__cache_key_add(rvm__bytes *b, const rvm__lowering *what) {
    void *program;
    size_t size;
#define FIELD(type, name) rvm__bytes_add(b, &what->name, sizeof(type));
    RVM__LOWERING(FIELD)
#undef FIELD
    if (rvm_program_save(what->p, &program, &size, NULL)) {
        b->failed = true;
        return;
    }
    rvm__bytes_add(b, program, size);
    rvm_program_free_bytes(what->p, program, size);
}
