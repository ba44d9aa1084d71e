"""Times at which animations of files are taken, and their meshes without doubled vertices."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from pliant.errors import FileError

SAME = 1e-9  # [s] times nearer to each other are one


def refined(times: np.ndarray, frame_rate: float) -> np.ndarray:
    """(f,) ascending: all keys of a file [s], and between two as many evenly spaced ones as the frame rate [1/s] asks
    for, since what turns does not move in straight lines.
    """
    if not (np.isfinite(frame_rate) and frame_rate > 0):
        raise FileError(f"load_animation: frame_rate is {frame_rate!r}; give a positive number [1/s].")
    keys = np.unique(times)
    keys = keys[np.concatenate([[True], np.diff(keys) > SAME])]
    parts = [
        np.linspace(a, b, max(int(np.ceil((b - a) * frame_rate - 1e-6)), 1), endpoint=False) for a, b in pairwise(keys)
    ]
    return np.concatenate([*parts, keys[-1:]])


def welded(triangles: np.ndarray, frames: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A mesh (m, 3) and frames (f, n, 3) in which vertices that coincide in all frames are one, as files split them
    where normals or UV coordinates differ; in the order in which they come first. Triangles that then have two equal
    corners have no area, and are left out.
    """
    rows = np.ascontiguousarray(frames.swapaxes(0, 1)).reshape(frames.shape[1], -1) + 0.0  # no negative zeros
    _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    corners = number[inverse.ravel()][triangles]
    proper = (corners != np.roll(corners, 1, axis=1)).all(axis=1)
    return corners[proper], frames[:, first[order]]
