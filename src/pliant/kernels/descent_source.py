"""Functions of a scene's generated module that take all vertices at once: force, energy, and iterations that move every
vertex from the same positions (descent methods, Jacobi).

Rows are (rows, 4), as positions. Rows of a wide pack are equal, those of fixed and missing vertices stay zero.
"""

from __future__ import annotations

KEEP = "{v} = keep_subspace(vertices.subspace[p], load_vector(vertices.direction, p, zero()), {v})"


def descent_functions(tables: str, constrained: bool, held: str) -> list[str]:
    """Source of `forces`, `energies`, `inverse_diagonals`, `precondition`, `descend_jacobi`, `descend_blocks` and
    `sweep_scaled`. held: rows (rows,) that are not accelerated, an expression.
    """
    keep_force = "\n        " + KEEP.format(v="f") if constrained else ""
    keep_step = KEEP.format(v="dx") if constrained else ""
    jacobi = ["f, _ = force_and_hessian(p, x, xi, vertices, {tables})", KEEP.format(v="f") if constrained else ""]
    jacobi += ["s = load3(scales, p * WIDTH, zero())", "dx = (s[0] * f[0], s[1] * f[1], s[2] * f[2])", keep_step]
    blocks = ["f, H, dx, _ = local_step(p, x, xi, vertices, {tables})", KEEP.format(v="f") if constrained else ""]
    blocks += ["dx = descent_direction(H, f, dx)"]
    return [
        _FORCES.format(tables=tables, keep=keep_force),
        _ENERGIES.format(tables=tables),
        _DIAGONALS.format(tables=tables),
        _PRECONDITION.format(tables=tables, keep="\n        " + keep_step if keep_step else ""),
        _SWEEP_SCALED.format(tables=tables, held=held, body=_body(["    " + line for line in jacobi if line], tables)),
        *(
            _DESCEND.format(name=name, meaning=meaning, tables=tables, held=held, body=_body(lines, tables))
            for name, meaning, lines in (
                ("jacobi", "along the force times `scales`", jacobi),
                ("blocks", "to the minimum of its own local energy", blocks),
            )
        ),
    ]


def _body(lines: list[str], tables: str) -> str:
    return "\n".join("            " + line.format(tables=tables) for line in lines if line)


_FORCES = '''
@entry(nogil=True, error_model="numpy", _nrt=False)
def forces(thread, threads, barrier, packs, x, out, vertices, {tables}):
    """Rows of -dG/dx, along the directions in which vertices may move, at the positions x."""
    first, last = share(0, packs, thread, threads)
    for p in range(first, last):
        xi = load3(x, p * WIDTH, zero())
        f, _ = force_and_hessian(p, x, xi, vertices, {tables}){keep}
        store3(out, p * WIDTH, f[0], f[1], f[2])
'''

_ENERGIES = '''
@entry(nogil=True, error_model="numpy", _nrt=False)
def energies(thread, threads, barrier, x, out, vertices, {tables}):
    """Each vertex's share of G, flat (packs, width); their sum is G."""
    first, last = share(0, len(vertices.is_wide), thread, threads)
    for p in range(first, last):
        e = shared_energy(p, x, load3(x, p * WIDTH, zero()), vertices, {tables})
        store(out, p * WIDTH, e * (1.0 / WIDTH) if vertices.is_wide[p] else e)
'''

_DIAGONALS = '''
@entry(nogil=True, error_model="numpy", _nrt=False)
def inverse_diagonals(thread, threads, barrier, packs, x, out, vertices, {tables}):
    """Rows of 1 / diag(H); no entry counts as softer than inertia alone."""
    first, last = share(0, packs, thread, threads)
    for p in range(first, last):
        m = load(vertices.inertia, p * WIDTH, zero())
        _, H = force_and_hessian(p, x, load3(x, p * WIDTH, zero()), vertices, {tables})
        store3(out, p * WIDTH, 1.0 / maximum(H[0], m), 1.0 / maximum(H[3], m), 1.0 / maximum(H[5], m))
'''

_PRECONDITION = '''
@entry(nogil=True, error_model="numpy", _nrt=False)
def precondition(thread, threads, barrier, packs, scales, f, out, vertices):
    """Rows of scales times f, along the directions in which vertices may move."""
    first, last = share(0, packs, thread, threads)
    for p in range(first, last):
        s, g = load3(scales, p * WIDTH, zero()), load3(f, p * WIDTH, zero())
        dx = (s[0] * g[0], s[1] * g[1], s[2] * g[2]){keep}
        store3(out, p * WIDTH, dx[0], dx[1], dx[2])
'''

_DESCEND = '''
@entry(nogil=True, error_model="numpy", _nrt=False)
def descend_{name}(thread, threads, barrier, packs, length, omegas, previous, before_previous, scales, x, d, vertices,
                   {tables}):
    """One iteration for each omega: every vertex moves `length` of the way {meaning}, all at once."""
    arrivals = 0
    first, last = share(0, packs, thread, threads)
    for omega in omegas:
        for p in range(first, last):
            xi = load3(x, p * WIDTH, zero())
{body}
            store3(d, p * WIDTH, dx[0], dx[1], dx[2])
        arrivals += threads
        barrier_wait(barrier, arrivals)
        move(x, length, d, first * WIDTH, last * WIDTH)
        if len(previous) > 0:
            accelerate(x, previous, before_previous, omega, first * WIDTH, last * WIDTH, {held})
        arrivals += threads
        barrier_wait(barrier, arrivals)
'''

_SWEEP_SCALED = '''
@entry(nogil=True, error_model="numpy", _nrt=False)
def sweep_scaled(thread, threads, barrier, shares, omegas, previous, before_previous, scales, x, vertices, {tables}):
    """One iteration for each omega, colour after colour: every vertex moves along its force times `scales`."""
    arrivals = 0
    for omega in omegas:
        for c in range(len(shares.packs)):
            for p in range(shares.packs[c, thread], shares.packs[c, thread + 1]):
                xi = load3(x, p * WIDTH, zero())
{body}
                xi = add(xi, dx)
                store3(x, p * WIDTH, xi[0], xi[1], xi[2])
            arrivals += threads
            barrier_wait(barrier, arrivals)
        if len(previous) > 0:
            for c in range(len(shares.packs)):
                first, last = shares.packs[c, thread] * WIDTH, shares.packs[c, thread + 1] * WIDTH
                accelerate(x, previous, before_previous, omega, first, last, {held})
            arrivals += threads
            barrier_wait(barrier, arrivals)
'''
