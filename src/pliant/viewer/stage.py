"""A stage for results: one camera, one ground and one colour scale for all their frames, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.arguments import NO_NUMBER
from pliant.errors import PliantError
from pliant.io.results.result import Frame, Result
from pliant.io.results.spheres import with_surfaces
from pliant.model import checks
from pliant.viewer.actors import Actor
from pliant.viewer.camera import direction, fit_camera
from pliant.viewer.fields import ColourScale, on_points
from pliant.viewer.pictures import INK, SAMPLES, check_elevation, pillow, to_bytes
from pliant.viewer.symbols import with_symbols

TALLEST = 16384  # [pixels] of a picture
ROPE_RADIUS = 0.006  # of the picture's height
ASPECT = (0.7, 16 / 9)  # least and greatest width over height of a panel
USUAL_PART = 99.0  # [percent] of the values that the colours distinguish: a few corners must not darken all else


@dataclass(frozen=True)
class View:
    """How results are looked at."""

    height: int = 540  # of the picture without its labels [pixels]
    azimuth: float = -60.0  # of the viewer, from x in the horizontal plane [degrees]
    elevation: float = 18.0  # of the viewer [degrees]
    field: str | None = None  # colour by it rather than by body
    limits: tuple[float, float] | None = None  # of the field's colours; None: chosen from all frames
    forces: bool = False  # draw contact forces on vertices as arrows
    marks: Any = ()  # (k, 3) [m] places to mark, as of Simulation.intersections


def _check(view: View) -> None:
    """Refuse a view that cannot be drawn, before anything is."""
    if not 16 <= checks.count(view.height, "the picture's height [pixels]") <= TALLEST:
        raise PliantError(f"the picture's height is {view.height} pixels; choose 16 to {TALLEST}.")
    checks.real(view.azimuth, "the viewer's azimuth", "degrees")
    check_elevation(checks.real(view.elevation, "the viewer's elevation", "degrees"))
    if view.field is not None:
        checks.instance(view.field, str, "field", "the name of a field, or None for the colours of bodies")


def places(marks: Any) -> np.ndarray:
    """(k, 3) [m] from what a view was given."""
    try:
        return np.asarray(marks, float).reshape(-1, 3)
    except NO_NUMBER:
        raise PliantError(f"marks is {marks!r}: give places (k, 3) [m].") from None


class Stage:
    """Looks through all frames once to choose camera and colours; then makes pictures of any of them."""

    def __init__(self, results: Sequence[Result], view: View, labels: Sequence[str] = (), tight: bool = False):
        """tight: panels as narrow as the bodies, for strips."""
        if not results or min(len(result) for result in results) == 0:
            raise PliantError("there is no frame to draw; record some first.")
        if labels and len(labels) != len(results):
            raise PliantError(f"{len(labels)} labels for {len(results)} results; give as many as results.")
        _check(view)
        from pliant.viewer.light import with_shadows

        self._image = pillow()
        results = [with_surfaces(result) for result in results]
        self.results, self.view, self._labels = results, view, list(labels) or [""] * len(results)
        self._actors = [Actor(result) for result in results]
        towards = direction(view.azimuth, view.elevation)
        extremes, self.scale = self._look_through(towards)
        floors = [actor.floor for actor in self._actors if actor.floor is not None]
        self._ground = min(floors, default=float(extremes[:, 2].min()))
        shown, aspect = with_shadows(extremes, self._ground), (0.0, np.inf) if tight else ASPECT
        self._camera = fit_camera(shown, towards, SAMPLES * view.height, samples=2 * SAMPLES, aspect=aspect)
        self._rope_radius = ROPE_RADIUS * self._camera.height * self._camera.metres_a_pixel
        self._middle = (extremes.min(axis=0) + extremes.max(axis=0)) / 2
        self._marks = places(view.marks)
        self._largest_force = self._find_largest_force() if view.forces else 0.0

    def picture(self, time: float) -> Any:
        """All results side by side at the frames nearest to a time [s], a Pillow image."""
        chosen = [result.frame(int(np.abs(result.times - time).argmin())) for result in self.results]
        texts = [f"{label}   {frame.time:.2f} s".strip() for label, frame in zip(self._labels, chosen, strict=True)]
        return self._compose([self._panel(k, frame) for k, frame in enumerate(chosen)], texts)

    def strip(self, times: Sequence[float]) -> Any:
        """The moments nearest to times [s] side by side, a row for each result."""
        rows = []
        for k, result in enumerate(self.results):
            frames = [result.frame(int(np.abs(result.times - time).argmin())) for time in times]
            texts = [f"{frame.time:.2f} s" for frame in frames]
            texts[0] = f"{self._labels[k]}   {texts[0]}".strip()
            rows.append(self._compose([self._panel(k, frame) for frame in frames], texts))
        whole = self._image.new("RGB", (rows[0].width, sum(row.height for row in rows)))
        for k, row in enumerate(rows):
            whole.paste(row, (0, k * row.height))
        return whole

    def _look_through(self, towards: np.ndarray) -> tuple[np.ndarray, ColourScale | None]:
        """The outermost points (p, 3) of all frames, and the scale of the field."""
        sideways = np.cross([0.0, 0.0, 1.0], towards)
        axes = np.stack([sideways, np.cross(towards, sideways), [0.0, 0.0, 1.0]])
        extremes, lows, highs = [], [], []
        for result, actor in zip(self.results, self._actors, strict=True):
            used = actor.framed
            for k in range(len(result)):
                frame = None if self.view.field is None else result.frame(k)
                points = (result.positions(k) if frame is None else frame.points)[used]
                seen = np.einsum("na,ba->nb", points, axes)
                extremes += [points[seen.argmin(axis=0)], points[seen.argmax(axis=0)]]
                if frame is not None and self.view.field is not None:
                    values = on_points(result.layout, frame, self.view.field)[used]
                    values = values[np.isfinite(values)]
                    if len(values):
                        lows.append(values.min())
                        highs.append(np.percentile(values, USUAL_PART))
        return np.concatenate(extremes), self._scale(lows, highs)

    def _scale(self, lows: list[float], highs: list[float]) -> ColourScale | None:
        if self.view.field is None:
            return None
        low, high = self.view.limits or (min(lows, default=0.0), max(highs, default=1.0))
        low = 0.0 if self.view.limits is None and abs(low) < 1e-6 * high else low  # rounding at rest
        if not low <= high:
            raise PliantError(f"the colours' limits are {low:g} and {high:g}; give the lower one first.")
        return ColourScale(self.view.field, float(low), float(high))

    def _find_largest_force(self) -> float:
        """[N] on a vertex, in all frames."""
        largest = 0.0
        for result in self.results:
            for k in range(len(result)):
                forces = result.frame(k).point_fields.get("contact_force")
                if forces is None:
                    raise PliantError(
                        "there are no contact forces to draw: record a scene with contact as .npz, .pvd or .usdc."
                    )
                largest = max(largest, float(np.linalg.norm(forces, axis=1).max(initial=0.0)))
        return largest

    def _with_symbols(self, pixels: np.ndarray, frame: Frame) -> np.ndarray:
        """A panel with arrows and marks, if any are asked for."""
        if not len(self._marks) and not self._largest_force:
            return pixels
        points = frame.points if self._largest_force else np.zeros((0, 3))
        forces = frame.point_fields["contact_force"] if self._largest_force else points
        return with_symbols(pixels, self._camera, points, forces, self._largest_force, self._marks)

    def _panel(self, k: int, frame: Frame) -> np.ndarray:
        from pliant.viewer.light import EVEN_LIGHTS, NARROW_BORDER, Lights, render

        actor, lights = self._actors[k], Lights() if self.scale is None else EVEN_LIGHTS
        points, triangles = actor.surface(frame.points, self._rope_radius)
        of_points = None
        if self.scale is not None:
            values = on_points(self.results[k].layout, frame, self.scale.name)
            of_points = self.scale.colours(np.where(self.results[k].layout.scenery_points, np.nan, values))
        colours = actor.colours(of_points)
        place = (self._ground, self._middle)
        pixels = to_bytes(render(self._camera, points, triangles, colours, *place, lights, NARROW_BORDER))
        return self._with_symbols(pixels, frame)

    def _compose(self, panels: list[np.ndarray], texts: list[str]) -> Any:
        """Panels side by side, their texts below, the legend at the right."""
        from PIL import ImageDraw, ImageFont

        pixels = np.concatenate(panels, axis=1)
        height, width = pixels.shape[:2]
        band = 2 * max(8, height // 24)
        pixels = np.concatenate([pixels, np.broadcast_to(pixels[-1, 0], (band, width, 3))])
        legend = None if self.scale is None else self.scale.legend(pixels[:, -1])
        whole = self._image.new("RGB", (width + (0 if legend is None else legend.width), len(pixels)))
        whole.paste(self._image.fromarray(pixels), (0, 0))
        pen, font = ImageDraw.Draw(whole), ImageFont.load_default(size=band // 2)
        for k, text in enumerate(texts):
            pen.text(((k + 0.5) * width / len(texts), height + 0.4 * band), text, fill=INK, font=font, anchor="mm")
        if legend is not None:
            whole.paste(legend, (width, 0))
        return whole
