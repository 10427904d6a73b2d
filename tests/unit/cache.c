/* cache.c: compiled code in files (jit/host/cache.h), and what loads it (jit/host/load.h): found again, missed, damaged,
 * shared, bounded. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cache.h"
#include "harness.h"
#include "load.h"
#include "cache_key.h"
#include "support.h"

static rvm_error e;
static char folder[] = "/tmp/rvm-cache-XXXXXX";

static void make_folder(void) {
    cr_assert(mkdtemp(folder));
}

/* Calls f with the path of each entry; how many there are. */
static unsigned each_entry(void (*f)(const char *path)) {
    unsigned n = 0;
    DIR *d = opendir(folder);
    for (const struct dirent *x; d && (x = readdir(d));) {
        char path[400];
        if (!strcmp(x->d_name, ".") || !strcmp(x->d_name, "..")) continue;
        snprintf(path, sizeof path, "%s/%s", folder, x->d_name);
        if (f) f(path);
        n++;
    }
    if (d) closedir(d);
    return n;
}

static void remove_one(const char *path) {
    unlink(path);
}

static void remove_folder(void) {
    each_entry(remove_one);
    rmdir(folder);
}
TestSuite(cache, .init = make_folder, .fini = remove_folder);

static rvm__cache *open_here(uint64_t limit) {
    rvm__cache *c = NULL;
    cr_assert(rvm__cache_open(folder, limit, &rvm__libc_allocator, &c, &e) == RVM_OK && c, "%s", e.message);
    return c;
}

/* The key that is a number's; its content, in up to three parts. */
static rvm__bytes key_of(unsigned k) {
    rvm__bytes b = {.al = &rvm__libc_allocator};
    rvm__bytes_add(&b, &k, sizeof k);
    rvm__bytes_add(&b, "whatever", 8);
    return b;
}

static rvm_status put(rvm__cache *c, unsigned k, size_t size) {
    rvm__bytes b = key_of(k);
    char *content = calloc(size + 2, 1);
    memset(content, (int)k + 1, size + 2);
    const rvm__part parts[] = {{content, size}, {content, k % 3}, {content, size / 2}};
    const rvm_status st = rvm__cache_put(c, &b, parts, 1 + k % 3, &e);
    free(content);
    rvm__bytes_free(&b);
    return st;
}

/* Whether it is there; never with a wrong content. */
static bool is_there(rvm__cache *c, unsigned k, rvm_status expected) {
    rvm__bytes b = key_of(k);
    rvm__cached x;
    const rvm_status st = rvm__cache_get(c, &b, &x, &e);
    cr_assert(st == expected, "entry %u: %s", k, rvm_status_name(st));
    const bool there = x.file != NULL;
    cr_assert(!there || (x.nparts == 1 + k % 3 && (k % 3 < 1 || x.part[1].n == k % 3)));
    for (unsigned n = 0; n < x.nparts; n++) {
        const char *p = x.part[n].p;
        for (size_t i = 0; i < x.part[n].n; i++) cr_assert(p[i] == (char)(k + 1), "entry %u, part %u at %zu", k, n, i);
        cr_assert((uintptr_t)p % 16 == 0);
    }
    rvm__cached_free(c, &x);
    rvm__bytes_free(&b);
    return there;
}

static char entry[400];
static void remember(const char *path) {
    snprintf(entry, sizeof entry, "%s", path);
}

static char *read_entry(size_t *size) {
    FILE *f = fopen(entry, "rb");
    char *p = malloc(1 << 20);
    cr_assert(f && p);
    *size = fread(p, 1, 1 << 20, f);
    fclose(f);
    return p;
}

static void write_entry(const char *p, size_t size) {
    FILE *f = fopen(entry, "wb");
    cr_assert(f && fwrite(p, 1, size, f) == size && fclose(f) == 0);
}

/* ---- files ---- */

Test(cache, found_again) {
    rvm__cache *c = open_here(0);
    struct stat s;
    cr_assert(!is_there(c, 1, RVM_OK) && put(c, 1, 1000) == RVM_OK && is_there(c, 1, RVM_OK) && !is_there(c, 2, RVM_OK));
    cr_assert(put(c, 1, 0) == RVM_OK && is_there(c, 1, RVM_OK)); /* replaced */
    cr_assert(put(c, 2, 17) == RVM_OK && each_entry(remember) == 2);
    cr_assert(stat(entry, &s) == 0 && (s.st_mode & 0777) == 0600);
    rvm__bytes b = key_of(1);
    rvm__cache_remove(c, &b);
    rvm__bytes_free(&b);
    cr_assert(!is_there(c, 1, RVM_OK) && is_there(c, 2, RVM_OK));
    rvm__cache_close(c);
    rvm__cache_close(NULL);
}

