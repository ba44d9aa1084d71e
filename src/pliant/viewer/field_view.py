"""Bodies in the colours of a field, and its legend, in viser's page."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from pliant.io.results.result import Layout
from pliant.model import Body, MeshObstacleBody, Particles, SpringNet
from pliant.viewer.coloured_mesh import ColouredMesh
from pliant.viewer.fields import SCALE, ColourScale, distinct
from pliant.viewer.live_field import FieldPicture

PICTURES_A_SECOND = 10.0  # browsers load each as a file
USUAL_PART = 99.0  # [percent] of the values that the colours distinguish
LEGEND = """<div style="padding: 0 0.8em 0.5em; font-size: 0.8em"><div>{title}</div>
<div style="height: 1em; background: linear-gradient(to right, {stops})"></div>
<div style="display: flex; justify-content: space-between">{ticks}</div></div>"""


class FieldView:
    """Shows the newest picture of a field, a few times per second.

    handles: what is shown of bodies, by their number. Meshes stay where they are, invisible, so that people can pull at
    them; springs and spheres take the colours themselves.
    """

    def __init__(self, scene: Any, legend: Any, bodies: list[Body], handles: Mapping[int, Any]):
        self._legend, self._mesh = legend, ColouredMesh(scene, "/field")
        chosen = {k: handle for k, handle in handles.items() if not isinstance(bodies[k], MeshObstacleBody)}
        self._springs = {k: (handle, handle.colors) for k, handle in chosen.items() if isinstance(bodies[k], SpringNet)}
        spheres = {k: handle for k, handle in chosen.items() if isinstance(bodies[k], Particles)}
        self._spheres = {k: (handle, handle.batched_colors) for k, handle in spheres.items()}
        self._meshes = [handle for k, handle in chosen.items() if k not in self._springs and k not in self._spheres]
        self._newest: FieldPicture | None = None
        self._taken: FieldPicture | None = None
        self._range = "", np.inf, -np.inf  # the field that is shown, its least and its usual largest value so far
        self._due = self._time = 0.0

    def take(self, picture: FieldPicture | None) -> None:
        """What is to be shown next; None: the colours of the bodies."""
        if picture is None and self._taken is not None:
            self._end()
        if picture is not self._taken:
            self._newest = self._taken = picture

    def tick(self) -> None:
        """Show what is new, if the last picture has been seen for long enough. Call it again and again."""
        if (now := time.monotonic()) < self._due:
            return
        self._mesh.turn()
        if (picture := self._newest) is not None:
            self._newest, self._due = None, now + 1 / PICTURES_A_SECOND
            self._show(picture)

    def _show(self, picture: FieldPicture) -> None:
        layout = picture.layout
        colours = self._grown_scale(picture).colours(picture.values)
        if self._meshes:
            _set(self._meshes, "opacity", 0.0)
            triangles = layout.triangles[~np.isin(layout.triangle_bodies, layout.scenery)]
            self._mesh.show(picture.points, triangles, colours)
        as_bytes = np.round(255 * colours).astype(np.uint8)
        for k, (handle, _) in self._springs.items():
            handle.colors = as_bytes[layout.edges[layout.edge_bodies == k]]
        for k, (handle, _) in self._spheres.items():
            handle.batched_colors = as_bytes[_points_of(layout, k)]

    def _grown_scale(self, picture: FieldPicture) -> ColourScale:
        """From the least to the usual largest value since the field was chosen or the simulation was reset, so that a
        colour means the same from picture to picture.
        """
        known = picture.values[np.isfinite(picture.values)]
        if picture.name != self._range[0] or picture.time < self._time:
            self._range = (picture.name, np.inf, -np.inf)
        self._time = picture.time
        name, low, high = self._range
        if len(known):
            low, high = min(low, float(known.min())), max(high, float(np.percentile(known, USUAL_PART)))
        scale = ColourScale(name, *distinct(low, high))
        if self._range != (name, low, high):
            self._range, self._legend.content, self._legend.visible = (name, low, high), legend_text(scale), True
        return scale

    def _end(self) -> None:
        self._range, self._legend.visible = ("", np.inf, -np.inf), False
        self._mesh.hide()
        _set(self._meshes, "opacity", None)
        for handle, colours in self._springs.values():
            handle.colors = colours
        for handle, colours in self._spheres.values():
            handle.batched_colors = colours


def legend_text(scale: ColourScale) -> str:
    """HTML: the title with its unit, the colours, five values."""
    title, ticks = scale.texts()
    stops = ", ".join(f"rgb({', '.join(str(round(255 * v)) for v in colour)})" for colour in SCALE)
    return LEGEND.format(title=title, stops=stops, ticks="".join(f"<span>{tick}</span>" for tick in ticks))


def _points_of(layout: Layout, body: int) -> slice:
    return slice(*layout.body_start[body : body + 2])


def _set(handles: list[Any], name: str, value: Any) -> None:
    for handle in handles:
        setattr(handle, name, value)
