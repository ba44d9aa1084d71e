"""What a scene file may say. `pliant schema` prints this as a JSON schema; docs/scene-files.md explains it."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, field_validator, model_validator

from pliant.io.results.formats import EXPORTS, HOLD_TETS, STREAMS
from pliant.scenes.files import generated
from pliant.scenes.files.fields import (
    Colour,
    Corner,
    Number,
    Table,
    Vector,
    Whole,
    nearest,
    one_of,
    refuse,
)
from pliant.scenes.files.garments import BandTable, PanelsTable, SeamTable
from pliant.scenes.files.holds import AnyHold, Where
from pliant.scenes.files.obstacles import AnyObstacle, MeshObstacleTable
from pliant.scenes.files.placed import PlacedTable
from pliant.scenes.files.rigid import JointTable, RigidTable

CHECKPOINT = "run.npz"  # of a run, in the output folder

# --- values that change with time -----------------------------------------------------------------------------------


class NumberSchedule(Table):
    """A number that passes through values at times [s], in straight lines between."""

    times: list[Annotated[float, Number("s")]]
    values: list[Annotated[float, Number("Pa")]]
    repeat: bool = False


class VectorSchedule(Table):
    """Three numbers that pass through values at times [s], in straight lines between."""

    times: list[Annotated[float, Number("s")]]
    values: list[Annotated[tuple, Vector("m/s")]]
    repeat: bool = False


def _constant_or_schedule(value: Any) -> str:
    return "schedule" if isinstance(value, dict | Table) else "constant"


Pressure = Annotated[
    Annotated[float, Number("Pa"), Tag("constant")] | Annotated[NumberSchedule, Tag("schedule")],
    Discriminator(_constant_or_schedule),
]
PrescribedVolume = Annotated[
    Annotated[float, Number("m^3", above=0), Tag("constant")] | Annotated[NumberSchedule, Tag("schedule")],
    Discriminator(_constant_or_schedule),
]
WindVelocity = Annotated[
    Annotated[tuple, Vector("m/s"), Tag("constant")] | Annotated[VectorSchedule, Tag("schedule")],
    Discriminator(_constant_or_schedule),
]

# --- bodies ---------------------------------------------------------------------------------------------------------


class BodyTable(PlacedTable):
    """What all bodies have."""

    start: str | None = None
    damping: Annotated[float, Number("s", least=0)] = 0.0
    damping_form: Literal["strain_rate", "vertex_block"] = "strain_rate"
    air_damping: Annotated[float, Number("1/s", least=0)] = 0.0
    velocity: Annotated[tuple | None, Vector("m/s")] = None
    gravity: Annotated[tuple | None, Vector("m/s^2")] = None
    friction: Annotated[float | None, Number("1", least=0)] = None
    pressure: Pressure = 0.0
    volume: PrescribedVolume | None = None
    ignore_contact: Where | None = None
    holds: list[AnyHold] = Field(default_factory=list)


SolidShape = generated.shape_tables(generated.SOLID_SHAPES)
SheetShape = generated.shape_tables(generated.SHEET_SHAPES)
NetShape = generated.shape_tables(generated.NET_SHAPES)
AnyLaw = generated.AnyLaw


class SolidTable(BodyTable):
    """A solid of tetrahedra."""

    kind: Literal["solid"]
    shape: SolidShape | None = None  # type: ignore[valid-type]
    material: AnyLaw  # type: ignore[valid-type]
    density: Annotated[float, Number("kg/m^3", above=0)] = 1000.0
    element: Literal["linear", "patch"] = "linear"
    viscosity: Annotated[float, Number("Pa s", least=0)] = 0.0
    cavity_pressure: Pressure = 0.0
    cavity_volume: PrescribedVolume | None = None
    skins: list[Annotated[str, Field(min_length=1)]] = Field(default_factory=list)  # meshes that are drawn in its place
    edge_length: Annotated[float | None, Number("m", above=0)] = None  # a surface is filled with tets about this long


class ClothTable(BodyTable, PanelsTable):
    """A sheet of triangles. The moduli of its law are those of a sheet: of a solid times the thickness [N/m]."""

    kind: Literal["cloth"]
    shape: SheetShape | None = None  # type: ignore[valid-type]
    material: AnyLaw  # type: ignore[valid-type]
    density: Annotated[float, Number("kg/m^2", above=0)] = 0.2
    bending: Annotated[float, Number("N m", least=0)] = 1e-5
    bending_model: Literal["quadratic", "coupled", "dihedral"] | None = None
    warp: Annotated[float, Number("N/m", least=0)] = 0.0
    weft: Annotated[float, Number("N/m", least=0)] = 0.0
    warp_direction: Annotated[tuple, Vector("any length")] = (1.0, 0.0, 0.0)
    tear_at: Annotated[float | None, Number("length over length at rest", above=1)] = None
    strain_limit: Annotated[float | None, Number("part of the length at rest", least=0)] = None


class YarnClothTable(BodyTable, PanelsTable):
    """A sheet of homogenised yarn-level cloth; material: a JSON file, or the name of one that is shipped."""

    kind: Literal["yarn_cloth"]
    shape: SheetShape | None = None  # type: ignore[valid-type]
    material: str = "jersey"
    density: Annotated[float | None, Number("kg/m^2", above=0)] = None
    warp: Annotated[tuple, Vector("any length")] = (1.0, 0.0, 0.0)
    warp_from_uv: bool = False  # the warp is where u grows, of the UV coordinates of an .obj file

    @model_validator(mode="after")
    def _has_one_warp(self) -> YarnClothTable:
        if self.warp_from_uv and ("warp" in self.model_fields_set or not str(self.mesh).lower().endswith(".obj")):
            raise refuse("warp_from_uv takes the warp from a mesh that is an .obj file: give one, and leave out warp")
        return self


class SpringsTable(BodyTable):
    """Points joined by springs; a mesh is an .npz file with `points` and `edges`, and may hold numbers for each."""

    kind: Literal["springs"]
    shape: NetShape | None = None  # type: ignore[valid-type]
    stiffness: Annotated[float | None, Number("N/m", above=0, or_infinite=True)] = None
    mass: Annotated[float | None, Number("kg", above=0)] = None
    lengths: Annotated[float | None, Number("m", least=0)] = None
    one_sided: bool = False
    bending: Annotated[float, Number("N m^2", least=0)] = 0.0
    tear_at: Annotated[float | None, Number("length over length at rest", above=1)] = None
    strain_limit: Annotated[float | None, Number("part of the length at rest", least=0)] = None


class PackedSpheresTable(Table):
    """Spheres that fill a box (three lengths), a ball (its radius) or a cylinder (radius and height)."""

    kind: Literal["packed_spheres"]
    space: list[Annotated[float, Number("m", above=0)]]
    radius: Annotated[float, Number("m", above=0)] = 0.01
    fill: Literal["box", "ball", "cylinder"] = "box"
    spacing: Annotated[float, Number("1", least=1)] = 1.0
    arrangement: Literal["cubic", "hexagonal"] = "cubic"
    jitter: Annotated[float, Number("1", least=0, most=1)] = 0.0
    seed: Annotated[int, Whole(0)] = 0


class ParticlesTable(BodyTable):
    """Spheres; a mesh is an .npz file with `points`, and `radius` and `births` if they differ."""

    kind: Literal["particles"]
    shape: PackedSpheresTable | None = None
    radius: Annotated[float | None, Number("m", above=0)] = None
    density: Annotated[float, Number("kg/m^3", above=0)] = 2500.0
    spin: bool = False
    rolling_resistance: Annotated[float, Number("1", least=0)] = 0.0


class EmitterTable(Table):
    """A source of spheres: what Scene.add_emitter takes."""

    kind: Literal["emitter"]
    name: Annotated[str, Field(min_length=1)] | None = None
    colour: Annotated[tuple | None, Colour()] = None
    position: Annotated[tuple, Vector("m")]
    rate: Annotated[float, Number("1/s", above=0)]
    velocity: Annotated[tuple, Vector("m/s")]
    until: Annotated[float, Number("s", above=0)]
    start: Annotated[float, Number("s", least=0)] = 0.0
    size: Annotated[float, Number("m", least=0)] = 0.0
    seed: Annotated[int, Whole(0)] = 0
    radius: Annotated[float, Number("m", above=0)] = 0.01
    density: Annotated[float, Number("kg/m^3", above=0)] = 2500.0
    friction: Annotated[float | None, Number("1", least=0)] = None
    spin: bool = False
    rolling_resistance: Annotated[float, Number("1", least=0)] = 0.0


#: Tables of the kinds of bodies. A new kind adds its table here and its builder to `build.BUILDERS`.
BODY_TABLES: tuple[type[Table], ...] = (
    SolidTable,
    ClothTable,
    SpringsTable,
    RigidTable,
    ParticlesTable,
    EmitterTable,
    MeshObstacleTable,
    YarnClothTable,
)
AnyBody = one_of(BODY_TABLES, "kind")

# --- the whole ------------------------------------------------------------------------------------------------------


class ContactTable(Table):
    """How bodies touch each other and obstacles; without this table and without obstacles they do not."""

    stiffness: Annotated[float | None, Number("N/m", above=0)] = None
    friction: Annotated[float, Number("1", least=0)] = 0.3
    friction_speed: Annotated[float | None, Number("m/s", above=0)] = None
    detect_every: Annotated[int | None, Whole()] = None
    self_contact: bool = True
    damping: Annotated[float, Number("s", least=0)] = 0.0
    thickness: Annotated[float | None, Number("m", least=0)] = None
    guarantee: bool = False


class AttachmentTable(Table):
    """Points of one body, each linked by a spring of rest length zero to a point of another.

    where: vertices of the first body, each with the nearest vertex of the second; pairs: vertices of both by number;
    links: an .npz file with vertices_a, weights_a, vertices_b and weights_b (k, 1 to 4), as Scene.attach takes them.
    """

    bodies: Annotated[list[str], Field(min_length=2, max_length=2)]
    where: Where | None = None
    pairs: list[Annotated[list[Annotated[int, Whole(0)]], Field(min_length=2, max_length=2)]] | None = None
    links: Annotated[str, Field(min_length=1)] | None = None
    stiffness: Annotated[float, Number("N/m", above=0, or_infinite=True)]

    @model_validator(mode="after")
    def _says_once_what_is_linked(self) -> AttachmentTable:
        if sum(value is not None for value in (self.where, self.pairs, self.links)) != 1:
            raise refuse("give one of where, pairs and links")
        return self


class WindTable(Table):
    """Moving air around all surfaces."""

    velocity: WindVelocity
    drag: Annotated[float, Number("1", least=0)] = 1.0
    lift: Annotated[float, Number("1", least=0)] = 0.0
    air_density: Annotated[float, Number("kg/m^3", least=0)] = 1.2


class WorldBoxTable(Table):
    """A box with soft walls that all vertices are pushed back into."""

    lower: Annotated[tuple | None, Corner()] = None
    upper: Annotated[tuple | None, Corner()] = None
    stiffness: Annotated[float, Number("N/m", above=0)]


class SimulationTable(Table):
    """How time passes: a step is 1 / (frame_rate * substeps) seconds long."""

    frame_rate: Annotated[float, Number("1/s", above=0)] = 60.0
    substeps: Annotated[int, Whole()] = 5
    duration: Annotated[float, Number("s", above=0)] = 2.0
    precision: Literal["single", "double"] | None = None
    integrator: Literal["euler", "bdf2", "midpoint"] = "euler"


class Output(Table):
    """A result in the format of the file's ending, within the output folder."""

    file: str
    every: Annotated[int, Whole()] = 1
    volume: bool = False
    tensors: bool = False

    @field_validator("file")
    @classmethod
    def _stays_inside(cls, file: str) -> str:
        windows = PureWindowsPath(file)
        if not file or windows.drive or windows.root or ".." in windows.parts or PurePosixPath(file).is_absolute():
            raise refuse("name a file within the output folder, without '..'; choose the folder with --out")
        ending = PurePosixPath(file).suffix.lower()
        known = (*STREAMS, *EXPORTS)
        if ending not in known:
            raise refuse(f"choose one of the endings {', '.join(known)}.{nearest(ending, known)}")
        if PurePosixPath(file) == PurePosixPath(CHECKPOINT):
            raise refuse("this is the checkpoint's name; choose another one")
        return file

    @model_validator(mode="after")
    def _can_hold_tets(self) -> Output:
        if self.volume and PurePosixPath(self.file).suffix.lower() not in HOLD_TETS:
            raise refuse(f"{self.file!r} can hold surfaces only; for volume = true choose {' or '.join(HOLD_TETS)}")
        return self


