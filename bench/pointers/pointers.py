"""Arrays of PyTorch and CuPy pass to rvm without a copy, in their stream: python3 bench/pointers/pointers.py MODULE

Without either, arrays of what RVM_CUDA_DRIVER names (tests). Ends with 1 where a result is wrong or an array was copied.
"""
import ctypes
import os
import sys

N, A = 1 << 16, 2.5
axpy = ctypes.CDLL(sys.argv[1]).axpy
axpy.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int64, ctypes.c_double, ctypes.c_void_p]
axpy.argtypes += [ctypes.POINTER(ctypes.c_uint64), ctypes.c_char_p, ctypes.c_size_t]


def run(name, x, y, stream, right):
    moved, why = ctypes.c_uint64(), ctypes.create_string_buffer(200)
    failed = axpy(x, y, N, A, stream, ctypes.byref(moved), why, len(why))
    good = not failed and right() and moved.value < N  # eight bytes an element would be 2 x 8 N
    print(f"{name}: {'right' if good else 'WRONG'}, {moved.value} bytes copied {why.value.decode()}")
    return good


def with_torch():
    import torch

    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        x = torch.rand(N, dtype=torch.float64, device="cuda")
        y = torch.rand(N, dtype=torch.float64, device="cuda")
        expected = y + A * x
        stream.synchronize()
        return run("PyTorch", x.data_ptr(), y.data_ptr(), stream.cuda_stream, lambda: torch.equal(y, expected))


def with_cupy():
    import cupy

    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        x, y = cupy.random.rand(N), cupy.random.rand(N)
        expected = y + A * x
        stream.synchronize()
        return run("CuPy", x.data.ptr, y.data.ptr, stream.ptr, lambda: bool((y == expected).all()))


def with_driver():
    driver = ctypes.CDLL(os.environ["RVM_CUDA_DRIVER"])
    context, pointers = ctypes.c_void_p(), [ctypes.c_uint64(), ctypes.c_uint64()]
    driver.cuInit(0)
    driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    driver.cuCtxPushCurrent_v2(context)
    values = [[k % 7 + 0.5 for k in range(N)], [1.0 * (k % 5) for k in range(N)]]
    there = ctypes.c_double * N
    for p, v in zip(pointers, values):
        driver.cuMemAlloc_v2(ctypes.byref(p), ctypes.c_size_t(8 * N))
        driver.cuMemcpyHtoDAsync_v2(p, there(*v), ctypes.c_size_t(8 * N), None)

    def right():
        y = there()
        driver.cuMemcpyDtoHAsync_v2(y, pointers[1], ctypes.c_size_t(8 * N), None)
        return all(y[k] == values[1][k] + A * values[0][k] for k in range(N))

    return run("driver", pointers[0].value, pointers[1].value, None, right)


ways = [with_torch, with_cupy] if "RVM_CUDA_DRIVER" not in os.environ else [with_driver]
results = []
for way in ways:
    try:
        results.append(way())
    except ImportError:
        pass
sys.exit(0 if all(results) else 1)
