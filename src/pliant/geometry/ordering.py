"""An order of points in which neighbours in space are near in memory."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: Bits an axis: 65,536 cells along the longest side, three axes fit 48 of 64 bits.
_BITS = 16
#: Of a cell. Points of regular meshes lie on borders of cells, where rounding of their coordinates would decide; no
#: fraction that such a mesh divides a cell into is as long.
_OFF_GRID = 1 / np.pi


def spatial_order(points: ArrayLike) -> NDArray[np.int64]:
    """Permutation (n,) that walks points (n, 3) along a Hilbert curve: use `points[order]`.

    Points that fall in the same cell keep their order, so the result is deterministic.
    """
    array = np.asarray(points, dtype=np.float64)
    if len(array) == 0:
        return np.zeros(0, dtype=np.int64)
    low = array.min(axis=0)
    extent = float((array.max(axis=0) - low).max())
    if extent == 0.0:
        return np.arange(len(array))
    # One scale for all axes, so that cells are cubes.
    cell = ((array - low) / extent * (2**_BITS - 1) + _OFF_GRID).astype(np.uint32)
    return np.argsort(_hilbert_index(cell), kind="stable")


def _hilbert_index(cell: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """Distance (n,) along the Hilbert curve of integer cells (n, 3).

    J. Skilling, Programming the Hilbert curve (2004): undo the curve's turns bit by bit from the coarsest,
    which leaves the Gray code of the index in the transposed bits.
    """
    axes = [np.ascontiguousarray(cell[:, i]) for i in range(3)]
    for bit in range(_BITS - 1, 0, -1):
        below = np.uint32((1 << bit) - 1)
        for i in range(3):
            # All ones below `bit` where this axis has the bit, else zero.
            has_bit = (axes[i] >> np.uint32(bit)) & np.uint32(1)
            invert = has_bit * below
            if i == 0:
                axes[0] ^= invert
            else:
                swap = (axes[0] ^ axes[i]) & (below ^ invert)
                axes[0] ^= invert | swap
                axes[i] ^= swap
    axes[1] ^= axes[0]
    axes[2] ^= axes[1]
    gray = np.zeros_like(axes[0])
    for bit in range(_BITS - 1, 0, -1):
        gray ^= ((axes[2] >> np.uint32(bit)) & np.uint32(1)) * np.uint32((1 << bit) - 1)
    x, y, z = (_spread(a ^ gray) for a in axes)
    return (x << np.uint64(2)) | (y << np.uint64(1)) | z


def _spread(value: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """Put two zero bits between the bits of each number, so that three of them interleave."""
    v = value.astype(np.uint64)
    for shift, mask in (
        (32, 0x001F00000000FFFF),
        (16, 0x001F0000FF0000FF),
        (8, 0x100F00F00F00F00F),
        (4, 0x10C30C30C30C30C3),
        (2, 0x1249249249249249),
    ):
        v = (v | (v << np.uint64(shift))) & np.uint64(mask)
    return v
