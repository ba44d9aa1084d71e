"""Seams and elastic bands in a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pliant.io.arrays import Expected, check_arrays
from pliant.model import Band, Body, Scene, Seam


def pack_sewing(scene: Scene, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Seams and bands for the header; their vertices are added to `arrays`."""
    for k, seam in enumerate(scene.seams):
        arrays |= {f"seam{k}.chain_a": seam.chain_a, f"seam{k}.chain_b": seam.chain_b}
    arrays |= {f"band{k}.chain": band.chain for k, band in enumerate(scene.bands)}
    return {
        "seams": [
            {"bodies": [_number(scene, body) for body in (seam.body_a, seam.body_b)], **_numbers(seam)}
            for seam in scene.seams
        ],
        "bands": [{"body": _number(scene, band.body), "ratio": band.ratio, **_numbers(band)} for band in scene.bands],
    }


def unpack_sewing(path: Path, scene: Scene, about: Mapping[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Give a scene what was packed; the arrays are taken out. Files from before there were seams have none."""
    for k, seam in enumerate(about.get("seams", ())):
        bodies: list[Any] = [scene.bodies[number] for number in seam["bodies"]]
        chains = [_chain(path, arrays, f"seam{k}.chain_{side}", body) for side, body in zip("ab", bodies, strict=True)]
        ends = (bodies[0], chains[0], bodies[1], chains[1])
        scene.seams.append(Seam(*ends, seam["stiffness"], seam["seconds"]))
    for k, band in enumerate(about.get("bands", ())):
        body: Any = scene.bodies[band["body"]]
        chain = _chain(path, arrays, f"band{k}.chain", body)
        scene.bands.append(Band(body, chain, band["ratio"], band["stiffness"], band["seconds"]))


def _number(scene: Scene, body: Body) -> int:
    return next(n for n, own in enumerate(scene.bodies) if own is body)


def _numbers(part: Seam | Band) -> dict[str, float]:
    return {"stiffness": part.stiffness, "seconds": part.seconds}


def _chain(path: Path, arrays: dict[str, np.ndarray], name: str, body: Body) -> np.ndarray:
    own = {name: arrays.pop(name)} if name in arrays else {}
    check_arrays(path, own, {name: Expected((None,), np.int64, 0, body.n_vertices)})
    return own[name]
