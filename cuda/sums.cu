/* sums.cu: what the instances of a kernel add, put together, and where they have changed an array: kernels behind that kernel.
 *
 * sums.ptx is made of it, once, and belongs to the tree, so that no toolkit is needed. Its first line has the hash of what
 * it was made of (tests/sums.sh):
 *
 *     { sha256sum cuda/sums.cu | sed 's|^|// |'
 *       nvcc -ptx -arch=compute_75 -fmad=false -o - cuda/sums.cu | sed 's|^.version 9.0|.version 7.3|'; } >cuda/sums.ptx
 */
#ifdef __CUDACC__ /* else who includes it says what these are (tests/grid) */
#define KERNEL extern "C" __global__ void
#define DEVICE __device__ static
#define UNROLL _Pragma("unroll 16")
#define AT_LEAST(threads, ctas) __launch_bounds__(threads, ctas) /* a multiprocessor has room for so many CTAs */
#endif
typedef unsigned long long number;

enum { PARTS = 8, CHUNK = 256 }; /* as the interpreter has them (vm/machine.h) */
enum { I64, F64, FIX, F32 };      /* rvm_type */

DEVICE number plus(number type, number a, number b) {
    if (type == F64) return __double_as_longlong(__longlong_as_double(a) + __longlong_as_double(b));
    if (type == F32)
        return __double_as_longlong((double)((float)__longlong_as_double(a) + (float)__longlong_as_double(b)));
    return a + b;
}

/* Of n instances, each with m terms that stand n apart: the totals of their chunks. Eight threads a chunk: each sums every eighth instance, upwards or downwards, term by term;
 * then they are summed pairwise. */
KERNEL rvm_sum_terms(const number *terms, number m, number n, number up, number type,
                                         number *totals) {
    const number t = (number)blockIdx.x * blockDim.x + threadIdx.x, chunk = t / PARTS, part = t % PARTS;
    const number begin = chunk * CHUNK, end = begin + CHUNK < n ? begin + CHUNK : n;
    const bool real = type == F64 || type == F32;
    number sum = real ? 0x8000000000000000 : 0;
    if (up)
        for (number k = begin + part; k < end; k += PARTS)
            for (number j = 0; j < m; j++) sum = plus(type, sum, terms[j * n + k]);
    else
        for (number k = begin + CHUNK; k > begin;) {
            k -= PARTS;
            if (k + part >= end) continue;
            for (number j = 0; j < m; j++) sum = plus(type, sum, terms[j * n + k + part]);
        }
    for (unsigned half = PARTS / 2; half > 0; half /= 2) sum = plus(type, sum, __shfl_down_sync(~0u, sum, half, PARTS));
    if (part == 0 && begin < n) totals[chunk] = sum;
}

enum { ACROSS = 32, DOWN = 32 };

/* to[e] += what n copies have there, `stride` bytes from one to the next. A CTA of 32 by 32 threads has 32 elements: each
 * thread sums every 32nd copy, then those are summed pairwise. */
KERNEL rvm_sum_copies(double *to, const char *copies, number stride, number n, number elements) {
    __shared__ double part[DOWN][ACROSS + 1];
    const number e = (number)blockIdx.x * ACROSS + threadIdx.x;
    double sum = 0;
    if (e < elements)
        for (number k = threadIdx.y; k < n; k += DOWN) sum += ((const double *)(copies + k * stride))[e];
    part[threadIdx.y][threadIdx.x] = sum;
    for (unsigned half = DOWN / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.y < half) part[threadIdx.y][threadIdx.x] += part[threadIdx.y + half][threadIdx.x];
    }
    if (threadIdx.y == 0 && e < elements) to[e] += part[0][threadIdx.x];
}

enum { GROUPS = 8, TILE = 512, LANES = 32, AT_ONCE = TILE / LANES, TREES = TILE / PARTS, CHUNKS = TILE / CHUNK };

/* Instances of a group of eight, forward or backward: sums are the same. */
DEVICE double tree(const double *p) {
    return ((p[0] + p[4]) + (p[2] + p[6])) + ((p[1] + p[5]) + (p[3] + p[7]));
}

/* Of 512 instances those that a lane has, from `first` on, so far apart: those that there are, from `begin` on up to `end`;
 * else -0. */
DEVICE void load_terms(double *to, const double *first, long long step, int begin, int end) {
    UNROLL for (int k = 0; k < AT_ONCE; k++)
        to[k] = begin <= k * LANES && k * LANES < end ? first[k * step] : -0.0;
}

