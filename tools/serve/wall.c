/* wall.c: see wall.h. A call that libraries make on their way, such as stat, is answered by an error; any other that is not
 * on the list ends the process. */
#include "wall.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The sanitizers want address space without end. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED __has_feature(address_sanitizer)
#else
#define SANITIZED 0
#endif

/* ---- seccomp ---- */

static const int allowed[] = {
    SCMP_SYS(recvmsg),
    SCMP_SYS(recvfrom),
    SCMP_SYS(sendmsg),
    SCMP_SYS(sendto),
    SCMP_SYS(read),
    SCMP_SYS(write),
    SCMP_SYS(close),
    SCMP_SYS(brk),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(futex),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(getrandom),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(sched_yield),
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(poll),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(sysinfo), /* qsort asks how much memory there is */
};
/* What libraries try, and can do without. */
static const int refused[] = {
    SCMP_SYS(open),  SCMP_SYS(openat), SCMP_SYS(stat),      SCMP_SYS(lstat),      SCMP_SYS(newfstatat), SCMP_SYS(fstat),
    SCMP_SYS(statx), SCMP_SYS(access), SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(readlink),   SCMP_SYS(readlinkat),
    SCMP_SYS(ioctl), SCMP_SYS(lseek),  SCMP_SYS(getcwd),    SCMP_SYS(prctl),      SCMP_SYS(prlimit64),
};
/* Besides, for native code. Landlock leaves libraries to be opened; a thread is cloned, a process is not. */
static const int native_allowed[] = {
    SCMP_SYS(open),
    SCMP_SYS(openat),
    SCMP_SYS(stat),
    SCMP_SYS(lstat),
    SCMP_SYS(newfstatat),
    SCMP_SYS(fstat),
    SCMP_SYS(statx),
    SCMP_SYS(access),
    SCMP_SYS(faccessat),
    SCMP_SYS(faccessat2),
    SCMP_SYS(readlink),
    SCMP_SYS(readlinkat),
    SCMP_SYS(lseek),
    SCMP_SYS(getcwd),
    SCMP_SYS(pread64),
    SCMP_SYS(mmap),
    SCMP_SYS(mprotect),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(rseq),
    SCMP_SYS(getdents64),
    SCMP_SYS(fcntl),
    SCMP_SYS(uname),
    SCMP_SYS(getuid),
    SCMP_SYS(geteuid),
    SCMP_SYS(sched_setscheduler),
    SCMP_SYS(getrusage),
    SCMP_SYS(membarrier),
};

static bool add_all(scmp_filter_ctx filter, uint32_t action, const int *calls, size_t n) {
    for (size_t k = 0; k < n; k++)
        if (seccomp_rule_add(filter, action, calls[k], 0)) return false;
    return true;
}

/* Memory may be had, not executed. */
static bool add_memory(scmp_filter_ctx filter) {
    const struct scmp_arg_cmp plain = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
    return !seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, plain) &&
           !seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, plain);
}

/* clone3 has its flags in memory, which a filter cannot read: with ENOSYS the C library takes clone. */
static bool add_threads(scmp_filter_ctx filter) {
    const struct scmp_arg_cmp thread = SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD);
    return !seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) &&
           !seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1, thread);
}

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* Once, so that a worker need not: as the kernel takes it. */
static bool export_filter(wall *w, scmp_filter_ctx filter) {
    const int fd = memfd_create("filter", MFD_CLOEXEC);
    bool good = fd >= 0 && !seccomp_export_bpf(filter, fd);
    const off_t size = good ? lseek(fd, 0, SEEK_END) : 0;
    good = size > 0 && (w->filter = malloc((size_t)size)) && pread(fd, w->filter, (size_t)size, 0) == size;
    w->nfilter = (size_t)size / sizeof *w->filter;
    if (fd >= 0) close(fd);
    return good;
}

static bool make_filter(wall *w) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
    if (!filter) return false;
    bool good = add_all(filter, SCMP_ACT_ALLOW, allowed, COUNT(allowed));
    if (w->native)
        good = good && add_all(filter, SCMP_ACT_ALLOW, native_allowed, COUNT(native_allowed)) && add_threads(filter) &&
               !seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOTTY), SCMP_SYS(ioctl), 0) &&
               !seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(prctl), 0) &&
               !seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(prlimit64), 0);
    else
        good = good && add_all(filter, SCMP_ACT_ERRNO(EACCES), refused, COUNT(refused)) && add_memory(filter);
    good = good && export_filter(w, filter);
    seccomp_release(filter);
    return good;
}

/* ---- landlock ---- */

static int ruleset_of_everything(void) {
    struct landlock_ruleset_attr all = {.handled_access_fs = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1};
    const long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (abi < 1) return -1;
#ifdef LANDLOCK_ACCESS_FS_REFER
    if (abi >= 2) all.handled_access_fs |= LANDLOCK_ACCESS_FS_REFER;
#endif
#ifdef LANDLOCK_ACCESS_FS_TRUNCATE
    if (abi >= 3) all.handled_access_fs |= LANDLOCK_ACCESS_FS_TRUNCATE;
#endif
#ifdef LANDLOCK_ACCESS_NET_BIND_TCP
    if (abi >= 4) all.handled_access_net = LANDLOCK_ACCESS_NET_BIND_TCP | LANDLOCK_ACCESS_NET_CONNECT_TCP;
#endif
    return (int)syscall(SYS_landlock_create_ruleset, &all, sizeof all, 0);
}

static void allow_reading(int ruleset, const char *folder) {
    struct landlock_path_beneath_attr rule = {.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR |
                                                                LANDLOCK_ACCESS_FS_EXECUTE};
    rule.parent_fd = open(folder, O_PATH | O_CLOEXEC);
    if (rule.parent_fd < 0) return;
    syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent_fd);
}

bool wall_make(wall *w, bool native, const char *module, size_t memory) {
    *w = (wall){.native = native, .memory = memory, .ruleset = ruleset_of_everything()};
    if (native && w->ruleset < 0) {
        w->why = "this kernel has no landlock, without which native code is not run for others";
        return false;
    }
    const char *const libraries[] = {"/lib", "/lib64", "/usr/lib", "/sys/devices/system/cpu", module};
    for (size_t k = 0; native && k < COUNT(libraries); k++)
        if (libraries[k]) allow_reading(w->ruleset, libraries[k]);
    if (!make_filter(w)) w->why = "this system has no seccomp filters";
    return !w->why;
}

void wall_free(wall *w) {
    free(w->filter);
    if (w->ruleset >= 0) close(w->ruleset);
}

/* ---- entering ---- */

static bool limit(int resource, rlim_t n) {
    const struct rlimit r = {n, n};
    return setrlimit(resource, &r) == 0;
}

static bool limit_all(const wall *w) {
    bool good = limit(RLIMIT_CORE, 0) && limit(RLIMIT_FSIZE, 0);
    if (!w->native) good = good && limit(RLIMIT_NOFILE, 4) && limit(RLIMIT_NPROC, 0);
    if (w->memory && !SANITIZED) good = good && limit(RLIMIT_AS, w->memory);
    return good;
}

bool wall_enter(const wall *w, int fd) {
    bool good = !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (w->ruleset >= 0) good = good && !syscall(SYS_landlock_restrict_self, w->ruleset, 0);
    if (!good || dup2(fd, 3) != 3 || syscall(SYS_close_range, 4, ~0u, 0)) return false;
    if (!SANITIZED) good = !prctl(PR_SET_DUMPABLE, 0);
    const struct sock_fprog program = {(unsigned short)w->nfilter, w->filter};
    return good && limit_all(w) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}
