"""How blocks of elements enter vertex block descent on a device: lists by vertex, and C traced from lane functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.device.c_text import Helpers
from pliant.device.functions import FORCE_AND_BLOCK, NOTHING, Argument, c_function
from pliant.device.lists import DeviceList
from pliant.elements.element import Element
from pliant.elements.measure_rates import measured_change
from pliant.elements.measured import add_measured
from pliant.elements.registry import element_of
from pliant.elements.tet import deformation_gradient, own_gradient
from pliant.errors import DeviceError
from pliant.kernels.element_lists import incidences_of
from pliant.kernels.lists import Incidences
from pliant.kernels.pressure import add_thrust, pressure_incidences
from pliant.kernels.tets_general import add_tet
from pliant.kernels.tets_volumetric import add_volume_change
from pliant.lanes.vectors import add_identity, add_scaled, cross
from pliant.materials.calculus import law_code
from pliant.model import Block, Pressures, Solids
from pliant.solvers.machinery.vbd_terms import (
    ListTerm,
    VertexLoad,
    vary_at_vertices,
    vertex_parameters,
    with_places_from,
)

#: Corners of a tet with one of them first and the others so that the face they make looks to it (elements.tet).
TET_ORDERS = ((0, 1, 3, 2), (1, 0, 2, 3), (2, 3, 1, 0), (3, 2, 0, 1))


@dataclass
class DeviceTerm:
    """A block on a device."""

    block: Block
    lists: list[DeviceList]
    diagonal: np.ndarray  # (n,) constant part of its Hessian [N/m]
    refresh: Callable[[Any, np.ndarray], list[tuple[str, np.ndarray]] | None] | None = None
    # of a step's block and the origin [m]: ("constants" or "parameters", array) for each list, None if nothing changes


@dataclass(frozen=True)
class DeviceBuild:
    """What terms are built for."""

    precision: str
    row_of_vertex: np.ndarray  # (n,)
    helpers: Helpers

    def function(self, name: str, call: Callable, arguments: list[Argument]) -> str:
        """The text of a list's function add_K."""
        declared = ", ".join(["real *f", "real *H", *(argument.declared for argument in arguments)])
        head = f"inline void add_K({declared})"
        return c_function(head, call, arguments, FORCE_AND_BLOCK, name, self.precision, self.helpers)

    def listed(self, incidences: Incidences, name: str, function: str, arguments: list[str],
               parameters: np.ndarray | None = None, has_barrier: bool = False) -> DeviceList:  # fmt: skip
        """Incidences of vertices as a list of rows; parameters (n, p) of the vertices."""
        row, n = self.row_of_vertex, len(self.row_of_vertex)
        by_row = np.zeros((n, 0 if parameters is None else parameters.shape[1]))
        if parameters is not None:
            by_row[row] = parameters
        others = row[incidences.others]
        return DeviceList(
            name, function, tuple(arguments), row[incidences.owner], others, incidences.constants, by_row, has_barrier
        )


class Numbers:
    """Arguments of a function after the positions: numbers of entries, one after another."""

    def __init__(self) -> None:
        self.arguments: list[Argument] = []
        self.texts: list[str] = []
        self._shapes: list[int] = []
        self._place = 0

    def add(self, name: str, size: int) -> None:
        """A number (size 0) or a tuple of them."""
        self._shapes.append(size)
        if size == 3:
            self.arguments.append(Argument(name, 3))
            self.texts.append(f"vector {self._place}")
        else:
            names = [name] if size == 0 else [f"{name}_{k}" for k in range(size)]
            self.arguments += [Argument(one) for one in names]
            self.texts += [f"number {self._place + k}" for k in range(len(names))]
        self._place += max(size, 1)

    def grouped(self, values: tuple[Any, ...]) -> list[Any]:
        """Values of the arguments as a lane function takes them."""
        result, waiting = [], list(values)
        for size in self._shapes:
            if size in (0, 3):
                result.append(waiting.pop(0))
            else:
                result.append(tuple(waiting.pop(0) for _ in range(size)))
        return result


def device_terms(blocks: tuple[Block, ...], build: DeviceBuild) -> list[DeviceTerm]:
    """All blocks of a problem; an element that has no device form is an error that names it."""
    return [_path(element_of(block))(block, build) for block in blocks]


def _path(element: Element) -> Callable[[Any, DeviceBuild], DeviceTerm]:
    paths = {"lists": _of_lists, "tets": _of_tets, "surface": _of_surface}
    if element.path not in paths:
        raise DeviceError(
            f'{element.name} cannot run on an OpenCL device yet: use device="cpu", or build the scene without them.'
        )
    return paths[element.path]


# --- tets -------------------------------------------------------------------------------------------------------------


