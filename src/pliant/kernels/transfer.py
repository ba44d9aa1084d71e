"""Numbers of vertices between the scene's order and the order of packs."""

from __future__ import annotations

from pliant.lanes.entry import entry
from pliant.lanes.inner import inner


@inner(nogil=True)
def vertex_at(row, vertex_of_row, is_wide, width):
    """The vertex of a row, that of the first lane in wide packs; negative in padding."""
    pack = row // width
    return vertex_of_row[pack * width if pack < len(is_wide) and is_wide[pack] else row]


@entry(nogil=True)
def to_rows(values, vertex_of_row, is_wide, width, rows):
    """values (n, 3) to rows (r, 4): in pack order, wide packs repeated in all lanes."""
    for row in range(len(vertex_of_row)):
        vertex = vertex_at(row, vertex_of_row, is_wide, width)
        if vertex >= 0:
            for k in range(3):
                rows[row, k] = values[vertex, k]


@entry(nogil=True)
def to_lanes(values, vertex_of_row, is_wide, width, lanes):
    """values (n, 3) to flat (packs, 3, width), for numbers that only the vertex itself reads."""
    for pack in range(len(is_wide)):
        for lane in range(width):
            vertex = vertex_of_row[pack * width + (0 if is_wide[pack] else lane)]
            if vertex >= 0:
                for k in range(3):
                    lanes[(pack * 3 + k) * width + lane] = values[vertex, k]


@entry(nogil=True)
def from_rows(rows, row_of_vertex, values):
    """rows (r, 4) back to values (n, 3) in the scene's order."""
    for vertex in range(len(row_of_vertex)):
        for k in range(3):
            values[vertex, k] = rows[row_of_vertex[vertex], k]


@entry(nogil=True)
def read_positions(x, origin, vertex_of_row, is_wide, width, rows):
    """Positions x (n, 3) [m] relative to an origin (3,) to rows (r, 4), as `to_rows` does."""
    read_rows(x, origin, vertex_of_row, is_wide, width, rows)


@entry(nogil=True)
def write_positions(rows, origin, row_of_vertex, held, x):
    """rows (r, 4) relative to an origin (3,) back to positions x (n, 3) [m], but for vertices that are held (k,), in
    ascending order.
    """
    write_rows(rows, origin, row_of_vertex, held, x)


@inner(nogil=True)
def read_rows(x, origin, vertex_of_row, is_wide, width, rows):
    size = len(vertex_of_row)
    for pack in range((size + width - 1) // width):
        first, is_repeated = pack * width, pack < len(is_wide) and is_wide[pack]
        for row in range(first, min(first + width, size)):
            vertex = vertex_of_row[first if is_repeated else row]
            if vertex >= 0:
                for k in range(3):
                    rows[row, k] = x[vertex, k] - origin[k]


@inner(nogil=True)
def write_rows(rows, origin, row_of_vertex, held, x):
    next_held = 0
    for vertex in range(len(row_of_vertex)):
        if next_held < len(held) and held[next_held] == vertex:
            next_held += 1
        else:
            for k in range(3):
                x[vertex, k] = rows[row_of_vertex[vertex], k] + origin[k]
