"""Pictures of bodies, written as PNG files: one moment, or a strip of moments side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import FileError, PliantError
from pliant.io.results.result import BODY_COLOURS
from pliant.viewer.camera import direction, fit_camera

INK = (70, 76, 88)
SAMPLES = 2  # a pixel is the mean of SAMPLES x SAMPLES


@dataclass(frozen=True)
class Surface:
    """A surface to draw. Its points are given frame by frame, its triangles and colour do not change."""

    triangles: np.ndarray  # (m, 3) vertices, outward
    colour: Sequence[float] | np.ndarray = BODY_COLOURS[0]  # (3,), or (m, 3) one per triangle; 0 to 1

    def triangle_colours(self) -> np.ndarray:
        return np.broadcast_to(np.asarray(self.colour, float), (len(self.triangles), 3))


def merge(surfaces: Sequence[Surface], first_vertices: Sequence[int]) -> Surface:
    """One surface of several bodies whose vertices follow each other, as in Simulation.positions."""
    triangles = [s.triangles + first for s, first in zip(surfaces, first_vertices, strict=True)]
    return Surface(np.concatenate(triangles), np.concatenate([s.triangle_colours() for s in surfaces]))


def bands(rest_points: np.ndarray, triangles: np.ndarray, axis: int, count: int, colour: Sequence[float]) -> np.ndarray:
    """Colours (m, 3) in light and dark bands across an axis of the shape at rest: they show how it deforms."""
    along = rest_points[triangles].mean(axis=1)[:, axis]
    low, high = rest_points[:, axis].min(), rest_points[:, axis].max()
    band = np.floor((along - low) / max(high - low, 1e-30) * count)
    light = np.asarray(colour, float)
    return np.where((band % 2 == 0)[:, None], light, 0.45 * light + 0.55)


def draw(
    points: np.ndarray,
    surface: Surface,
    path: str | Path | None = None,
    height: int = 720,
    azimuth: float = -60.0,
    elevation: float = 18.0,
) -> np.ndarray:
    """One picture (rows, columns, 3) uint8, written to `path` if given.

    points (n, 3) [m]; height in pixels; azimuth and elevation of the viewer in degrees.
    """
    picture = _render([points], surface, height, azimuth, elevation)[0]
    if path is not None:
        save(pillow().fromarray(picture), Path(path))
    return picture


def strip(
    frames: Sequence[np.ndarray],
    times: Sequence[float],
    surface: Surface,
    path: str | Path,
    height: int = 560,
    azimuth: float = -60.0,
    elevation: float = 18.0,
) -> None:
    """Write frames (n, 3) [m] side by side, with their times [s] below, all seen by the same camera."""
    if len(frames) == 0 or len(frames) != len(times):
        raise PliantError(f"strip: {len(frames)} frames and {len(times)} times; give as many times as frames, not 0.")
    image = pillow()
    from PIL import ImageDraw, ImageFont

    panels = np.concatenate(_render(frames, surface, height, azimuth, elevation), axis=1)
    label_height = max(16, height // 12)
    background = tuple(int(v) for v in panels[-1, 0])
    whole = image.new("RGB", (panels.shape[1], height + label_height), background)
    whole.paste(image.fromarray(panels), (0, 0))
    pen, font = ImageDraw.Draw(whole), ImageFont.load_default(size=label_height // 2)
    width = panels.shape[1] / len(frames)
    for k, time in enumerate(times):
        pen.text(((k + 0.5) * width, height + 0.4 * label_height), f"{time:.2f} s", fill=INK, font=font, anchor="mm")
    save(whole, Path(path))


def _render(
    frames: Sequence[np.ndarray], surface: Surface, height: int, azimuth: float, elevation: float
) -> list[np.ndarray]:
    from pliant.viewer.light import render

    check_elevation(elevation)
    colours = np.ascontiguousarray(surface.triangle_colours())
    triangles = np.ascontiguousarray(surface.triangles, np.int64)
    shown = [np.ascontiguousarray(points, float) for points in frames]
    used = np.unique(triangles)
    everything = np.concatenate([points[used] for points in shown])
    camera = fit_camera(everything, direction(azimuth, elevation), SAMPLES * height, samples=SAMPLES)
    ground, middle = float(everything[:, 2].min()), everything.mean(axis=0)
    return [to_bytes(render(camera, points, triangles, colours, ground, middle)) for points in shown]


def check_elevation(elevation: float) -> None:
    """The ground fills the picture behind the bodies only if it is seen from above, not from straight above."""
    if not 0 < elevation < 90:
        raise PliantError(f"the viewer's elevation is {elevation:g} degrees; choose one between 0 and 90.")


def to_bytes(picture: np.ndarray) -> np.ndarray:
    """uint8 (rows, columns, 3), each pixel the mean of SAMPLES x SAMPLES values 0 to 1."""
    parts = [picture[i::SAMPLES, j::SAMPLES] for i in range(SAMPLES) for j in range(SAMPLES)]
    return np.round(255 / len(parts) * np.clip(sum(parts), 0, len(parts))).astype(np.uint8)


def pillow() -> Any:
    """The module PIL.Image, or one sentence."""
    try:
        from PIL import Image
    except ImportError:
        raise PliantError('Pictures need the package pillow: pip install "pliant[render]".') from None
    return Image


def save(image: Any, path: Path) -> None:
    """Write a Pillow image in the format its ending names."""
    try:
        image.save(path, optimize=True)
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: the picture cannot be written ({error}). Choose a .png in another folder.") from None