def _of_tets(block: Solids, build: DeviceBuild) -> DeviceTerm:
    code, n = law_code(block.law), len(build.row_of_vertex)
    orders = np.array(TET_ORDERS)
    corners = block.elements[:, orders]  # (m, 4, 4)
    seen = block.gradients[:, orders]  # (m, 4, 4, 3)
    varies = vary_at_vertices(block.elements, block.parameters, n)
    positions = [Argument(name, 3) for name in "abc"]
    numbers = Numbers()
    diagonal: np.ndarray = np.zeros(n)
    if code.is_volumetric:
        shear = block.volumes * code.functions.shear_weight(*block.parameters.T)
        weights = shear[:, None, None] * np.einsum("mca,mcja->mcj", seen[:, :, 0], seen)
        diagonal = np.bincount(corners[:, :, 0].ravel(), weights[:, :, 0].ravel(), minlength=n)
        inverse = np.broadcast_to(1 / (6 * block.volumes[:, None, None]), (*weights.shape[:2], 1))
        constants = np.concatenate([inverse, weights[:, :, 1:]], axis=2)
        for name in ("inverse_6v", "weight_a", "weight_b", "weight_c"):
            numbers.add(name, 0)
        call = _volumetric_call(code.functions.volume_derivatives)
    else:
        gradients = seen[:, :, 1:].reshape(len(block.elements), 4, 9)
        volumes = np.broadcast_to(block.volumes[:, None, None], (*gradients.shape[:2], 1))
        constants = np.concatenate([gradients, volumes], axis=2)
        for name in ("ba", "bb", "bc"):
            numbers.add(name, 3)
        numbers.add("volume", 0)
        call = _general_call(code.functions.derivatives)
    parameters = _law_arguments(block, numbers, varies)
    if varies:
        constants = np.concatenate([constants, np.repeat(block.parameters[:, None], 4, axis=1)], axis=2)
    own = Incidences(
        corners[:, :, 0].ravel(), corners[:, :, 1:].reshape(-1, 3), constants.reshape(-1, constants.shape[2])
    )
    name = f"tets of {code.name}"
    arguments = ["other 0", "other 1", "other 2", *numbers.texts, *parameters.texts]
    function = build.function(name, call, [*positions, *numbers.arguments, *parameters.arguments])
    at_vertices = None if varies else vertex_parameters(block.elements, block.parameters, n)
    listed = build.listed(own, name, function, arguments, at_vertices, code.has_barrier)
    return DeviceTerm(block, [listed], diagonal)


def _volumetric_call(volume_derivatives: Callable) -> Callable:
    """Tets of laws mu/2 (I - 3) + phi(J): the first part is springs of zero rest length along edges, of which a tet has
    a share (kernels.tets_volumetric).
    """

    def call(a, b, c, inverse_6v, weight_a, weight_b, weight_c, *parameters):
        f, H = add_volume_change(*NOTHING, a, b, c, inverse_6v, True, parameters, volume_derivatives)
        for weight, way in ((weight_a, a), (weight_b, b), (weight_c, c)):
            f = add_scaled(f, -weight, way)
        return f, H

    return call


def _general_call(derivatives: Callable) -> Callable:
    def call(a, b, c, ba, bb, bc, volume, *parameters):
        F, own = deformation_gradient(a, b, c, ba, bb, bc), own_gradient(ba, bb, bc)
        f, H, diagonal = add_tet(*NOTHING, 0.0, F, own, volume, True, parameters, derivatives)
        return f, add_identity(H, diagonal)

    return call


class _Law:
    """Arguments of a law: numbers of the vertex, or of the entry where they vary."""

    def __init__(self, names: tuple[str, ...], texts: list[str]):
        self.arguments = [Argument(f"law_{name}") for name in names]
        self.texts = texts


def _law_arguments(block: Any, numbers: Numbers, varies: bool) -> _Law:
    names, count = block.law.parameter_names(), block.parameters.shape[1]
    first = sum(max(size, 1) for size in numbers._shapes)
    return _Law(names, [f"number {first + k}" if varies else f"parameter {k}" for k in range(count)])


# --- lists ------------------------------------------------------------------------------------------------------------


def _of_lists(block: Any, build: DeviceBuild) -> DeviceTerm:
    element, n = element_of(block), len(build.row_of_vertex)
    term = ListTerm(block, VertexLoad(np.zeros(n, np.int64), np.zeros(n, bool), 1))
    lists = [_list(element, block, k, own, term.varies, build) for k, own in enumerate(term.incidences)]
    refresh = _writes_numbers(element) if element.places or element.changes else None
    return DeviceTerm(block, lists, term.constant_diagonal(n), refresh)


