/* wall.c: what a worker cannot do, by trying: each act is done by a process behind the wall, and must fail or end it. */
#include "wall.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* True: it could be done. */
typedef bool an_act(void);

static bool open_to_read(void) {
    return open("/etc/passwd", O_RDONLY) >= 0;
}
static bool open_by_number(void) {
    return syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY) >= 0;
}
static bool open_to_write(void) {
    return open("/tmp/rvm-wall", O_CREAT | O_RDWR, 0600) >= 0;
}
static bool remove_file(void) {
    return syscall(SYS_unlink, "/tmp/rvm-wall-is-not-there") == 0 || errno == ENOENT;
}
static bool make_socket(void) {
    return socket(AF_INET, SOCK_STREAM, 0) >= 0;
}
static bool make_unix_socket(void) {
    return socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
}
static bool make_pair(void) {
    int pair[2];
    return socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0;
}
/* From a descriptor that it might be handed. */
static bool connect_somewhere(void) {
    const struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    return connect(3, (const struct sockaddr *)&to, sizeof to) == 0;
}
static bool fork_process(void) {
    return fork() >= 0;
}
static bool clone_process(void) {
    return syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL) >= 0;
}
static bool exec_program(void) {
    char *const argv[] = {"/bin/true", NULL};
    execv(argv[0], argv);
    return false;
}
static void *nothing(void *p) {
    return p;
}
static bool start_thread(void) {
    pthread_t t;
    return pthread_create(&t, NULL, nothing, NULL) == 0;
}
static bool map_executable(void) {
    return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
}
static bool make_executable(void) {
    void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p != MAP_FAILED && mprotect(p, 4096, PROT_READ | PROT_EXEC) == 0;
}
static bool trace_parent(void) {
    return ptrace(PTRACE_ATTACH, getppid(), NULL, NULL) == 0;
}
static bool kill_parent(void) {
    return kill(getppid(), 0) == 0;
}
static bool set_up_ring(void) {
    return syscall(425, 8, NULL) >= 0 || errno == EFAULT; /* io_uring_setup */
}
static bool read_memory(void) {
    return syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0) >= 0;
}
static bool change_user(void) {
    return setuid(0) == 0;
}
static bool change_folder(void) {
    return chdir("/") == 0;
}
static bool load_filter(void) {
    return syscall(SYS_seccomp, 0, 0, NULL) >= 0 || errno == EINVAL;
}

/* What it must be able to do. */
static bool take_memory(void) {
    void *p = malloc(32 << 20);
    if (!p) return false;
    memset(p, 1, 32 << 20);
    free(p);
    return true;
}
static bool answer(void) {
    return send(3, "x", 1, 0) == 1;
}
static bool write_text(void) {
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) return false;
    fprintf(out, "%g %d", 1.5, isatty(2));
    return fclose(out) == 0 && strcmp(text, "1.5 0") == 0;
}

static const struct attempt {
    const char *name;
    an_act *act;
    bool plain, native; /* whether it is to be possible, in a worker of either kind */
} attempts[] = {
#define ATTEMPT(act, plain, native)                                                                                         \
    { #act, act, plain, native }
    ATTEMPT(open_to_read, false, false),  ATTEMPT(open_by_number, false, false),
    ATTEMPT(open_to_write, false, false), ATTEMPT(remove_file, false, false),
    ATTEMPT(make_socket, false, false),   ATTEMPT(make_unix_socket, false, false),
    ATTEMPT(make_pair, false, false),     ATTEMPT(connect_somewhere, false, false),
    ATTEMPT(fork_process, false, false),  ATTEMPT(clone_process, false, false),
    ATTEMPT(exec_program, false, false),  ATTEMPT(start_thread, false, true),
    ATTEMPT(map_executable, false, true), ATTEMPT(make_executable, false, true),
    ATTEMPT(trace_parent, false, false),  ATTEMPT(kill_parent, false, false),
    ATTEMPT(set_up_ring, false, false),   ATTEMPT(read_memory, false, false),
    ATTEMPT(change_user, false, false),   ATTEMPT(change_folder, false, false),
    ATTEMPT(load_filter, false, false),   ATTEMPT(take_memory, true, true),
    ATTEMPT(answer, true, true),          ATTEMPT(write_text, true, true),
};

/* "could", "could not", or a signal's name. */
static const char *try(const wall *w, an_act *act) {
    int pair[2], status;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) return "no socket";
    const pid_t pid = fork();
    if (pid == 0) {
        const int fd = open("/dev/null", O_RDWR);
        dup2(fd, 2);
        if (!wall_enter(w, pair[1])) _exit(99);
        syscall(SYS_exit_group, act() ? 1 : 0);
    }
    close(pair[1]);
    waitpid(pid, &status, 0);
    close(pair[0]);
    if (WIFSIGNALED(status)) return strsignal(WTERMSIG(status));
    return WEXITSTATUS(status) == 1 ? "could" : WEXITSTATUS(status) == 0 ? "could not" : "did not get behind the wall";
}

static unsigned try_all(bool native) {
    unsigned wrong = 0;
    wall w;
    if (!wall_make(&w, native, NULL, (size_t)1 << 31)) {
        printf("skipped, %s workers: %s\n", native ? "native" : "plain", w.why);
        return 0;
    }
    for (size_t k = 0; k < sizeof attempts / sizeof *attempts; k++) {
        const struct attempt *a = &attempts[k];
        const bool possible = native ? a->native : a->plain;
        const char *came = try(&w, a->act);
        const bool right = possible == (strcmp(came, "could") == 0) && strcmp(came, "did not get behind the wall") != 0;
        printf("%s, %s: %s%s\n", native ? "native" : "plain", a->name, came, right ? "" : "  WRONG");
        wrong += !right;
    }
    wall_free(&w);
    return wrong;
}

int main(void) {
    const unsigned wrong = try_all(false) + try_all(true);
    printf("%u wrong\n", wrong);
    return wrong > 0;
}