Test(cache, damaged_anywhere) {
    rvm__cache *c = open_here(0);
    size_t size;
    cr_assert(put(c, 1, 100) == RVM_OK && each_entry(remember) == 1);
    char *p = read_entry(&size);
    for (size_t k = 0; k < 8 * size; k++) {
        p[k / 8] ^= (char)(1 << k % 8);
        write_entry(p, size);
        cr_assert(!is_there(c, 1, RVM_ERR_FORMAT) && each_entry(NULL) == 0, "bit %zu", k);
        p[k / 8] ^= (char)(1 << k % 8);
    }
    for (size_t n = 0; n < size; n++) {
        write_entry(p, n);
        cr_assert(!is_there(c, 1, RVM_ERR_FORMAT), "%zu bytes", n);
        remove_one(entry);
    }
    p[size] = 0;
    write_entry(p, size + 1);
    cr_assert(!is_there(c, 1, RVM_ERR_FORMAT));
    write_entry(p, size);
    cr_assert(is_there(c, 1, RVM_OK));
    free(p);
    rvm__cache_close(c);
}

/* Another key whose hash is the same: as if it were not there, and it stays. */
Test(cache, same_name_other_key) {
    rvm__cache *c = open_here(0);
    char first[400];
    cr_assert(put(c, 1, 10) == RVM_OK && each_entry(remember) == 1);
    memcpy(first, entry, sizeof first);
    cr_assert(put(c, 2, 10) == RVM_OK);
    each_entry(remember);
    if (strcmp(first, entry) == 0) { /* the other one, then */
        remove_one(first);
        each_entry(remember);
        cr_assert(put(c, 1, 10) == RVM_OK);
    }
    cr_assert(rename(first, entry) == 0 && !is_there(c, 2, RVM_OK) && each_entry(NULL) == 1);
    cr_assert(put(c, 2, 10) == RVM_OK && is_there(c, 2, RVM_OK));
    rvm__cache_close(c);
}

static void refused(const char *where, const char *why) {
    rvm__cache *c;
    const rvm_status st = rvm__cache_open(where, 0, &rvm__libc_allocator, &c, &e);
    cr_assert(st == RVM_ERR_IO && !c && strstr(e.message, why), "%s: %s", rvm_status_name(st), e.message);
}

Test(cache, folders) {
    char path[600];
    rvm__cache *c;
    snprintf(path, sizeof path, "%s/a/b", folder);
    cr_assert(rvm__cache_open(path, 0, &rvm__libc_allocator, &c, &e) == RVM_OK && c);
    rvm__cache_close(c);
    chmod(path, 0770);
    refused(path, "others may write there");
    rmdir(path);
    snprintf(path, sizeof path, "%s/a", folder);
    rmdir(path);
    refused("/dev/null/cache", "Not a directory");
    if (geteuid() == 0) {
        cr_assert(chown(folder, 1, 1) == 0);
        refused(folder, "belongs to another user");
        cr_assert(chown(folder, 0, 0) == 0);
    }
    cr_assert(rvm__cache_open("", 0, &rvm__libc_allocator, &c, &e) == RVM_OK && !c);
    setenv("RVM_CACHE_DIR", "", 1);
    cr_assert(rvm__cache_open(NULL, 0, &rvm__libc_allocator, &c, &e) == RVM_OK && !c);
    setenv("RVM_CACHE_DIR", "off", 1);
    cr_assert(rvm__cache_open(NULL, 0, &rvm__libc_allocator, &c, &e) == RVM_OK && !c && access("off", F_OK));
    unsetenv("RVM_CACHE_DIR");
    setenv("XDG_CACHE_HOME", "not/absolute", 1);
    setenv("HOME", folder, 1);
    cr_assert(rvm__cache_open(NULL, 0, &rvm__libc_allocator, &c, &e) == RVM_OK && c);
    cr_assert(strstr(rvm__cache_folder(c), folder) && strstr(rvm__cache_folder(c), "/.cache/rvm"));
    rmdir(rvm__cache_folder(c));
    rvm__cache_close(c);
    snprintf(path, sizeof path, "%s/.cache", folder);
    rmdir(path);
}