def _list(element: Element, block: Any, k: int, own: Incidences, varies: bool, build: DeviceBuild) -> DeviceList:
    count, numbers = element.corners - 1, Numbers()
    for values, name in zip(element.corner_numbers_of(block), element.corner_numbers, strict=True):
        for corner in range(len(element.seen(k, element.lists[k][0]))):
            numbers.add(f"{name}_{corner}", _size(values[:, 0]))
    for values, name in zip(element.numbers_of(block), element.numbers, strict=True):
        numbers.add(name, _size(values))
    positions = [Argument(f"r{j}", 3) for j in range(count)]
    texts = [f"other {j}" for j in range(count)]
    if element.sees_previous:
        positions += [Argument(f"before{j}", 3) for j in range(count)]
        texts += [f"before {j}" for j in range(count)]
    if element.views and element.views[k].is_absolute:
        positions, texts = [Argument("xi", 3), *positions], ["xi", *texts]
    law = _law_arguments(block, numbers, varies) if element.has_law else _Law((), [])
    derivatives = [law_code(block.law).functions.derivatives] if element.has_law else []
    call = _view_call(element, k, len(positions), numbers, derivatives)
    function = build.function(element.name, call, [*positions, *numbers.arguments, *law.arguments])
    at_vertices = None
    if element.has_law and not varies:
        at_vertices = vertex_parameters(block.elements, block.parameters, len(build.row_of_vertex))
    return build.listed(own, element.name, function, [*texts, *numbers.texts, *law.texts], at_vertices)


def _view_call(element: Element, k: int, positions: int, numbers: Numbers, derivatives: list[Callable]) -> Callable:
    """What corners of list k feel, as a function of C's arguments."""
    total = len(numbers.arguments)

    def call(*values):
        places, own, parameters = values[:positions], values[positions : positions + total], values[positions + total :]
        law = [parameters, *derivatives] if element.has_law else []
        grouped = numbers.grouped(own)
        if element.views:
            return element.views[k].add(*NOTHING, *places, *grouped, *law)
        first = element.lists[k][0]
        corners = _corners(first, places[: element.corners - 1])
        if element.sees_previous:
            c, g, stiffness = measured_change(element.measure, corners, _corners(first, places[element.corners - 1 :]),
                                              *grouped)  # fmt: skip
        else:
            assert element.measure is not None
            c, g, stiffness = element.measure(corners, *grouped)
        return add_measured(*NOTHING, c, g[first[0]], stiffness)

    return call


def _corners(first: tuple[int, ...], relative: Any) -> tuple[Any, ...]:
    """Positions of all corners in their order, that of the vertex itself zero."""
    at = dict(zip(first, [(0.0, 0.0, 0.0), *relative], strict=True))
    return tuple(at[corner] for corner in range(len(first)))


def _size(values: np.ndarray) -> int:
    return 0 if values.ndim == 1 else values.shape[1]


def _writes_numbers(element: Element) -> Callable:
    """Numbers that are points in space, relative to an origin that moves, and such that change from step to step."""
    written: list[Any] = []

    def refresh(block: Any, origin: np.ndarray) -> list[tuple[str, np.ndarray]] | None:
        values = [own.tobytes() for own in element.numbers_of(block)] if element.changes else []
        if written == [*origin.tolist(), *values]:
            return None
        written[:] = [*origin.tolist(), *values]
        moved = with_places_from(element, block, origin)
        return [("constants", own.constants) for own in incidences_of(element, moved)]

    return refresh


# --- pressure ---------------------------------------------------------------------------------------------------------


def _of_surface(block: Pressures, build: DeviceBuild) -> DeviceTerm:
    own, n = pressure_incidences(block.elements), len(build.row_of_vertex)
    arguments = [Argument("b", 3), Argument("c", 3), Argument("pressure")]
    function = build.function("pressure", _pressure_call, arguments)

    def at_vertices(pressed: Pressures) -> np.ndarray:
        return vertex_parameters(pressed.elements, pressed.pressures[:, None], n)

    listed = build.listed(own, "pressure", function, ["other 0", "other 1", "parameter 0"], at_vertices(block))
    written = block.pressures

    def refresh(pressed: Pressures, _: np.ndarray) -> list[tuple[str, np.ndarray]] | None:
        nonlocal written
        if pressed.pressures is written:
            return None
        written = pressed.pressures
        by_row = np.empty((n, 1))
        by_row[build.row_of_vertex] = at_vertices(pressed)
        return [("parameters", by_row)]

    return DeviceTerm(block, [listed], np.zeros(n), refresh)


def _pressure_call(b: Any, c: Any, pressure: Any) -> Any:
    return add_thrust(NOTHING[0], pressure, cross(b, c)), NOTHING[1]
