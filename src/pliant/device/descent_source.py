"""Kernels that move all vertices at once: Jacobi-preconditioned descent (Wang and Yang 2016) and block Jacobi."""

from __future__ import annotations

INVERSE_DIAGONALS = """
// 1 / diag(H) of every vertex; no entry counts as softer than inertia alone.
KERNEL void inverse_diagonals(const int moving, const int rows, GLOBAL const real4 *x, GLOBAL real4 *scales,
    <vertex>,
    <tables>)
{
    const int i = GLOBAL_ID;
    if (i >= moving)
        return;
    const real3 xi = position(x[i]);
    real f[3] = {0, 0, 0}, <H>;
    add_elements(i, 0, 1, rows, xi, f, H, x, x_prev, <arguments>);
    add_vertex(i, rows, xi, f, H, <vertex_arguments>);
contact|    add_contacts(i, xi, VECTOR(0, 0, 0), f, H, <add_contacts>);
    const real m = inertia[i];
    scales[i] = ROW_OF(1 / (H[0] > m ? H[0] : m), 1 / (H[3] > m ? H[3] : m), 1 / (H[5] > m ? H[5] : m));
}
"""

_DESCEND = """
// <words>
KERNEL void descend_<kind>(const int moving, const int rows, const real length, GLOBAL const real4 *x,
    GLOBAL real4 *moved, GLOBAL const real4 *scales,
    <vertex>,
    <tables>)
{
    const int i = GLOBAL_ID;
    if (i >= moving)
        return;
    const real3 xi = position(x[i]);
    real f[3] = {0, 0, 0}, <H>, dx[3];
    add_elements(i, 0, 1, rows, xi, f, H, x, x_prev, <arguments>);
<direction>
    moved[i] = ROW_OF(xi.x + length * dx[0], xi.y + length * dx[1], xi.z + length * dx[2]);
}
"""

_ALONG_THE_FORCE = """\
    add_vertex(i, rows, xi, f, H, <vertex_arguments>);
contact|    add_contacts(i, xi, VECTOR(0, 0, 0), f, H, <add_contacts>);
constrained|    keep_subspace(i, f, subspace, direction);
    dx[0] = scales[i].x * f[0];
    dx[1] = scales[i].y * f[1];
    dx[2] = scales[i].z * f[2];
constrained|    keep_subspace(i, dx, subspace, direction);"""

_TO_THE_MINIMUM = """\
    step_of_vertex(i, rows, xi, f, H, dx, <contacts><vertex_arguments>);
contact|    add_contacts(i, xi, VECTOR(0, 0, 0), f, H, <add_contacts>);
constrained|    keep_subspace(i, f, subspace, direction);
    descent_direction(H, VECTOR(f[0], f[1], f[2]), dx);"""


def _descend(kind: str, words: str, direction: str) -> str:
    return _DESCEND.replace("<kind>", kind).replace("<words>", words).replace("<direction>", direction)


#: By the kind of descent.
DESCEND = {
    "jacobi": _descend(
        "jacobi",
        "Every vertex moves `length` of the way along its force times `scales` (Wang and Yang, Algorithm 1).",
        _ALONG_THE_FORCE,
    ),
    "blocks": _descend(
        "blocks",
        "Every vertex moves `length` of the way to the minimum of its own local energy (VBD 5.4).",
        _TO_THE_MINIMUM,
    ),
}

KEEP_SUBSPACE = """
// The part of f in which vertex i may move.
inline void keep_subspace(const int i, real *f, GLOBAL const uchar *subspace, GLOBAL const real4 *direction)
{
    if (subspace[i] == 1)
        keep_on_line(f, position(direction[i]));
    if (subspace[i] == 2)
        keep_in_plane(f, position(direction[i]));
}
"""
