"""What the schemes with hard constraints share: what they support, and checks of their options."""

from __future__ import annotations

from typing import Any

from pliant.arguments import is_one_of
from pliant.constraints.rows import CONE, PYRAMID
from pliant.errors import SolverError
from pliant.relaxations import relaxation_of
from pliant.relaxations.relaxation import check_real
from pliant.solvers.contract import Capabilities, check_count

#: Of the schemes with hard constraints, which detect contacts themselves.
HARD_CONSTRAINTS = Capabilities(
    "satisfy",
    contact=True,
    hard_constraints=True,
    rigid_bodies=True,
    particles=True,
    spins=True,
    guarantee=False,  # particles have no surface, and contacts of its own see no cut
    own_contacts=True,
    strain_rate_damping=False,
    vertex_block_damping=False,
    tearing=False,
    any_guess=True,
    device=True,
)
FRICTIONS = {"cone": CONE, "pyramid": PYRAMID}


def check_options(solver: Any, *parts: str) -> None:
    """Of a scheme: its relaxation, which may be a name, its iterations, friction and sleep speed; and parts of one."""
    name = type(solver).__name__
    object.__setattr__(solver, "relaxation", relaxation_of(solver.relaxation, f"{name}: relaxation"))
    check_count(solver.iterations, f"{name}: iterations")
    check_friction(solver.friction, f"{name}: friction")
    for part in parts:
        check_part(vars(solver)[part], f"{name}: {part}")
    check_real(solver.sleep_speed, f"{name}: sleep_speed", 0.0, is_open=False)


def check_friction(value: Any, what: str) -> None:
    """One of FRICTIONS."""
    if not is_one_of(value, FRICTIONS):
        raise SolverError(f"{what} is {value!r}: choose one of {', '.join(FRICTIONS)}.")


def check_part(value: Any, what: str, is_open: bool = False) -> None:
    """A number from 0 to 1; above 0 if `is_open`."""
    check_real(value, what, 0.0, 1.0 + 1e-12, is_open)