/* Elements to which n instances add chunk by chunk, upwards or downwards (docs/semantics.md, section 9). Element e has the
 * additions list[from[e]] to list[from[e + 1] - 1] of each instance, in their order; addition s of instance i is
 * log[s * n + i]. A CTA has 8 warps and as many elements. Each warp sums, of 512 instances at once, what each of them adds
 * to its own, then groups of eight, by a tree; 8 threads add these sums group by group, while warps go on. Downwards a chunk
 * begins with instances that there are not, if it has fewer. With `chunks`, what each chunk adds goes there,
 * [chunk][element], in the order in which they run, and no element gains. */
KERNEL AT_LEAST(256, 3) rvm_sum_log(double *const *to, const unsigned *from, const unsigned *list, const double *log,
                                    number n, number up, unsigned elements, double *chunks) {
    __shared__ double own[GROUPS][TILE + TREES]; /* a gap behind each group: lanes read from banks of their own */
    __shared__ double trees[2][GROUPS][TREES + 1];
    const unsigned warp = threadIdx.x / LANES, lane = threadIdx.x % LANES, e = blockIdx.x * GROUPS + warp;
    const unsigned mine = blockIdx.x * GROUPS + threadIdx.x;
    const unsigned row = e < elements ? from[e] : 0, last = e < elements ? from[e + 1] : 0;
    const bool adds = threadIdx.x < GROUPS && mine < elements;
    const number all = (n + CHUNK - 1) / CHUNK * CHUNK;
    const long long step = up ? LANES : -LANES;
    double sum = adds ? *to[mine] : 0;
    unsigned now = 0;
    for (number done = 0; done < all; done += TILE, now = 1 - now) {
        const number at = done + lane, lacking = up || done ? 0 : all - n, there = (up ? n : all) - done;
        const double *first = log + (up ? at : all - 1 - at);
        const int begin = (int)lacking - (int)lane, end = (int)(there < TILE ? there : TILE) - (int)lane;
        double sums[AT_ONCE];
        load_terms(sums, first + list[row] * n, step, begin, row < last ? end : 0);
        for (unsigned s = row + 1; s < last; s++) {
            double more[AT_ONCE];
            load_terms(more, first + list[s] * n, step, begin, end);
            UNROLL for (unsigned k = 0; k < AT_ONCE; k++) sums[k] += more[k];
        }
        UNROLL for (unsigned k = 0; k < AT_ONCE; k++) {
            const unsigned place = k * LANES + lane;
            own[warp][place + place / PARTS] = sums[k];
        }
        __syncwarp();
        for (unsigned g = lane; g < TREES; g += LANES) trees[now][warp][g] = tree(own[warp] + g * (PARTS + 1));
        __syncthreads();
        if (!adds) continue;
        double part[CHUNKS];
        for (unsigned c = 0; c < CHUNKS; c++) part[c] = -0.0;
        UNROLL for (unsigned g = 0; g < TREES / CHUNKS; g++)
            for (unsigned c = 0; c < CHUNKS; c++) part[c] += trees[now][threadIdx.x][c * (TREES / CHUNKS) + g];
        for (unsigned c = 0; c < CHUNKS; c++) {
            if (chunks && done + c * CHUNK < all) chunks[(done / CHUNK + c) * elements + mine] = part[c];
            sum += part[c]; /* behind the last one: -0 */
        }
    }
    if (adds && !chunks) *to[mine] = sum;
}

/* ---- additions to elements that depend on the instance ----
 * Each instance has `width` entries in the log, in its order; instances stand there in the order in which they run. Where an
 * entry has no address there is none. They are sorted by element, by a radix sort, least significant digit first, which
 * keeps their order; an item is the element's number, of all that may gain, and that of the entry in the log. CTAs have as
 * many items each, side by side; of each digit they count how many they have, and then know where these go. */
typedef struct entry {
    number address;
    double term;
} entry;
typedef struct root { /* an array: elements from `begin` on, so many bytes, are numbered from `first` on */
    number begin, bytes, first;
} root;

enum { DIGITS = 256, WARPS = 8, EACH = 8, SORTED_AT_ONCE = WARPS * LANES * EACH };
#define NONE (~(number)0)

/* items: NULL: of the log. */
DEVICE number item_at(const number *items, const entry *log, const root *roots, number k) {
    if (items) return items[k];
    const number address = log[k].address;
    if (!address) return NONE;
    while (address - roots->begin >= roots->bytes) roots++;
    return ((address - roots->begin) / sizeof(double) + roots->first) << 32 | k;
}

