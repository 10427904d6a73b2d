/* member.h: the bytes of a member of a zip file, stored or compressed by zlib. */
#ifndef RVM_TOOLS_MEMBER_H
#define RVM_TOOLS_MEMBER_H

#include "input.h"

#include <zlib.h>

struct member {
    z_stream z;
    bool deflated, broken;
    uint64_t packed; /* bytes of it still in the file */
    uLong crc, wanted;
    unsigned char buffer[1 << 14];
};

/* Of in->member, at which in->file stands: input_read, where there is one; false: it is damaged. */
size_t member_read(input *in, void *to, size_t n);
bool member_is_good(const input *in);

#endif
