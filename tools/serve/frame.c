#include "frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* A body: how many parts, their sizes, their bytes. */
unsigned char *frame_pack(const part *parts, uint32_t n, uint32_t *size) {
    uint32_t sizes[1 + FRAME_PARTS] = {n};
    const size_t head = (1 + (size_t)n) * sizeof *sizes;
    size_t all = head;
    for (uint32_t k = 0; k < n; k++) {
        if (parts[k].size > FRAME_LONGEST) return NULL;
        sizes[1 + k] = (uint32_t)parts[k].size;
        all += parts[k].size;
    }
    unsigned char *body = all <= FRAME_LONGEST ? malloc(all) : NULL;
    if (!body) return NULL;
    memcpy(body, sizes, head);
    unsigned char *at = body + head;
    for (uint32_t k = 0; k < n; at += parts[k++].size)
        if (parts[k].size) memcpy(at, parts[k].bytes, parts[k].size);
    *size = (uint32_t)all;
    return body;
}

bool frame_parts(const unsigned char *body, size_t size, part parts[FRAME_PARTS]) {
    uint32_t n, each;
    memset(parts, 0, FRAME_PARTS * sizeof *parts);
    if (size < sizeof n) return false;
    memcpy(&n, body, sizeof n);
    if (n > FRAME_PARTS || size < (1 + n) * sizeof n) return false;
    size_t at = (1 + n) * sizeof n;
    for (uint32_t k = 0; k < n; k++) {
        memcpy(&each, body + (1 + k) * sizeof each, sizeof each);
        if (each > size - at) return false;
        parts[k] = part_of(body + at, each);
        at += each;
    }
    return at == size;
}

frame_io frame_send(int fd, frame_head head, const unsigned char *body, uint32_t *sent, int flags) {
    do {
        const uint32_t left = head.size - *sent, n = left < FRAME_PACKET ? left : FRAME_PACKET;
        head.at = *sent;
        struct iovec pieces[] = {{&head, sizeof head}, {(void *)(body + *sent), n}};
        const struct msghdr message = {.msg_iov = pieces, .msg_iovlen = n ? 2 : 1};
        if (sendmsg(fd, &message, flags | MSG_NOSIGNAL) < 0) {
            if (errno == EINTR) continue;
            return errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS ? FRAME_AGAIN : FRAME_CLOSED;
        }
        *sent += n;
    } while (*sent < head.size);
    return FRAME_OK;
}

/* Takes a packet of n bytes behind its head; OK: it was the last. */
static frame_io take(frame_in *in, frame_packet *packet, size_t n, uint32_t longest) {
    const frame_head h = packet->head;
    if (h.at == 0) {
        frame_free(in);
        in->head = h;
        if (h.size > longest) return FRAME_CLOSED;
        in->body = packet->bytes;
        if (n == h.size) return FRAME_OK;
        if (!(in->body = in->whole = malloc(h.size))) return FRAME_CLOSED;
    }
    const bool fits =
        in->whole && h.at == in->got && h.size == in->head.size && h.job == in->head.job && n && n <= h.size - h.at;
    if (!fits) return FRAME_CLOSED;
    memcpy(in->whole + in->got, packet->bytes, n);
    in->got += (uint32_t)n;
    return in->got == h.size ? FRAME_OK : FRAME_AGAIN;
}

frame_io frame_receive(int fd, frame_in *in, frame_packet *packet, uint32_t longest, int flags) {
    for (;;) {
        const ssize_t got = recv(fd, packet, sizeof *packet, flags | MSG_TRUNC);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? FRAME_AGAIN : FRAME_CLOSED;
        if ((size_t)got < sizeof(frame_head) || (size_t)got > sizeof *packet) return FRAME_CLOSED;
        const frame_io io = take(in, packet, (size_t)got - sizeof(frame_head), longest);
        if (io != FRAME_AGAIN) return io;
    }
}

void frame_free(frame_in *in) {
    free(in->whole);
    *in = (frame_in){0};
}