DEVICE unsigned digit_of(number item, number shift) {
    return (unsigned)(item >> (32 + shift)) % DIGITS;
}

/* Of n items, where those of the CTA of that number begin. */
DEVICE number share_of(number n, number cta) {
    const number all = (n + SORTED_AT_ONCE - 1) / SORTED_AT_ONCE;
    return all * cta / gridDim.x * SORTED_AT_ONCE;
}

/* counts[CTA][digit]; 256 threads. */
KERNEL rvm_count_digits(const number *items, const entry *log, const root *roots, number n, number shift, unsigned *counts) {
    __shared__ unsigned count[DIGITS];
    const number share = share_of(n, blockIdx.x + 1), end = share < n ? share : n;
    count[threadIdx.x] = 0;
    __syncthreads();
    for (number k = share_of(n, blockIdx.x) + threadIdx.x; k < end; k += DIGITS) {
        const number item = item_at(items, log, roots, k);
        if (item != NONE) atomicAdd(&count[digit_of(item, shift)], 1u);
    }
    __syncthreads();
    counts[(number)blockIdx.x * DIGITS + threadIdx.x] = count[threadIdx.x];
}

enum { COLUMNS = 4 };

/* Counts of that many CTAs become where the first item of each digit goes that the CTA has. One CTA of 256 by 4 threads. */
KERNEL rvm_place_digits(unsigned *counts, number ctas) {
    __shared__ unsigned sums[COLUMNS][DIGITS], places[2][DIGITS];
    const unsigned d = threadIdx.x, c = threadIdx.y;
    const number begin = ctas * c / COLUMNS, end = ctas * (c + 1) / COLUMNS;
    unsigned sum = 0, now = 0, all = 0;
    UNROLL for (number k = begin; k < end; k++) sum += counts[k * DIGITS + d];
    sums[c][d] = sum;
    __syncthreads();
    for (unsigned k = 0; k < COLUMNS; k++) all += sums[k][d];
    if (c == 0) places[0][d] = all;
    __syncthreads();
    for (unsigned step = 1; step < DIGITS; step *= 2, now = 1 - now) {
        if (c == 0) places[1 - now][d] = places[now][d] + (d >= step ? places[now][d - step] : 0);
        __syncthreads();
    }
    unsigned place = places[now][d] - all;
    for (unsigned k = 0; k < c; k++) place += sums[k][d];
    for (number k = begin; k < end; k++) {
        const unsigned had = counts[k * DIGITS + d];
        counts[k * DIGITS + d] = place;
        place += had;
    }
}

/* Lanes of the warp whose digit is the same, of those that have one. */
DEVICE unsigned lanes_alike(unsigned digit, bool any) {
    unsigned alike = __ballot_sync(~0u, any);
    for (unsigned bit = 1; bit < DIGITS; bit *= 2) {
        const unsigned set = __ballot_sync(~0u, digit & bit);
        alike &= digit & bit ? set : ~set;
    }
    return alike;
}

/* To where rvm_place_digits says, in the grid of rvm_count_digits. Each warp has items side by side, 32 at once: those
 * before an item that have its digit are counted in the warp, then over warps. */
KERNEL rvm_sort_digits(const number *items, const entry *log, const root *roots, number n, number shift,
                       const unsigned *places, number *to) {
    __shared__ unsigned count[WARPS][DIGITS], place[DIGITS];
    const unsigned warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    const number share = share_of(n, blockIdx.x + 1), end = share < n ? share : n;
    place[threadIdx.x] = places[(number)blockIdx.x * DIGITS + threadIdx.x];
    for (number at = share_of(n, blockIdx.x); at < end; at += SORTED_AT_ONCE) {
        const number first = at + (number)warp * LANES * EACH;
        number item[EACH];
        unsigned before[EACH];
        for (unsigned k = lane; k < DIGITS; k += LANES) count[warp][k] = 0;
        __syncwarp();
        UNROLL for (unsigned k = 0; k < EACH; k++) {
            const number i = first + k * LANES + lane;
            item[k] = i < end ? item_at(items, log, roots, i) : NONE;
        }
        UNROLL for (unsigned k = 0; k < EACH; k++) {
            if (first + k * LANES >= end) continue;
            const unsigned digit = digit_of(item[k], shift), alike = lanes_alike(digit, item[k] != NONE);
            const unsigned lower = alike & ((1u << lane) - 1);
            before[k] = count[warp][digit] + __popc(lower);
            __syncwarp();
            if (item[k] != NONE && !lower) count[warp][digit] += __popc(alike);
            __syncwarp();
        }
        __syncthreads();
        for (unsigned w = 0; w < WARPS; w++) {
            const unsigned had = count[w][threadIdx.x];
            count[w][threadIdx.x] = place[threadIdx.x];
            place[threadIdx.x] += had;
        }
        __syncthreads();
        UNROLL for (unsigned k = 0; k < EACH; k++)
            if (item[k] != NONE) to[count[warp][digit_of(item[k], shift)] + before[k]] = item[k];
        __syncthreads();
    }
}

