"""Vertex block descent on an OpenCL device, as a work object: the scene's order and double precision outside, rows and
the device's precision inside (decision 0034).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.contact.response.potential import ContactPotential
from pliant.device.c_text import Helpers
from pliant.device.opencl import open_device
from pliant.device.vbd import Colour, DeviceSweep, VertexNumbers
from pliant.device.vbd_source import STAGED, DeviceVariant, program_source
from pliant.energies import IncrementalPotential
from pliant.errors import DeviceError
from pliant.geometry import spatial_order, vertex_graph
from pliant.model import Model
from pliant.model.tearing import TopologyChange
from pliant.solvers.contract import Execution, Momentum, Solver
from pliant.solvers.machinery.descent_work import DescentWork, load_target, middle_of_motion
from pliant.solvers.machinery.device_build import DeviceBuild, DeviceTerm
from pliant.solvers.machinery.device_terms import device_terms
from pliant.solvers.machinery.vbd_tables import vertex_colours


class DeviceWork(DescentWork):
    """A scene's tables on a device."""

    def __init__(
        self, sweeps: DeviceSweep, terms: list[DeviceTerm], vertex_of_row: np.ndarray, colour_of_row: np.ndarray,
        is_free: np.ndarray,
    ):  # fmt: skip
        self.sweeps, self.terms = sweeps, terms
        self.vertex_of_row, self.colour_of_row = vertex_of_row, colour_of_row
        self.row_of_vertex = np.argsort(vertex_of_row)
        self.moving = np.flatnonzero(is_free)
        self.origin = np.zeros(3)  # [m] of the step, in double precision
        self._singular = 0
        self._is_loaded = False  # whether the step that begins next is on the device already

    @property
    def singular_blocks(self) -> int:
        return self._singular

    @property
    def nbytes(self) -> int:
        """Memory of its tables, as they are on the device."""
        lists = self.sweeps.variant.lists
        size = np.dtype(self.sweeps.dtype).itemsize
        numbers = sum(one.constants.size + one.parameters.size for one in lists) + 16 * self.sweeps.rows
        return numbers * size + 4 * sum(one.others.size + len(one.start) for one in lists)

    def load_early(self, pose: Callable[[], IncrementalPotential]) -> None:
        if self.sweeps.contacts is not None:  # else nothing is detected meanwhile
            self._load(pose())
            self.sweeps.executor.flush()
            self._is_loaded = True

    def begin_step(self, problem: IncrementalPotential) -> None:
        if not self._is_loaded:
            self._load(problem)
        self._is_loaded = False
        if self.sweeps.contacts is not None:
            self.sweeps.contacts.collided[:] = 0
            self.update_contacts(problem)

    def _load(self, problem: IncrementalPotential) -> None:
        """All of a step but its contacts; damping is measured."""
        sweeps = self.sweeps
        if sweeps.dtype != np.float64:
            self.origin = middle_of_motion(problem)
        self._refresh_lists(problem)
        sweeps.write_rows(sweeps.target, self._rows(load_target(problem)))
        sweeps.write_rows(sweeps.x_prev, self._rows(problem.x_prev))
        self._load_states(problem)
        sweeps.begin_step()

    def _refresh_lists(self, problem: IncrementalPotential) -> None:
        """Numbers of elements that change from step to step."""
        first = 0
        for term, block in zip(self.terms, problem.blocks, strict=True):
            changes = None if term.refresh is None else term.refresh(block, self.origin)
            for k, (what, numbers) in enumerate(changes or []):
                write = self.sweeps.write_constants if what == "constants" else self.sweeps.write_parameters
                write(first + k, numbers)
            first += len(term.lists)

    def update_contacts(self, problem: IncrementalPotential) -> None:
        contacts = problem.contacts
        if self.sweeps.contacts is None or not isinstance(contacts, ContactPotential):
            return
        # what the lists hold of the start is what the device would have of it
        before = self._rows(problem.x_start).astype(self.sweeps.dtype).astype(float)
        rows = self.row_of_vertex[contacts.vertices]
        own = (rows, contacts.contacts, before, self.colour_of_row, self.origin, contacts.slip, contacts.damping)
        self.sweeps.set_contacts(*own)

    def update_topology(self, problem: IncrementalPotential, change: TopologyChange) -> bool:
        return False  # lists are built again

    def iterate(self, problem: IncrementalPotential, x: np.ndarray, n: int, momentum: Momentum | None) -> None:
        """All n iterations are enqueued before the host waits."""
        sweeps = self.sweeps
        self.write(x)
        self._load_states(problem)
        sweeps.sweep(None if momentum is None else momentum.next(n), n)
        self.read(x)
        self._save_states(problem)
        self._singular = sweeps.singular_blocks()
        if sweeps.contacts is not None:
            sweeps.contacts.write_back()

    def _load_states(self, problem: IncrementalPotential) -> None:
        """Take over the internal states of the model's elements."""
        for k, values in self._states(problem):
            self.sweeps.write_state(k, values)

    def _save_states(self, problem: IncrementalPotential) -> None:
        """Write the internal states back to the model's elements."""
        for k, values in self._states(problem):
            self.sweeps.read_state(k, values)

    def _states(self, problem: IncrementalPotential) -> Iterator[tuple[int, np.ndarray]]:
        """Lists whose elements have a state, and the model's numbers."""
        first = 0
        for term, block in zip(self.terms, problem.model.blocks, strict=True):
            if term.state is not None:
                yield first, term.state(block)
            first += len(term.lists)

    def _rows(self, x: np.ndarray) -> np.ndarray:
        """Positions (n, 3) of the scene's vertices in the order of rows, relative to the origin."""
        return (x - self.origin)[self.vertex_of_row]

    def write(self, x: np.ndarray) -> None:
        """Positions (n, 3) of the scene's vertices to the device."""
        self.sweeps.write_rows(self.sweeps.x, self._rows(x))

    def read(self, x: np.ndarray) -> None:
        """The device's rows to positions (n, 3) of the scene's vertices; those that are held stay in place."""
        x[self.moving] = self.sweeps.read()[self.row_of_vertex[self.moving]] + self.origin


