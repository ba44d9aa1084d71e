"""The source of a scene's vertex block descent: one readable module for its laws, precision and lane width.

What depends on the scene is written out here with global names, so that Numba can cache it; everything else is called
from this room.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import NamedTuple

import numpy as np

from pliant.kernels.body_source import body_imports, body_lines, solve_body_source
from pliant.kernels.descent_source import descent_functions
from pliant.kernels.local_step_source import force_sources, step_sources, sweep_prefix
from pliant.kernels.term_source import TermSource
from pliant.lanes.cache import load_module

SHARERS = range(1, 13)  # vertices an element may have


class Vertices(NamedTuple):
    """Numbers of the vertices in packs; flat (packs, k, width) unless said otherwise."""

    is_wide: np.ndarray  # (packs,)
    subspace: np.ndarray  # (packs,) 3 free, 2 in a plane, 1 on a line
    inertia: np.ndarray  # m / h^2 [kg/s^2]
    diagonal: np.ndarray  # constant part of the elastic Hessian [N/m]
    target: np.ndarray  # k = 3: inertial target y [m]
    x_prev: np.ndarray  # k = 3: position at the start of the step [m], if damped
    damping: np.ndarray  # k = 6: k_d / h times the elastic Hessian at the start of the step [N/m], if damped
    damping_rate: np.ndarray  # k_d / h, if damped
    viscous: np.ndarray  # constant part of the viscous Hessian [N/m], if viscous
    direction: np.ndarray  # k = 3: unit vector of the line or normal of the plane, if constrained


@dataclass(frozen=True)
class Variant:
    """What a kernel is made for."""

    precision: str
    width: int
    terms: tuple[TermSource, ...]
    constrained: bool = False
    damped: bool = False
    viscous: bool = False
    line_search: bool = False
    psd: bool = False
    contact: bool = False
    bodies: bool = False
    hard_contact: bool = False  # contacts have multipliers

    def describe(self) -> str:
        laws = " and ".join(term.name for term in self.terms)
        return f"vertex block descent for {laws} ({self.precision} precision, {self.width} lanes)"


def sweep_module(variant: Variant) -> ModuleType:
    """The module of a variant: `sweep`, `measure_damping` and what descent_source adds. Only what is called is
    compiled.
    """
    return load_module("vbd", source(variant), variant.describe())


def source(variant: Variant) -> str:
    extra = (("contacts", variant.contact), ("bodies", variant.bodies))
    tables = ", ".join([*_lines(variant, "tables"), *(name for name, is_on in extra if is_on)])
    iteration = [*lines, *_BARRIER] if (lines := _lines(variant, "iteration")) else []
    steps = dict(_CONTACT_STEPS if variant.contact else _NO_CONTACT_STEPS)
    steps["bodies"] = body_lines(tables, variant.contact) if variant.bodies else ""
    dual = [*_lines(variant, "dual"), *([_UPDATE_MULTIPLIERS] if variant.hard_contact else [])]
    dual = [*dual, *_BARRIER] if dual else []
    parts = [
        _HEADER.format(
            description=variant.describe(),
            precision=variant.precision,
            width=variant.width,
            imports="\n".join(dict.fromkeys("\n".join(_lines(variant, "imports")).splitlines())),
            contact_imports=(_CONTACT_IMPORTS if variant.contact else "")
            + (_MULTIPLIER_IMPORTS if variant.hard_contact else "")
            + (body_imports(variant.contact) if variant.bodies else ""),
        ),
        *_lines(variant, "definitions"),
        *force_sources(variant, tables),
        _energy_source(variant, tables, "local_energy", "G_i of the vertices of pack p, were they at xi (Equation 4)."),
        _energy_source(variant, tables, "shared_energy", "The vertices' shares of G.", is_shared=True),
        *step_sources(variant, tables),
        _solve_source(variant, tables),
        solve_body_source(tables, variant.contact) if variant.bodies else "",
        _SWEEP.format(tables=tables, iteration=_in_sweep(iteration), dual=_in_sweep(dual), **steps),
        *descent_functions(tables, variant.constrained, steps["held"]),
    ]
    if variant.contact:
        parts.append(_REFRESH.format(tables=tables, refresh=_REFRESH_CONTACTS))
    if variant.damped:
        parts.append(_MEASURE_DAMPING.format(tables=tables))
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def _lines(variant: Variant, what: str) -> list[str]:
    """Lines of all terms, numbered."""
    return [line for k, term in enumerate(variant.terms) for line in term.numbered(what, k)]


def _energy_source(variant: Variant, tables: str, name: str, meaning: str, is_shared: bool = False) -> str:
    """A function that sums the energies of all terms, inertia and damping at the vertices of a pack."""
    shares = [f"SHARE_OF_{k} = {1 / k if is_shared else 1.0!r}" for k in SHARERS]
    lines = [*shares, *_lines(variant, "energy")]
    extra = _ENERGY_DAMPING if variant.damped else ""
    extra += _ENERGY_CONTACTS.format(is_shared=is_shared) if variant.contact else ""
    return _ENERGY.format(name=name, meaning=meaning, tables=tables, body=_indent(lines), extra=extra)


def _solve_source(variant: Variant, tables: str) -> str:
    """The function that moves the vertices of a pack."""
    lines = []
    bounds = _lines(variant, "bound")
    if variant.line_search:
        keep = "f"
        if variant.constrained:
            lines += ["direction = load_vector(vertices.direction, p, zero())"]
            keep = "keep_subspace(vertices.subspace[p], direction, f)"
        lines += [f"dx = descent_direction(H, {keep}, dx)"]
    if bounds or variant.line_search:
        lines += ["step = number(1.0, xi[0])", *bounds]
        if bounds:
            lines += ["step = lane_least(step) if vertices.is_wide[p] else step"]
    if variant.line_search:
        lines += [line.format(tables=tables) for line in _SEARCH]
    lines += ["xi = add_scaled(xi, step, dx)" if bounds or variant.line_search else "xi = add(xi, dx)"]
    store = "store3({target}, p * WIDTH, xi[0], xi[1], xi[2])"
    if variant.contact:
        lines += ["if contacts.start[p + 1] > contacts.start[p]:", "    " + store.format(target="contacts.buffer")]
        lines += ["else:", "    " + store.format(target="x")]
    else:
        lines += [store.format(target="x")]
    return _SOLVE.format(prefix=sweep_prefix(variant), tables=tables, body=_indent(lines))


def _indent(lines: list[str]) -> str:
    return "\n".join("    " + line for line in lines)


def _in_sweep(lines: list[str]) -> str:
    return "".join(f"        {line}\n" for line in lines)


_HEADER = '''
"""{description}. Written by pliant.kernels.sweep_source: change that, not this."""
from pliant.lanes.entry import entry

{contact_imports}from pliant.kernels.local_solve import (
    add_inertia, add_vertex_damping, descent_direction, force_ahead, keep_subspace, project_block, solve_free,
    solve_in_plane, solve_on_line
)
from pliant.kernels.momentum import accelerate, move
from pliant.kernels.threads import barrier_wait, share
{imports}
from pliant.lanes import (
    count, exp, inverse_cube_root, lane_least, lane_sum, load, load3, log, make_zero, maximum, number, prefetch_row,
    select, sqrt, store, store3
)
from pliant.lanes.vectors import (
    add, add_identity, add_scaled, add_symmetric, dot, load_symmetric, load_vector, physics, positive_part,
    store_symmetric, subtract, sum_over_lanes, sum_symmetric_over_lanes, symmetric_times
)

WIDTH = {width}
zero = make_zero("{precision}", WIDTH)
'''

_ENERGY = '''
@physics
def {name}(p, x, xi, vertices, {tables}):
    """{meaning}"""
    z = zero()
    energy = z
{body}
    if vertices.is_wide[p]:
        energy = lane_sum(energy)
    d = subtract(xi, load_vector(vertices.target, p, z))
    energy = energy + 0.5 * load(vertices.inertia, p * WIDTH, z) * dot(d, d)
{extra}    return energy
'''

_ENERGY_DAMPING = """    d = subtract(xi, load_vector(vertices.x_prev, p, z))
    energy = energy + 0.5 * dot(d, symmetric_times(load_symmetric(vertices.damping, p, z), d))