/* The folder goes away; the disk is full. */
Test(cache, cannot_be_written) {
    rvm__cache *c = open_here(0);
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit before, little = {1000, 1000};
    getrlimit(RLIMIT_FSIZE, &before);
    little.rlim_max = before.rlim_max;
    setrlimit(RLIMIT_FSIZE, &little);
    cr_assert(put(c, 1, 5000) == RVM_ERR_IO && strstr(e.message, "cannot be written") && each_entry(NULL) == 0);
    setrlimit(RLIMIT_FSIZE, &before);
    cr_assert(put(c, 1, 5000) == RVM_OK && is_there(c, 1, RVM_OK));
    remove_folder();
    cr_assert(put(c, 2, 5000) == RVM_ERR_IO && !is_there(c, 2, RVM_OK));
    rvm__cache_close(c);
}

Test(cache, bounded) {
    rvm__cache *c = open_here(20000);
    cr_assert(put(c, 0, 20001) == RVM_ERR_LIMIT);
    for (unsigned k = 0; k < 60; k++) {
        cr_assert(put(c, k, 1000) == RVM_OK);
        if (k >= 5) cr_assert(is_there(c, 5, RVM_OK), "used lately, gone after %u", k);
        usleep(5000); /* times of files are as coarse as the system's clock tick */
    }
    const unsigned n = each_entry(NULL);
    cr_assert(n >= 10 && n < 20 && is_there(c, 59, RVM_OK) && !is_there(c, 0, RVM_OK), "%u entries", n);
    rvm__cache_close(c);
}

Test(cache, left_behind) {
    char path[400];
    snprintf(path, sizeof path, "%s/.1.2.tmp", folder);
    const int fd = open(path, O_CREAT | O_WRONLY, 0600);
    const struct timespec old[2] = {{1000000, 0}, {1000000, 0}};
    cr_assert(fd >= 0 && futimens(fd, old) == 0);
    close(fd);
    rvm__cache *c = open_here(0);
    cr_assert(put(c, 1, 10) == RVM_OK && each_entry(NULL) == 1);
    rvm__cache_close(c);
}

/* Several processes put, find and throw out the same few entries. */
Test(cache, shared) {
    enum { PROCESSES = 4 };
    pid_t child[PROCESSES];
    for (unsigned p = 0; p < PROCESSES; p++) {
        if ((child[p] = fork()) != 0) continue;
        rvm__cache *c = open_here(20000);
        unsigned found = 0;
        for (unsigned k = 0; k < 400; k++) {
            const unsigned which = (k / 2 * 7 + p) % 16; /* twice, so that each finds some even if it runs alone */
            found += is_there(c, which, RVM_OK);
            if (put(c, which, 3000) != RVM_OK) _exit(1);
        }
        _exit(found ? 0 : 2);
    }
    for (unsigned p = 0; p < PROCESSES; p++) {
        int status = -1;
        cr_assert(waitpid(child[p], &status, 0) == child[p] && WIFEXITED(status) && WEXITSTATUS(status) == 0, "%x", status);
    }
    rvm__cache *c = open_here(20000);
    cr_assert(put(c, 99, 10) == RVM_OK && each_entry(NULL) <= 7);
    rvm__cache_close(c);
}

Test(cache, out_of_memory) {
    counting m;
    rvm__cache *c;
    counting_init(&m);
    m.fail_at = 1;
    cr_assert(rvm__cache_open(folder, 0, &m.al, &c, &e) == RVM_ERR_MEMORY && !c);
    counting_init(&m);
    cr_assert(rvm__cache_open(folder, 0, &m.al, &c, &e) == RVM_OK);
    m.fail_at = m.calls + 1;
    cr_assert(put(c, 1, 10) == RVM_OK); /* only what looks for too many takes any */
    m.fail_at = m.calls + 1;
    cr_assert(!is_there(c, 1, RVM_ERR_MEMORY) && is_there(c, 1, RVM_OK));
    rvm__cache_close(c);
    cr_assert(m.live_blocks == 0 && !m.mismatch);
}

/* ---- what code depends on ---- */