class RunTable(Table):
    """How a scene is run: what can be set for scenes made by Python too."""

    simulation: SimulationTable = SimulationTable()
    solver: generated.AnySolver | None = None  # type: ignore[valid-type]
    outputs: list[Output] = Field(default_factory=list)

    @field_validator("outputs")
    @classmethod
    def _are_different(cls, outputs: list[Output]) -> list[Output]:
        files = [output.file for output in outputs]
        for file in files:
            if files.count(file) > 1:
                raise refuse(f"{file!r} is named twice; give every output a file of its own")
        return outputs


class SceneTable(RunTable):
    """A scene file."""

    title: str = ""
    description: str = ""
    run_seconds: Annotated[float | None, Number("s", above=0)] = None  # measured; the gallery shows it
    gravity: Annotated[tuple, Vector("m/s^2")] = (0.0, 0.0, -9.81)
    bodies: Annotated[list[AnyBody], Field(min_length=1)]  # type: ignore[valid-type]
    contact: ContactTable | None = None
    obstacles: list[AnyObstacle] = Field(default_factory=list)  # type: ignore[valid-type]
    ignore_contact: list[Annotated[list[str], Field(min_length=2, max_length=2)]] = Field(default_factory=list)
    attachments: list[AttachmentTable] = Field(default_factory=list)
    joints: list[JointTable] = Field(default_factory=list)
    seams: list[SeamTable] = Field(default_factory=list)
    bands: list[BandTable] = Field(default_factory=list)
    wind: WindTable | None = None
    world_box: WorldBoxTable | None = None
