"""Constraint solvers by Jacobi on an OpenCL device, as a work object: elements and vertices in turn, no colours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pliant.device.corrections import CorrectionSource, Tracing
from pliant.device.opencl import open_device
from pliant.device.projection import DeviceCorrections, Elements
from pliant.device.projection_source import CorrectionVariant, program_source
from pliant.device.scalar_source import scalar_source
from pliant.device.strain_source import tet_source, triangle_source
from pliant.energies import IncrementalPotential
from pliant.errors import DeviceError
from pliant.kernels.contact_projection import correct_contacts_of
from pliant.kernels.strain_source import StrainOptions
from pliant.lanes.functions import LaneFunction
from pliant.materials.calculus import LawCode
from pliant.model import Block
from pliant.solvers.contract import Execution
from pliant.solvers.machinery.projection_tables import Constraints, Layout, ProjectionWork, lay_out, rows_of


class DeviceSources:
    """C for a device (projection_sources.Sources)."""

    are_for_device = True

    def __init__(self, precision: str):
        self.tracing = Tracing(precision)

    def tets(self, code: LawCode, parameters: int, options: StrainOptions) -> CorrectionSource:
        return tet_source(code, parameters, options, self.tracing)

    def triangles(self, code: LawCode, parameters: int, options: StrainOptions) -> CorrectionSource:
        return triangle_source(code, parameters, options, self.tracing)

    def yarn_triangles(self, newton_iterations: int, line_search: bool, jacobi: bool) -> CorrectionSource:
        raise DeviceError(
            'triangles of yarn cloth do not run on an OpenCL device: use device="cpu", or build the scene without them.'
        )

    def scalar(
        self, name: str, measure: LaneFunction, corners: int, sizes: list[int], damped: bool, constrained: bool
    ) -> CorrectionSource:
        assert not damped, "GPBD has no damping"
        assert not constrained, "GPBD has neither lines nor planes"
        return scalar_source(name, measure, corners, sizes, self.tracing)


@dataclass
class DeviceProjection(ProjectionWork):
    """A scene's tables on a device."""

    corrections: DeviceCorrections

    @property
    def singular_blocks(self) -> int:
        """Elements the last iteration could not correct."""
        return self.corrections.left()

    def begin_step(self, problem: IncrementalPotential) -> None:
        super().begin_step(problem)
        self.corrections.forget()
        for k, constraint in enumerate(self.constraints):
            if constraint.refresh is not None:
                self.corrections.write_numbers(k, constraint.numbers)

    def iterate(self, n: int) -> None:
        """All n iterations are enqueued before the host waits; where there are contacts, the host corrects them, one
        after another, at the end of each.
        """
        if self.contacts is None or not len(self.contacts.table.rows):
            self._run(n)
            return
        for _ in range(n):
            self._run(1)
            correct_contacts_of(self.x, self.held, self.contacts.table)

    def _run(self, n: int) -> None:
        """n iterations of the elements."""
        executor = self.corrections.executor
        executor.write(self.corrections.x, self.x)
        self.corrections.iterate(n)
        executor.read(self.corrections.x, self.x)


@dataclass(frozen=True)
class DeviceCorrectionScene:
    """A scene as kernels see it, before any device is opened."""

    layout: Layout
    variant: CorrectionVariant
    constraints: tuple[Constraints, ...]

    def elements(self) -> list[Elements]:
        """Tables of the elements of each kind."""
        tables = []
        for source, own in zip(self.variant.sources, self.constraints, strict=True):
            m = own.packs.element.size
            tables.append(Elements(own.corners.reshape(-1, m) // 4, own.numbers.reshape(source.numbers, m)))
        return tables


def correction_scene(
    problem: IncrementalPotential, execution: Execution, constraints_of: Callable[[Layout, Block], Constraints]
) -> DeviceCorrectionScene:
    """List the elements and trace their functions; constraints_of: of a block, by the solver."""
    sources = DeviceSources(execution.precision)
    layout = lay_out(problem, execution, sources=sources)
    constraints = tuple(constraints_of(layout, block) for block in layout.blocks)
    if not constraints:
        raise DeviceError('particles alone do not run on an OpenCL device with GPBD: use device="cpu".')
    variant = CorrectionVariant(tuple(own.source for own in constraints), sources.tracing)
    return DeviceCorrectionScene(layout, variant, constraints)


def build_device_projection(
    problem: IncrementalPotential, execution: Execution, constraints_of: Callable[[Layout, Block], Constraints]
) -> DeviceProjection:
    """A scene on the device of an execution, compiled."""
    assert execution.device is not None
    scene = correction_scene(problem, execution, constraints_of)
    executor = open_device(execution.device.index)
    corrections = DeviceCorrections(executor, scene.variant, scene.elements(), problem.model.n_vertices)
    fields: dict[str, Any] = rows_of(scene.layout)
    return DeviceProjection(**fields, constraints=scene.constraints, corrections=corrections)


def projection_text(
    problem: IncrementalPotential, precision: str, language: str,
    constraints_of: Callable[[Layout, Block], Constraints],
) -> str:  # fmt: skip
    """The C text of a scene."""
    return program_source(correction_scene(problem, Execution(precision), constraints_of).variant, language)