enum { SUMMED_AT_ONCE = 8, TERMS = 1 + SUMMED_AT_ONCE * LANES };

/* What an element has gained: `sum`, and, if it gains chunk by chunk, what the chunk adds. */
typedef struct gain {
    double sum, part;
    unsigned chunk;
    bool chunks;
} gain;

DEVICE void add_terms(gain *g, const double *terms, const unsigned *instance, unsigned n) {
    if (!g->chunks)
        UNROLL for (unsigned k = 0; k < n; k++) g->sum += terms[k];
    else
        for (unsigned k = 0; k < n; k++) {
            if (instance[k] / CHUNK != g->chunk) {
                g->sum += g->part;
                g->part = -0.0;
                g->chunk = instance[k] / CHUNK;
            }
            g->part += terms[k];
        }
}

/* Of an entry, of so many instances that the log has. */
DEVICE unsigned instance_of(number item, unsigned width, unsigned instances, unsigned up) {
    const unsigned row = (unsigned)item / width;
    return up ? row : instances - 1 - row;
}

/* Whether term k is the first of its element and its group; bit k of `firsts`: of its element. */
DEVICE bool begins_group(const unsigned *instance, unsigned k, number firsts) {
    return k == 0 || (k <= LANES && firsts >> k & 1) || instance[k] / PARTS != instance[k - 1] / PARTS;
}

/* A warp has n terms. Where an element's first one of a group stands comes the group's sum, and -0 where its others do; what
 * an instance adds is summed one by one, in a part of its own. The first group begins with the parts `open`; if the last one
 * goes on behind these terms, its parts go there, and its sum is -0. Each lane has the groups that begin in its share. */
DEVICE void sum_groups(double *terms, const unsigned *instance, unsigned n, number firsts, double *open, bool goes_on,
                       unsigned lane) {
    const unsigned each = (n + LANES - 1) / LANES | 1; /* odd: lanes read from banks of their own */
    const unsigned end = (lane + 1) * each < n ? (lane + 1) * each : n;
    unsigned k = lane * each;
    while (k < end && !begins_group(instance, k, firsts)) k++;
    const bool any = k < end;
    double part[PARTS];
    UNROLL for (unsigned j = 0; j < PARTS; j++) part[j] = k == 0 ? open[j] : -0.0;
    __syncwarp();
    for (unsigned group = k; any && k < n;) {
        const double term = terms[k];
        UNROLL for (unsigned j = 0; j < PARTS; j++) part[j] += instance[k] % PARTS == j ? term : -0.0;
        terms[k++] = -0.0;
        if (k < n && !begins_group(instance, k, firsts)) continue;
        const bool stays = k == n && goes_on;
        if (!stays) terms[group] = tree(part);
        for (unsigned j = 0; j < PARTS && stays; j++) open[j] = part[j];
        if (k >= end) break;
        UNROLL for (unsigned j = 0; j < PARTS; j++) part[j] = -0.0;
        group = k;
    }
    __syncwarp();
}

/* Elements gain the terms of n items that are sorted, in their order; those numbered up to `summed` chunk by chunk. A warp
 * has 32 items: each element of which the first item is among these is summed by one of its threads, the last of them with
 * all items that follow, which the warp loads: 32 at first, then more at once. Before them stands the group that was open.
 */
