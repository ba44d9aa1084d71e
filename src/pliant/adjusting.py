"""Changing what a simulation computes with between two steps, in place."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from pliant.contact.response.scale import elastic_stiffness, scale_of
from pliant.divergence import Watch
from pliant.errors import SceneError
from pliant.materials import Invertible
from pliant.materials.plane_stress import law_of_sheet
from pliant.model import Body, Cloth, build_model, checks
from pliant.model.obstacles import Obstacle
from pliant.restoring import Restoring


class Adjusting(Restoring):
    """A simulation whose parameters change between steps; its state and its compiled code stay."""

    def set_gravity(self, gravity: ArrayLike) -> None:
        """gravity: (3,) [m/s^2] from the next step on, of bodies without their own. Nothing is built again."""
        self.scene.gravity = gravity  # type: ignore[assignment]
        for model in {id(model): model for model in (self.model, self._first_model)}.values():
            for k, body in enumerate(self.scene.bodies):
                if body.gravity is None:
                    model.gravity[model.vertices_of(k)] = self.scene.gravity
                    if model.contact is not None:
                        model.contact.gravities[k] = self.scene.gravity
        self._scene_watch.accept()
        self._meter.set_gravity(self.model)

    def set_friction(self, coefficient: float, of: Body | Obstacle | None = None) -> None:
        """From the next step on: of contacts with a body or an obstacle of the scene; None: of contacts between bodies
        without a coefficient of their own. Nothing is built again.
        """
        value = checks.number(coefficient, "set_friction: coefficient", "1")
        if self.model.contact is None:
            raise SceneError("set_friction: the scene has no contact; give it one with scene.contact = pl.Contact().")
        for k, body in enumerate(self.scene.bodies):
            if body is of:
                body.friction = value
                for model in (self.model, self._first_model):
                    if model.contact is not None:
                        model.contact.friction[model.vertices_of(k)] = value
                self._scene_watch.accept()
                return
        for shape, placement in zip(self.scene.shapes, self._placements.shapes, strict=True):
            if shape is of:
                placement.set_friction(value)
                return
        if of is not None:
            raise SceneError(f"set_friction: {of!r} is neither a body nor an obstacle of this simulation's scene.")
        self.scene.contact = replace(self.model.contact.settings, friction=value)
        for model in (self.model, self._first_model):
            if model.contact is not None:
                model.contact.general_friction[:] = value
        self._scene_watch.accept()

    def set_material(self, body: Any, material: Any) -> None:
        """From the next step on: another material of the same law, as add_solid or add_cloth takes it; its mass stays.

        The arrays of the scene and of the solver are built again; nothing is compiled.
        """
        if not any(body is own for own in self.scene.bodies):
            raise SceneError(f"set_material: {getattr(body, 'name', body)!r} is not a body of this simulation's scene.")
        if "material" not in vars(body):
            raise SceneError(f"set_material: {body.name} has no material; give a solid or a cloth.")
        if type(material) is not type(body.material):
            kinds = type(body.material).__name__, type(material).__name__
            raise SceneError(f"set_material: {body.name} has a {kinds[0]}; give one, not a {kinds[1]}.")
        if self.model.topology is not None and len(self.model.mass) != len(self._first_model.mass):
            raise SceneError(f"set_material: {body.name} cannot change after the scene has torn; set it before.")
        checks.law(
            material.law if isinstance(material, Invertible) else material,
            body.name,
            body.n_elements,
            body.element_names[1],
        )
        body.material = law_of_sheet(material) if isinstance(body, Cloth) else material
        self._scene_watch.accept()
        self.model = self._with_placements(build_model(self.scene, self.solver.supports.quadratic_bending))
        self._first_model, self._solved = self.model, None
        self._watch = Watch(self.model, self.state.x.copy(), self.state.v.copy())
        if self._detector is not None:
            self._detector.scale = scale_of(self.model, self._s, elastic_stiffness(self.model))
        self._prepare()
