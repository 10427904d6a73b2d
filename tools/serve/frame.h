/* frame.h: messages between the server and its workers, over SEQPACKET sockets.
 *
 * A message is a head and a body of parts; it goes as packets of at most FRAME_PACKET bytes of the body, each behind a copy
 * of the head that says where it belongs. What a worker sends is taken for hostile: every size is checked before it is used.
 */
#ifndef RVM_SERVE_FRAME_H
#define RVM_SERVE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is asked of a worker, and what it answers. */
typedef enum frame_kind {
    FRAME_ASSEMBLE, /* name, real, type, bytes -> outcome, JSON, bytecode */
    FRAME_RUN,      /* JSON of the request, id, bytecode, name -> outcome, JSON, profile */
    FRAME_EXPORT,   /* format, profile -> outcome, text */
    FRAME_COMPARE,  /* profile, profile -> outcome, JSON */
    FRAME_LISTING,  /* bytecode, source -> outcome, text */
    FRAME_OPEN,     /* as FRAME_RUN, of a worker that is for one session -> outcome, JSON */
    FRAME_SESSION,  /* verb, JSON -> outcome, JSON */
    FRAME_CANCEL,   /* the job that runs; no parts, no answer */
    FRAME_DONE,
    FRAME_NEED, /* id: the program that the request names */
    FRAME_LATER /* it takes long, and was begun beside another: to be sent again as a long one */
} frame_kind;

typedef struct frame_head {
    uint32_t kind, job;
    uint32_t size, at; /* of the whole body; of this packet's first byte */
} frame_head;

enum { FRAME_PACKET = 1 << 16, FRAME_PARTS = 4, FRAME_LONGEST = 1 << 28, FRAME_ANSWER = 1 << 26 };

typedef struct part {
    const void *bytes;
    size_t size;
} part;
static inline part part_of(const void *bytes, size_t size) {
    return (part){bytes, size};
}

/* A body of n parts, at most FRAME_PARTS: malloc'd, *size bytes. NULL: no memory, or too large. */
unsigned char *frame_pack(const part *parts, uint32_t n, uint32_t *size);
/* The parts of a body, which they point into; those that are not there are empty. False: it is none. */
bool frame_parts(const unsigned char *body, size_t size, part parts[FRAME_PARTS]);

typedef enum frame_io { FRAME_OK, FRAME_AGAIN, FRAME_CLOSED } frame_io;
/* Sends packets of a body from *sent on, until all is there, or the socket takes no more (AGAIN), which one that blocks
 * does not say. */
frame_io frame_send(int fd, frame_head head, const unsigned char *body, uint32_t *sent, int flags);

/* One message at a time is put together. packet: room that receivers of one thread may share. */
typedef struct frame_in {
    frame_head head;
    unsigned char *body, *whole; /* body: of the message that is complete, in the packet or in `whole` */
    uint32_t got;
} frame_in;
typedef struct frame_packet {
    frame_head head;
    unsigned char bytes[FRAME_PACKET];
} frame_packet;
/* OK: a message is there, in in->head and in->body till the next call. AGAIN: with MSG_DONTWAIT, no more for now. CLOSED:
 * the other end is, or what came is no message, or one longer than `longest`. */
frame_io frame_receive(int fd, frame_in *in, frame_packet *packet, uint32_t longest, int flags);
void frame_free(frame_in *in);

#endif
