"""The points at which a joint holds its two sides: links, directions, coordinates that are driven or stopped."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.model.joint_stops import Stop

if TYPE_CHECKING:
    from pliant.model.joints import Joint

Place = tuple[int, np.ndarray]  # side and offset from the joint's point [m]


def add_points(joint: Joint, sides: tuple[Any, Any]) -> None:
    """Add to both sides of a joint the points that it holds; the second may be the world's."""
    if joint.vertices is not None:
        _hold_vertices(joint)
    elif joint.kind == "distance":
        ends = [(0, sides[0].point(joint.point)), (1, sides[1].point(joint.other_point))]
        _hold_distance(joint, ends)
    else:
        for offset in _link_offsets(joint):
            joint.links.append((sides[0].point(joint.point + offset), sides[1].point(joint.point + offset)))
        _add_dots(joint, sides)
        if joint.drive is not None:
            joint.corners += _points(joint, sides, _coordinate(joint))
        _add_stops(joint, sides)


def axes_of(joint: Joint) -> np.ndarray:
    """(3, 3) rows: its axis, and two across it."""
    axis = np.array([0.0, 0.0, 1.0]) if joint.axis is None else joint.axis
    one = np.cross(np.eye(3)[np.argmin(np.abs(axis))], axis)
    one /= np.linalg.norm(one)
    return np.stack([axis, one, np.cross(axis, one)])


def _points(joint: Joint, sides: tuple[Any, Any], places: list[Place]) -> list[tuple[int, int]]:
    """Sides and vertices of new points."""
    return [(side, sides[side].point(joint.point + offset)) for side, offset in places]


def _link_offsets(joint: Joint) -> list[np.ndarray]:
    """Where (3,) [m], from its point, both sides stay together."""
    axis, one, two = joint.reach * axes_of(joint)
    if joint.kind == "hinge":
        return [axis, -axis]
    if joint.kind == "fixed":
        return [one, -0.5 * one + math.sqrt(0.75) * two, -0.5 * one - math.sqrt(0.75) * two]
    return [] if joint.kind == "slider" else [np.zeros(3)]


def _add_dots(joint: Joint, sides: tuple[Any, Any]) -> None:
    axis, one, two = joint.reach * axes_of(joint)

    def direction(side: int, offset: np.ndarray) -> list[tuple[int, int]]:
        return _points(joint, sides, [(side, np.zeros(3)), (side, offset)])

    if joint.kind == "universal":
        joint.dots.append((*direction(0, axis), *direction(1, one)))
    if joint.kind == "slider":
        for mine, theirs in ((one, two), (one, axis), (two, axis)):
            joint.dots.append((*direction(0, mine), *direction(1, theirs)))
        for across in (one, two):
            apart = _points(joint, sides, [(0, np.zeros(3)), (1, np.zeros(3))])
            joint.dots.append((*apart, *direction(1, across)))


def _coordinate(joint: Joint) -> list[Place]:
    """The points of a hinge's or a slider's coordinate (elements.joint_drive)."""
    axis, one, _ = axes_of(joint)
    if joint.kind == "slider":
        return [(0, np.zeros(3)), (1, np.zeros(3)), (1, np.zeros(3)), (1, axis)]
    return _angle(1, joint.reach * axis, joint.reach * one)


def _angle(carrier: int, axis: np.ndarray, arm: np.ndarray) -> list[Place]:
    """The points of the angle of one side about an axis that the other one carries."""
    return [(carrier, -axis), (carrier, axis), (carrier, arm), (1 - carrier, arm)]


def _add_stops(joint: Joint, sides: tuple[Any, Any]) -> None:
    """Limits of the angles of balls and universals (model.joint_stops)."""
    axis, one, _ = axes_of(joint)
    reach = joint.reach

    def stop(coordinate: str, limits: tuple[float, float], lines: tuple[int, ...], places: list[Place]) -> None:
        joint.stops.append(Stop(coordinate, limits, lines, _points(joint, sides, places)))

    if joint.cone is not None:  # the tip of a's axis, along b's
        tip = [(0, reach * axis), (1, np.zeros(3)), (1, np.zeros(3)), (1, axis)]
        stop("slider", (reach * math.cos(joint.cone), math.inf), (1, 2), tip)
    if joint.bend is not None:
        stop("hinge", joint.bend, (1,), _angle(1, reach * one, reach * axis))
    if joint.twist is not None and joint.kind == "ball":
        stop("hinge", joint.twist, (0,), _angle(1, reach * axis, reach * one))
    elif joint.twist is not None:  # seen from a, which carries the axis: of b, the other way round
        stop("hinge", (-joint.twist[1], -joint.twist[0]), (0,), _angle(0, reach * axis, reach * one))


def _hold_distance(joint: Joint, ends: list[tuple[int, int]]) -> None:
    if joint.length is not None:
        joint.links.append((ends[0][1], ends[1][1]))
    if joint.drive is not None:
        joint.corners += ends


def _hold_vertices(joint: Joint) -> None:
    """A rigid body and vertices of another one, which have places and no directions."""
    body, other = joint.body_a, joint.body_b
    assert other is not None
    assert joint.vertices is not None
    if joint.kind == "distance":
        _hold_distance(joint, [(0, body.point(joint.point)), (1, joint.vertices[0])])
        return
    for vertex in joint.vertices:
        place = other.initial_positions[vertex]
        if joint.kind != "slider":
            joint.links.append((body.point(place), vertex))
            continue
        axis, one, two = axes_of(joint)
        start = (0, body.point(place))
        for across in (joint.reach * one, joint.reach * two):
            joint.dots.append(((1, vertex), start, start, (0, body.point(place + across))))
        if joint.drive is not None:
            joint.corners += [(1, vertex), start, start, (0, body.point(place + axis))]
