"""What every work object has: its memory, its counters, and what checkpoints keep of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.contact.response.step_contacts import StepContacts
from pliant.energies import IncrementalPotential
from pliant.model import Model
from pliant.sparse import sp

if TYPE_CHECKING:
    from pliant.solvers.contract.error import StepError

OWN_ROOMS = (
    "pliant.solvers",
    "pliant.kernels",
    "pliant.constraints",
    "pliant.grains",
)  # whose objects hold a solver's arrays


class Work:
    """What a solver keeps while it runs: tables, factors, vectors, and what one step hands on to the next.

    A class of its own for each solver overrides what it has.
    """

    @property
    def nbytes(self) -> int:
        """Memory of its arrays. Factors that other libraries keep are not counted."""
        return bytes_of(self)

    @property
    def singular_blocks(self) -> int:
        """Vertices or elements that the last iteration left in place because their block was singular."""
        return 0

    @property
    def note(self) -> str:
        """What the last step was solved with, where the solver chooses; for its report."""
        return ""

    @property
    def measures_error(self) -> bool:
        """Whether iterations measure their error, and end where it is as small as asked for."""
        return False

    def measured_error(self) -> StepError | None:
        """The error after the last iteration, where iterations measure it."""
        return None

    @property
    def blind_iterations(self) -> int:
        """First iterations of a kind in a step, before whose end motions tell nothing of the error."""
        return 0

    @property
    def undone(self) -> int:
        """How often iterations were taken back since the work object was made."""
        return 0

    @property
    def may_undo(self) -> bool:
        """Whether the last iterations may still be taken back, because the energy was not looked at since."""
        return False

    def load_early(self, pose: Callable[[], IncrementalPotential]) -> None:
        """Load what of the next step does not depend on its contacts, which are detected meanwhile, where that takes
        another processor than detecting; pose: gives the step without contacts.
        """

    def end_solve(self, problem: IncrementalPotential, x: np.ndarray) -> int:
        """Finish x (n, 3) [m] after the iterations of a step, of a solver that has something left to do; how many more
        iterations it took.
        """
        return 0

    def end_step(self, v: np.ndarray, spins: np.ndarray, twists: np.ndarray) -> None:
        """Change velocities (n, 3) [m/s], spins (n, 3) [rad/s] and twists (b, 6) [m/s], [rad/s] of a step that is
        done, of a solver whose velocities are not simply those that positions give.
        """

    def step_contacts(self, model: Model, x: np.ndarray, time: float) -> StepContacts | None:
        """Contacts of a step that ended at x (n, 3) [m] at a time [s], of a solver that detects them itself."""
        return None

    def state_dict(self) -> dict[str, Any]:
        """What the next step depends on, apart from the state of the simulation: numbers, words and lists of them."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from what `state_dict` gave."""


def bytes_of(root: object) -> int:
    """Memory of the arrays that an object holds in attributes, sequences and sparse matrices, each counted once."""
    owners: dict[int, int] = {}
    visited: set[int] = set()
    waiting = [root]
    while waiting:
        item = waiting.pop()
        if isinstance(item, np.ndarray):
            while isinstance(item.base, np.ndarray):
                item = item.base
            owners[id(item)] = item.nbytes
        elif id(item) not in visited:
            visited.add(id(item))
            waiting.extend(_parts(item))
    return sum(owners.values())


def _parts(item: object) -> list[object]:
    if isinstance(item, tuple | list):
        return list(item)
    if isinstance(item, dict):
        return list(item.values())
    is_own = type(item).__module__.startswith(OWN_ROOMS) and not isinstance(item, type)
    return list(vars(item).values()) if is_own or isinstance(item, Work) or sp.issparse(item) else []
