"""Energies of a state by name."""

from __future__ import annotations

import numpy as np

from pliant.energies.elements import energy_of
from pliant.energies.potential import IncrementalPotential
from pliant.model import Model
from pliant.state import State


def energies_of(
    model: Model,
    state: State,
    solved: IncrementalPotential | None,
    solution: np.ndarray | None,
    contact: dict[str, float],
) -> dict[str, float]:
    """Energies [J] of a state, and those terms of the potential of its step that are no property of a state; `solved`
    is the step as it was posed, None if it is not known, and `solution` (n, 3) where it was solved, None: at the state;
    contact: numbers of what touches now, "contact" [J] among them.
    """
    stored = [block for block in model.blocks if block.is_stored]
    names = dict.fromkeys([*(block.energy_name for block in stored), "contact"])
    if solved is None:
        terms = dict.fromkeys(["inertia", "elastic", "damping", *(block.energy_name for block in model.blocks)], 0.0)
        for block in stored:
            terms[block.energy_name] += energy_of(block).energy(block, state.x)
    else:
        n = solved.model.n_vertices  # what has torn since is not in it
        terms = solved.energies(state.x[:n])
        if solution is not None:
            terms |= {name: value for name, value in solved.energies(solution).items() if name not in names}
    terms.update(contact)
    terms["kinetic"] = 0.5 * float(np.sum(model.mass[:, None] * state.v**2))
    if model.particles is not None and len(state.spins):
        spins = state.spins[model.particles.vertices]
        terms["kinetic"] += 0.5 * float(np.sum(model.particles.moments(model.mass)[:, None] * spins**2))
    terms["gravity"] = -float(np.sum(model.mass[:, None] * state.x * model.gravity))
    terms["total"] = terms["kinetic"] + terms["gravity"] + sum(terms[name] for name in names)
    return terms
