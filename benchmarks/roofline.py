"""Where the time goes: bytes and flops a tet of the fast path against what this machine can move and compute.

    python -m benchmarks.roofline

Memory bandwidth is measured with a sum over an array as large as the solver's, peak flops with independent chains of
fused multiply-adds in lanes. Flops and bytes of a push are counted from the source of kernels.tets_volumetric.
"""

from __future__ import annotations

import time

import numpy as np
from numba import njit

import pliant as pl
from benchmarks.own import hanging, iteration
from pliant.kernels.threads import Team, share
from pliant.lanes import load, make_zero, number, store, width_of
from pliant.lanes.host import core_count, default_width
from pliant.solvers import Execution

# One push of kernels.tets_volumetric.add_volumetric, a fused multiply-add counted as two:
FLOPS_OF_A_PUSH = {
    "position relative to the vertex": 3,
    "two edges of the triangle": 6,
    "area vector": 9,
    "J": 6,
    "phi' and phi'' of stable neo-Hookean": 6,
    "factors": 4,
    "force of phi": 6,
    "force of the Laplacian": 6,
    "Hessian": 3 + 12,
}
BYTES_OF_A_PUSH = {"row of the pushed vertex": 4, "1 / 6V": 4, "weight of the edge": 4}

WIDTH = default_width("single")
zero = make_zero("single", WIDTH)


@njit(nogil=True, error_model="numpy")
def _stream(thread, threads, barrier, array, out):
    """Read a share of the array once."""
    first, last = share(0, len(array) // (4 * WIDTH), thread, threads)
    a = b = c = d = zero()
    for k in range(first, last):
        a = a + load(array, 4 * k * WIDTH, a)
        b = b + load(array, (4 * k + 1) * WIDTH, a)
        c = c + load(array, (4 * k + 2) * WIDTH, a)
        d = d + load(array, (4 * k + 3) * WIDTH, a)
    store(out, thread * width_of(a), a + b + c + d)


@njit(nogil=True, error_model="numpy")
def _multiply_add(thread, threads, barrier, rounds, out):
    """Ten independent chains of fused multiply-adds, enough to hide their latency."""
    x = number(0.999, zero())
    a = b = c = d = e = f = g = h = i = j = x
    for _ in range(rounds):
        a, b, c, d, e = a * x + x, b * x + x, c * x + x, d * x + x, e * x + x
        f, g, h, i, j = f * x + x, g * x + x, h * x + x, i * x + x, j * x + x
    store(out, thread * width_of(a), a + b + c + d + e + f + g + h + i + j)


def _best(function, *arguments) -> float:
    function(*arguments)
    best = np.inf
    for _ in range(7):
        began = time.perf_counter()
        function(*arguments)
        best = min(best, time.perf_counter() - began)
    return best


def bandwidth(threads: int, megabytes: int) -> float:
    """Bytes a second that can be read."""
    array, out = np.ones(megabytes * 2**18, np.float32), np.zeros(threads * WIDTH, np.float32)
    return array.nbytes / _best(Team(threads).run, _stream, array, out)


def peak_flops(threads: int) -> float:
    """Single-precision operations a second in lanes."""
    rounds, out = 2_000_000, np.zeros(threads * WIDTH, np.float32)
    return 20 * WIDTH * rounds * threads / _best(Team(threads).run, _multiply_add, rounds, out)


def report() -> dict:
    mesh_sizes = {"cube 25^3": 25, "cube 50^3": 50}
    flops_a_push, bytes_a_push = sum(FLOPS_OF_A_PUSH.values()), sum(BYTES_OF_A_PUSH.values())
    figures: dict = {"flops a push": flops_a_push, "bytes a push": bytes_a_push}
    print(f"a push: {flops_a_push} flops, {bytes_a_push} bytes streamed, one vertex of 16 bytes gathered from cache")
    for threads in sorted({1, core_count()}):
        peak = peak_flops(threads)
        print(f"\n{threads} thread(s): peak {peak / 1e9:.0f} Gflop/s")
        for name, cells in mesh_sizes.items():
            mesh = pl.shapes.box(cells=(cells,) * 3, split="kuhn")
            sim = pl.Simulation(hanging(mesh), frame_rate=100, substeps=1)
            work = pl.VBD().init(sim.problem(), Execution("single", threads))
            pushes = len(work.terms[0].pushed)
            ms, _, size = iteration(mesh, threads=threads)
            stream = bandwidth(threads, max(1, size // 2**20))
            flops, moved = flops_a_push * pushes, bytes_a_push * pushes
            row = {
                "pushes a tet": pushes / mesh.n_tets,
                "flops a tet": flops / mesh.n_tets,
                "bytes per tet": moved / mesh.n_tets,
                "Gflop/s": flops / ms / 1e6,
                "part of peak flops": flops / ms * 1e3 / peak,
                "GB/s": moved / ms / 1e6,
                "bandwidth of as large an array, GB/s": stream / 1e9,
                "part of that bandwidth": moved / ms * 1e3 / stream,
            }
            figures[f"{name}, {threads} threads"] = row
            print(f"  {name}: " + ", ".join(f"{key} {value:.3g}" for key, value in row.items()), flush=True)
    return figures


if __name__ == "__main__":
    report()
