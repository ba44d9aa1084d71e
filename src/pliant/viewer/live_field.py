"""A field of a simulation that runs: values on the points that pictures show, as results have them."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from pliant.frame_maker import CELL_FIELDS, FrameMaker, contact_fields
from pliant.io.results.result import Layout
from pliant.simulate import Simulation
from pliant.viewer.fields import on_points

STRAIN = "strain"
MEASURE_SECONDS = 0.1  # fields are not measured more often,
MEASURE_SHARE = 0.2  # nor for a larger part of the time


def offered(simulation: Simulation) -> list[str]:
    """Names of the fields that a simulation has."""
    names = ["speed", "displacement"]
    if simulation.model.solids:
        names += ["von_mises", STRAIN, "energy_density"]
    if simulation.model.contact is not None:
        names += ["contact_force", "penetration"]
    if len(simulation.state.spins):
        names.append("spin")
    return names


@dataclass(frozen=True)
class FieldPicture:
    """One moment of a field."""

    name: str
    time: float  # simulated [s]
    layout: Layout
    points: np.ndarray  # (n, 3) [m]
    values: np.ndarray  # (n,); not a number where there is none


class LiveField:
    """Measures one field of a simulation that runs, for a part of the time."""

    def __init__(self, name: str):
        self.name = name
        self._simulation: Simulation | None = None
        self._picture: FieldPicture | None = None
        self._due = 0.0

    def newest(self, simulation: Simulation, is_last: bool) -> FieldPicture:
        """Of its present state if the last picture is old, or if no other state follows for now."""
        if simulation is not self._simulation:  # it was built again
            self._simulation, self._maker, self._picture = simulation, self._new_maker(simulation), None
        began = time.monotonic()
        if self._picture is None or is_last or began >= self._due:
            self._picture = self._measure(simulation)
            self._due = began + max(MEASURE_SECONDS, (time.monotonic() - began) / MEASURE_SHARE)
        return self._picture

    def _new_maker(self, simulation: Simulation) -> FrameMaker:
        return FrameMaker(
            simulation.model,
            simulation.scene,
            simulation.h,
            simulation.frame_rate,
            volume=False,
            with_fields=self.name in (*CELL_FIELDS, STRAIN),
            tensors=self.name == STRAIN,
            obstacles=False,
        )

    def _measure(self, simulation: Simulation) -> FieldPicture:
        layout, state = self._maker.layout, simulation.state
        fields, drawn = self._of_vertices(simulation), simulation.model.drawn_points
        frame = self._maker.frame(simulation.time, state.x, fields, {}, drawn, None)
        values = np.where(layout.scenery_points, np.nan, on_points(layout, frame, self.name))
        return FieldPicture(self.name, simulation.time, layout, frame.points, values)

    def _of_vertices(self, simulation: Simulation) -> dict[str, np.ndarray]:
        """The field, if vertices have it, under the name that results give it."""
        state = simulation.state
        match self.name:
            case "speed":
                return {"velocity": state.v}
            case "displacement":
                return {"displacement": state.x - simulation.model.positions}
            case "spin":
                return {"spin": state.spins}
            case "contact_force" | "penetration":
                return {self.name: contact_fields(simulation.contacts, len(state.x))[self.name]}
        return {}
