"""What a user builds: bodies and what acts on them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib import import_module
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import SceneError
from pliant.geometry import TetMesh, TriMesh
from pliant.materials import Invertible, SolidLaw, YarnCloth
from pliant.model import checks
from pliant.model.adding_garments import AddingGarments
from pliant.model.adding_grains import AddingGrains
from pliant.model.adding_obstacles import AddingObstacles
from pliant.model.attachments import Attachment, make_attachment
from pliant.model.body import STRAIN_RATE, AnyBody, Body
from pliant.model.cloth import Cloth
from pliant.model.contact import Contact
from pliant.model.joints import Joint, WorldPoints, make_joint
from pliant.model.mesh_obstacle import MeshObstacleBody
from pliant.model.motors import Motor
from pliant.model.obstacles import Shape
from pliant.model.particles import Particles
from pliant.model.rigid import RigidBody
from pliant.model.rigid_shapes import RigidShape
from pliant.model.scene_changes import Changeable
from pliant.model.seams import Band, Seam
from pliant.model.solid import LINEAR, Solid
from pliant.model.spring_net import SpringNet
from pliant.model.wind import Wind
from pliant.model.world_box import WorldBox
from pliant.model.yarn_sheet import YarnSheet, check_yarn_options

BODIES: dict[str, type[Body]] = {
    kind.kind: kind
    for kind in (Solid, Cloth, YarnSheet, SpringNet, RigidBody, Particles, MeshObstacleBody, WorldPoints)
}


class Scene(AddingGrains, AddingObstacles, AddingGarments, Changeable):
    """Bodies under gravity. Build it, then give it to a Simulation.

    gravity: (3,) [m/s^2].
    contact: how bodies touch; None: not at all, or as `pl.Contact()` where the scene has obstacles or particles.
    """

    def __init__(self, gravity: ArrayLike = (0.0, 0.0, -9.81), contact: Contact | None = None):
        self.gravity = gravity
        self.bodies: list[Body] = []
        self.shapes: list[Shape] = []  # obstacles with formulas
        self.apart: set[tuple[str, str]] = set()  # names of bodies that do not touch
        self._contact: Contact | None = None
        self.contact = contact
        self.attachments: list[Attachment] = []
        self.joints: list[Joint] = []
        self.seams: list[Seam] = []
        self.bands: list[Band] = []
        self._world_box: WorldBox | None = None
        self._wind: Wind | None = None
        self._is_built = True

    def __repr__(self) -> str:
        names = [body.name for body in self.bodies[:5]] + ["..."] * (len(self.bodies) > 5)
        counts = f"{len(self.bodies)} bodies, {len(self.shapes)} obstacles, {len(self.joints)} joints"
        return f"<Scene: {counts}{': ' * bool(names)}{', '.join(names)}>"

    @property
    def solids(self) -> list[Solid]:
        """The bodies that are solids."""
        return [body for body in self.bodies if isinstance(body, Solid)]

    @property
    def gravity(self) -> np.ndarray:
        """(3,) [m/s^2]."""
        return self._gravity

    @gravity.setter
    def gravity(self, value: ArrayLike) -> None:
        self._gravity = checks.vectors(value, None, "Scene: gravity", "m/s^2")

    @property
    def world_box(self) -> WorldBox | None:
        """The box all vertices are pushed back into; None: the world has no end."""
        return self._world_box

    @world_box.setter
    def world_box(self, value: WorldBox | None) -> None:
        if value is not None:
            checks.instance(value, WorldBox, "Scene: world_box", "pl.WorldBox(lower=..., upper=..., stiffness=...)")
        self._world_box = value

    @property
    def wind(self) -> Wind | None:
        """The moving air; None: no air."""
        return self._wind

    @wind.setter
    def wind(self, value: Wind | None) -> None:
        if value is not None:
            checks.instance(value, Wind, "Scene: wind", "pl.Wind(velocity=(5, 0, 0))")
        self._wind = value

    def add_solid(
        self,
        mesh: TetMesh,
        material: SolidLaw | Invertible | Sequence[SolidLaw],
        density: float = 1000.0,
        damping: float = 0.0,
        name: str | None = None,
        damping_form: str = STRAIN_RATE,
        element: str = LINEAR,
        friction: float | None = None,
    ) -> Solid:
        """Add a solid.

        material: a law, whose parameters may be arrays with one number per tet, or a list of laws of one class, one per
            tet.
        density: [kg/m^3] of the shape at rest.
        damping: k_d [s], stiffness-proportional: a small vibration of angular frequency w [1/s] has the damping ratio
            k_d w / 2.  Rigid motion is not damped.
        name: used in messages and files; solid0, solid1, ... if not given.
        damping_form: "strain_rate" resists changes of the elements' strains; "vertex_block" is that of the VBD paper
            (Equations 10 and 11), which damps each vertex as if its neighbours stood still, and so rigid motion too
            (`docs/decisions/0026-damping.md`).
        element: "linear" tets, or "patch": patches of tets with one mean strain, which do not lock near Poisson's ratio
            1/2 and bend with few cells (docs/elements.md).
        friction: coefficient, see Body.friction.
        """
        body = Solid(self._free_name(name, Solid), mesh, material, density, damping, damping_form, element)
        return self._add_with_friction(body, friction)

    def add_cloth(
        self,
        mesh: TriMesh,
        material: SolidLaw | Sequence[SolidLaw] | YarnCloth,
        density: float | None = None,
        bending: float = 1e-5,
        damping: float = 0.0,
        bending_model: str | None = None,
        warp: float | ArrayLike | str | None = None,
        weft: float = 0.0,
        warp_direction: ArrayLike = (1.0, 0.0, 0.0),
        tear_at: float | None = None,
        name: str | None = None,
        damping_form: str = STRAIN_RATE,
        strain_limit: float | None = None,
        friction: float | None = None,
    ) -> Cloth:
        """Add a sheet.

        material: any law of solids; its moduli are then those of a sheet, force per length [N/m]: those of a solid
            [Pa] times the thickness. Young's modulus and Poisson's ratio (`from_young`) are those of a strip that is
            pulled, whose faces are free (plane stress). With mu and lam the third stretch, across the sheet, is held
            at 1 (plane strain); see pl.plane_stress. It may vary as in add_solid, triangle by triangle.
            Or a pl.YarnCloth, an energy of stretch, shear and bending together: `warp` is then the direction of its
            warp, a vector (3,) or one per triangle (m, 3), the x axis if not given, and bending, weft,
            warp_direction and tear_at do not apply.
        density: [kg/m^2] of the sheet at rest; None: 0.2, or what the yarn cloth's file says.
        bending: stiffness k [N m], the rigidity of a plate: a strip of width b bent to the curvature c needs the
            moment k b c.
        bending_model: "quadratic", a form of the positions that bends as a plate on any mesh; "coupled", the angles
            between triangles by up to three, at three to four times the time per iteration, for solvers of
            constraints; "dihedral", single angles: a fifth too soft on regular strips, and half too stiff in twist.
            None: quadratic; coupled with pl.XPBD and pl.GPBD.
        warp, weft: stiffness [N/m] that yarns add along `warp_direction`, a direction that is laid into the sheet,
            and across it.
        tear_at: stretch of an edge, length over length at rest, at which the sheet tears across it (VBD 3.9); None:
            it never does. Tearing adds vertices: see Body.positions and Cloth.triangles.
        strain_limit: no edge is longer than 1 + strain_limit times its length at rest; hard as of add_joint.
        damping, damping_form, friction: as of add_solid.  Bending is damped by the angles between triangles, whatever
            its model.
        """
        if isinstance(material, YarnCloth):
            own = self._free_name(name, YarnSheet)
            check_yarn_options(own, bending, bending_model, weft, warp_direction, tear_at, strain_limit)
            sheet = YarnSheet(own, mesh, material, density, damping, warp, damping_form)
            return self._add_with_friction(sheet, friction)
        given = (0.2 if density is None else density, bending, damping, bending_model, 0.0 if warp is None else warp)
        options = (*given, weft, warp_direction, tear_at, damping_form, strain_limit)
        cloth = Cloth(self._free_name(name, Cloth), mesh, material, *options)  # type: ignore[arg-type]
        return self._add_with_friction(cloth, friction)

    def add_springs(
        self,
        points: ArrayLike,
        edges: ArrayLike,
        stiffness: ArrayLike,
        mass: ArrayLike,
        damping: float = 0.0,
        lengths: ArrayLike | None = None,
        one_sided: bool = False,
        bending: float = 0.0,
        tear_at: float | None = None,
        name: str | None = None,
        damping_form: str = STRAIN_RATE,
        strain_limit: float | None = None,
        friction: float | None = None,
    ) -> SpringNet:
        """Add points (n, 3) [m] joined by springs (m, 2).

        stiffness: [N/m], one number or one per spring, inf: a rod; mass: [kg] of each vertex, one number or one each.
        lengths: at rest [m]; None: as the points lie.  one_sided: springs only pull, as ropes do.
        bending: stiffness [N m^2] of a rod against turning at vertices with two springs.
        tear_at: stretch, length over length at rest, at which a spring breaks; None: it never does.
        strain_limit: no spring is longer than 1 + strain_limit times its length at rest; hard as of add_joint.
        friction: coefficient, see Body.friction.
        """
        name = self._free_name(name, SpringNet)
        options = (damping, lengths, one_sided, bending, tear_at, damping_form, strain_limit)
        return self._add_with_friction(SpringNet(name, points, edges, stiffness, mass, *options), friction)

    def add_rigid(
        self,
        shape: RigidShape | TriMesh | TetMesh,
        density: float = 1000.0,
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        velocity: ArrayLike = (0.0, 0.0, 0.0),
        angular_velocity: ArrayLike = (0.0, 0.0, 0.0),
        friction: float | None = None,
        restitution: float = 0.0,
        name: str | None = None,
    ) -> RigidBody:
        """Add a rigid body.

        shape: pl.Sphere(radius), pl.Box(size), pl.Capsule(radius, length), pl.Cylinder(radius, length), or a closed
            TriMesh or a TetMesh in the body's own axes, of which only the surface counts.
        density: [kg/m^3]; mass, centre and inertia follow from the shape, exactly.
        position: [m] of its centre of mass. orientation: unit quaternion (w, x, y, z) from its axes to the world's.
        velocity: [m/s] of its centre of mass. angular_velocity: [rad/s] in world axes.
        friction: coefficient, see Body.friction.
        restitution: the part e of the speed of approach with which it leaves other rigid bodies and obstacles, 0 to 1;
            of two bodies the larger counts. A ball that falls from H rises to e^2 H.
        """
        about = (shape, density, position, orientation, velocity, angular_velocity, restitution)
        return self._add_with_friction(RigidBody(self._free_name(name, RigidBody), *about), friction)

    @property
    def contact(self) -> Contact | None:
        """How bodies touch; None: they do not. Obstacles bring the default with them."""
        return self._contact

    @contact.setter
    def contact(self, value: Contact | None) -> None:
        if not isinstance(value, Contact | None):
            raise SceneError(f"Scene: contact is {value!r}: give pl.Contact(stiffness=..., friction=...) or None.")
        if value is None and (
            self.shapes or any(isinstance(body, MeshObstacleBody | Particles) for body in self.bodies)
        ):
            raise SceneError("Scene: contact is None, but the scene has obstacles or particles; build it without them.")
        self._contact = value

    def ignore_contact(self, one: Body, other: Body) -> None:
        """Let two bodies pass through each other; twice the same: through itself."""
        for body in (one, other):
            if body not in self.bodies:
                raise SceneError(f"Scene.ignore_contact: {getattr(body, 'name', body)!r} is not a body of this scene.")
        self.apart.add((one.name, other.name))

    def untangle(self, rounds: int = 500) -> Any:
        """Take bodies that start in intersection apart, before a simulation is built; what was done, and what is left.

        Solids move as wholes, the shortest way; cloth and ropes vertex by vertex, so that intersection contours shrink.
        What is pinned stays, as do rigid bodies and obstacles. rounds: of small motions, at most. The result has
        `rounds`, `furthest` [m], and `left`: what still intersects, which is empty if all went well.
        """
        return import_module("pliant.contact.untangling").untangle(self, rounds)

    def add(self, body: AnyBody) -> AnyBody:
        """Add a body that was made by itself."""
        if any(body is own for own in self.bodies):
            raise SceneError(f"Scene.add: {body.name} is in this scene already; make another body.")
        self.bodies.append(body)
        body._is_built = True
        return body

    def _add_with_friction(self, body: AnyBody, friction: float | None) -> AnyBody:
        body.friction = friction
        return self.add(body)

    def attach(
        self,
        body_a: Body,
        vertices_a: ArrayLike,
        body_b: Body,
        vertices_b: ArrayLike,
        stiffness: float,
        weights_a: ArrayLike | None = None,
        weights_b: ArrayLike | None = None,
    ) -> Attachment:
        """Link k points of one body with k points of another, or of itself, by springs of rest length zero.

        vertices_a, vertices_b: (k,) vertices, or (k, 2), (k, 3) or (k, 4) the corners of edges, faces or tets that
            points lie on, with weights (k, 2|3|4) of sum 1 (a negative one puts the point outside).
        stiffness: [N/m] of each link; a link d long holds stiffness/2 d^2. inf: hard as of add_joint.
        """
        for body in (body_a, body_b):
            if not any(body is own for own in self.bodies):
                raise SceneError(f"attach: {getattr(body, 'name', body)!r} is not a body of this scene; add it first.")
        link = make_attachment(body_a, vertices_a, body_b, vertices_b, stiffness, weights_a, weights_b)
        self.attachments.append(link)
        return link

    def add_joint(
        self,
        kind: str,
        a: RigidBody,
        b: Body | None,
        point: ArrayLike | None = None,
        axis: ArrayLike | None = None,
        stiffness: float = math.inf,
        length: float | None = None,
        other_point: ArrayLike | None = None,
        one_sided: bool = True,
        collide: bool = False,
        limits: tuple[float, float] | None = None,
        spring: float = 0.0,
        damping: float = 0.0,
        rest: float | None = None,
        motor: Motor | None = None,
        break_force: float = math.inf,
        cone: float | None = None,
        twist: tuple[float, float] | None = None,
        vertices: ArrayLike | None = None,
    ) -> Joint:
        """Join two rigid bodies, or one and the world (b None), at a point [m] of the world as the scene starts, or a
        rigid body and vertices of a soft one (indices): one ("ball", "distance"), on a line ("hinge") or any ("slider",
        "fixed").

        kind: "ball" (points stay together), "hinge" (turns about the axis), "slider" (slides along it), "fixed",
            "universal" (turns about the axis, of a, and about one across it, of b), or "distance": `point` of a stays
            within `length` [m] (None: as it starts) of `other_point` [m] of b, as on a rope; exactly if not
            one_sided.
        stiffness: [N/m] of each of its links. inf: hard, with default solvers and pl.AVBD. With others it is 10 m / h^2
            of the larger mass m: a body of mass m that hangs on it gives way by g h^2 / 10, 1e-5 m at h = 1/300 s.
        collide: whether the two bodies touch each other.
        limits: lower and upper angle [rad] of a hinge, of a about the axis as seen from b; lower and upper position [m]
            of a slider along its axis; smallest and largest distance [m]; of a universal, limits of its bend [rad].
        spring, damping: of hinges [N m/rad] and [N m s/rad], of sliders and distances [N/m] and [N s/m].
        rest: angle [rad] or position [m] at which the spring is at rest.
        motor: drives a hinge or a slider, pl.Motor(...); joint.motor = ... changes it later.
        break_force: force [N] above which the joint breaks.
        cone: of a ball with an axis, the largest angle [rad] between its directions in a and b.
        twist: limits of the angle [rad] about the axis of a ball or a universal.
        """
        for body in (a, b):
            is_kind = isinstance(body, RigidBody) or (body is b and vertices is not None)
            if (body is a or body is not None) and not (is_kind and any(body is own for own in self.bodies)):
                raise SceneError(
                    f"add_joint: {getattr(body, 'name', body)!r} is not a rigid body of this scene; add it first. "
                    "Soft bodies are joined as the second one, at vertices=..., or held by scene.attach."
                )
        if a is b:
            raise SceneError(f"add_joint: it joins {a.name} with itself; give two bodies, or None for the world.")
        checks.flag(collide, f"add_joint: {kind}: collide")
        world = next((body for body in self.bodies if isinstance(body, WorldPoints)), None)
        if b is None and world is None:
            world = WorldPoints(self._free_name(None, WorldPoints))
        drive = {"limits": limits, "spring": spring, "damping": damping, "rest": rest, "motor": motor}
        about = (point, axis, stiffness, length, other_point, one_sided, vertices, cone, twist, drive, break_force)
        joint = make_joint(kind, a, b, world, *about)
        if b is None and world not in self.bodies:
            self.bodies.append(world)  # type: ignore[arg-type]
        if b is not None and not collide:
            self.ignore_contact(a, b)
        self.joints += [joint]
        return joint

    def _free_name(self, name: str | None, kind: type[Body]) -> str:
        names = {body.name for body in self.bodies}
        if name is None:
            return next(f"{kind.kind}{k}" for k in count() if f"{kind.kind}{k}" not in names)
        checks.instance(name, str, "name of a body", "a text")
        if name in names:
            raise SceneError(f"the scene already has a body named {name!r}; choose another name.")
        return name