static rvm__bytes whole_key(const rvm__lowering *what, const char *module, const char *cpu, unsigned level) {
    rvm__bytes b = {.al = &rvm__libc_allocator};
    cr_assert(rvm__cache_key_begin(&b, module, "", cpu, level));
    rvm__cache_key_add(&b, what);
    cr_assert(!b.failed);
    return b;
}

static bool equal(const rvm__bytes *a, const rvm__bytes *b) {
    return a->n == b->n && memcmp(a->p, b->p, a->n) == 0;
}

static const char text[] = "fn f(y: real, x: real)\n"
                           "    y += sin(x) * 3\n"
                           "end\n";

Test(cache, key) {
    report rep = {.name = "cache"};
    rvm_program *p = assemble_text(text, NULL, &rep), *q = assemble_text("fn f(y: real)\n    y += 3\nend\n", NULL, &rep);
    const rvm__lowering what = {.p = p, .direction = 1, .tolerance = 1e-8};
    rvm__lowering others[] = {what, what, what, what, what, what, what, what, what, what};
    others[0].p = q, others[1].fn = 1, others[2].direction = -1, others[3].unchecked = true, others[4].trust = true;
    others[5].contiguous = true, others[6].fast = true, others[7].lines = true, others[8].discards = 1;
    others[9].tolerance = 0;
    rvm__bytes same = whole_key(&what, "/bin/sh", "native", 3), again = whole_key(&what, "/bin/sh", "native", 3);
    rvm__bytes level = whole_key(&what, "/bin/sh", "native", 2), module = whole_key(&what, "/bin/ls", "native", 3);
    rvm__bytes cpu = whole_key(&what, "/bin/sh", "generic", 3);
    cr_assert(equal(&same, &again) && !equal(&same, &level) && !equal(&same, &module) && !equal(&same, &cpu));
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        rvm__bytes other = whole_key(&others[k], "/bin/sh", "native", 3);
        cr_assert(!equal(&same, &other), "%zu", k);
        rvm__bytes_free(&other);
    }
    rvm__bytes none = {.al = &rvm__libc_allocator};
    cr_assert(!rvm__cache_key_begin(&none, "/nowhere/rvm_llvm.so", "", "native", 3));
    rvm__bytes *const all[] = {&same, &again, &level, &module, &cpu, &none};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) rvm__bytes_free(all[k]);
    rvm_program_free(p);
    rvm_program_free(q);
}

/* ---- with compiled code ---- */

typedef struct told {
    unsigned cached, compiled;
    char trouble[200];
} told;

static void on_notice(void *userdata, const rvm_jit_notice *n) {
    told *t = userdata;
    cr_assert(n->status == RVM_OK, "%s", n->reason);
    ++*(n->cached ? &t->cached : &t->compiled);
    snprintf(t->trouble, sizeof t->trouble, "%s", n->cache ? n->cache : "");
}

/* Runs f in an engine of its own, as another process would. */
static told run_with(const char *cache, bool symbols) {
    report rep = {.name = "cache"};
    rvm_program *p = assemble_text(text, NULL, &rep);
    rvm_jit_options o = rvm_jit_options_default();
    rvm_jit_totals totals;
    told t = {0};
    rvm_jit *j;
    rvm_machine *m;
    o.level = 1;
    o.tiers = false;
    o.notice = on_notice;
    o.userdata = &t;
    o.cache = cache;
    o.symbols = symbols;
    if (rvm_jit_new(&o, &j, &e)) {
        rvm_program_free(p);
        cr_skip_test("%s", e.message);
    }
    cr_assert(strstr(rvm_jit_about(j), "LLVM "));
    cr_assert(rvm_machine_new(p, NULL, &m, &e) == RVM_OK && rvm_jit_attach(j, m, &e) == RVM_OK);
    rvm_arg a[] = {rvm_arg_f64(1), rvm_arg_f64(2)};
    cr_assert(rvm_call(m, 0, a, 2, &e) == RVM_OK && rvm_jit_reason(m, &e) == RVM_OK, "%s", e.message);
    cr_assert(a[0].value.f == 1 + sin(2) * 3);
    rvm_jit_stats(j, &totals);
    cr_assert(totals.cached == t.cached && totals.compiled == t.compiled && totals.code_size);
    rvm_machine_free(m);
    rvm_jit_free(j);
    rvm_program_free(p);
    return t;
}

