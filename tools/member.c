#include "member.h"

static size_t unpack(input *in, void *to, size_t n) {
    struct member *m = in->member;
    m->z.next_out = to;
    m->z.avail_out = (uInt)n;
    while (m->z.avail_out) {
        if (!m->z.avail_in && m->packed) {
            const size_t some = m->packed < sizeof m->buffer ? (size_t)m->packed : sizeof m->buffer;
            m->z.next_in = m->buffer;
            m->z.avail_in = (uInt)fread(m->buffer, 1, some, in->file);
            m->packed -= m->z.avail_in;
            if (m->z.avail_in < some) m->packed = 0;
        }
        const int status = inflate(&m->z, Z_NO_FLUSH);
        if (status == Z_STREAM_END) break;
        if (status != Z_OK) {
            m->broken = true;
            break;
        }
    }
    return n - m->z.avail_out;
}

size_t member_read(input *in, void *to, size_t n) {
    enum { AT_ONCE = 1 << 30 };
    struct member *m = in->member;
    if (n > in->left) n = (size_t)in->left;
    if (n > AT_ONCE) n = AT_ONCE;
    const size_t got = m->deflated ? unpack(in, to, n) : fread(to, 1, n, in->file);
    m->crc = crc32(m->crc, to, (uInt)got);
    in->left -= got;
    m->broken |= got < n || (!in->left && m->crc != m->wanted);
    return got;
}

bool member_is_good(const input *in) {
    return !in->member->broken;
}
