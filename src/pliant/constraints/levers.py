"""Which rigid bodies constraints act on, and at which levers."""

from __future__ import annotations

from pliant.constraints.rows import CONTACT
from pliant.elements.closest import row
from pliant.lanes.compiled import inlined
from pliant.lanes.entry import entry
from pliant.lanes.vectors import add_scaled, subtract


@entry(nogil=True, error_model="numpy")
def write_levers(rows, first, last, carrier_of, x, radius, centres):
    """Write carriers and levers of rows from `first` to `last`.

    carrier_of (n,): body that carries each vertex, else -1; x (n, 3) [m] at the start of the step; radius (n,) [m]: a
    contact acts so far from its vertex, on the surface; centres (b, 3) [m] of mass.
    """
    for i in range(first, last):
        reach = 1.0 if rows.kind[i] == CONTACT else 0.0
        n, vertex = row(rows.normal, i), rows.vertices[i, 0]
        rows.carrier[i, 0] = carrier_of[vertex]
        if carrier_of[vertex] >= 0:
            put_lever(rows, i, 0, add_scaled(row(x, vertex), -reach * radius[vertex], n), centres)
        vertex = rows.vertices[i, 1]
        rows.carrier[i, 1] = carrier_of[vertex] if vertex >= 0 else -1
        if rows.carrier[i, 1] >= 0:
            place = row(x, vertex)
            if rows.vertices[i, 2] >= 0:
                place = (0.0, 0.0, 0.0)
                for k in range(3):
                    place = add_scaled(place, rows.weights[i, k], row(x, rows.vertices[i, k + 1]))
            put_lever(rows, i, 1, add_scaled(place, reach * radius[vertex], n), centres)
            if len(rows.rolling) > 0:
                rows.rolling[i, 2] = radius[rows.vertices[i, 0]]


@inlined
def put_lever(rows, i, side, place, centres):
    arm = subtract(place, row(centres, rows.carrier[i, side]))
    for axis in range(3):
        rows.levers[i, 3 * side + axis] = arm[axis]
