"""The source of what a scene's vertex block descent does with rigid bodies (kernels.bodies)."""

from __future__ import annotations

BODY_IMPORTS = """from pliant.kernels.bodies import (
    gather_at_body, move_pose, no_sums, place_rows, solve_six, write_system
)
"""

NO_BODY_STEPS = {"solve_bodies": "", "show_bodies": ""}


def body_steps(tables: str, contact: bool) -> dict[str, str]:
    """Lines of a sweep's colour: solve its bodies, and show the points of those with contacts."""
    show = _SHOW if contact else ""
    return {"solve_bodies": _SHARE + _SOLVE_ALL.format(tables=tables), "show_bodies": (_SHARE + show) if show else ""}


def solve_body_source(tables: str, contact: bool) -> str:
    """The function that moves one body."""
    return _SOLVE.format(tables=tables, target=_BUFFERED if contact else _DIRECT)


_SHARE = """            start_of = bodies.colour_start
            first_body, last_body = share(start_of[c], start_of[c + 1], thread, threads)
"""

_SOLVE_ALL = """            for b in range(first_body, last_body):
                singular += solve_body(b, x, bodies.systems[thread], vertices, {tables})
"""

_SHOW = """            show_buffered(x, contacts, bodies.pack_start[first_body], bodies.pack_start[last_body], WIDTH)
"""

_SOLVE = '''
@physics
def solve_body(b, x, system, vertices, {tables}):
    """Move body b to the minimum of the potential in its six unknowns, by one step of Newton's method without what
    turning adds to the Hessian; 1 if the block was singular.
    """
    z = zero()
    sums = no_sums(z)
    centre = (number(bodies.poses[b, 0], z), number(bodies.poses[b, 1], z), number(bodies.poses[b, 2], z))
    for p in range(bodies.pack_start[b], bodies.pack_start[b + 1]):
        xi = load3(x, p * WIDTH, z)
        f, H = force_and_hessian(p, x, xi, vertices, {tables})
        sums = gather_at_body(sums, subtract(xi, centre), f, H)
    write_system(sums, system)
    if solve_six(system):
        return 1
    move_pose(bodies.poses, b, system)
    for p in range(bodies.pack_start[b], bodies.pack_start[b + 1]):
{target}
    return 0
'''

_DIRECT = "        place_rows(bodies, b, p, p + 1, WIDTH, x)"

_BUFFERED = """        if contacts.start[p + 1] > contacts.start[p]:
            place_rows(bodies, b, p, p + 1, WIDTH, contacts.buffer)
        else:
            place_rows(bodies, b, p, p + 1, WIDTH, x)"""
