/* impostor.c: impostor ANSWER...: a server for tests of the client: prints its address, takes one connection, and sends
 * these bytes, an answer for each request, whatever that asks for; then it ends. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int listen_anywhere(void) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, size) || listen(fd, 1) || getsockname(fd, (struct sockaddr *)&at, &size))
        return -1;
    printf("http://127.0.0.1:%u/\n", ntohs(at.sin_port));
    return fflush(stdout) ? -1 : fd;
}

/* Up to the empty line and the body behind it. */
static int take_request(int fd) {
    static char text[1 << 20];
    const char *end = NULL, *length;
    size_t got = 0;
    for (ssize_t n; got < sizeof text - 1 && (n = read(fd, text + got, sizeof text - 1 - got)) > 0;) {
        text[got += (size_t)n] = 0;
        if (!end && !(end = strstr(text, "\r\n\r\n"))) continue;
        length = strstr(text, "Content-Length: ");
        if (length && (size_t)(text + got - end - 4) >= strtoul(length + 16, NULL, 10)) return 1;
    }
    return 0;
}

int main(int argc, char **argv) {
    const int listener = listen_anywhere(), fd = listener < 0 ? -1 : (alarm(20), accept(listener, NULL, NULL));
    for (int k = 1; fd >= 0 && k < argc && take_request(fd); k++)
        if (write(fd, argv[k], strlen(argv[k])) < 0) return 1;
    return fd < 0;
}
