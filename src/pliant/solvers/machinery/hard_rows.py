"""Joints, attachments and springs as rows with multipliers: which are hard, how stiff their penalty is, what they carry
from step to step (decision 0028).

A row of material stiffness K, infinite for hard ones, and penalty rho has the compliant form

    k = K rho / (K + rho),    force = k (C + lambda / rho),    lambda <- force

which ends at lambda = K C for any rho. rho is the largest mass that rows join, over h^2, shared by the rows between two
unknowns: each link of a chain has to carry the weight at its end. A row with K below STIFF rho stays a penalty.

pl.Auto has multipliers on infinite rows alone, for any iterations: block descent updates them in each, others leave
them as they are (`hold`) until `update`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pliant.contact.response.hardness import KEPT
from pliant.elements.hard import HardDots, HardLinks, HardRopes
from pliant.elements.joint import JointDots, JointLinks, JointRopes
from pliant.elements.joint_drive import DAMPER, HardAngles, HardSlides, JointAngles, JointDrives, JointSlides
from pliant.elements.joint_length import HardLengths, JointLengths
from pliant.energies import IncrementalPotential
from pliant.geometry.components import connected_components
from pliant.kernels.hard_drives import DriveRows
from pliant.kernels.hard_rows import DualRows
from pliant.model import Block, Model
from pliant.model.blocks import Attachments, Springs
from pliant.solvers.contract.stiffness_ratio import bodies_of_vertices
from pliant.solvers.machinery.hard_drives import begin_drives, update_drives, write_drives
from pliant.solvers.machinery.vbd_tables import Tables

HARD_DRIVES: dict[type, type[JointDrives]] = {
    JointAngles: HardAngles,
    JointSlides: HardSlides,
    JointLengths: HardLengths,
}
STIFF = 10.0  # times rho: a finite stiffness beyond it is held by multipliers


def material_stiffness(block: Block, h: float) -> np.ndarray | None:
    """K (m,) of rows that can be held by multipliers in steps of h [s], infinite for hard ones; None for other
    elements.
    """
    if isinstance(block, JointLinks):
        return np.where(block.is_rigid, np.inf, block.weights)
    if isinstance(block, JointRopes | JointDots):
        return np.where(block.is_rigid, np.inf, block.stiffness)
    if isinstance(block, JointDrives):
        own = np.where(block.is_rigid & (block.stiffness > 0), np.inf, block.stiffness)
        return np.where(block.role == DAMPER, own / h, own)
    if isinstance(block, Attachments):
        return block.weights
    if isinstance(block, Springs):  # others have two stiffnesses
        return np.where((block.compression == 0) | (block.compression == 1), block.stiffness, 0.0)
    return None


class HardRowsOf:
    """The rows of a problem: blocks of elements.hard in place of its own, and their multipliers."""

    def __init__(self, problem: IncrementalPotential, blocks: Sequence[Block], least: float = STIFF):
        """blocks: those of the model, or none; least: rows stiffer than so many times rho have multipliers; np.inf:
        infinite ones.
        """
        self.materials: dict[int, np.ndarray] = {}  # K by number of the block
        self.penalties: dict[int, np.ndarray] = {}  # rho
        self.earlier: dict[int, np.ndarray] = {}  # (m, 3) lambda at the end of the step before the last
        self.duals: dict[int, DualRows | DriveRows] = {}  # what a kernel works on
        found = [(k, material_stiffness(block, problem.h)) for k, block in enumerate(blocks)]
        rows = {k: stiffness for k, stiffness in found if stiffness is not None}
        penalties = penalties_of(problem, list(rows))
        for (k, stiffness), rho in zip(rows.items(), penalties, strict=True):
            is_hard = np.isinf(stiffness) | (stiffness > least * rho)
            if is_hard.any():
                self.materials[k] = np.where(is_hard, stiffness, 0.0)
                self.penalties[k] = rho
                self.earlier[k] = np.zeros((len(rho), 1 if isinstance(problem.model.blocks[k], JointDrives) else 3))
        self.blocks = tuple(self._hard(k, block) for k, block in enumerate(problem.blocks))

    def part(self, k: int) -> np.ndarray:
        """k / rho (m,) of the rows of a block: 1 hard, 0 a penalty."""
        K = self.materials[k]
        return np.where(K > 0, 1 / (1 + self.penalties[k] / np.maximum(K, 1e-300)), 0.0)

    def _hard(self, k: int, block: Any) -> Block:
        if k not in self.materials:
            return block
        own = block.weights if isinstance(block, Attachments) else block.stiffness
        stiffness = np.where(self.materials[k] > 0, self.part(k) * self.penalties[k], own)
        if isinstance(block, JointDrives):
            return HARD_DRIVES[type(block)](**{**vars(block), "stiffness": stiffness})
        if isinstance(block, JointDots):
            return HardDots(block.elements, stiffness, np.zeros(len(stiffness)))
        if isinstance(block, Attachments):
            return HardLinks(block.elements, stiffness, np.zeros((len(stiffness), 3)))
        return HardRopes(block.elements, block.lengths, stiffness, block.compression)

    def replaced(self, problem: IncrementalPotential) -> IncrementalPotential:
        """The problem with these blocks in place of its own."""
        own = problem.model.blocks
        blocks = tuple(self.blocks[k] if k in self.materials else block for k, block in enumerate(own))
        return replace(problem, model=replace(problem.model, blocks=blocks))

    def current(self, problem: IncrementalPotential) -> IncrementalPotential:
        """The problem with the shifts that rows have now."""
        changed = list(problem.model.blocks)
        for k, dual in self.duals.items():
            changed[k] = _shifted(self.blocks[k], dual)
        return replace(problem, model=replace(problem.model, blocks=tuple(changed)))

    def fill(self, tables: Tables) -> None:
        """Take up the tables that a kernel works on."""
        for k in self.materials:
            self.duals[k] = tables.tables_of_blocks[k]["dual"]
            self.duals[k].part[:] = self.part(k)

    def begin_step(self, problem: IncrementalPotential, tables: Tables) -> None:
        """Begin with the multipliers that have lasted for two steps, and leave a part KEPT of the rows' errors for
        later steps.
        """
        x = problem.x_prev
        for k, dual in self.duals.items():
            K, block = self.materials[k][:, None], self.blocks[k]
            now = dual.multipliers.copy()
            dual.multipliers[:] = lasting(now, self.earlier[k])
            self.earlier[k] = now
            if isinstance(dual, DriveRows):
                step: Any = problem.blocks[k]
                begin_drives(step, self.materials[k], x, dual, tables.tables_of_blocks[k], tables.packs.width)
                continue
            flexed = np.divide(now, K, out=np.zeros_like(now), where=K > 0)
            error = measured(block, x, dual.lengths) - flexed
            error[(dual.lowest == 0) & (error[:, 0] < 0)] = 0.0  # a slack rope
            dual.start[:] = np.where(K > 0, KEPT * error, 0.0)
            dual.shift[:] = dual.multipliers * (dual.part / dual.stiffness)[:, None]
            write_shifts(block, tables.tables_of_blocks[k], dual, tables.packs.width)

    def hold(self, is_held: bool) -> None:
        """Whether iterations of block descent leave multipliers as they are."""
        for dual in self.duals.values():
            dual.is_active[0] = not is_held

    def update(self, problem: IncrementalPotential, x: np.ndarray, tables: Tables) -> None:
        """Make multipliers the forces that rows were felt with at x (n, 3) [m], as the kernels do."""
        for k, dual in self.duals.items():
            block, lists = self.blocks[k], tables.tables_of_blocks[k]
            if isinstance(dual, DriveRows):
                step: Any = problem.blocks[k]
                update_drives(step, x, dual)
                stiffness = np.where(self.materials[k] > 0, dual.stiffness, step.stiffness)
                write_drives(step, stiffness, dual, lists, tables.packs.width)
                continue
            w = measured(block, x, dual.lengths) - dual.start + dual.shift
            w[:, 0] = np.maximum(w[:, 0], dual.lowest)
            dual.multipliers[:], dual.shift[:] = dual.stiffness[:, None] * w, dual.part[:, None] * w
            write_shifts(block, lists, dual, tables.packs.width)

    def state_dict(self) -> dict[str, Any]:
        """Multipliers of the last two steps, for checkpoints."""
        return {str(k): [self.duals[k].multipliers.tolist(), self.earlier[k].tolist()] for k in self.duals}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from what `state_dict` gave; rows of a mesh that has torn since begin at zero."""
        for k, dual in self.duals.items():
            now, before = (np.array(values, dtype=float) for values in state.get(str(k), ([], [])))
            if now.shape == dual.multipliers.shape:
                dual.multipliers[:], self.earlier[k] = now, before


