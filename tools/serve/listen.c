#include "listen.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 4096 };

static bool fail(char *why, size_t size, const char *text) {
    snprintf(why, size, "%s", text);
    return false;
}

static bool open_unix(listening *l, const char *path, char *why, size_t size) {
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof at.sun_path) return fail(why, size, "the path is too long");
    strcpy(at.sun_path, path);
    strcpy(l->address, "localhost");
    l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct stat there;
    if (!lstat(path, &there) && S_ISSOCK(there.st_mode)) unlink(path); /* of a server before this */
    const mode_t before = umask(0177);
    const bool good = l->fd >= 0 && !bind(l->fd, (struct sockaddr *)&at, sizeof at) && !listen(l->fd, BACKLOG);
    umask(before);
    if (good) strcpy(l->path, path);
    return good || fail(why, size, strerror(errno));
}

static bool open_address(listening *l, const struct addrinfo *a) {
    const int on = 1;
    l->fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (l->fd < 0) return false;
    setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    return !bind(l->fd, a->ai_addr, a->ai_addrlen) && !listen(l->fd, BACKLOG);
}

/* The address and the port that it became. */
static bool name_address(listening *l) {
    struct sockaddr_storage at;
    socklen_t n = sizeof at;
    char port[16];
    if (getsockname(l->fd, (struct sockaddr *)&at, &n)) return false;
    if (getnameinfo((struct sockaddr *)&at, n, l->address, sizeof l->address, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV))
        return false;
    l->port = (unsigned)strtoul(port, NULL, 10);
    return true;
}

bool listen_open(listening *l, const char *where, char *why, size_t size) {
    char host[256];
    const char *port = strrchr(where, ':');
    *l = (listening){.fd = -1};
    if (strncmp(where, "unix:", 5) == 0) return open_unix(l, where + 5, why, size);
    if (!port) return fail(why, size, "HOST:PORT or unix:PATH is expected");
    const bool six = *where == '[' && port > where && port[-1] == ']';
    snprintf(host, sizeof host, "%.*s", (int)(port - where) - (six ? 2 : 0), where + six);
    const struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    const int rc = getaddrinfo(host, port + 1, &hints, &found);
    if (rc) return fail(why, size, gai_strerror(rc));
    const bool good = open_address(l, found) && name_address(l);
    freeaddrinfo(found);
    return good || fail(why, size, strerror(errno));
}

void listen_close(listening *l) {
    if (l->fd >= 0) close(l->fd);
    if (*l->path) unlink(l->path);
    l->fd = -1;
}
