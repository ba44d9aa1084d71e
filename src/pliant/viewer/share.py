"""A result as one HTML file that any browser plays, without a network: `.html`.

It holds the surface of all frames, fields as colours with a legend, contact forces as lines, and a player
(player.html): a slider for the time, orbiting, a button for pictures. Positions are rounded to 1/65535 of the extent.
"""

from __future__ import annotations

import base64
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import FileError
from pliant.io.results.places import cannot_write, replacing
from pliant.io.results.result import Frame, Layout, Result
from pliant.io.results.spheres import with_surfaces
from pliant.viewer.actors import Actor
from pliant.viewer.fields import SCALE, ColourScale, distinct, on_points

LARGEST = 400e6  # bytes of positions and fields: browsers load no more than that as one file
STEPS = 65535  # that positions are rounded to
NO_VALUE = 255
LARGEST_FORCE = 0.3  # of the scene's size: how long the line of the largest contact force is
USUAL_PART = 99.0  # [percent] of the values that the colours distinguish


def export(result: Result, path: Path) -> None:
    """Write a result, all frames."""
    try:
        with replacing(path) as beside:
            beside.write_text(page(result, path.stem), encoding="utf-8")
    except OSError as error:
        raise error if isinstance(error, FileError) else cannot_write(path, error) from None


def page(result: Result, title: str) -> str:
    """The text of the file."""
    template = files("pliant.viewer").joinpath("player.html").read_text(encoding="utf-8")
    about = json.dumps(contents(result, title)).replace("</", "<\\/")  # a name must not end the script
    return template.replace("/*ABOUT*/", about)


def contents(result: Result, title: str) -> dict[str, Any]:
    """What the player shows, arrays in base64."""
    result = with_surfaces(result)
    layout, kept = result.layout.surface()
    if not len(result) or not layout.n_points:
        raise FileError(f"{title}: there is no frame with a surface to show; record some first.")
    names = _fields(result.frame(0))
    cost = len(result) * layout.n_points * (6 + len(names))
    if cost > LARGEST:
        every = int(np.ceil(cost / LARGEST))
        raise FileError(
            f"{title}: {len(result)} frames of {layout.n_points} points make {cost / 1e6:.0f} MB, more than browsers "
            f"load as one file. Record every {every}th frame: sim.record(..., every={every})."
        )
    frames = [frame.on_surface(result.layout, kept) for frame in result]
    points = np.stack([frame.points for frame in frames])
    actor = Actor(result)
    seen = points[:, np.isin(kept, actor.framed)]
    low, step = _box(points)
    size = float(np.linalg.norm(np.ptp(seen.reshape(-1, 3), axis=0))) or 1.0
    starts, lines = _forces(frames, size)
    middle = (seen.min(axis=(0, 1)) + seen.max(axis=(0, 1))) / 2
    return {
        "title": title,
        "n_points": layout.n_points,
        "times": [frame.time for frame in frames],
        "triangles": _text(_drawn(layout, actor.floor, points[0]), np.uint32),
        "edges": _text(layout.edges, np.uint32),
        "colours": _text(np.round(255 * _point_colours(layout)), np.uint8),
        "places": _text(np.round((points - low) / step), np.uint16),
        "low": low.tolist(),
        "step": step.tolist(),
        "size": size,
        "middle": middle.tolist(),
        "ground": float(seen[..., 2].min()) if actor.floor is None else actor.floor,
        "fields": [_field(layout, frames, name) for name in names],
        "scale": SCALE.tolist(),
        "force_start": _text(starts, np.uint32),
        "force_lines": _text(lines, np.float32),
    }


def _fields(frame: Frame) -> list[str]:
    """Names of scalar fields, and of vectors by their length."""
    points = ["speed" if name == "velocity" else name for name in frame.point_fields]
    return [name for name in (*points, *frame.cell_fields) if name not in ("stress", "strain")]


def _box(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    low, high = points.min(axis=(0, 1)), points.max(axis=(0, 1))
    return low, np.maximum(high - low, 1e-12) / STEPS


def _drawn(layout: Layout, floor: float | None, first: np.ndarray) -> np.ndarray:
    """Triangles but those of a level floor, which the grid shows."""
    if floor is None:
        return layout.triangles
    is_floor = layout.scenery_points[layout.triangles].all(axis=1)
    flat = (np.abs(first[layout.triangles][..., 2] - floor) <= 1e-9 + 1e-6 * abs(floor)).all(axis=1)
    return layout.triangles[~(is_floor & flat)]


def _point_colours(layout: Layout) -> np.ndarray:
    return np.repeat(layout.colours, np.diff(layout.body_start), axis=0)


def _field(layout: Layout, frames: list[Frame], name: str) -> dict[str, Any]:
    """Values as bytes between the ends of the scale."""
    values = np.stack([on_points(layout, frame, name) for frame in frames])
    values[:, layout.scenery_points] = np.nan
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(np.percentile(known, USUAL_PART))) if len(known) else (0.0, 1.0)
    low, high = distinct(low, high)
    place = np.clip((values - low) / (high - low), 0.0, 1.0) * (NO_VALUE - 1)
    title, ticks = ColourScale(name, low, high).texts()
    as_bytes = np.where(np.isfinite(place), np.round(np.nan_to_num(place)), NO_VALUE)
    return {"name": name, "title": title, "ticks": ticks, "values": _text(as_bytes, np.uint8)}


def _forces(frames: list[Frame], size: float) -> tuple[np.ndarray, np.ndarray]:
    """Lines (l, 2, 3) [m] of all frames one after the other, and the first line (frames + 1,) of each frame."""
    found, starts = [], [0]
    fields = [frame.point_fields.get("contact_force") for frame in frames]
    largest = max((float(np.linalg.norm(f, axis=1).max()) for f in fields if f is not None and len(f)), default=0.0)
    for frame, force in zip(frames, fields, strict=True):
        at = np.flatnonzero(np.any(force != 0, axis=1)) if force is not None and largest > 0 else np.zeros(0, int)
        if len(at) and force is not None:
            ends = frame.points[at] + LARGEST_FORCE * size / largest * force[at]
            found.append(np.stack([frame.points[at], ends], axis=1))
        starts.append(starts[-1] + len(at))
    return np.array(starts), np.concatenate(found) if found else np.zeros((0, 2, 3))


def _text(values: np.ndarray, kind: Any) -> str:
    little = np.ascontiguousarray(values, np.dtype(kind).newbyteorder("<"))
    return base64.b64encode(little.tobytes()).decode("ascii")
