"""Do the peers minimise the energy we think they do? Each is compared with an independent Newton solve.

    python -m benchmarks.peers.check_same_work [cells=6] [iterations=2000] [timing repeats=0]

A cube of cells^3 x 6 tets hangs from its top face and is thrown into a twist that leaves the linear range in
one step; only the same energy, masses, gravity and pins then give the same positions. The reference minimises
G(x) = |x - y|_M^2 / (2 h^2) + E(x), E = sum V (mu/2 (I-3) - mu (J-1) + (lam+mu)/2 (J-1)^2), in double
precision with SciPy's sparse LU; it shares no solver code with a peer. The last line of each block
shows what a wrong lambda would look like. Exit code 1 if a peer deviates by more than TOLERANCE of the
largest displacement.
"""

import sys
from itertools import permutations

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spl

from benchmarks.peers import newton_vbd, pbat_vbd
from benchmarks.peers.result import lumped_masses

TOLERANCE = 1e-5
LEVI_CIVITA = np.zeros((3, 3, 3))
for a, b, c in permutations(range(3)):
    LEVI_CIVITA[a, b, c] = np.linalg.det(np.eye(3)[[a, b, c]])


def cube(n):
    """Kuhn split of the unit cube's n^3 grid: points and positively oriented tets."""
    grid = np.arange(n + 1)
    points = np.stack(np.meshgrid(grid, grid, grid, indexing="ij"), -1).reshape(-1, 3) / n
    i, j, k = (a.ravel() for a in np.meshgrid(*[np.arange(n)] * 3, indexing="ij"))
    corner = [((i + a) * (n + 1) + j + b) * (n + 1) + k + c for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    tets = np.concatenate(
        [np.stack([corner[0], corner[p], corner[p + q], corner[7]], 1) for p, q, _ in permutations((4, 2, 1))]
    )
    negative = np.linalg.det(points[tets[:, 1:]] - points[tets[:, :1]]) < 0
    tets[negative] = tets[negative][:, [0, 2, 1, 3]]
    return points, tets


class Potential:
    """G(x), its gradient and sparse Hessian, on all 3n coordinates."""

    def __init__(self, points, tets, target, *, mu, l, density, h):
        masses, self.V = lumped_masses(points, tets, density)
        inverse = np.linalg.inv((points[tets[:, 1:]] - points[tets[:, :1]]).transpose(0, 2, 1))
        self.b = np.concatenate([-inverse.sum(1, keepdims=True), inverse], 1)  # shape gradients (m, 4, 3)
        self.m_h2, self.y, self.tets, self.mu, self.l = np.repeat(masses, 3) / h**2, target, tets, mu, l
        self.dofs = (3 * tets[:, :, None] + np.arange(3)).reshape(len(tets), 12)

    def __call__(self, x):
        """G alone."""
        F = np.einsum("tia,tib->tab", x[self.tets], self.b)
        J = np.linalg.det(F)
        psi = self.mu / 2 * ((F**2).sum((1, 2)) - 3) - self.mu * (J - 1) + self.l / 2 * (J - 1) ** 2
        return (self.m_h2 * (x - self.y).ravel() ** 2).sum() / 2 + self.V @ psi

    def derivatives(self, x):
        """Gradient (3n,) and Hessian (3n, 3n)."""
        F, b, n = np.einsum("tia,tib->tab", x[self.tets], self.b), self.b, x.size
        psi_J = -self.mu + self.l * (np.linalg.det(F) - 1)
        cof = np.einsum("abc,def,tbe,tcf->tad", LEVI_CIVITA, LEVI_CIVITA, F, F) / 2
        dJ = np.einsum("tab,tib->tia", cof, b)
        w = np.einsum("tab,tijb->tija", F, np.cross(b[:, :, None], b[:, None]))
        force = self.mu * np.einsum("tab,tib->tia", F, b) + psi_J[:, None, None] * dJ
        force *= self.V[:, None, None]
        H = self.mu * np.einsum("tib,tjb,ac->tiajc", b, b, np.eye(3))
        H += self.l * np.einsum("tia,tjc->tiajc", dJ, dJ)
        H += np.einsum("t,ace,tije->tiajc", psi_J, LEVI_CIVITA, w)
        H = (self.V[:, None, None] * H.reshape(-1, 12, 12)).ravel()
        rows, columns = np.repeat(self.dofs, 12, 1).ravel(), np.tile(self.dofs, (1, 12)).ravel()
        gradient = self.m_h2 * (x - self.y).ravel() + np.bincount(self.dofs.ravel(), force.ravel(), n)
        return gradient, sp.csc_matrix((H, (rows, columns)), (n, n)) + sp.diags(self.m_h2)


def minimise(G, x, free, tolerance=1e-12):
    """Newton with backtracking from x over the free (3n,) bool; until the step is below `tolerance` [m]."""
    for _ in range(100):
        gradient, H = G.derivatives(x)
        step, shift = np.zeros(x.size), 0.0
        while not step[free] @ gradient[free] < 0:  # raise the diagonal until it descends
            A = (H + sp.diags(shift * G.m_h2)).tocsc()[free][:, free]
            step[free] = spl.splu(A).solve(-gradient[free])
            shift = 2 * shift + 1
        scale, slope, here = 1.0, step @ gradient, G(x)
        step = step.reshape(x.shape)
        while -slope > 1e-12 * abs(here) and G(x + scale * step) > here + 1e-4 * scale * slope:
            scale /= 2
        x = x + scale * step
        if np.abs(step).max() < tolerance:
            return x
    raise RuntimeError(f"the reference did not converge: last step {np.abs(step).max():g} m")


def reference(points, tets, *, mu, lam, density, gravity, h, pinned, steps, velocities):
    """Positions after `steps` exactly solved implicit Euler steps."""
    x, v = points, np.where(pinned[:, None], 0, velocities)
    for _ in range(steps):
        y = np.where(pinned[:, None], x, x + h * v + h**2 * np.asarray(gravity))
        G = Potential(points, tets, y, mu=mu, l=lam + mu, density=density, h=h)
        x, old = minimise(G, y, np.repeat(~pinned, 3)), x
        v = (x - old) / h
    return x


def main(cells=6, iterations=2000, repeats=0):
    """Print each peer's deviation from the reference after one step and after three; True if all agree."""
    young, poisson = 1e5, 0.45
    mu, lam = young / (2 * (1 + poisson)), young * poisson / ((1 + poisson) * (1 - 2 * poisson))
    points, tets = cube(cells)
    depth, arm = 1 - points[:, 2:], points - 0.5
    twist = 30 * depth * np.stack([-arm[:, 1], arm[:, 0], -0.5 * np.ones(len(points))], 1)  # up to 26 m/s
    scene = {"mu": mu, "lam": lam, "density": 1000.0, "gravity": (1.0, -2.0, -9.81), "h": 0.01}
    scene |= {"pinned": points[:, 2] > 1 - 1e-9, "velocities": twist}
    agree = True
    print(f"{len(points)} vertices, {len(tets)} tets, {iterations} iterations a step")
    for steps in (1, 3):
        exact = reference(points, tets, steps=steps, **scene)
        size = np.abs(exact - points).max()
        print(f"{steps} step(s): largest displacement {size:.4f} m")
        for peer in (newton_vbd, pbat_vbd):
            out = peer.run(points, tets, iterations=iterations, steps=steps, repeats=repeats, **scene)
            deviation = np.abs(out.positions - exact).max() / size
            agree &= bool(deviation < TOLERANCE)
            print(f"  {out.name:32} {deviation:9.2e}   {out.note}")
            if repeats:
                print(
                    f"  {'':32} {out.milliseconds_per_iteration:.3f} ms an iteration, fixed "
                    f"{out.milliseconds_per_step_fixed:.2f} ms a step, {out.threads} thread(s)"
                )
        wrong = reference(points, tets, steps=steps, **scene | {"lam": lam - mu})
        print(f"  {'reference with l = lam':32} {np.abs(wrong - exact).max() / size:9.2e}   wrong on purpose")
    return agree


if __name__ == "__main__":
    sys.exit(0 if main(*map(int, sys.argv[1:])) else 1)
