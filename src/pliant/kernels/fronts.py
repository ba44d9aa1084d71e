"""What is compiled of the multifrontal method: sums of fronts, and solutions by triangular panels.

A panel is (p + m, p), column by column: the factor's columns of a front's unknowns, in their own rows and in the m rows
beyond. p is their number, padded to a multiple of four by columns of the identity.
"""

from __future__ import annotations

from pliant.lanes.entry import entry
from pliant.lanes.inner import inner


@inner(nogil=True, _nrt=False)
def padded(width):
    """Columns of a panel for so many unknowns."""
    return (width + 3) // 4 * 4


@entry(nogil=True, _nrt=False)
def add_front(child, at, inner_count, own, below, beyond):
    """Add what a front leaves to later ones, `child` (m, m), lower triangle, to the parent's matrices.

    at: (m,) where each row stands in the parent: the first inner_count among its own unknowns, the others beyond.
    own (w, w), below (k, w), beyond (k, k): lower triangles.
    """
    inner, outer = at[:inner_count], at[inner_count:]
    for c in range(len(inner)):
        left = child[:, c]
        to_own, to_below = own[:, inner[c]], below[:, inner[c]]
        for r in range(c, len(inner)):
            to_own[inner[r]] += left[r]
        left = left[inner_count:]
        for r in range(len(outer)):
            to_below[outer[r]] += left[r]
    for c in range(len(outer)):
        left, to_beyond = child[inner_count:, inner_count + c], beyond[:, outer[c]]
        for r in range(c, len(outer)):
            to_beyond[outer[r]] += left[r]


@entry(nogil=True, _nrt=False, fastmath={"reassoc", "contract"})
def solve_fronts(panels, panel_start, begin, row_start, rows, z, x):
    """Let each of x (k, n), in the order of elimination, be A^-1 x by Cholesky's factors.

    z: (k, rows of the largest panel), scratch: what x has in the rows of a panel. Four columns are taken at a time, so
    that z is read and written a quarter as often.
    """
    fronts, sides = len(begin) - 1, len(x)
    for f in range(fronts):
        a, w = begin[f], begin[f + 1] - begin[f]
        at = rows[row_start[f] : row_start[f + 1]]
        wide = padded(w)
        height = wide + len(at)
        for i in range(sides):
            for r in range(w):
                z[i, r] = x[i, a + r]
            for r in range(w, height):
                z[i, r] = 0.0
        for j in range(0, wide, 4):
            c0, c1, c2, c3 = _columns(panels, panel_start[f], height, j)
            for i in range(sides):
                here, rest = z[i, j : j + 4], z[i, j + 4 : height]
                y0 = here[0] / c0[0]
                y1 = (here[1] - c0[1] * y0) / c1[1]
                y2 = (here[2] - c0[2] * y0 - c1[2] * y1) / c2[2]
                y3 = (here[3] - c0[3] * y0 - c1[3] * y1 - c2[3] * y2) / c3[3]
                here[0], here[1], here[2], here[3] = y0, y1, y2, y3
                d0, d1, d2, d3 = c0[4:], c1[4:], c2[4:], c3[4:]
                for r in range(len(rest)):
                    rest[r] -= d0[r] * y0 + d1[r] * y1 + d2[r] * y2 + d3[r] * y3
        for i in range(sides):
            for r in range(w):
                x[i, a + r] = z[i, r]
            for r in range(len(at)):
                x[i, at[r]] += z[i, wide + r]
    for f in range(fronts - 1, -1, -1):
        a, w = begin[f], begin[f + 1] - begin[f]
        at = rows[row_start[f] : row_start[f + 1]]
        wide = padded(w)
        height = wide + len(at)
        for i in range(sides):
            for r in range(w):
                z[i, r] = x[i, a + r]
            for r in range(w, wide):
                z[i, r] = 0.0
            for r in range(len(at)):
                z[i, wide + r] = x[i, at[r]]
        for j in range(wide - 4, -1, -4):
            c0, c1, c2, c3 = _columns(panels, panel_start[f], height, j)
            for i in range(sides):
                here, rest = z[i, j : j + 4], z[i, j + 4 : height]
                d0, d1, d2, d3 = c0[4:], c1[4:], c2[4:], c3[4:]
                s0 = s1 = s2 = s3 = 0.0
                for r in range(len(rest)):
                    s0 += d0[r] * rest[r]
                    s1 += d1[r] * rest[r]
                    s2 += d2[r] * rest[r]
                    s3 += d3[r] * rest[r]
                y3 = (here[3] - s3) / c3[3]
                y2 = (here[2] - s2 - c2[3] * y3) / c2[2]
                y1 = (here[1] - s1 - c1[3] * y3 - c1[2] * y2) / c1[1]
                y0 = (here[0] - s0 - c0[3] * y3 - c0[2] * y2 - c0[1] * y1) / c0[0]
                here[0], here[1], here[2], here[3] = y0, y1, y2, y3
        for i in range(sides):
            for r in range(w):
                x[i, a + r] = z[i, r]


@inner(nogil=True, _nrt=False)
def _columns(panels, start, height, j):
    """Columns j to j + 3 of a panel, from row j on."""
    at = start + j * (height + 1)
    size = height - j
    c1, c2, c3 = at + height, at + 2 * height, at + 3 * height
    return panels[at : at + size], panels[c1 : c1 + size], panels[c2 : c2 + size], panels[c3 : c3 + size]
