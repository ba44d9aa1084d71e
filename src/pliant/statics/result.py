"""What a static solve gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.contact.response.potential import ContactPotential
from pliant.contact.response.step_contacts import StepContacts, measure_contacts, no_step_contacts
from pliant.energies import IncrementalPotential
from pliant.energies.reactions import reactions
from pliant.energies.stress import (
    cauchy_stress,
    error_of_solid,
    green_strain,
    of_solid,
    principal_values,
    von_mises_stress,
)
from pliant.errors import SceneError
from pliant.io.paths import as_path
from pliant.io.results import formats
from pliant.model import Body, Pressures, Scene, Solid, checks
from pliant.model.volume import control_of
from pliant.recording import Recorder
from pliant.state import State
from pliant.statics.held_round_bodies import as_of_bodies
from pliant.statics.loads import LoadCase
from pliant.statics.stability import is_stable


@dataclass
class StaticReport:
    """How a static solve went."""

    converged: bool  # at the full load
    reason: str  # why it ended, as a sentence
    load_factor: float  # part of the load in equilibrium: 1 is the full load
    iterations: int  # in all load steps, those that failed too
    residual: float  # of the last equilibrium: |forces out of balance| / |forces that act|
    load_factors: list[float] = field(default_factory=list)  # parts of the load, of all equilibria


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A static shape: positions, forces and energies of the last equilibrium that was found."""

    scene: Scene
    case: LoadCase
    report: StaticReport
    problem: IncrementalPotential = field(repr=False)  # the total potential energy at the positions

    @property
    def positions(self) -> np.ndarray:
        """(n, 3) [m], bodies one after another, each in its mesh's vertex order."""
        return self.problem.x_prev.copy()

    @cached_property
    def stable(self) -> bool:
        """Whether the shape is a minimum of the energy, so that it would stay; examined when it is first asked for."""
        return is_stable(self.problem)

    @property
    def displacements(self) -> np.ndarray:
        """(n, 3) [m] from where the scene starts."""
        return self.problem.x_prev - self.case.model.positions

    def positions_of(self, body: Body) -> np.ndarray:
        """(n, 3) [m] of a body's vertices."""
        return self.positions[self._rows(body)]

    def displacements_of(self, body: Body) -> np.ndarray:
        """(n, 3) [m] of a body's vertices."""
        return self.displacements[self._rows(body)]

    @cached_property
    def reaction_forces(self) -> np.ndarray:
        """(n, 3) [N] with which pins, prescribed motions, lines and planes hold the vertices; zero where they are
        free.
        """
        return reactions(self.problem, self.problem.x_prev)

    def reaction_force(self, body: Body, vertices: ArrayLike | None = None) -> np.ndarray:
        """(3,) [N] on a body: the sum over some of its vertices (indices or mask), or over all that are held."""
        return self.reaction_forces[self._chosen(body, vertices, "reaction_force")].sum(axis=0)

    def reaction_moment(
        self, body: Body, vertices: ArrayLike | None = None, about: ArrayLike = (0.0, 0.0, 0.0)
    ) -> np.ndarray:
        """(3,) [N m] about a point [m]: of the reactions at vertices of a body (indices or a mask; None: all that are
        held).
        """
        rows = self._chosen(body, vertices, "reaction_moment")
        point = checks.vectors(about, None, "reaction_moment: about", "m")
        return np.cross(self.problem.x_prev[rows] - point, self.reaction_forces[rows]).sum(axis=0)

    def pressure_of(self, body: Body, cavity: bool = False) -> float:
        """[Pa] that keeps the prescribed volume of a body (`body.volume`); cavity: of a solid's cavities."""
        control = self.case.model.volume_controls[control_of(self.case.model, self._number(body), body, cavity)]
        block = next(block for block in self.problem.model.blocks if isinstance(block, Pressures))
        return float(block.pressures[control.first])

    def energies(self) -> dict[str, float]:
        """[J] at the load factor reached: "elastic", "gravity" -m g . x, "load" -f . x of other forces, "contact",
        "pressure" -p V if there is any, and their sum "total".
        """
        x, factor = self.problem.x_prev, self.report.load_factor
        terms = self.problem.energies(x)
        for name in ("inertia", "damping"):
            del terms[name]
        gravity = -factor * float(np.sum(self.case.weight * x))
        terms["gravity"], terms["load"] = gravity, terms["load"] - gravity
        terms["total"] = sum(terms.values())
        return terms

    @cached_property
    def contacts(self) -> StepContacts:
        """Contacts and their forces (see Simulation.contacts)."""
        if not isinstance(self.problem.contacts, ContactPotential):
            return as_of_bodies(no_step_contacts(self.case.model), self.case.held)
        time = self.report.load_factor * self.case.time
        found = measure_contacts(self.problem.contacts, self.case.model, self.problem.x_prev, time)
        return as_of_bodies(found, self.case.held)

    def stress(self, body: Solid, smooth: bool = False) -> np.ndarray:
        """Cauchy stress (m, 3, 3) [Pa] of a solid's tets; smooth: (n, 3, 3) at its vertices, by the linear function
        that is nearest to the tets in two rings around each (energies.recovery).
        """
        return of_solid(self.case.model, self._number(body), self.problem.x_prev, cauchy_stress, smooth)

    def strain(self, body: Solid, smooth: bool = False) -> np.ndarray:
        """Green and Lagrange's strain (m, 3, 3) of a solid's tets; smooth: at its vertices, as `stress`."""
        return of_solid(self.case.model, self._number(body), self.problem.x_prev, green_strain, smooth)

    def principal_stresses(self, body: Solid, smooth: bool = False) -> np.ndarray:
        """(m, 3) [Pa] of a solid's tets, the greatest first; smooth: of the stress at its vertices."""
        return principal_values(self.stress(body, smooth))

    def von_mises(self, body: Solid, smooth: bool = False) -> np.ndarray:
        """(m,) [Pa] of a solid's tets; smooth: of the stress at its vertices."""
        return von_mises_stress(self.stress(body, smooth))

    def discretisation_error(self, body: Solid) -> float:
        """The part of a solid's strain energy that its mesh lacks, estimated by how much `stress` differs from the
        smooth stress (Zienkiewicz and Zhu 1987). Under given loads, deflections of linear tets are too small by about
        this part; those of patches are nearer to the truth than it says where cells are about as long as thick.
        """
        return error_of_solid(self.case.model, self._number(body), self.problem.x_prev)

    def save(self, path: str | Path, volume: bool = True) -> None:
        """Write the shape in the format that the ending names (see Simulation.record), with the fields displacement
        (n, 3) [m], reaction_force (n, 3) [N], stress and strain (tets, 9), von Mises stress and energy density where
        the format has room. volume: tets and inner vertices too, where the format has them.
        """
        path, model = as_path(path, "Equilibrium.save: path"), self.case.model
        checks.flag(volume, "Equilibrium.save: volume")
        fields = {
            "displacement": lambda state, report: self.displacements,
            "reaction_force": lambda state, report: self.reaction_forces,
        }
        whole = volume and formats.has_tets(path)
        x = self.problem.x_prev
        rows = np.array([shape.row(self.report.load_factor * self.case.time) for shape in self.scene.shapes])
        with Recorder(path, self.scene, model, 1.0, 1, whole, fields, tensors=True) as recorder:
            recorder.follow(lambda: self.contacts, lambda: (rows, rows))
            recorder.observe(State(x, np.zeros_like(x), np.zeros_like(x)))

    def plot(self, field: str | None = None, **options: Any) -> Any:
        """A picture of the shape: a Pillow image, coloured by a field of `save`, as Simulation.plot."""
        return import_module("pliant.viewer.notebook").plot_equilibrium(self, field=field, **options)

    def _number(self, body: Body) -> int:
        numbers = [k for k, own in enumerate(self.scene.bodies) if own is body]
        if not numbers:
            raise SceneError(f"{getattr(body, 'name', body)!r} is not a body of this equilibrium's scene.")
        return numbers[0]

    def _rows(self, body: Body) -> np.ndarray:
        return self.case.model.vertices_of(self._number(body))

    def _chosen(self, body: Body, vertices: ArrayLike | None, what: str) -> np.ndarray:
        rows = self._rows(body)
        return rows if vertices is None else rows[checks.selection(vertices, len(rows), f"{body.name}: {what}")]
