"""The objectives of `rvm_bench gpu` in JAX and PyTorch, on the same card: python3 bench/gpu.py [TEXT in the title].

Doubles throughout, arrays on the device, compiled and warm; the median of some calls in a row, each waited for. PyTorch runs as it
is written (autograd, torch.func), JAX under jit.
"""
import os
import statistics
import sys
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import numpy as np

try:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
except ImportError:
    jax = None
try:
    import torch

    torch.set_default_dtype(torch.float64)
    cuda = torch.device("cuda")
except ImportError:
    torch = None


def median(run, wait, budget=1.0, most=31):
    run(), wait(run())
    samples, spent = [], 0.0
    while len(samples) < most and (not samples or spent < budget):
        begin = time.perf_counter()
        wait(run())
        samples.append(time.perf_counter() - begin)
        spent += samples[-1]
    return statistics.median(samples)


def with_jax(f, *arrays):
    run = jax.jit(f)
    arrays = [jax.device_put(a) for a in arrays]
    return median(lambda: run(*arrays), jax.block_until_ready)


def with_torch(f, *arrays):
    arrays = [torch.as_tensor(a, device=cuda) for a in arrays]
    return median(lambda: f(*arrays), lambda _: torch.cuda.synchronize())


def show(title, jax_run, torch_run):
    if len(sys.argv) > 1 and sys.argv[1] not in title:
        return
    print(title)
    for name, there, run in (("JAX", jax, jax_run), ("PyTorch", torch, torch_run)):
        if not there or not run:
            continue
        try:
            print(f"    {name:18} {1e3 * run():11.3f} ms", flush=True)
        except Exception as e:  # out of memory, most of all
            print(f"    {name:18} {type(e).__name__}: {str(e).splitlines()[0][:100]}", flush=True)
        if torch:
            torch.cuda.empty_cache()


# ---- the Gaussian mixture: icf has d logarithms of a diagonal, then what is below it by columns ----


def triangle(d):
    columns, rows = np.triu_indices(d, 1)
    return rows, columns


def gmm(d, K, N):
    rng = np.random.default_rng(1)
    c = d * (d + 1) // 2
    arrays = (rng.normal(size=K), rng.random((K, d)), rng.normal(size=(K, c)) * 0.3, rng.normal(size=(N, d)))
    rows, columns = triangle(d)

    def value_jax(alphas, means, icf, x):
        diag = jnp.exp(icf[:, :d])
        L = jnp.zeros((K, d, d)).at[:, rows, columns].set(icf[:, d:])
        e = x[:, None, :] - means
        y = e * diag + jnp.einsum("kij,nkj->nki", L, e)
        t = alphas + icf[:, :d].sum(1) - 0.5 * (y**2).sum(2)
        prior = 0.5 * ((diag**2).sum() + (icf[:, d:] ** 2).sum()) - 2 * icf[:, :d].sum()
        return jax.nn.logsumexp(t, axis=1).sum() - N * jax.nn.logsumexp(alphas) + prior

    def gradient_torch(alphas, means, icf, x):
        a, m, i = (v.detach().requires_grad_() for v in (alphas, means, icf))
        diag = torch.exp(i[:, :d])
        L = torch.zeros((K, d, d), device=cuda)
        L[:, rows, columns] = i[:, d:]
        e = x[:, None, :] - m
        y = e * diag + torch.einsum("kij,nkj->nki", L, e)
        t = a + i[:, :d].sum(1) - 0.5 * (y**2).sum(2)
        prior = 0.5 * ((diag**2).sum() + (i[:, d:] ** 2).sum()) - 2 * i[:, :d].sum()
        v = torch.logsumexp(t, 1).sum() - N * torch.logsumexp(a, 0) + prior
        return torch.autograd.grad(v, (a, m, i))

    show(
        f"Gaussian mixture, d={d} K={K}, {N} points, gradient",
        lambda: with_jax(jax.grad(value_jax, argnums=(0, 1, 2)), *arrays),
        lambda: with_torch(gradient_torch, *arrays),
    )


# ---- bundle adjustment: the residual of one observation, and its Jacobian by camera, point and weight ----


def residual(np_, cam, X, w, feature):
    r, C = cam[:3], cam[3:6]
    a2 = (r * r).sum()
    a = np_.sqrt(a2)
    d = X - C
    cross = jnp.cross if np_ is not torch else torch.linalg.cross
    u = cross(r, d)
    v = cross(r, u)
    P = d + np_.sin(a) / a * u + (1 - np_.cos(a)) / a2 * v
    p = P[:2] / P[2]
    p2 = (p * p).sum()
    return w * (cam[6] * (1 + p2 * (cam[9] + p2 * cam[10])) * p + cam[7:9] - feature)


