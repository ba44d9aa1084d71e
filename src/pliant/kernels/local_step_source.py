"""The source of what the vertices of a pack do: the forces and blocks that act on them, and the step that follows.

Where a term has lines of its own for sweeps, all of it is written a second time with these, under names that begin with
SWEPT.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.lanes.types import DTYPES

if TYPE_CHECKING:
    from pliant.kernels.sweep_source import Variant

SETTLED = 0.1  # part of its way that a visit adds, up to which contacts are the same as in the one before
SWEPT = "swept_"  # begins the names of functions that differ within sweeps


def sweep_prefix(variant: Variant) -> str:
    """Of the names of the functions that sweeps call."""
    return SWEPT if any(term.swept for term in variant.terms) else ""


def force_sources(variant: Variant, tables: str, prefix: str = "") -> list[str]:
    """The functions that sum what acts on vertices: elements, all, and with contacts all but these."""
    body = [
        "    " + line
        for k, term in enumerate(variant.terms)
        for line in term.numbered("swept" if prefix and term.swept else "force", k)
    ]
    elastic = _ELASTIC.format(prefix=prefix, tables=tables, body="\n".join(body))
    lines = ((variant.viscous, _FORCE_VISCOSITY), (variant.damped, _FORCE_DAMPING))
    own = {"prefix": prefix, "tables": tables, "extra": "".join(line for is_on, line in lines if is_on)}
    if variant.bodies and not prefix:
        name = {"name": "element_force_and_hessian", "meaning": _ALL_BUT_INERTIA}
        elastic += "\n\n" + _FORCES.format(inertia="", **name, **own).strip("\n")
    own["inertia"] = _FORCE_INERTIA
    if not variant.contact:
        return [elastic, _FORCES.format(name="force_and_hessian", meaning=_ALL_FORCES, **own)]
    smooth = _FORCES.format(name="smooth_force_and_hessian", meaning=_ALL_BUT_CONTACTS, **own)
    return [elastic, smooth, _WITH_CONTACTS.format(prefix=prefix, tables=tables)]


def step_sources(variant: Variant, tables: str) -> list[str]:
    """The functions that solve the vertices' own systems."""
    rounding = float(np.finfo(DTYPES[variant.precision]).eps)
    lines = [f"return solve_free(H, f, {rounding!r})"]
    if variant.constrained:
        lines = [
            "direction = load_vector(vertices.direction, p, zero())",
            "if vertices.subspace[p] == 1:",
            "    return solve_on_line(H, f, direction)",
            "if vertices.subspace[p] == 2:",
            "    return solve_in_plane(H, f, direction)",
            *lines,
        ]
    sources = [_SYSTEM.format(body="\n".join("    " + line for line in lines)), _step_source(variant, tables, "")]
    if prefix := sweep_prefix(variant):
        sources += [*force_sources(variant, tables, prefix), _step_source(variant, tables, prefix)]
    return sources


def _step_source(variant: Variant, tables: str, prefix: str) -> str:
    project = _PROJECT if variant.psd else ""
    template = _STEP_AMONG_CONTACTS if variant.contact and not variant.hard_contact else _STEP
    return template.format(prefix=prefix, tables=tables, project=project, settled=SETTLED**2)


_PROJECT = """    H = project_block(H, load(vertices.inertia, p * WIDTH, zero()))
"""

_ELASTIC = '''
@physics
def {prefix}elastic_force_and_hessian(p, x, xi, vertices, {tables}):
    """Sum of the forces and Hessian blocks of all elements at the vertices of pack p (Equations 8 and 9 without
    inertia).
    """
    z = zero()
    f, H = (z, z, z), (z, z, z, z, z, z)
{body}
    if vertices.is_wide[p]:
        f, H = sum_over_lanes(f), sum_symmetric_over_lanes(H)
    return f, add_identity(H, load(vertices.diagonal, p * WIDTH, z))
'''

_FORCES = '''
@physics
def {prefix}{name}(p, x, xi, vertices, {tables}):
    """{meaning} (Equations 8 to 11)."""
    f, H = {prefix}elastic_force_and_hessian(p, x, xi, vertices, {tables})
{inertia}{extra}    return f, H
'''
_FORCE_INERTIA = """    m = load(vertices.inertia, p * WIDTH, zero())
    f, H = add_inertia(f, H, m, load_vector(vertices.target, p, zero()), xi)
"""
_ALL_FORCES = "Minus the gradient and the Hessian block of G at the vertices of pack p"
_ALL_BUT_INERTIA = "Minus the gradient and the Hessian block of what elements store at the vertices of pack p"
_ALL_BUT_CONTACTS = "Minus the gradient and the Hessian block of G without contacts at the vertices of pack p"

_WITH_CONTACTS = '''
@physics
def {prefix}force_and_hessian(p, x, xi, vertices, {tables}):
    """Minus the gradient and the Hessian block of G at the vertices of pack p (Equations 8 to 16)."""
    z = zero()
    f, H = {prefix}smooth_force_and_hessian(p, x, xi, vertices, {tables})
    way = subtract(load_vector(vertices.target, p, z), xi)
    fc, Hc = contact_force_and_hessian(p, x, xi, way, (z, z, z), False, contacts, vertices.is_wide[p])
    return add(f, fc), add_symmetric(H, number(1.0, z), Hc)
'''

_FORCE_VISCOSITY = """    H = add_identity(H, load(vertices.viscous, p * WIDTH, zero()))
"""

_FORCE_DAMPING = """    D = load_symmetric(vertices.damping, p, zero())
    f, H = add_vertex_damping(f, H, D, xi, load_vector(vertices.x_prev, p, zero()))
"""

_SYSTEM = '''
@physics
def solve_system(p, H, f, vertices):
    """H^-1 f in the space that the vertices of pack p move in, and where H is singular."""
{body}
'''

_STEP = '''
@physics
def {prefix}local_step(p, x, xi, vertices, {tables}):
    """Force and Hessian of the vertices of pack p, the way to the minimum of their local energies (Equation 5), and
    where the Hessian is singular.
    """
    f, H = {prefix}force_and_hessian(p, x, xi, vertices, {tables})
{project}    dx, singular = solve_system(p, H, f, vertices)
    return f, H, dx, singular
'''

_STEP_AMONG_CONTACTS = '''
@physics
def {prefix}local_step(p, x, xi, vertices, {tables}):
    """Force and Hessian of the vertices of pack p, the way to the minimum of their local energies (Equation 5), and
    where the Hessian is singular.

    Contacts begin and end on the way: where there are any, the step goes on from its end, with the contacts there and
    all else as first foreseen, until they stay the same, at most contacts.visits times (decision 0049).
    """
    z = zero()
    smooth_f, smooth_H = {prefix}smooth_force_and_hessian(p, x, xi, vertices, {tables})
    f, H = smooth_f, smooth_H
{project}    smooth_H, dx, singular = H, (z, z, z), z > z
    for visit in range(contacts.visits[0] if has_contacts(p, contacts) else 1):
        fc, Hc = contact_force_and_hessian(p, x, xi, (z, z, z), dx, visit > 0, contacts, vertices.is_wide[p])
        ahead_f = add(force_ahead(smooth_f, smooth_H, dx), fc)
        ahead_H = add_symmetric(smooth_H, number(1.0, z), Hc)
        if visit == 0:
            f, H = ahead_f, ahead_H
        step, is_singular = solve_system(p, ahead_H, ahead_f, vertices)
        dx, singular = add(dx, step), singular | is_singular
        if visit > 0 and count(dot(step, step) <= {settled} * dot(dx, dx)) == WIDTH:
            break
    return f, H, dx, singular
'''