"""

_ENERGY_CONTACTS = """    energy = energy + contacts_energy(p, x, xi, contacts, vertices.is_wide[p], {is_shared})
"""

_SOLVE = '''
@physics
def solve_pack(p, x, vertices, {tables}):
    """Move the vertices of pack p to the minimum of their local energy (Equation 5); how many had a singular
    Hessian.
    """
    xi = load3(x, p * WIDTH, zero())
    f, H, dx, singular = {prefix}local_step(p, x, xi, vertices, {tables})
{body}
    return count(singular)
'''

_SEARCH = (
    "before = local_energy(p, x, xi, vertices, {tables})",
    "accepted = before < before",
    "for _ in range(20):",
    "    after = local_energy(p, x, add_scaled(xi, step, dx), vertices, {tables})",
    "    accepted = after <= before",
    "    if count(accepted) == WIDTH:",
    "        break",
    "    step = select(accepted, step, step * 0.5)",
    "step = select(accepted, step, number(0.0, xi[0]))",
)

_BARRIER = ("arrivals += threads", "barrier_wait(barrier, arrivals)")

_SWEEP = '''
@entry(nogil=True, error_model="numpy", _nrt=False)
def sweep(thread, threads, barrier, shares, omegas, previous, before_previous, skipped, x, vertices, {tables}):
    """One iteration for each omega, all colours each (Algorithm 1, lines 4 to 31); omega is Equation 19's, 1 for
    none.
    """
    arrivals = 0
    for omega in omegas:
        singular = 0
{iteration}{refresh}        for c in range(len(shares.packs)):
            for k in range(shares.borrowed_start[thread, c], shares.borrowed_start[thread, c + 1]):
                prefetch_row(x, shares.borrowed[k])
            for p in range(shares.packs[c, thread], shares.packs[c, thread + 1]):
                singular += solve_pack(p, x, vertices, {tables})
            arrivals += threads
            barrier_wait(barrier, arrivals)
{show}{bodies}        if len(previous) > 0:
            for c in range(len(shares.packs)):
                first, last = shares.packs[c, thread] * WIDTH, shares.packs[c, thread + 1] * WIDTH
                accelerate(x, previous, before_previous, omega, first, last, {held})
            arrivals += threads
            barrier_wait(barrier, arrivals)
{dual}        skipped[thread] = singular
'''

_CONTACT_IMPORTS = """
from pliant.kernels.contact_forces import contact_force_and_hessian, contacts_energy, has_contacts, show_buffered
from pliant.kernels.contacts import refresh_contacts
"""
_MULTIPLIER_IMPORTS = """from pliant.kernels.contact_multipliers import update_contact_multipliers
"""
_UPDATE_MULTIPLIERS = "update_contact_multipliers(thread, threads, x, contacts, WIDTH)"
_REFRESH_CONTACTS = """    refresh_contacts(thread, threads, x, contacts, zero())
"""
_CONTACT_STEPS = {
    "refresh": f"""    {_REFRESH_CONTACTS}        arrivals += threads
        barrier_wait(barrier, arrivals)
""",
    "show": """            show_buffered(x, contacts, shares.packs[c, thread], shares.packs[c, thread + 1], WIDTH)
            arrivals += threads
            barrier_wait(barrier, arrivals)
""",
    "held": "contacts.collided",
}
_NO_CONTACT_STEPS = {"refresh": "", "show": "", "held": "vertices.is_wide[:0]"}

_REFRESH = '''
@entry(nogil=True, error_model="numpy", _nrt=False)
def refresh(thread, threads, barrier, x, vertices, {tables}):
    """Let contacts take note of x, as `sweep` does before every iteration."""
{refresh}'''

_MEASURE_DAMPING = '''
@entry(nogil=True, error_model="numpy", _nrt=False)
def measure_damping(thread, threads, barrier, x, vertices, {tables}):
    """Damping blocks at the positions x: k_d / h times the positive part of the elastic Hessian (Equations 10 and
    11).
    """
    first, last = share(0, len(vertices.is_wide), thread, threads)
    for p in range(first, last):
        xi = load3(x, p * WIDTH, zero())
        f, H = elastic_force_and_hessian(p, x, xi, vertices, {tables})
        store_symmetric(vertices.damping, p, load(vertices.damping_rate, p * WIDTH, zero()), positive_part(H))
'''
