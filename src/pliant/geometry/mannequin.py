"""A walking figure of capsules: bones that swing about joints, each with a capsule around it.

Proportions are about those of a person (lengths and radii over the height); hips, knees, shoulders and elbows swing
about the y axis, the hips rise and fall so that the lower foot stays on the ground.
"""

from __future__ import annotations

import numpy as np

from pliant.errors import MeshError

Array = np.ndarray

MOST_FRAMES, MOST_SEGMENTS = 100_000, 1_000
STRIDE = 0.8  # length of two steps over the height
THIGH, SHIN, TRUNK, ARM, FOREARM = 0.245, 0.245, 0.27, 0.17, 0.16  # lengths over the height
RADII = {"trunk": 0.085, "head": 0.065, "shoulders": 0.03, "thigh": 0.05, "shin": 0.036, "arm": 0.03, "forearm": 0.024}
HIP, SHOULDER = 0.055, 0.125  # from the middle to the side, over the height


def walking_frames(
    height: float, strides: int, frame_rate: float, speed: float, segments: int, arms: float = 0.0
) -> tuple[Array, Array]:
    """Triangles (m, 3) and frames (f, n, 3) [m]; arms: how far from the body [rad]."""
    seconds = strides * STRIDE * height / speed
    if not seconds * frame_rate < MOST_FRAMES or segments > MOST_SEGMENTS:
        raise MeshError(
            f"Animation.walking_mannequin: {seconds * frame_rate:.3g} frames of limbs of {segments:.3g} segments; "
            f"ask for at most {MOST_FRAMES} and {MOST_SEGMENTS}."
        )
    count = max(round(seconds * frame_rate), 1) + 1
    shapes = [_capsule(segments) for _ in _bones(0.0)]
    triangles = np.concatenate([triangles + k * len(points) for k, (points, _, triangles) in enumerate(shapes)])
    frames = []
    for frame in range(count):
        time = frame / frame_rate
        bones = _bones(2 * np.pi * time * speed / (STRIDE * height), arms)
        parts = [_around(shape, *bone) for shape, bone in zip(shapes, bones, strict=True)]
        points = height * np.concatenate(parts)
        points[:, 0] += speed * time
        frames.append(points)
    return triangles, np.array(frames)


def _bones(phase: float, arms: float = 0.0) -> list[tuple[Array, Array, float]]:
    """Start, end and radius of every bone over the height, at a phase of the stride [rad]; arms as above."""
    legs = [_leg(phase, 1.0), _leg(phase + np.pi, -1.0)]
    lowest = min(leg[2][2] - RADII["shin"] for leg in legs)  # of the soles
    up = np.array([0.0, 0.0, -lowest])
    top = up + np.array([0.0, 0.0, TRUNK])
    bones = [
        (up, top, RADII["trunk"]),
        (top + np.array([0.0, 0.0, 0.115]), top + np.array([0.0, 0.0, 0.139]), RADII["head"]),
        (top + np.array([0.0, SHOULDER, 0.03]), top + np.array([0.0, -SHOULDER, 0.03]), RADII["shoulders"]),
    ]
    for leg in legs:
        hip, knee, ankle = (joint + up for joint in leg)
        bones += [(hip, knee, RADII["thigh"]), (knee, ankle, RADII["shin"])]
    for side, swing in ((1.0, -0.45 * np.sin(phase)), (-1.0, 0.45 * np.sin(phase))):
        shoulder = top + np.array([0.0, side * SHOULDER, 0.03])
        elbow = shoulder + ARM * _aside(_hanging(swing), side * arms) + [0.0, 0.02 * side, 0.0]
        wrist = elbow + FOREARM * _aside(_hanging(swing - 0.35), side * arms)
        bones += [(shoulder, elbow, RADII["arm"]), (elbow, wrist, RADII["forearm"])]
    return bones


def _leg(phase: float, side: float) -> tuple[Array, Array, Array]:
    """Hip, knee and ankle with the hips at the origin; the knee bends while the leg swings forward."""
    swing = 0.45 * np.sin(phase)
    bend = 0.55 * max(np.cos(phase), 0.0) ** 2
    hip = np.array([0.0, side * HIP, 0.0])
    knee = hip + THIGH * _hanging(-swing - 0.3 * bend)
    return hip, knee, knee + SHIN * _hanging(-swing + 0.7 * bend)


def _hanging(angle: float) -> Array:
    """Downward, turned backward by an angle [rad]."""
    return np.array([-np.sin(angle), 0.0, -np.cos(angle)])


def _aside(direction: Array, angle: float) -> Array:
    """Turned about the x axis [rad], so that what hangs points to +y."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([direction[0], c * direction[1] - s * direction[2], s * direction[1] + c * direction[2]])


def _capsule(segments: int) -> tuple[Array, Array, Array]:
    """Unit directions (n, 3) around the z axis, which end each belongs to (n,), and triangles (m, 3)."""
    rings = max(segments // 4, 1)
    angles = np.linspace(0, np.pi / 2, rings + 1)[1:]
    around = 2 * np.pi * np.arange(segments) / segments
    polar = np.concatenate([angles, np.pi - angles[::-1]])  # from the top down, the equator twice
    ring = [np.column_stack([np.sin(a) * np.cos(around), np.sin(a) * np.sin(around), np.full(segments, np.cos(a))])
            for a in polar]  # fmt: skip
    points = np.concatenate([[[0.0, 0.0, 1.0]], *ring, [[0.0, 0.0, -1.0]]])
    is_top = np.concatenate([[True], np.repeat(np.arange(len(polar)) < rings, segments), [False]])
    k, following = np.arange(segments), (np.arange(segments) + 1) % segments
    triangles = [np.column_stack([np.zeros(segments, int), 1 + k, 1 + following])]
    for r in range(len(polar) - 1):
        a, b = 1 + r * segments, 1 + (r + 1) * segments
        triangles += [
            np.column_stack([a + k, b + k, b + following]),
            np.column_stack([a + k, b + following, a + following]),
        ]
    last = 1 + (len(polar) - 1) * segments
    triangles += [np.column_stack([last + k, np.full(segments, len(points) - 1), last + following])]
    return points, is_top, np.concatenate(triangles)


def _around(shape: tuple[Array, Array, Array], start: Array, end: Array, radius: float) -> Array:
    """The capsule's points about a bone; its own z axis goes from end to start."""
    directions, is_top, _ = shape
    axis = (start - end) / np.linalg.norm(start - end)
    across = np.eye(3)[0 if abs(axis[1]) > 0.9 else 1]
    side = across - (across @ axis) * axis
    side /= np.linalg.norm(side)
    frame = np.stack([np.cross(side, axis), side, axis])  # rows: x, y, z of the capsule
    return np.where(is_top[:, None], start, end) + radius * (directions @ frame)
