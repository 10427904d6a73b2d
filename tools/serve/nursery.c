#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct nursery {
    const worker_setup *setup;
    live *pages;
    size_t npages;
    int fd;
    wall wall;
} nursery;

/* ---- in the nursery ---- */

/* The pages of the others are not for this one. */
static void keep_page(const nursery *n, uint32_t page) {
    char *all = (char *)n->pages, *own = all + (size_t)page * LIVE_PAGE;
    const size_t before = (size_t)(own - all), behind = (n->npages - page - 1) * LIVE_PAGE;
    if (before) munmap(all, before);
    if (behind) munmap(own + LIVE_PAGE, behind);
}

static void tell(const nursery *n, newborn b) {
    struct iovec piece = {&b, sizeof b};
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } control;
    struct msghdr m = {.msg_iov = &piece, .msg_iovlen = 1};
    const int fds[] = {b.process, b.socket};
    if (b.page != UINT32_MAX) {
        memset(&control, 0, sizeof control);
        m.msg_control = &control, m.msg_controllen = sizeof control;
        control.head = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof fds)};
        memcpy(CMSG_DATA(&control.head), fds, sizeof fds);
    }
    if (sendmsg(n->fd, &m, MSG_NOSIGNAL) < 0) _exit(1);
}

static void refuse(const nursery *n, const char *what) {
    newborn b = {.page = UINT32_MAX};
    snprintf(b.why, sizeof b.why, "%s: %s", what, strerror(errno));
    tell(n, b);
}

static void bear(const nursery *n, uint32_t page) {
    int pair[2];
    if (page >= n->npages) return;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) return refuse(n, "socketpair");
    const pid_t pid = fork();
    if (pid == 0) {
        keep_page(n, page);
        worker_main(pair[1], &n->wall, n->setup, (live *)(void *)((char *)n->pages + (size_t)page * LIVE_PAGE));
    }
    close(pair[1]);
    const int process = pid < 0 ? -1 : (int)syscall(SYS_pidfd_open, pid, 0);
    if (process < 0)
        refuse(n, "fork");
    else
        tell(n, (newborn){.page = page, .process = process, .socket = pair[0], .pid = pid});
    close(pair[0]);
    if (process >= 0) close(process);
}

static void nursery_main(nursery *n) {
    uint32_t page;
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (nice(5) < 0) errno = 0; /* the server comes before its workers */
    signal(SIGINT, SIG_IGN);    /* the server ends, and this with it */
    signal(SIGTERM, SIG_IGN);
    signal(SIGCHLD, SIG_IGN); /* nobody waits for workers */
    for (int fd = 0; fd < 3 && nothing >= 0; fd++)
        if (fd != 2 || !getenv("RVM_SERVE_STDERR")) dup2(nothing, fd);
    if (!wall_make(&n->wall, n->setup->native, n->setup->module, (size_t)(4 * n->setup->limits.memory) + (512u << 20))) {
        newborn b = {.page = UINT32_MAX};
        snprintf(b.why, sizeof b.why, "%s", n->wall.why);
        tell(n, b);
        _exit(1);
    }
    while (recv(n->fd, &page, sizeof page, 0) == sizeof page) bear(n, page);
    _exit(0);
}

/* ---- in the server ---- */

bool nursery_start(const worker_setup *setup, live *pages, size_t npages, int *fd, pid_t *pid) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) return false;
    *pid = fork();
    if (*pid == 0) {
        close(pair[0]);
        nursery_main(&(nursery){.setup = setup, .pages = pages, .npages = npages, .fd = pair[1]});
    }
    close(pair[1]);
    *fd = pair[0];
    return *pid > 0;
}

bool nursery_ask(int fd, uint32_t page) {
    return send(fd, &page, sizeof page, MSG_NOSIGNAL) == sizeof page;
}

frame_io nursery_take(int fd, newborn *out) {
    struct iovec piece = {out, sizeof *out};
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } control;
    struct msghdr m = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    const ssize_t got = recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    int fds[] = {-1, -1};
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return FRAME_AGAIN;
    if (got != sizeof *out) return FRAME_CLOSED;
    out->why[sizeof out->why - 1] = 0;
    const struct cmsghdr *head = CMSG_FIRSTHDR(&m);
    if (head && head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof fds))
        memcpy(fds, CMSG_DATA(head), sizeof fds);
    out->process = fds[0], out->socket = fds[1];
    return FRAME_OK;
}