@dataclass(frozen=True)
class DeviceScene:
    """A scene as kernels see it, before any device is opened."""

    variant: DeviceVariant
    terms: list[DeviceTerm]
    numbers: VertexNumbers
    colours: list[Colour]
    vertex_of_row: np.ndarray  # (n,)
    colour_of_row: np.ndarray  # (n,) -1: held


def device_scene(problem: IncrementalPotential, precision: str, psd: bool = False, descent: str = "") -> DeviceScene:
    """Colour and sort the vertices, list their elements and trace their functions.

    An element that has no device form, a rigid body or particles are an error that names them.
    """
    model, n = problem.model, problem.model.n_vertices
    missing = {"rigid bodies": model.carried, "particles": model.particles}
    for words, found in missing.items():
        if found is not None:
            raise DeviceError(f'{words} do not run on an OpenCL device: use device="cpu".')
    vertex_of_row, colour_of_row, colours = _order(model)
    helpers = Helpers()
    terms = device_terms(problem.blocks, DeviceBuild(precision, np.argsort(vertex_of_row), helpers))
    elastic = sum((term.diagonal for term in terms if not term.block.is_viscous), np.zeros(n))
    viscous = sum((term.diagonal for term in terms if term.block.is_viscous), np.zeros(n))
    variant = DeviceVariant(
        precision,
        tuple(one for term in terms for one in term.lists),
        helpers,
        constrained=bool(((model.subspace > 0) & (model.subspace < 3)).any()),
        damped=bool(model.vertex_damping.any()),
        viscous=any(term.block.is_viscous for term in terms),
        psd=psd,
        contact=model.contact is not None,
        descent=descent,
    )
    numbers = VertexNumbers(
        problem.inertia[vertex_of_row],
        elastic[vertex_of_row],
        viscous[vertex_of_row],
        model.vertex_damping[vertex_of_row] / problem.h,
        model.subspace[vertex_of_row],
        model.directions[vertex_of_row],
    )
    return DeviceScene(variant, terms, numbers, colours, vertex_of_row, colour_of_row)


def build_device_work(problem: IncrementalPotential, execution: Execution, psd: bool) -> DeviceWork:
    """A scene on the device of an execution, compiled."""
    assert execution.device is not None
    scene = device_scene(problem, execution.precision, psd)
    executor = open_device(execution.device.index)
    schedule = execution.device.schedule or ("items" if executor.is_cpu else "groups")
    sweeps = DeviceSweep(executor, scene.variant, scene.colours, scene.numbers, schedule)
    return DeviceWork(sweeps, scene.terms, scene.vertex_of_row, scene.colour_of_row, problem.model.is_free)


def scene_source(
    problem: IncrementalPotential, precision: str, language: str, psd: bool = False, descent: str = ""
) -> str:
    """The C text of a scene, as device_scene has it."""
    return program_source(device_scene(problem, precision, psd, descent).variant, language)


def kernel_source(
    solver: Solver[Any], model: Model, h: float, precision: str = "single", language: str = "opencl"
) -> str:
    """The C text of a solver's iterations for a model and steps of h [s], which needs no device."""
    x = model.positions
    problem = IncrementalPotential.for_step(model, model.internal_state, h, x, x, x, None, np.zeros((0, 7)))
    return solver.device_source(problem, precision, language)


def _order(model: Model) -> tuple[np.ndarray, np.ndarray, list[Colour]]:
    """Vertices in the order of rows, the colours of rows (-1: held), and the rows of each colour.

    Colours are those of the CPU; within one, vertices with too many neighbours for a packed group come last, and all
    others along a curve through space.
    """
    graph = vertex_graph([block.elements for block in model.blocks], model.n_vertices)
    colours = vertex_colours(model, graph)
    place = np.empty(model.n_vertices, np.int64)
    place[spatial_order(model.positions)] = np.arange(model.n_vertices)
    is_wide = np.diff(graph[0]) > STAGED
    count = int(colours.max()) + 1
    walk = np.lexsort((place, is_wide, np.where(colours < 0, count, colours)))
    sorted_colours = colours[walk]
    ranges = []
    for colour in range(count):
        own = np.flatnonzero(sorted_colours == colour)
        first, last = int(own[0]), int(own[-1]) + 1
        ranges.append(Colour(first, last - int(is_wide[walk[first:last]].sum()), last))
    return walk, sorted_colours, ranges
