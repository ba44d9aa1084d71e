"""How blocks of elements enter vertex block descent on a device: lists by vertex, and C traced from lane functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.device.functions import NOTHING, Argument
from pliant.device.lists import DeviceList
from pliant.elements.element import Element
from pliant.elements.measure_rates import measured_change
from pliant.elements.measured import add_measured
from pliant.elements.registry import element_of
from pliant.errors import DeviceError
from pliant.kernels.element_lists import incidences_of
from pliant.kernels.lists import Incidences
from pliant.kernels.pressure import add_thrust, pressure_incidences
from pliant.lanes.vectors import cross
from pliant.materials.calculus import law_code
from pliant.model import Block, Pressures
from pliant.solvers.machinery.device_build import DeviceBuild, DeviceTerm, LawArguments, Numbers, law_arguments
from pliant.solvers.machinery.device_tets import of_invertible_tets, of_tets, of_weighted_tets
from pliant.solvers.machinery.device_yarn import of_yarn_triangles
from pliant.solvers.machinery.vbd_terms import ListTerm, VertexLoad, vertex_parameters, with_places_from


def device_terms(blocks: tuple[Block, ...], build: DeviceBuild) -> list[DeviceTerm]:
    """All blocks of a problem; an element that has no device form is an error that names it."""
    return [_path(element_of(block))(block, build) for block in blocks]


def _path(element: Element) -> Callable[[Any, DeviceBuild], DeviceTerm]:
    if element.path not in PATHS:
        raise DeviceError(
            f'{element.name} cannot run on an OpenCL device yet: use device="cpu", or build the scene without them.'
        )
    return PATHS[element.path]


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
    law = LawArguments((), [])
    if element.has_law:
        law = law_arguments(block.law.parameter_names(), numbers, varies)
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


#: By the path that an element takes.
PATHS: dict[str, Callable[[Any, DeviceBuild], DeviceTerm]] = {
    "lists": _of_lists,
    "summed squares": _of_lists,
    "patches": _of_lists,
    "tets": of_tets,
    "weighted tets": of_weighted_tets,
    "invertible tets": of_invertible_tets,
    "surface": _of_surface,
    "yarn triangles": of_yarn_triangles,
}
