"""Arrows and marks over a picture: forces and places that bodies would hide."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.viewer.camera import Camera

COLOUR = (199, 33, 31, 255)
ARROW_WIDTH = 0.006  # of the picture's height
LONGEST_ARROW = 0.25  # of the picture's height, for the largest force of all frames
SMALLEST = 0.01  # of the largest force: smaller ones are not drawn
HEAD = (3.5, 1.6)  # length and half the width of an arrow's head, in widths of its shaft
MARK = 0.008  # of the picture's height: radius


def with_symbols(
    pixels: np.ndarray, camera: Camera, starts: np.ndarray, forces: np.ndarray, largest: float, marks: np.ndarray
) -> np.ndarray:
    """A picture (rows, columns, 3) uint8 of a camera with arrows for forces (k, 3) [N] at starts (k, 3) [m], of which
    the largest of all pictures is given, and dots at marks (m, 3) [m].
    """
    from PIL import Image, ImageDraw

    over = Image.new("RGBA", (camera.width, camera.height), (*COLOUR[:3], 0))
    pen = ImageDraw.Draw(over)
    radius = MARK * camera.height
    for column, row, _ in camera.project(marks):
        pen.ellipse((column - radius, row - radius, column + radius, row + radius), fill=COLOUR)
    sizes = np.linalg.norm(forces, axis=1)
    drawn = sizes > SMALLEST * largest
    scale = LONGEST_ARROW * camera.height * camera.metres_a_pixel / max(largest, 1e-300)
    ends = camera.project(starts[drawn] + scale * forces[drawn])[:, :2]
    for start, end in zip(camera.project(starts[drawn])[:, :2], ends, strict=True):
        _arrow(pen, start, end, ARROW_WIDTH * camera.height)
    image = Image.fromarray(pixels).convert("RGBA")
    return np.array(Image.alpha_composite(image, over.resize(image.size, Image.Resampling.BOX)).convert("RGB"))


def _arrow(pen: Any, start: np.ndarray, end: np.ndarray, width: float) -> None:
    """From start to end (2,) [pixels]; a short one is a head alone."""
    way = end - start
    length = max(float(np.linalg.norm(way)), 1e-9)
    along = way / length
    across = np.array([-along[1], along[0]])
    head = min(HEAD[0] * width, length)
    neck = end - head * along
    if length > head:
        pen.line([*start, *neck], fill=COLOUR, width=max(1, round(width)))
    half = HEAD[1] * width * head / (HEAD[0] * width)
    pen.polygon([tuple(end), tuple(neck + half * across), tuple(neck - half * across)], fill=COLOUR)
