/* sums.cu: what the instances of a kernel add, put together: kernels behind that kernel.
 *
 * sums.ptx is made of it, once, and belongs to the tree, so that no toolkit is needed:
 *
 *     nvcc -ptx -arch=compute_75 -fmad=false -o - cuda/sums.cu | sed 's|^.version 9.0|.version 7.3|' >cuda/sums.ptx
 */
#ifdef __CUDACC__ /* else who includes it says what these are (tests/grid) */
#define KERNEL extern "C" __global__ void
#define DEVICE __device__ static
#endif
typedef unsigned long long number;

enum { PARTS = 8, CHUNK = 1024 }; /* as the interpreter has them (vm/machine.h) */
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
