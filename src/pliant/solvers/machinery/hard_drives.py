"""Drives and stops of joints with multipliers at the start of a step (elements.joint_drive, kernels.hard_drives)."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.contact.response.hardness import KEPT
from pliant.elements.joint_drive import JointDrives
from pliant.elements.registry import element_of
from pliant.kernels.hard_drives import DriveRows


def begin_drives(
    step: JointDrives, material: np.ndarray, x: np.ndarray, dual: DriveRows, lists: dict[str, Any], width: int
) -> None:
    """Take up the numbers of a step that begins at x (n, 3) [m], with multipliers as they are; material: K (m,), 0 of
    penalties. Errors of limits and springs are taken back by a part 1 - KEPT; what a motor does moves with the step.
    """
    dual.offset[:], dual.rest[:], dual.lowest[:], dual.highest[:] = step.offset, step.rest, step.lowest, step.highest
    dual.multipliers[:, 0] = np.clip(dual.multipliers[:, 0], dual.lowest, dual.highest)
    flexed = np.where(material > 0, dual.multipliers[:, 0] / np.maximum(material, 1e-300), 0.0)
    error = drive_error(step, x) - flexed
    error = np.where((dual.lowest == 0) & (error < 0) | (dual.highest == 0) & (error > 0), 0.0, error)
    dual.start[:, 0] = np.where((material > 0) & step.returns, KEPT * error, 0.0)
    dual.shift[:, 0] = dual.part * dual.multipliers[:, 0] / np.maximum(dual.stiffness, 1e-300)
    stiffness = np.where(material > 0, dual.stiffness, step.stiffness)
    write_drives(step, stiffness, dual, lists, width)


def drive_error(step: JointDrives, x: np.ndarray) -> np.ndarray:
    """q - rest (m,) of drives at x (n, 3) [m]."""
    return step.nearest(step.coordinates(x) - step.offset) - step.rest


def update_drives(step: JointDrives, x: np.ndarray, dual: DriveRows) -> None:
    """Multipliers after an iteration that ended at x (n, 3) [m], as kernels.hard_drives has them."""
    felt = dual.stiffness * (drive_error(step, x) - dual.start[:, 0] + dual.shift[:, 0])
    dual.multipliers[:, 0] = np.clip(felt, dual.lowest, dual.highest)
    dual.shift[:, 0] = dual.part * dual.multipliers[:, 0] / np.maximum(dual.stiffness, 1e-300)


def write_drives(step: JointDrives, stiffness: np.ndarray, dual: DriveRows, lists: dict[str, Any], width: int) -> None:
    """Write the numbers of drives to the lists of all corners; stiffness (m,) of the step."""
    rest = dual.rest - dual.shift[:, 0] + dual.start[:, 0]
    for number, values in enumerate((dual.offset, rest, stiffness, dual.lowest, dual.highest)):
        for k, orders in enumerate(element_of(step).lists):
            at = dual.places[:, [order[0] for order in orders]] + number * width
            lists[f"list{k}"].constants[at] = values[:, None]
