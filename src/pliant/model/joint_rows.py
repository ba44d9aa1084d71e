"""Which elements of a model belong to which joint: motors that are set between steps, forces, breaking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pliant.elements.block import Block
from pliant.elements.joint import JointLinks
from pliant.elements.joint_drive import JointDrives
from pliant.model.joint_drives import motor_row
from pliant.model.joints import Joint


@dataclass(frozen=True)
class JointRows:
    """The elements of one joint."""

    joint: Joint
    rows: tuple[tuple[int, slice], ...]  # numbers of blocks and elements in them
    vertices: range  # of its first body

    @property
    def driven(self) -> tuple[int, slice] | None:
        """The block and elements of its drive, the last ones."""
        return None if self.joint.drive is None else self.rows[-1]


def joint_rows(
    joints: Sequence[Joint], made: Sequence[Sequence[Block]], blocks: Sequence[Block], first_of: dict[int, int]
) -> tuple[JointRows, ...]:
    """Where the elements made of each joint are among the merged blocks; first_of: bodies' vertices 0, by id."""
    numbers = {type(block): number for number, block in enumerate(blocks)}
    counts = dict.fromkeys(numbers, 0)
    result = []
    for joint, own in zip(joints, made, strict=True):
        rows = []
        for block in own:
            begin = counts[type(block)]
            counts[type(block)] += len(block.elements)
            rows.append((numbers[type(block)], slice(begin, counts[type(block)])))
        first = first_of[id(joint.body_a)]
        result.append(JointRows(joint, tuple(rows), range(first, first + joint.body_a.n_vertices)))
    return tuple(result)


def with_motors(blocks: tuple[Block, ...], joints: Sequence[JointRows]) -> tuple[Block, ...]:
    """Blocks with the commands that motors have now."""
    changed: dict[int, Any] = {}
    for rows in joints:
        motor = rows.joint.motor
        if motor is None or rows.driven is None:
            continue
        number, own = rows.driven
        if number not in changed:
            block: Any = blocks[number]
            arrays = {name: getattr(block, name).copy() for name in ("role", "value", "most", "pace")}
            changed[number] = replace(block, **arrays)
        block, last = changed[number], own.stop - 1
        block.role[last], block.value[last], block.most[last], block.pace[last] = motor_row(motor)[:4]
    return tuple(changed.get(number, block) for number, block in enumerate(blocks))


def without_joints(blocks: tuple[Block, ...], broken: Sequence[JointRows]) -> tuple[Block, ...]:
    """Blocks in which the elements of broken joints have no stiffness."""
    result = list(blocks)
    for rows in broken:
        for number, own in rows.rows:
            block: Any = result[number]
            name = "weights" if isinstance(block, JointLinks) else "stiffness"
            stiffness, is_rigid = getattr(block, name).copy(), block.is_rigid.copy()
            stiffness[own] = 0.0
            if not isinstance(block, JointDrives):
                is_rigid[own] = False
            result[number] = replace(block, **{name: stiffness, "is_rigid": is_rigid})
    return tuple(result)
