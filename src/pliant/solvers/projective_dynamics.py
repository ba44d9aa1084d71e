"""Projective dynamics (Bouaziz et al. 2014) and its iterative variants (Wang 2015).

For an energy w/2 |F - R(F)|^2 the local step finds the projection R and the global step solves A x = b(R) with a
constant matrix. Written as a correction that is x += A^-1 f with the exact force f = -dG/dx, since dR is orthogonal to
F - R (Wang and Yang 2016, Section 4.1). The local step is the law's own gradient, in lanes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from pliant.arguments import is_one_of
from pliant.energies import IncrementalPotential
from pliant.energies.constant_stiffness import projection_laplacian
from pliant.errors import SolverError
from pliant.kernels.transfer import to_rows
from pliant.solvers.contract import (
    Capabilities,
    Execution,
    Momentum,
    MomentumSolver,
    SweepResult,
    check_count,
    check_start,
    register_solver,
)
from pliant.solvers.machinery.constant_matrix import ConstantMatrix, factorise_step
from pliant.solvers.machinery.guarded_descent import GuardedWork, begin_guarded, guarded_descent, guarded_work
from pliant.solvers.machinery.packed import pack
from pliant.solvers.machinery.vbd_tables import PackedWork, Tables
from pliant.sparse import sp

GLOBAL_STEPS = ("direct", "jacobi", "gauss-seidel")
REFRESH = 32  # iterations between measurements of what energies can be trusted to


@dataclass
class ProjectiveWork(PackedWork):
    guarded: GuardedWork
    laplacian: sp.csr_matrix
    matrix: ConstantMatrix | None = None
    scales: np.ndarray = field(default_factory=lambda: np.zeros(0))  # (rows, 4) 1 / diag(A)

    @property
    def packed_tables(self) -> Tables:
        return self.guarded.packed_tables

    @property
    def undone(self) -> int:
        return self.guarded.undone

    @property
    def may_undo(self) -> bool:
        return self.guarded.may_undo

    def state_dict(self) -> dict[str, float]:
        return self.guarded.state_dict()

    def load_state_dict(self, state: dict[str, float]) -> None:
        self.guarded.load_state_dict(state)


@register_solver
@dataclass(frozen=True)
class ProjectiveDynamics(MomentumSolver[ProjectiveWork]):
    """Local projections and a global step with a constant matrix A, for laws that are a distance to a projection:
    solids and sheets of ARAP or of Corotated without lam, springs, yarns, quadratic bending, attachments and walls.

    global_step: "direct" with factors made once; "jacobi" divides by diag(A), all vertices at once, with the step
    length control of gradient descent; "gauss-seidel" divides by diag(A), colour after colour, projections always up to
    date. Wrap the last two in pl.Chebyshev (Wang 2015) or pl.HeavyBall.
    Damping adds its largest stiffness to A, so that A stays above the Hessian; that of vertex blocks changes, and A is
    factorised again every step then.
    """

    iterations: int = 20
    global_step: str = "direct"
    start: str = "adaptive"

    capabilities = Capabilities("minimise", momentum=True, fixed_point=True, local=False)

    def __post_init__(self) -> None:
        check_count(self.iterations, "ProjectiveDynamics: iterations")
        check_start(self.start, "ProjectiveDynamics: start")
        if not is_one_of(self.global_step, GLOBAL_STEPS):
            raise SolverError(
                f"ProjectiveDynamics: global_step is {self.global_step!r}: choose one of {', '.join(GLOBAL_STEPS)}."
            )

    @property
    def supports(self) -> Capabilities:
        """A direct global step takes no momentum."""
        return replace(self.capabilities, momentum=self.global_step != "direct")

    def init(self, problem: IncrementalPotential, execution: Execution) -> ProjectiveWork:
        laplacian = projection_laplacian(problem)
        work = ProjectiveWork(guarded_work(pack(problem, execution)), laplacian)
        work.scales = work.guarded.packed.rows()
        work.guarded.constant_scales = work.scales
        self._prepare(problem, work)
        return work

    def begin_step(self, problem: IncrementalPotential, work: ProjectiveWork) -> None:
        begin_guarded(problem, work.guarded)
        if problem.model.vertex_damping.any():
            self._prepare(problem, work)

    def _prepare(self, problem: IncrementalPotential, work: ProjectiveWork) -> None:
        """Factors or diagonal of A = M / h^2 + L + damping."""
        damping = np.linalg.eigvalsh(problem.damping_blocks)[:, -1] if problem.model.vertex_damping.any() else 0.0
        L = work.laplacian + sp.diags(np.zeros(problem.model.n_vertices) + damping)
        if self.global_step == "direct":
            work.matrix = factorise_step(problem, L)
            return
        packs = work.packed_tables.packs
        inverse = np.repeat((1 / (problem.inertia + L.diagonal()))[:, None], 3, axis=1)
        to_rows(inverse, packs.vertex_of_row, packs.is_wide, packs.width, work.scales)

    def sweep(
        self,
        problem: IncrementalPotential,
        x: np.ndarray,
        work: ProjectiveWork,
        n: int = 1,
        momentum: Momentum | None = None,
    ) -> SweepResult:
        t = work.packed_tables
        if self.global_step == "jacobi":
            return guarded_descent(work.guarded, x, n, t.module.descend_jacobi, REFRESH, momentum)
        t.read(x)
        if self.global_step == "gauss-seidel":
            omegas, memory = np.ones(n), (t.no_rows, t.no_rows)
            if momentum is not None:
                omegas, memory = momentum.next(n), t.momentum()
            arrays = (work.scales, t.x, t.vertices, *t.tables)
            t.team.run(t.module.sweep_scaled, omegas, *memory, *arrays, amount=n, shares=t.shares)
        else:
            for _ in range(n):
                self._project_and_solve(work)
        t.write(x)
        return SweepResult(n)

    def _project_and_solve(self, work: ProjectiveWork) -> None:
        assert work.matrix is not None
        packed, d = work.guarded.packed, work.guarded.direction
        packed.force(work.packed_tables.x, d)
        work.matrix.solve_rows(d, work.packed_tables.packs)
        packed.add(work.packed_tables.x, 1.0, d, work.packed_tables.x)
