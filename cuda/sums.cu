/* sums.cu: what the instances of a kernel add, put together, and where they have changed an array: kernels behind that kernel.
 *
 * sums.ptx is made of it, once, and belongs to the tree, so that no toolkit is needed:
 *
 *     nvcc -ptx -arch=compute_75 -fmad=false -o - cuda/sums.cu | sed 's|^.version 9.0|.version 7.3|' >cuda/sums.ptx
 */
#ifdef __CUDACC__ /* else who includes it says what these are (tests/grid) */
#define KERNEL extern "C" __global__ void
#define DEVICE __device__ static
#define UNROLL _Pragma("unroll 16")
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

enum { GROUPS = 8, TILE = 512, LANES = 32, AT_ONCE = TILE / LANES };

/* Elements to which n instances add, one after the other, upwards or downwards, chunk by chunk: what a chunk adds is summed
 * from -0. Element e has the additions list[from[e]] to
 * list[from[e + 1] - 1] of each instance, in their order; addition s of instance i is log[s * n + i]. A CTA has 8 warps and as many
 * elements: each warp loads what some instances add to its own, as many as there is room for, all at once; then 8 threads
 * add that. With `chunks`, what each chunk adds goes there, [chunk][element], in that order, and no element gains. */
KERNEL rvm_sum_log(double *const *to, const unsigned *from, const unsigned *list, const double *log, number n, number up,
                   unsigned elements, double *chunks) {
    __shared__ double tile[GROUPS * (TILE + 1)];
    const unsigned first = blockIdx.x * GROUPS, last = first + GROUPS < elements ? first + GROUPS : elements;
    const unsigned mine = first + threadIdx.x, warp = threadIdx.x / LANES, lane = threadIdx.x % LANES, loads = first + warp;
    const bool adds = threadIdx.x < GROUPS && mine < last;
    const unsigned begin = adds ? from[mine] : 0, terms = adds ? from[mine + 1] - begin : 0;
    const unsigned row = loads < last ? from[loads] : 0, rows = loads < last ? from[loads + 1] - row : 0;
    unsigned most = 1;
    for (unsigned e = first; e < last; e++)
        if (from[e + 1] - from[e] > most) most = from[e + 1] - from[e];
    const bool fits = most <= AT_ONCE;
    const unsigned each = fits ? TILE / most / LANES * LANES : TILE;
    double sum = adds ? *to[mine] : 0, part = -0.0;
    unsigned left = up || n % CHUNK == 0 ? CHUNK : (unsigned)(n % CHUNK); /* instances of the chunk */
    for (number done = 0; done < n; done += each) {
        const unsigned some = done + each < n ? each : (unsigned)(n - done);
        for (unsigned s = 0; fits && s < rows; s++) {
            const double *one = log + list[row + s] * n;
            double *own = tile + warp * (TILE + 1) + s * each;
            double loaded[AT_ONCE];
            UNROLL for (unsigned k = 0; k < AT_ONCE; k++) {
                const unsigned i = k * LANES + lane;
                loaded[k] = i < some ? one[up ? done + i : n - 1 - done - i] : 0;
            }
            UNROLL for (unsigned k = 0; k < AT_ONCE; k++)
                if (k * LANES + lane < some) own[k * LANES + lane] = loaded[k];
        }
        __syncthreads();
        const double *own = tile + threadIdx.x * (TILE + 1);
        for (unsigned i = 0, end; i < some; i = end) {
            end = i + (left < some - i ? left : some - i);
            left -= end - i;
            if (adds && terms == 1 && fits)
                UNROLL for (unsigned k = i; k < end; k++) part += own[k];
            else if (adds)
                for (unsigned k = i; k < end; k++)
                    for (unsigned s = 0; s < terms; s++)
                        part += fits ? own[s * each + k] : log[list[begin + s] * n + (up ? done + k : n - 1 - done - k)];
            if (left) continue;
            if (adds && chunks) chunks[(done + end - 1) / CHUNK * elements + mine] = part;
            sum += part;
            part = -0.0;
            left = CHUNK;
        }
        __syncthreads();
    }
    if (adds && !chunks) *to[mine] = sum + part;
    if (adds && chunks && left < CHUNK) chunks[(n - 1) / CHUNK * elements + mine] = part;
}

enum { PART = 8192 };

/* changed[p] is 1 where some of the p-th PART of n elements differ. A CTA looks at one part. */
KERNEL rvm_find_changes(const number *is, const number *was, number n, unsigned *changed) {
    const number begin = (number)blockIdx.x * PART, end = begin + PART < n ? begin + PART : n;
    bool any = false;
    for (number k = begin + threadIdx.x; k < end; k += blockDim.x) any |= is[k] != was[k];
    if (any) changed[blockIdx.x] = 1;
}