def bundle(m, p, n):
    rng = np.random.default_rng(1)
    lo = np.array([0.3, 0.3, 0.3, -1, -1, -12, 400, -10, -10, -0.05, -0.002])
    hi = np.array([0.6, 0.6, 0.6, 1, 1, -8, 600, 10, 10, 0.05, 0.002])
    arrays = (
        lo + (hi - lo) * rng.random((m, 11)),
        rng.random((p, 3)) * 4 - 2,
        0.5 + 0.5 * rng.random(n),
        rng.integers(0, m, n),
        np.arange(n) * p // n,
        rng.random((n, 2)) * 200 - 100,
    )

    def jacobian_jax(cameras, points, w, camera, point, feature):
        f = lambda c, X, w, o: residual(jnp, c, X, w, o)
        J = jax.vmap(jax.jacrev(f, argnums=(0, 1, 2)))(cameras[camera], points[point], w, feature)
        return J, -2 * w

    def jacobian_torch(cameras, points, w, camera, point, feature):
        f = lambda c, X, w, o: residual(torch, c, X, w, o)
        J = torch.func.vmap(torch.func.jacrev(f, argnums=(0, 1, 2)))(cameras[camera], points[point], w, feature)
        return J, -2 * w

    show(
        f"Bundle adjustment, {n} observations, Jacobian",
        lambda: with_jax(jacobian_jax, *arrays),
        lambda: with_torch(jacobian_torch, *arrays),
    )

    def error(np_, vmap, cameras, points, w, camera, point, feature):
        f = lambda c, X, w, o: residual(np_, c, X, w, o)
        e = vmap(f)(cameras[camera], points[point], w, feature)
        return (e * e).sum()

    show(
        f"Reprojection error, {n} observations, gradient",
        lambda: with_jax(jax.grad(lambda *a: error(jnp, jax.vmap, *a), argnums=(0, 1)), *arrays),
        lambda: with_torch(torch.func.grad(lambda *a: error(torch, torch.func.vmap, *a), argnums=(0, 1)), *arrays),
    )


# ---- the simple hand of ADBench: its Jacobian by 26 parameters, forward ----


def hand(n):
    rng = np.random.default_rng(1)
    b, v = 22, 544
    parents = [-1 if m == 0 else m - 1 if m > 2 and (m - 2) % 4 else 0 if m == 1 else 1 for m in range(b)]
    frames = lambda: 0.1 * rng.normal(size=(b, 3, 4)) + np.eye(3, 4)
    weights = rng.random((v, b))
    weights /= weights.sum(1, keepdims=True)
    X = np.concatenate((0.5 * rng.normal(size=(v, 3)), np.ones((v, 1))), 1)
    vertex = rng.integers(0, v, n)
    arrays = (0.5 * rng.normal(size=26), frames(), frames(), weights, X, vertex, rng.normal(size=(n, 3)))

    def misses(np_, theta, relatives, inverses, weights, X, vertex, points):
        zero, one = 0 * theta[0], 0 * theta[0] + 1
        matrix = lambda *rows: np_.stack([np_.stack(row) for row in rows])
        # of 3 by 4 matrices whose last row would be (0, 0, 0, 1)
        compose = lambda A, B: np_.concatenate((A[:, :3] @ B[:, :3], (A[:, :3] @ B[:, 3] + A[:, 3])[:, None]), 1)
        absolute = []
        for m in range(b):
            joint, first = (3 if m < 2 else (m - 2) % 4), 6 + (m - 2) // 4 * 4
            flexion = theta[first] if joint == 0 else theta[first + joint + 1] if joint < 3 else zero
            abduction = theta[first + 1] if joint == 0 else zero
            cx, sx, cz, sz = np_.cos(flexion), np_.sin(flexion), np_.cos(abduction), np_.sin(abduction)
            turn = matrix((cz, -sz * cx, sz * sx), (sz, cz * cx, -cz * sx), (zero, sx, cx))
            turned = np_.concatenate((relatives[m][:, :3] @ turn, relatives[m][:, 3:]), 1)
            absolute.append(turned if parents[m] < 0 else compose(absolute[parents[m]], turned))
        T = np_.stack([compose(absolute[m], inverses[m]) for m in range(b)])
        p = np_.einsum("nm,mkl,nl->nk", weights[vertex], T, X[vertex])
        r = theta[:3]
        a = np_.sqrt((r * r).sum())
        K = matrix((zero, -r[2], r[1]), (r[2], zero, -r[0]), (-r[1], r[0], zero))
        R = matrix((one, zero, zero), (zero, one, zero), (zero, zero, one)) + np_.sin(a) / a * K + (1 - np_.cos(a)) / a**2 * (K @ K)
        return points - (p @ R.T + theta[3:6])

    show(
        f"Hand tracking, simple, {n} points, Jacobian",
        lambda: with_jax(jax.jacfwd(lambda *a: misses(jnp, *a)), *arrays),
        lambda: with_torch(torch.func.jacfwd(lambda *a: misses(torch, *a)), *arrays),
    )