Test(cache, code) {
    told t = run_with(folder, false);
    cr_assert(!t.cached && t.compiled == 1 && each_entry(NULL) == 2 && !*t.trouble); /* and what is known of LLVM */
    t = run_with(folder, false);
    cr_assert(t.cached == 1 && !t.compiled && !*t.trouble);
    t = run_with("", false);
    cr_assert(!t.cached && t.compiled == 1);
    t = run_with(folder, true); /* symbols: linked by LLVM, which tells debuggers */
    cr_assert(!t.cached && t.compiled == 1 && each_entry(NULL) == 2);
    t = run_with("/dev/null/cache", false);
    cr_assert(!t.cached && t.compiled == 1 && strstr(t.trouble, "Not a directory"), "%s", t.trouble);
}

/* ---- what is told of it ---- */

static const char blocks[] = "fn f(y: real, x: real[n])\n"
                             "    parallel i in 0..n\n"
                             "        y += x[i] * x[i]\n"
                             "    end\n"
                             "    parallel i in 0..n\n"
                             "        let g: fn(acc real, read real) = &h\n"
                             "        call g(y, x[i])\n"
                             "    end\n"
                             "end\n"
                             "fn h(y: real, x: real)\n"
                             "    y += x\n"
                             "end\n";

static void on_blocks(void *userdata, const rvm_jit_notice *n) {
    snprintf(userdata, 400, "%u %u %s %u %u %s %zu", n->blocks, n->in_threads, n->serial, n->grouped, n->single,
             n->why_single, n->stack_size);
    cr_assert(n->status == RVM_OK && n->blocks && n->grouped && n->stack_size, "%s", (char *)userdata);
}

static bool tell_blocks(char text_of[400]) {
    report rep = {.name = "cache"};
    rvm_program *p = assemble_text(blocks, NULL, &rep);
    rvm_jit_options o = rvm_jit_options_default();
    rvm_options unchecked = rvm_options_default();
    rvm_jit_totals totals;
    rvm_jit *j;
    rvm_machine *m;
    double x[16] = {1};
    const int64_t n = 16;
    rvm_arg a[] = {rvm_arg_f64(0), rvm_arg_array_f64(x, 1, &n)};
    o.threads = 2;
    o.tiers = false;
    o.notice = on_blocks;
    o.userdata = text_of;
    o.cache = folder;
    unchecked.unchecked = true;
    cr_assert(p);
    if (rvm_jit_new(&o, &j, &e)) cr_skip_test("%s", e.message);
    cr_assert(rvm_machine_new(p, &unchecked, &m, &e) == RVM_OK && rvm_jit_attach(j, m, &e) == RVM_OK);
    cr_assert(rvm_call(m, 0, a, 2, &e) == RVM_OK && a[0].value.f == 2, "%s", e.message);
    rvm_jit_stats(j, &totals);
    rvm_machine_free(m);
    rvm_jit_free(j);
    rvm_program_free(p);
    return totals.cached;
}

Test(cache, blocks_of_cached_code) {
    char first[400], second[400];
    cr_assert(!tell_blocks(first) && tell_blocks(second) && !strcmp(first, second), "%s, then %s", first, second);
}

static void damage(const char *path) {
    const int fd = open(path, O_WRONLY);
    cr_assert(fd >= 0 && pwrite(fd, "?", 1, 60) == 1);
    close(fd);
}

Test(cache, damaged_code) {
    run_with(folder, false);
    each_entry(damage);
    told t = run_with(folder, false);
    cr_assert(!t.cached && t.compiled == 1 && strstr(t.trouble, "damaged"), "%s", t.trouble);
    t = run_with(folder, false);
    cr_assert(t.cached == 1 && !*t.trouble);
}

enum { HEADER = 96 };
/* The object of an entry, aligned, and no byte larger; to be freed. */
static char *take_object(size_t *size_of) {
    char *object = NULL;
    size_t size;
    struct stat s;
    run_with(folder, false);
    each_entry(remember);
    cr_assert(stat(entry, &s) == 0);
    if (s.st_size < 800) { /* that is what is known of LLVM */
        remove_one(entry);
        each_entry(remember);
    }
    char *p = read_entry(&size);
    uint64_t number[HEADER / 8], begin = HEADER; /* little-endian, as is all that this runs on */
    memcpy(number, p, HEADER);
    for (int k = 2; k < 5; k += 2) begin += (number[k] + 15) & ~(uint64_t)15; /* the key, what is told of the code */
    size = number[5];
    cr_assert(posix_memalign((void **)&object, 16, size) == 0); /* so that what is beyond its end is noticed */
    memcpy(object, p + begin, size);
    free(p);
    *size_of = size;
    return object;
}