KERNEL rvm_sum_items(const number *items, number n, const entry *log, unsigned width, unsigned instances, unsigned up,
                     number summed) {
    __shared__ double terms[WARPS][TERMS], parts[WARPS][PARTS];
    __shared__ unsigned numbers[WARPS][TERMS];
    const unsigned warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    const number begin = ((number)blockIdx.x * WARPS + warp) * LANES, at = begin + lane;
    const number item = at < n ? items[at] : NONE, e = item >> 32;
    const bool first = at < n && (at == 0 || items[at - 1] >> 32 != e);
    const unsigned all = __ballot_sync(~0u, first), there = begin + LANES < n ? LANES : (unsigned)(n - begin);
    if (begin >= n || !all) return;
    const unsigned later = lane + 1 < LANES ? all & ~0u << (lane + 1) : 0, last = 31 - __clz(all);
    const unsigned some = __ballot_sync(~0u, e < summed), apart = all | ~some; /* apart: where another group begins */
    const number followed = __shfl_sync(~0u, e, last, LANES);
    double *own = terms[warp], *open = parts[warp], *to = 0;
    unsigned *of = numbers[warp];
    gain g = {0, -0.0, ~0u, e < summed};
    bool more = begin + LANES < n && items[begin + LANES] >> 32 == followed;
    own[1 + lane] = -0.0;
    of[1 + lane] = ~0u;
    if (lane == 0) own[0] = -0.0, of[0] = ~0u;
    if (lane < PARTS) open[lane] = -0.0;
    if (at < n && all & ((2u << lane) - 1)) {
        own[1 + lane] = log[item & ~0u].term;
        if (summed) of[1 + lane] = instance_of(item, width, instances, up);
        if (first) to = (double *)log[item & ~0u].address;
    }
    __syncwarp();
    if (some) sum_groups(own, of, there + 1, (number)apart << 1, open, more && followed < summed, lane);
    if (first) {
        g.sum = *to;
        add_terms(&g, own + 1 + lane, of + 1 + lane, (later ? (unsigned)__ffs((int)later) - 1 : there) - lane);
    }
    unsigned filled = there;
    for (number k = begin + LANES, rows = 1; more; k += rows * LANES, rows = SUMMED_AT_ONCE) {
        number next[SUMMED_AT_ONCE];
        const unsigned before = of[filled];
        filled = 0;
        UNROLL for (unsigned j = 0; j < SUMMED_AT_ONCE; j++) {
            const number i = k + j * LANES + lane;
            next[j] = j < rows && i < n ? items[i] : NONE;
        }
        __syncwarp();
        if (lane == 0) own[0] = -0.0, of[0] = before;
        UNROLL for (unsigned j = 0; j < SUMMED_AT_ONCE; j++) {
            const bool follows = next[j] != NONE && next[j] >> 32 == followed;
            filled += __popc(__ballot_sync(~0u, follows));
            if (!follows) continue;
            own[1 + j * LANES + lane] = log[next[j] & ~0u].term;
            if (summed) of[1 + j * LANES + lane] = instance_of(next[j], width, instances, up);
        }
        more = filled == rows * LANES;
        __syncwarp();
        if (followed < summed) sum_groups(own, of, filled + 1, 0, open, more, lane);
        if (lane == last) add_terms(&g, own, of, filled + 1);
    }
    if (first) *to = g.chunks ? g.sum + g.part : g.sum;
}

enum { PART = 8192 };

/* changed[p] is 1 where some of the p-th PART of n elements differ. A CTA looks at one part. */
KERNEL rvm_find_changes(const number *is, const number *was, number n, unsigned *changed) {
    const number begin = (number)blockIdx.x * PART, end = begin + PART < n ? begin + PART : n;
    bool any = false;
    for (number k = begin + threadIdx.x; k < end; k += blockDim.x) any |= is[k] != was[k];
    if (any) changed[blockIdx.x] = 1;
}

/* *far is 1 where some of n elements are farther from `was` than tolerance times the larger of `least` and that, or are, or
 * were, no numbers; what is not real: where some differ. was NULL: all were `all`. */
KERNEL rvm_find_far(const number *is, const number *was, number all, number n, number real, double tolerance, double least,
                    unsigned *far) {
    bool any = false;
    for (number k = (number)blockIdx.x * blockDim.x + threadIdx.x; k < n; k += (number)gridDim.x * blockDim.x) {
        const number before = was ? was[k] : all;
        const double a = __longlong_as_double(is[k]), b = __longlong_as_double(before);
        const double size = b < 0 ? -b : b, off = a < b ? b - a : a - b;
        any |= real ? !(off <= tolerance * (size > least ? size : least)) : is[k] != before;
    }
    if (any) *far = 1;
}

KERNEL rvm_fill(number *to, number n, number with) {
    for (number k = (number)blockIdx.x * blockDim.x + threadIdx.x; k < n; k += (number)gridDim.x * blockDim.x) to[k] = with;
}

/* *found is 1 where some of n elements are no f32, widened. */
KERNEL rvm_find_doubles(const number *is, number n, unsigned *found) {
    bool any = false;
    for (number k = (number)blockIdx.x * blockDim.x + threadIdx.x; k < n; k += (number)gridDim.x * blockDim.x) {
        const double x = __longlong_as_double(is[k]);
        any |= x == x && (double)(float)x != x;
    }
    if (any) *found = 1;
}
