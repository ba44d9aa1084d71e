"""What is said of a scene when its simulation is built: contacts that are not tested, constraints that give way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pliant.elements.joint import JointDots, JointLinks, JointRopes
from pliant.elements.joint_drive import JointDrives
from pliant.model import Model, Scene
from pliant.model.contact import untested_contact
from pliant.solvers import Solver

RIGID_ROWS = (JointLinks, JointRopes, JointDots, JointDrives)  # that know whether they were asked to be rigid


def notes_of_building(scene: Scene, model: Model, solver: Solver[Any]) -> Iterator[tuple[str, str]]:
    """Notes and their entries in docs/troubleshooting.md."""
    is_tested = scene.contact is not None and not solver.supports.own_contacts
    if is_tested and (untested := untested_contact(scene.bodies, scene.shapes)):
        yield untested, "untested-contact"
    if (point := _first_rigid_point(model)) is not None and not solver.holds_infinite(model):
        yield (
            f"joints: {type(solver).__name__} holds what was given an infinite stiffness by penalties, which give way "
            f"under load (the first at {model.describe_vertex(point)}). pl.AVBD() holds it by multipliers.",
            "soft-joints",
        )


def _first_rigid_point(model: Model) -> int | None:
    """A point of the first row of a joint, attachment or spring that has infinite stiffness."""
    for block in model.blocks:
        if isinstance(block, RIGID_ROWS) and (rows := np.flatnonzero(block.is_rigid)).size:
            return int(block.elements[rows[0], 0])
    return None
