"""Tables of a scene file for garments: panels, seams and elastic bands."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from pliant.model import Scene
from pliant.scenes.files.fields import Number, Table, Whole, refuse
from pliant.scenes.files.holds import Where


class PanelsTable(Table):
    """What a sheet has whose rest shape may be that of its UV coordinates."""

    rest: Literal["mesh", "uv"] = "mesh"
    uv_scale: Annotated[float, Number("m per unit of u and v", above=0)] = 1.0
    sewn: bool = True  # where the mesh goes on but its UV coordinates do not
    seam_seconds: Annotated[float, Number("s", least=0)] = 0.0

    @model_validator(mode="after")
    def _has_uv(self) -> PanelsTable:
        if self.rest == "uv" and not str(getattr(self, "mesh", None)).lower().endswith(".obj"):
            raise refuse('rest = "uv" takes panels from a mesh that is an .obj file with UV coordinates: give one')
        return self


class ChainTable(Table):
    """Edges of a sheet one after another: a loop of its boundary by number, the longest is 0; the boundary edges
    between selected vertices; or vertices in order.
    """

    body: Annotated[str, Field(min_length=1)]
    loop: Annotated[int | None, Whole(0)] = None
    where: Where | None = None
    vertices: list[Annotated[int, Whole(0)]] | None = None

    @model_validator(mode="after")
    def _is_given_once(self) -> ChainTable:
        if sum(value is not None for value in (self.loop, self.where, self.vertices)) != 1:
            raise refuse("give one of loop, where and vertices")
        return self


class SeamTable(Table):
    """Two chains that are sewn together: what Scene.add_seam takes."""

    a: ChainTable
    b: ChainTable
    stiffness: Annotated[float | None, Number("N/m^2", above=0)] = None
    seconds: Annotated[float, Number("s", least=0)] = 0.5
    align: bool = True


class BandTable(ChainTable):
    """An elastic band: what Scene.add_band takes."""

    ratio: Annotated[float, Number("length over the chain's length", above=0)] = 0.8
    stiffness: Annotated[float, Number("N", above=0)] = 10.0
    seconds: Annotated[float, Number("s", least=0)] = 0.5


def describe_sewing(scene: Scene) -> dict[str, Any]:
    """The tables of the seams and bands of a scene."""
    seams = [
        {
            "a": {"body": seam.body_a.name, "vertices": seam.chain_a.tolist()},
            "b": {"body": seam.body_b.name, "vertices": seam.chain_b.tolist()},
            "stiffness": seam.stiffness,
            "seconds": seam.seconds,
            "align": False,
        }
        for seam in scene.seams
    ]
    names = ("ratio", "stiffness", "seconds")
    bands = [
        {"body": band.body.name, "vertices": band.chain.tolist(), **{name: getattr(band, name) for name in names}}
        for band in scene.bands
    ]
    return {"seams": seams, "bands": bands}