/* Nothing but the loader's own bounds is between it and an object that is damaged. */
Test(cache, damaged_objects) {
    size_t size;
    rvm__loaded l;
    unsigned good = 0, bad = 0;
    char *object = take_object(&size);
    cr_assert(rvm__object_load(object, size, NULL, &l, &e) == RVM_OK && l.entry && l.need && l.code_size, "%s", e.message);
    rvm__object_unload(&l);
    for (size_t k = 0; k < size; k++)
        for (unsigned flip = 1; flip < 256; flip = flip == 1 ? 128 : flip == 128 ? 255 : 256) {
            object[k] ^= (char)flip;
            ++*(rvm__object_load(object, size, NULL, &l, &e) == RVM_OK ? &good : &bad);
            rvm__object_unload(&l);
            object[k] ^= (char)flip;
        }
    cr_assert(bad > size / 20, "%u good, %u bad", good, bad);
    for (size_t k = 0; k < size; k += 8) {
        char *part = malloc(k + 1);
        memcpy(part, object, k);
        cr_assert(rvm__object_load(part, k, NULL, &l, &e) == RVM_ERR_UNSUPPORTED && !l.base, "%zu bytes", k);
        free(part);
    }
    free(object);
}

#if defined(__x86_64__)
/* The first relocation of the code, the size of that section, and a symbol in it. */
static Elf64_Rela *relocation(char *object, uint64_t *size, uint64_t *symbol) {
    const Elf64_Ehdr *h = (const Elf64_Ehdr *)(void *)object;
    const Elf64_Shdr *section = (const Elf64_Shdr *)(void *)(object + h->e_shoff);
    for (unsigned k = 0; k < h->e_shnum; k++) {
        const Elf64_Shdr *s = &section[k];
        if (s->sh_type != SHT_RELA || !s->sh_size || !(section[s->sh_info].sh_flags & SHF_EXECINSTR)) continue;
        const Elf64_Shdr *table = &section[s->sh_link];
        const Elf64_Sym *symbols = (const Elf64_Sym *)(void *)(object + table->sh_offset);
        *symbol = 1;
        while (*symbol < table->sh_size / sizeof *symbols && symbols[*symbol].st_shndx != s->sh_info) ++*symbol;
        *size = section[s->sh_info].sh_size;
        return (Elf64_Rela *)(void *)(object + s->sh_offset);
    }
    return NULL;
}

/* A distance of more than 32 bits is not cut off, and nothing is written across the end of a section. */
Test(cache, relocations) {
    size_t size;
    uint64_t section = 0, symbol = 0;
    rvm__loaded l;
    char *object = take_object(&size);
    Elf64_Rela *r = relocation(object, &section, &symbol);
    cr_assert(r && section > 8);
    const Elf64_Rela as_it_is = *r;
    const struct {
        uint64_t offset;
        uint32_t type;
        int64_t addend;
        bool good;
    } tries[] = {
        {0, R_X86_64_PC32, 0, true},
        {0, R_X86_64_PC32, INT64_C(1) << 31, false},
        {0, R_X86_64_PC32, -(INT64_C(1) << 32), false},
        {0, R_X86_64_PC32, INT64_C(1) << 40, false},
        {0, R_X86_64_GOTPCREL, INT64_C(1) << 40, false},
        {0, R_X86_64_64, INT64_C(1) << 40, true},
        {section - 4, R_X86_64_PC32, 0, true},
        {section - 3, R_X86_64_PC32, 0, false},
        {section - 8, R_X86_64_64, 0, true},
        {section - 7, R_X86_64_64, 0, false},
        {section, R_X86_64_PC32, 0, false},
    };
    for (size_t k = 0; k < sizeof tries / sizeof *tries; k++) {
        r->r_offset = tries[k].offset;
        r->r_info = ELF64_R_INFO(symbol, tries[k].type);
        r->r_addend = tries[k].addend;
        const rvm_status s = rvm__object_load(object, size, NULL, &l, &e);
        cr_assert(s == (tries[k].good ? RVM_OK : RVM_ERR_UNSUPPORTED), "%zu: %s: %s", k, rvm_status_name(s), e.message);
        rvm__object_unload(&l);
        *r = as_it_is;
    }
    free(object);
}
#endif