# ---- J_2 by its series ----


def bessel(n):
    rng = np.random.default_rng(1)
    z, seed = 0.99 + 0.02 * rng.random(n), 0.5 + 0.5 * rng.random(n)

    def value(z):
        half = z / 2
        term = half**2 / 2
        s = term
        for k in range(1, 9):
            term = term * (-(half**2) / (k * (k + 2)))
            s = s + term
        return s

    def gradient_torch(z, seed):
        x = z.detach().requires_grad_()
        return torch.autograd.grad(value(x), x, seed)

    show(
        f"Bessel function J_2 near 1, {n} values, gradient",
        lambda: with_jax(lambda z, seed: jax.vjp(value, z)[1](seed)[0], z, seed),
        lambda: with_torch(gradient_torch, z, seed),
    )


# ---- the graph embedding in two dimensions: Petersen's graph ----


def embedding(n):
    near = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 5), (1, 6), (2, 7), (3, 8), (4, 9), (5, 7), (7, 9), (9, 6), (6, 8), (8, 5)]
    far = [(i, j) for i in range(10) for j in range(i + 1, 10) if (i, j) not in near and (j, i) not in near]
    x = np.random.default_rng(1).normal(size=(10, 2, n))

    def loss(np_, x):
        def lengths(pairs):
            a, b = (np.array(v) for v in zip(*pairs))
            return np_.sqrt(((x[a] - x[b]) ** 2).sum(1))

        v = np_.var if np_ is jnp else lambda d, axis: torch.var(d, axis, unbiased=False)
        s, t = lengths(near), lengths(far)
        gap = 0.1 + s.mean(0) - t.mean(0)
        return (v(s, 0) + v(t, 0) + np_.where(gap > 0, np_.expm1(gap), 0)).sum()

    def gradient_torch(x):
        y = x.detach().requires_grad_()
        return torch.autograd.grad(loss(torch, y), y)

    show(
        f"Graph embedding, {n} starts, gradient",
        lambda: with_jax(jax.grad(lambda x: loss(jnp, x)), x),
        lambda: with_torch(gradient_torch, x),
    )


# ---- leapfrog, in JAX alone: a reverse sweep that keeps all states needs more memory than there is, sooner or later ----


def orbits(n, steps):
    radii = np.array([0, 5.2, 9.6, 19.2, 30.1, 39.5])
    m = np.array([1, 9.5e-4, 2.9e-4, 4.4e-5, 5.2e-5, 7.7e-9])
    q = np.zeros((6, 3, n)) + 1e-3 * np.random.default_rng(1).random((6, 3, n))
    v = q.copy()
    q[:, 0] += radii[:, None]
    v[1:, 1] += (2 * np.pi / np.sqrt(radii[1:]))[:, None]
    target, h = np.array([0.3, -0.2, 0.1]), 0.01

    def miss(q, v):
        def step(state, _):
            q, v = state
            q = q + h / 2 * v
            d = q[:, None] - q[None]
            r2 = (d**2).sum(2) + jnp.eye(6)[..., None]
            w = 4 * np.pi**2 * h * r2**-1.5
            v = v - (m[None, :, None, None] * w[:, :, None] * d).sum(1)
            return (q + h / 2 * v, v), None

        (q, v), _ = jax.lax.scan(step, (q, v), None, length=steps)
        return ((q[1] - target[:, None]) ** 2).sum()

    show(f"Leapfrog, {n} systems, {steps} steps, gradient", lambda: with_jax(jax.grad(miss, argnums=(0, 1)), q, v), None)


if __name__ == "__main__":
    gmm(10, 25, 1000)
    gmm(10, 25, 1000000)
    gmm(64, 25, 10000)
    gmm(128, 200, 10000)
    bundle(49, 7776, 31843)
    bundle(1000, 250000, 1091386)
    bundle(13682, 4456117, 9130000)
    hand(100000)
    bessel(10000000)
    embedding(1000000)
    orbits(100000, 100)
    orbits(100000, 10000)
