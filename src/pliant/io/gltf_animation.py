"""Animations from glTF: nodes that move, skins and morph targets, as the positions of one mesh in time (glTF 2.0,
Sections 3.7 and 3.11, Appendix C).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pliant.errors import FileError
from pliant.geometry.animation import Animation
from pliant.io.gltf_file import GltfFile
from pliant.io.sampling import refined, welded
from pliant.io.usd_meshes import FROM_Y_UP

ENDINGS = (".glb", ".gltf")
TRIANGLES = 4
PATHS = ("translation", "rotation", "scale", "weights")


class Channel(NamedTuple):
    """How one number or vector of a node changes."""

    times: np.ndarray  # (k,) [s]
    values: np.ndarray  # (k, c), or (3 k, c) of cubic splines: tangent in, value, tangent out
    interpolation: str

    def at(self, time: float, is_rotation: bool) -> np.ndarray:
        """(c,) at a time [s]; before the first key and after the last as there."""
        cubic = self.interpolation == "CUBICSPLINE"
        values = self.values[1::3] if cubic else self.values
        k = int(np.searchsorted(self.times, time, side="right"))
        if k == 0 or k == len(self.times):
            return values[min(k, len(values) - 1)]
        a, b, step = values[k - 1], values[k], self.times[k] - self.times[k - 1]
        s = (time - self.times[k - 1]) / step
        if self.interpolation == "STEP":
            return a
        if cubic:
            leaving, arriving = step * self.values[3 * k - 1], step * self.values[3 * k]
            return (
                (2 * s**3 - 3 * s**2 + 1) * a
                + (s**3 - 2 * s**2 + s) * leaving
                + (3 * s**2 - 2 * s**3) * b
                + (s**3 - s**2) * arriving
            )
        return _turned(a, b, s) if is_rotation else (1 - s) * a + s * b


@dataclass(frozen=True)
class Part:
    """Triangles of a mesh at a node."""

    node: int
    points: np.ndarray  # (n, 3)
    triangles: np.ndarray  # (m, 3)
    targets: np.ndarray  # (t, n, 3) displacements
    joints: np.ndarray  # (n, j) numbers in the skin's list; no columns without a skin
    weights: np.ndarray  # (n, j), of sum 1


def gltf_animation(path: Path, frame_rate: float, repeat: bool, name: str | None) -> Animation:
    """All meshes of a file's scene as one that moves, welded where vertices coincide at all times; z up."""
    file = GltfFile(path)
    channels = _channels(file, name)
    parts = _parts(file)
    times = refined(np.concatenate([channel.times for channel in channels.values()] or [np.zeros(1)]), frame_rate)
    frames = np.array([_positions(file, parts, channels, time) for time in times]) @ FROM_Y_UP.T
    firsts = np.cumsum([0, *(len(part.points) for part in parts)])
    triangles = np.concatenate([part.triangles + first for part, first in zip(parts, firsts, strict=False)])
    triangles, frames = welded(triangles, frames)
    return Animation(triangles, frames, times - times[0], repeat)


def _channels(file: GltfFile, name: str | None) -> dict[tuple[int, str], Channel]:
    """By node and path, of the animation of this name, or the first."""
    animations = file.part("animations")
    names = [str(about.get("name", number)) for number, about in enumerate(animations)]
    if name is not None and name not in names:
        raise FileError(f"{file.path}: it has no animation {name!r}; its animations are {', '.join(names) or 'none'}.")
    if not animations:
        return {}
    about = animations[0 if name is None else names.index(name)]
    found = {}
    for channel in about["channels"]:
        node, path = channel["target"].get("node"), channel["target"]["path"]
        sampler = about["samplers"][channel["sampler"]]
        times, values = file.array(sampler["input"]).astype(float), file.array(sampler["output"]).astype(float)
        keys = len(times) * (3 if sampler.get("interpolation") == "CUBICSPLINE" else 1)
        if node is not None and path in PATHS:
            found[node, path] = Channel(times, values.reshape(keys, -1), sampler.get("interpolation", "LINEAR"))
    return found


def _parts(file: GltfFile) -> list[Part]:
    scenes = file.part("scenes")
    roots = scenes[file.json.get("scene", 0)].get("nodes", []) if scenes else range(len(file.part("nodes")))
    parts, waiting = [], list(roots)
    while waiting:
        number = waiting.pop(0)
        node = file.part("nodes")[number]
        waiting += node.get("children", [])
        if "mesh" in node:
            primitives = file.part("meshes")[node["mesh"]]["primitives"]
            parts += [_part(file, number, own) for own in primitives if own.get("mode", TRIANGLES) == TRIANGLES]
    if not parts:
        raise FileError(f"{file.path}: its scene has no mesh of triangles.")
    return parts


