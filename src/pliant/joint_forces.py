"""Forces of joints in a step, and joints that break."""

from __future__ import annotations

import logging
import math
from dataclasses import replace

import numpy as np

from pliant.elements.reference import gradients
from pliant.elements.registry import element_of
from pliant.energies import IncrementalPotential
from pliant.model import Model
from pliant.model.joint_rows import JointRows, without_joints

logger = logging.getLogger("pliant")


def joint_force(problem: IncrementalPotential, rows: JointRows, x: np.ndarray) -> np.ndarray:
    """(3,) [N] on the first body of a joint at x (n, 3) [m]; problem: with the multipliers that its rows have."""
    total = np.zeros(3)
    for number, own in rows.rows:
        block = problem.blocks[number].taken(np.arange(own.start, own.stop))
        on_first = np.isin(block.elements, rows.vertices)
        total -= gradients(element_of(block), block, x)[on_first].sum(axis=0)
    return total


def breakable(model: Model) -> list[JointRows]:
    """Joints that break above a force and have not yet."""
    return [rows for rows in model.joints if rows.joint.break_force < math.inf and not rows.joint.is_broken]


def broken_model(model: Model, problem: IncrementalPotential, x: np.ndarray, time: float) -> Model | None:
    """The model without the joints that broke in a step, at its end x (n, 3) [m]; None if none did."""
    found = []
    for rows in breakable(model):
        force = float(np.linalg.norm(joint_force(problem, rows, x)))
        if force > rows.joint.break_force:
            rows.joint.is_broken = True
            logger.info("%s broke at t = %g s under %g N.", rows.joint.name, time, force)
            found.append(rows)
    return replace(model, blocks=without_joints(model.blocks, found)) if found else None
