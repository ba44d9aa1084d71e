"""Tets of solids in vertex block descent on a device, one by one: any law, also converted where tets are crushed or
inverted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from pliant.device.functions import NOTHING, Argument, c_function
from pliant.device.lists import DeviceList, ListState
from pliant.elements.conversion import add_projective, interpolant, with_stiffness
from pliant.elements.tet import deformation_gradient, own_gradient
from pliant.kernels.lists import Incidences
from pliant.kernels.tets_general import add_tet
from pliant.kernels.tets_volumetric import add_volume_change
from pliant.lanes.vectors import add_identity, add_scaled
from pliant.materials.calculus import law_code
from pliant.model import InvertibleSolids, Solids
from pliant.solvers.machinery.device_build import DeviceBuild, DeviceTerm, Numbers, law_arguments
from pliant.solvers.machinery.vbd_terms import vary_at_vertices, vertex_parameters

#: Corners of a tet with one of them first and the others so that the face they make looks to it (elements.tet).
TET_ORDERS = ((0, 1, 3, 2), (1, 0, 2, 3), (2, 3, 1, 0), (3, 2, 0, 1))

_CORNERS = [Argument(name, 3) for name in "abc"]
_OTHERS = ["other 0", "other 1", "other 2"]


def of_tets(block: Solids, build: DeviceBuild) -> DeviceTerm:
    """Tets of a law; without a deformation gradient where the law is mu/2 (I - 3) + phi(J)."""
    code, n = law_code(block.law), len(build.row_of_vertex)
    if not code.is_volumetric:
        return of_weighted_tets(block, build)
    orders = np.array(TET_ORDERS)
    corners, seen = block.elements[:, orders], block.gradients[:, orders]  # (m, 4, 4), (m, 4, 4, 3)
    shear = block.volumes * code.functions.shear_weight(*block.parameters.T)
    weights = shear[:, None, None] * np.einsum("mca,mcja->mcj", seen[:, :, 0], seen)
    diagonal = np.bincount(corners[:, :, 0].ravel(), weights[:, :, 0].ravel(), minlength=n)
    inverse = np.broadcast_to(1 / (6 * block.volumes[:, None, None]), (*weights.shape[:2], 1))
    constants = np.concatenate([inverse, weights[:, :, 1:]], axis=2)
    numbers = Numbers()
    for name in ("inverse_6v", "weight_a", "weight_b", "weight_c"):
        numbers.add(name, 0)
    call = _volumetric_call(code.functions.volume_derivatives)
    return DeviceTerm(block, [_Tets(block, build, block.parameters).listed(numbers, constants, call)], diagonal)


def of_weighted_tets(block: Solids, build: DeviceBuild) -> DeviceTerm:
    """Tets of any law, whose volumes may be weights of the energy."""
    code, (numbers, constants) = law_code(block.law), _general_numbers(block)
    listed = _Tets(block, build, block.parameters).listed(numbers, constants, _general_call(code.functions.derivatives))
    return DeviceTerm(block, [listed], np.zeros(len(build.row_of_vertex)))


def of_invertible_tets(block: InvertibleSolids, build: DeviceBuild) -> DeviceTerm:
    """Tets whose law is converted where they are crushed or inverted: both energies, each where it has a weight."""
    code, (numbers, constants) = law_code(block.law), _general_numbers(block)
    tets = _Tets(block, build, with_stiffness(block), ("projective_stiffness",))
    law = [Argument(f"law_{name}") for name in block.law.parameter_names()]
    places = [*_CORNERS, *numbers.arguments[:-1]]  # without the volume
    texts = [
        build.function(
            f"(1 - l) psi of {code.name}", _general_call(code.functions.derivatives),
            [*places, Argument("kept_volume"), *law], "add_law_K",
        ),
        build.function(
            "l k sum_i (s_i - 1)^2 (Wang and Yang, Equation 18)", _projective_call, [*places, Argument("strength")],
            "add_projective_K",
        ),
        _CONVERTED.format(
            declared=", ".join(argument.declared for argument in (*places, Argument("volume"), *tets.law)),
            places=", ".join(argument.name for argument in places),
            law="".join(f", {argument.name}" for argument in law),
        ).strip("\n"),
    ]  # fmt: skip
    listed = tets.listed(numbers, constants, None, "\n\n".join(texts))
    listed = replace(
        listed,
        arguments=(*listed.arguments, "state"),
        state=_interpolants(block, build),
        element=np.repeat(np.arange(len(block.elements)), 4),
    )
    return DeviceTerm(block, [listed], np.zeros(len(build.row_of_vertex)), state=lambda own: own.interpolants)


_CONVERTED = """
// psi weighted by 1 - l, projective dynamics' energy by l, of which each tet has one (Wang and Yang, Equation 18).
inline void add_K(real *f, real *H, {declared}, const real l)
{{
    if (l < 1)
        add_law_K(f, H, {places}, volume * (1 - l){law});
    if (l > 0)
        add_projective_K(f, H, {places}, volume * l * law_projective_stiffness);
}}
"""


class _Tets:
    """Tets as their vertices see them."""

    def __init__(self, block: Solids, build: DeviceBuild, parameters: np.ndarray, further: tuple[str, ...] = ()):
        """parameters (m, p): those of the law, then further ones."""
        self.block, self.build, self.parameters = block, build, parameters
        self.names = (*block.law.parameter_names(), *further)
        self.varies = vary_at_vertices(block.elements, parameters, len(build.row_of_vertex))

    @property
    def law(self) -> list[Argument]:
        return [Argument(f"law_{name}") for name in self.names]

    def listed(self, numbers: Numbers, constants: np.ndarray, call: Callable | None, function: str = "") -> DeviceList:
        """Entries of all corners with constants (m, 4, c); the text of `function`, if it is no traced call."""
        block, build, n = self.block, self.build, len(self.build.row_of_vertex)
        code = law_code(block.law)
        law = law_arguments(self.names, numbers, self.varies)
        if self.varies:
            constants = np.concatenate([constants, np.repeat(self.parameters[:, None], 4, axis=1)], axis=2)
        corners = block.elements[:, np.array(TET_ORDERS)]
        own = Incidences(
            corners[:, :, 0].ravel(), corners[:, :, 1:].reshape(-1, 3), constants.reshape(-1, constants.shape[2])
        )
        name = f"tets of {code.name}"
        if call is not None:
            function = build.function(name, call, [*_CORNERS, *numbers.arguments, *law.arguments])
        at_vertices = None if self.varies else vertex_parameters(block.elements, self.parameters, n)
        arguments = [*_OTHERS, *numbers.texts, *law.texts]
        return build.listed(own, name, function, arguments, at_vertices, code.has_barrier)


def _general_numbers(block: Solids) -> tuple[Numbers, np.ndarray]:
    """Shape-function gradients of the others and the volume, of each corner (m, 4, 10)."""
    seen = block.gradients[:, np.array(TET_ORDERS)]
    gradients = seen[:, :, 1:].reshape(len(block.elements), 4, 9)
    volumes = np.broadcast_to(block.volumes[:, None, None], (*gradients.shape[:2], 1))
    numbers = Numbers()
    for name in ("ba", "bb", "bc"):
        numbers.add(name, 3)
    numbers.add("volume", 0)
    return numbers, np.concatenate([gradients, volumes], axis=2)


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


def _projective_call(a: Any, b: Any, c: Any, ba: Any, bb: Any, bc: Any, strength: Any) -> Any:
    F, own = deformation_gradient(a, b, c, ba, bb, bc), own_gradient(ba, bb, bc)
    f, diagonal = add_projective(NOTHING[0], 0.0, F, own, strength, True)
    return f, add_identity(NOTHING[1], diagonal)


def _interpolants(block: InvertibleSolids, build: DeviceBuild) -> ListState:
    """l of each tet (Equation 17), from its corners, the gradients of the last three, lower, upper and release."""
    m, numbers = len(block.elements), Numbers()
    for name in ("ba", "bb", "bc"):
        numbers.add(name, 3)
    for name in ("lower", "upper", "release"):
        numbers.add(name, 0)

    def call(before, a, b, c, ba, bb, bc, lower, upper, release):
        return interpolant(deformation_gradient(a, b, c, ba, bb, bc), lower, upper, release, before)

    arguments = [Argument("before"), *_CORNERS, *numbers.arguments]
    function = c_function(
        f"inline real update_K({', '.join(argument.declared for argument in arguments)})", call, arguments,
        ["return {};"], "l of a tet at its positions, from l before (Equation 17).", build.precision, build.helpers,
    )  # fmt: skip
    return ListState(
        function=function,
        arguments=(*_OTHERS, *numbers.texts),
        corners=build.row_of_vertex[block.elements],
        constants=np.column_stack([block.gradients[:, 1:].reshape(m, 9), block.conversion[:, :3]]),
    )
