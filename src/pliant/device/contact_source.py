"""Contacts in kernels: what one of them does to one of its vertices.

A contact is one record, which all its vertices read.  One with an obstacle has an anchor, the obstacle's point.
"""

from __future__ import annotations

from typing import NamedTuple

from pliant.device.c_text import Helpers
from pliant.device.follow_source import follow_functions, separation
from pliant.device.functions import FORCE_AND_BLOCK, NOTHING, Argument, c_function
from pliant.elements.contact import add_contact
from pliant.lanes.vectors import add_scaled, subtract

_DECLARED = {
    "contact_start": "const int",  # (rows + 1,) first entry of each vertex
    "contact_entry": "const int",  # four times the contact, and which of its corners the vertex is
    "contact_multiplicity": "const real",  # of each entry: how many of its vertices have the same colour
    "contact_rows": "const int",  # (contacts, 4) rows of the vertices, the first repeated where there are fewer
    "contact_weights": "const real",  # (contacts, 4)
    "contact_normals": "const real4",  # normal and friction limit [N]
    "contact_prev": "const real4",  # s at the start of the step [m] and the thickness [m]
    "contact_anchors": "const real4",  # the obstacle's point [m] and 1, or zero
    "contact_stiffness": "const real",  # [N/m]
    "contact_settings": "const real",  # slip [m] and damping k_d / h
}


class ContactTables(NamedTuple):
    """Names of the tables of contacts as kernels take them."""

    names: tuple[str, ...]
    declared: tuple[str, ...]


CONTACT_TABLES = ContactTables(tuple(_DECLARED), tuple(f"GLOBAL {kind} *{name}" for name, kind in _DECLARED.items()))


def _of_corner(w0, w1, w2, w3, d1, d2, d3, xi, moved, anchor, has_anchor, prev, n, thickness, stiffness, limit, *more):
    slip, damping, multiplicity = more
    s = separation((w1, w2, w3), (d1, d2, d3), xi, anchor, has_anchor)
    s = add_scaled(s, w0 * multiplicity, moved)
    still = (0.0, 0.0, 0.0)  # only hard contacts look ahead
    numbers = (thickness, stiffness, limit, slip, damping, multiplicity)
    return add_contact(*NOTHING, w0, s, subtract(s, prev), n, *numbers, still)


def _arguments(*names: str) -> list[Argument]:
    vectors = ("d1", "d2", "d3", "xi", "moved", "anchor", "prev", "n")
    return [Argument(name, 3 if name in vectors else 0) for name in names]


def contact_functions(precision: str, helpers: Helpers, follows: bool) -> str:
    """Functions of contacts; follows: with those that bring contacts up to date before an iteration."""
    corner = _arguments(
        "w0", "w1", "w2", "w3", "d1", "d2", "d3", "xi", "moved", "anchor", "has_anchor", "prev", "n", "thickness",
        "stiffness", "limit", "slip", "contact_damping", "multiplicity",
    )  # fmt: skip
    add = c_function(
        f"inline void add_contact(real *f, real *H, {', '.join(argument.declared for argument in corner)})",
        _of_corner,
        corner,
        FORCE_AND_BLOCK,
        "add_contact (pliant.elements.contact): force and block of one contact at a vertex (Equations 12 to 16).",
        precision,
        helpers,
    )
    others = ", ".join(
        _declared
        for name, _declared in zip(_DECLARED, CONTACT_TABLES.declared, strict=True)
        if name in CONTACT_TABLES.names[3:]
    )
    names = {
        "<others>": others,
        "<tables>": ", ".join(CONTACT_TABLES.declared),
        "<names>": ", ".join(CONTACT_TABLES.names[3:]),
    }
    texts = [add, _OF_VERTEX, _OF_ALL]
    for name, text in names.items():
        texts = [own.replace(name, text) for own in texts]
    return "\n\n".join([*texts, follow_functions(helpers)] if follows else texts)


_OF_VERTEX = """
// Adds contact entry / 4 to the force and the block of the vertex that is its corner entry % 4, were it moved.
inline void add_contact_of(const int entry, const real multiplicity, const real3 xi, const real3 moved,
    GLOBAL const real4 *x, real *f, real *H, <others>)
{
    const int c = entry / 4, own = entry % 4;
    const int p = (own + 1) % 4, q = (own + 2) % 4, r = (own + 3) % 4;
    GLOBAL const int *at = contact_rows + 4 * c;
    GLOBAL const real *w = contact_weights + 4 * c;
    const real4 normal = contact_normals[c], prev = contact_prev[c], anchor = contact_anchors[c];
    add_contact(f, H, w[own], w[p], w[q], w[r], relative(x[at[p]], xi), relative(x[at[q]], xi), relative(x[at[r]], xi),
        xi, moved, position(anchor), anchor.w, position(prev), position(normal), prev.w, contact_stiffness[c], normal.w,
        contact_settings[0], contact_settings[1], multiplicity);
}
""".strip("\n")
_OF_ALL = """
// Adds all contacts of vertex i to its force and its block, were it moved.
inline void add_contacts(const int i, const real3 xi, const real3 moved, real *f, real *H, GLOBAL const real4 *x,
    <tables>)
{
    for (int e = contact_start[i]; e < contact_start[i + 1]; e++)
        add_contact_of(contact_entry[e], contact_multiplicity[e], xi, moved, x, f, H, <names>);
}
""".strip("\n")