def _shifted(block: Any, dual: DualRows | DriveRows) -> Block:
    """A block of elements.hard with the shifts that its rows have now."""
    shift = dual.shift - dual.start
    if isinstance(dual, DriveRows):
        bounds = {"lowest": dual.lowest, "highest": dual.highest}
        return replace(block, offset=dual.offset, rest=dual.rest - shift[:, 0], **bounds)
    if isinstance(block, HardRopes):
        return replace(block, lengths=dual.lengths - shift[:, 0])
    return replace(block, shift=shift if isinstance(block, HardLinks) else shift[:, 0])


def lasting(now: np.ndarray, before: np.ndarray) -> np.ndarray:
    """What of multipliers (m, 3) there was in the step before too: that of an impact does not last."""
    along = np.einsum("ma,ma->m", now, before)
    size = np.einsum("ma,ma->m", now, now)
    part = np.divide(along, size, out=np.zeros_like(along), where=size > 0)
    return np.clip(part, 0.0, 1.0)[:, None] * now


def measured(block: Block, x: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """C (m, 3) of rows at x (n, 3) [m]; rows of one number have it first."""
    corners, values = x[block.elements], np.zeros((len(block.elements), 3))
    first = corners[:, 1] - corners[:, 0]
    if isinstance(block, HardLinks):
        return first
    if isinstance(block, HardDots):
        values[:, 0] = np.einsum("ma,ma->m", first, corners[:, 3] - corners[:, 2])
    else:
        values[:, 0] = np.linalg.norm(first, axis=1) - lengths
    return values


def write_shifts(block: Block, lists: dict[str, Any], dual: DualRows, width: int) -> None:
    """Write shifts to the lists of all corners, of packs of a width."""
    shift = dual.shift - dual.start
    if isinstance(block, HardLinks):
        for corner, name in enumerate(("list0", "list1")):
            for axis in range(3):
                lists[name].constants[dual.places[:, corner] + axis * width] = shift[:, axis]
        return
    value = dual.lengths - shift[:, 0] if isinstance(block, HardRopes) else shift[:, 0]
    lists["list0"].constants[dual.places] = value[:, None]


def penalties_of(problem: IncrementalPotential, numbers: list[int]) -> list[np.ndarray]:
    """rho (m,) of the rows of some blocks: [N/m], of directions [N/m^3]."""
    model = problem.model
    blocks = [model.blocks[k] for k in numbers]
    if not blocks:
        return []
    unknown, mass = _unknowns(model, [block.elements for block in blocks])
    lengths = [len(block.elements) for block in blocks]
    ends = [np.column_stack([unknown[b.elements[:, 0]], unknown[b.elements[:, -1]]]) for b in blocks]
    pairs = np.sort(np.concatenate(ends), axis=1)
    moves = np.isfinite(mass)
    joins = moves[pairs].all(axis=1)
    size = len(mass)
    _, component = connected_components(pairs[joins], size)
    largest = np.zeros(size)
    np.maximum.at(largest, component[moves], mass[moves])
    heaviest = np.maximum(
        *(np.where(moves[pairs[:, side]], largest[component[pairs[:, side]]], 0.0) for side in (0, 1))
    )
    is_shared = np.concatenate([np.full(len(b.elements), not isinstance(b, JointDrives)) for b in blocks])
    _, group = np.unique(pairs[:, 0] * size + pairs[:, 1], return_inverse=True)
    count = np.maximum(np.bincount(group.ravel(), is_shared), 1)
    rho = np.maximum(heaviest, 1e-30) / problem.h**2 / np.where(is_shared, count[group.ravel()], 1)
    lighter = np.where(moves[pairs], mass[pairs], 0.0).max(axis=1)
    found = np.split(np.column_stack([rho, rho / np.maximum(lighter, 1e-30)]), np.cumsum(lengths)[:-1])
    return [_scaled(own, block, model) for own, block in zip(found, blocks, strict=True)]


def _scaled(rho: np.ndarray, block: Block, model: Model) -> np.ndarray:
    """(m,) from rho (m, 2) [N/m], of the masses and over the heavier one that a row moves: with the length of
    directions, or the inertia about the axis of drives.
    """
    if isinstance(block, JointDrives):
        return rho[:, 1] * block.inertia
    if not isinstance(block, JointDots):
        return rho[:, 0]
    corners = model.positions[block.elements]
    lengths = np.linalg.norm(corners[:, 1::2] - corners[:, ::2], axis=2)
    return rho[:, 0] / np.maximum(lengths.max(axis=1), 1e-30) ** 2


def _unknowns(model: Model, rows: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """(n,) the unknown of each vertex, one for all points of a rigid body; their masses (n,) [kg], infinite if held.

    A soft body that no row (m, corners) joins to itself counts as one too: what holds a vertex of it carries it all.
    """
    unknown, mass = np.arange(model.n_vertices), np.where(model.is_free, model.mass, np.inf)
    body = bodies_of_vertices(model)
    ends = np.concatenate([np.column_stack([body[own[:, 0]], body[own[:, -1]]]) for own in rows])
    is_whole = np.ones(len(model.body_names) + 1, bool)
    is_whole[ends[ends[:, 0] == ends[:, 1], 0]] = False
    is_whole[-1] = False  # what does not move
    carries = np.flatnonzero(is_whole[body])
    if len(carries):
        total = np.bincount(body[carries], model.mass[carries], len(model.body_names))
        _, first, number = np.unique(body[carries], return_index=True, return_inverse=True)
        unknown[carries] = carries[first][number.ravel()]
        mass[carries[first]] = total[body[carries[first]]]
    if model.carried is not None:
        carried = model.carried
        first = carried.points[carried.start[:-1]]
        unknown[carried.points] = first[carried.body]
        mass[first] = np.bincount(carried.body, model.mass[carried.points], carried.count)
    return unknown, mass
