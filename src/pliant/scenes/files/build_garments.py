"""Garments, seams and bands of a scene file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pliant.errors import SceneError
from pliant.geometry.boundary import chain_within
from pliant.geometry.garment import Garment
from pliant.io.garments import load_garment
from pliant.model import Body, Cloth, Scene
from pliant.scenes.files.garments import BandTable, ChainTable, SeamTable
from pliant.scenes.files.meshes import existing, placed_points
from pliant.scenes.files.selecting import select
from pliant.scenes.files.source import Source

Named = Callable[[Scene, Sequence[str]], list[Body]]


def panels(about: Any, source: Source, k: int) -> Garment | None:
    """The panels of a body whose rest shape is that of its UV coordinates."""
    if about.rest == "mesh":
        return None
    with source.at("bodies", k, "mesh"):
        return load_garment(existing(source.folder / about.mesh), about.uv_scale)


def sew(scene: Scene, body: Cloth, garment: Garment | None, about: Any) -> Cloth:
    """Put panels where the file and its transform have them, and sew them."""
    if garment is None:
        return body
    body.set_positions(placed_points(garment.positions, about.transform))
    for chain_a, chain_b in garment.seams if about.sewn else ():
        scene.add_seam(body, chain_a, body, chain_b, seconds=about.seam_seconds, align=False)
    return body


def add_seam(scene: Scene, about: SeamTable, named: Named) -> None:
    (body_a, chain_a), (body_b, chain_b) = (_chain(scene, side, named) for side in (about.a, about.b))
    scene.add_seam(body_a, chain_a, body_b, chain_b, about.stiffness, about.seconds, about.align)


def add_band(scene: Scene, about: BandTable, named: Named) -> None:
    body, chain = _chain(scene, about, named)
    scene.add_band(body, chain, about.ratio, about.stiffness, about.seconds)


def _chain(scene: Scene, about: ChainTable, named: Named) -> tuple[Cloth, np.ndarray]:
    """The sheet, and vertices in order."""
    (body,) = named(scene, [about.body])
    if not isinstance(body, Cloth):
        raise SceneError(f"{body.name} is not a cloth; only sheets have seams and bands.")
    if about.vertices is not None:
        return body, np.array(about.vertices, dtype=np.int64)
    if about.where is not None:
        return body, chain_within(body.mesh, select(body, about.where))
    loops = body.mesh.boundary_loops()
    if about.loop is None or about.loop >= len(loops):
        raise SceneError(f"loop is {about.loop}, but the boundary of {body.name} has {len(loops)} loops, from 0 on.")
    return body, loops[about.loop]
