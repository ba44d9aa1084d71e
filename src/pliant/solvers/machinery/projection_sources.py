"""How elements that correct their corners are written down: as lanes of the CPU, or in C for a device."""

from __future__ import annotations

from typing import Any, Protocol

from pliant.kernels.scalar_constraints import scalar_source
from pliant.kernels.strain_source import StrainOptions, sheet_strain_source, strain_source
from pliant.kernels.yarn_strain import yarn_source
from pliant.lanes.functions import LaneFunction
from pliant.materials.calculus import LawCode


class Sources(Protocol):
    """One method for each kind of element; parameters: how many a law has."""

    are_for_device: bool

    def tets(self, code: LawCode, parameters: int, options: StrainOptions) -> Any:
        """Tets of a law, as GPBD corrects them."""

    def triangles(self, code: LawCode, parameters: int, options: StrainOptions) -> Any:
        """Triangles of a law, as GPBD corrects them."""

    def yarn_triangles(self, newton_iterations: int, line_search: bool, jacobi: bool) -> Any:
        """Triangles of yarn cloth with their neighbours, as GPBD corrects them."""

    def scalar(
        self, name: str, measure: LaneFunction, corners: int, sizes: list[int], damped: bool, constrained: bool
    ) -> Any:
        """Elements with one constraint of linear compliance (kernels.scalar_constraints)."""


class LaneSources:
    """Text for the lanes of the CPU."""

    are_for_device = False

    def tets(self, code: LawCode, parameters: int, options: StrainOptions) -> Any:
        return strain_source(code.name, code.text, parameters, code.has_barrier, options)

    def triangles(self, code: LawCode, parameters: int, options: StrainOptions) -> Any:
        return sheet_strain_source(code.name, code.text, parameters, options)

    def yarn_triangles(self, newton_iterations: int, line_search: bool, jacobi: bool) -> Any:
        return yarn_source(newton_iterations, line_search, jacobi)

    def scalar(
        self, name: str, measure: LaneFunction, corners: int, sizes: list[int], damped: bool, constrained: bool
    ) -> Any:
        return scalar_source(name, measure, corners, sizes, damped, constrained)
