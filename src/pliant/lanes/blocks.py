"""3x3 matrices of any kind as nine numbers (floats or lanes), row after row: what two vertices do to each other."""

from __future__ import annotations

from pliant.lanes.vectors import physics


@physics
def add_multiple(block, s):
    """block + s Identity."""
    return (block[0] + s, block[1], block[2], block[3], block[4] + s, block[5], block[6], block[7], block[8] + s)


@physics
def add_dyad(block, a, b):
    """block + a b^T."""
    return (
        block[0] + a[0] * b[0],
        block[1] + a[0] * b[1],
        block[2] + a[0] * b[2],
        block[3] + a[1] * b[0],
        block[4] + a[1] * b[1],
        block[5] + a[1] * b[2],
        block[6] + a[2] * b[0],
        block[7] + a[2] * b[1],
        block[8] + a[2] * b[2],
    )


@physics
def add_turn(block, s, a):
    """block + s [a], with [a] v = v x a."""
    x, y, z = s * a[0], s * a[1], s * a[2]
    return (
        block[0],
        block[1] + z,
        block[2] - y,
        block[3] - z,
        block[4],
        block[5] + x,
        block[6] + y,
        block[7] - x,
        block[8],
    )


@physics
def add_block(block, s, other):
    """block + s other."""
    return (
        block[0] + s * other[0],
        block[1] + s * other[1],
        block[2] + s * other[2],
        block[3] + s * other[3],
        block[4] + s * other[4],
        block[5] + s * other[5],
        block[6] + s * other[6],
        block[7] + s * other[7],
        block[8] + s * other[8],
    )


@physics
def transposed(block):
    return (block[0], block[3], block[6], block[1], block[4], block[7], block[2], block[5], block[8])