def _part(file: GltfFile, node: int, primitive: dict[str, Any]) -> Part:
    attributes = primitive["attributes"]
    points = file.array(attributes["POSITION"]).astype(float)
    indices = file.array(primitive["indices"]) if "indices" in primitive else np.arange(len(points))
    targets = [file.array(own["POSITION"]).astype(float) for own in primitive.get("targets", []) if "POSITION" in own]
    sets = [k for k in range(8) if f"JOINTS_{k}" in attributes]
    empty = np.zeros((len(points), 0))
    joints = np.concatenate([empty, *(file.array(attributes[f"JOINTS_{k}"]) for k in sets)], axis=1).astype(np.int64)
    weights = np.concatenate([empty, *(file.array(attributes[f"WEIGHTS_{k}"]) for k in sets)], axis=1).astype(float)
    if "skin" not in file.part("nodes")[node]:
        joints, weights = joints[:, :0], weights[:, :0]
    total = weights.sum(axis=1, keepdims=True)
    weights = weights / np.where(total > 0, total, 1.0)
    moved = np.array(targets).reshape(-1, len(points), 3)
    return Part(node, points, indices.astype(np.int64).reshape(-1, 3), moved, joints, weights)


def _positions(file: GltfFile, parts: list[Part], channels: dict[tuple[int, str], Channel], time: float) -> np.ndarray:
    """(n, 3) of all parts at a time [s], y up."""
    world = _world(file, channels, time)
    return np.concatenate([_placed(file, part, world, _weights(file, part, channels, time)) for part in parts])


def _weights(file: GltfFile, part: Part, channels: dict[tuple[int, str], Channel], time: float) -> np.ndarray:
    """(t,) of morph targets: animated, of the node, or of the mesh."""
    count = len(part.targets)
    if (part.node, "weights") in channels:
        return channels[part.node, "weights"].at(time, False)[:count]
    node = file.part("nodes")[part.node]
    usual = file.part("meshes")[node["mesh"]].get("weights", [0.0] * count)
    return np.array(node.get("weights", usual), float)[:count]


def _placed(file: GltfFile, part: Part, world: dict[int, np.ndarray], weights: np.ndarray) -> np.ndarray:
    """Morphed, then skinned by its joints or moved by its node."""
    points = part.points + np.einsum("t,tna->na", weights, part.targets)
    if not part.joints.shape[1]:
        return points @ world[part.node][:3, :3].T + world[part.node][:3, 3]
    skin = file.part("skins")[file.part("nodes")[part.node]["skin"]]
    joints = np.array([world[joint] for joint in skin["joints"]])
    if "inverseBindMatrices" in skin:
        joints = joints @ file.array(skin["inverseBindMatrices"]).astype(float).reshape(-1, 4, 4).swapaxes(1, 2)
    blended = np.einsum("nj,njab->nab", part.weights, joints[part.joints])
    return np.einsum("nab,nb->na", blended[:, :3, :3], points) + blended[:, :3, 3]


def _world(file: GltfFile, channels: dict[tuple[int, str], Channel], time: float) -> dict[int, np.ndarray]:
    """(4, 4) of each node at a time [s]."""
    nodes = file.part("nodes")
    parents = {child: number for number, node in enumerate(nodes) for child in node.get("children", [])}
    world: dict[int, np.ndarray] = {}
    for number in range(len(nodes)):
        way = [number]
        while way[-1] in parents and way[-1] not in world and len(way) <= len(nodes):
            way.append(parents[way[-1]])
        for own in reversed(way):
            if own not in world:
                local = _local(nodes[own], own, channels, time)
                world[own] = world[parents[own]] @ local if own in parents else local
    return world


def _local(node: dict[str, Any], number: int, channels: dict[tuple[int, str], Channel], time: float) -> np.ndarray:
    """(4, 4) of a node within its parent: scaled, turned, moved."""
    if "matrix" in node:
        return np.array(node["matrix"], float).reshape(4, 4).T
    usual = {"translation": [0.0, 0.0, 0.0], "rotation": [0.0, 0.0, 0.0, 1.0], "scale": [1.0, 1.0, 1.0]}
    values = {}
    for path, rest in usual.items():
        channel = channels.get((number, path))
        given = np.array(node.get(path, rest), float)
        values[path] = given if channel is None else channel.at(time, path == "rotation")
    matrix = np.eye(4)
    matrix[:3, :3] = _matrix(values["rotation"]) * values["scale"]
    matrix[:3, 3] = values["translation"]
    return matrix


def _matrix(quaternion: np.ndarray) -> np.ndarray:
    """(3, 3) of x, y, z, w."""
    x, y, z, w = quaternion / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def _turned(a: np.ndarray, b: np.ndarray, s: float) -> np.ndarray:
    """Between two unit quaternions, at constant angular velocity, the shorter way."""
    cosine = float(a @ b)
    b, cosine = (b, cosine) if cosine >= 0 else (-b, -cosine)
    angle = np.arccos(min(cosine, 1.0))
    if angle < 1e-6:
        return (1 - s) * a + s * b
    return (np.sin((1 - s) * angle) * a + np.sin(s * angle) * b) / np.sin(angle)
