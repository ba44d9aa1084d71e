"""The source of what a scene's vertex block descent does with rigid bodies (kernels.bodies)."""

from __future__ import annotations

BODY_IMPORTS = """from pliant.kernels.bodies import add_to_system, gather_at_body, no_sums, place_rows
from pliant.kernels.body_contacts import move_body
from pliant.kernels.rigid_contacts import MOST_COLOURS
from pliant.kernels.rigid_blocks import write_inertia
"""
CONTACT_IMPORTS = """from pliant.kernels.body_contacts import add_contacts, refresh_rows
"""


def body_imports(contact: bool) -> str:
    return BODY_IMPORTS + (CONTACT_IMPORTS if contact else "")


def body_lines(tables: str, contact: bool) -> str:
    """Lines of a sweep after all colours of vertices: those of bodies."""
    return (_REFRESH if contact else "") + _SOLVE_ALL.format(tables=tables)


def solve_body_source(tables: str, contact: bool) -> str:
    """The function that moves one body."""
    return _SOLVE.format(tables=tables, contacts=_ADD_CONTACTS if contact else "")


_REFRESH = """        refresh_rows(thread, threads, x, contacts, bodies)
        arrivals += threads
        barrier_wait(barrier, arrivals)
"""

_SOLVE_ALL = """        for k in range(MOST_COLOURS):
            start, end = bodies.colour_start[k], bodies.colour_start[k + 1]
            if start == end:
                break
            first, last = share(start, end, thread, threads)
            if k == MOST_COLOURS - 1:
                first, last = (start, end) if thread == 0 else (start, start)
            for place in range(first, last):
                singular += solve_body(bodies.order[place], x, bodies.systems[thread], vertices, {tables})
            arrivals += threads
            barrier_wait(barrier, arrivals)
"""

_SOLVE = '''
@physics
def solve_body(b, x, system, vertices, {tables}):
    """Move body b to the minimum of the potential in its six unknowns, by one step of Newton's method without what
    turning adds to the Hessian; 1 if the block was singular.
    """
    write_inertia(b, bodies, system)
    if bodies.has_elements[b]:
        z = zero()
        sums = no_sums(z)
        centre = (number(bodies.poses[b, 0], z), number(bodies.poses[b, 1], z), number(bodies.poses[b, 2], z))
        for p in range(bodies.pack_start[b], bodies.pack_start[b + 1]):
            xi = load3(x, p * WIDTH, z)
            f, H = element_force_and_hessian(p, x, xi, vertices, {tables})
            sums = gather_at_body(sums, subtract(xi, centre), f, H)
        add_to_system(sums, system)
{contacts}    singular = move_body(b, bodies, system)
    place_rows(bodies, b, bodies.pack_start[b], bodies.pack_start[b + 1], WIDTH, x)
    return singular
'''

_ADD_CONTACTS = """    add_contacts(b, contacts, bodies, system)
"""
