"""Shared test data and small problems. Functions are session fixtures, so that Hypothesis may use them."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import numpy as np
import pytest

import pliant as pl
from pliant import trials
from pliant.energies.elements import energy_of
from pliant.kernels.element_packs import ElementPacks

# A shell's background jobs ignore Ctrl-C, and so would the runs that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

os.environ.setdefault("PLIANT_COMPILE_PROCESSES", "1")  # tests run in several processes already

# Quick tests draw the same examples in every run; `make test-all` draws new ones.
hypothesis.settings.register_profile("same", derandomize=True)


@pytest.fixture(scope="session", autouse=True)
def solvers_to_try() -> Iterator[Callable]:
    """Warnings of unconverged steps try other solvers, which compiles them: not here, but where a test asks for it.

    Gives the function that chooses them.
    """
    chosen = trials.candidates
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trials, "candidates", lambda problem, solver: [])
        yield chosen


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Folder of the shared test meshes; skips when absent, because they are no part of the package."""
    folder = Path(__file__).parents[1].parent / "shared" / "data" / "meshes"
    if not folder.is_dir():
        pytest.skip(f"no test data at {folder}")
    return folder


@pytest.fixture(scope="session")
def data_meshes(data_folder: Path) -> Callable[[str], pl.TetMesh]:
    """A function that loads a tet mesh of the shared test data by name."""
    return lambda name: pl.load_mesh(data_folder / f"{name}.vtu")


@pytest.fixture(scope="session")
def star() -> pl.TetMesh:
    """A ball's surface coned to its centre: one hub vertex with all 320 tets."""
    surface = pl.shapes.ball(radius=0.2, cells=4).surface()
    apex = np.full((len(surface.triangles), 1), len(surface.points))
    return pl.TetMesh(np.vstack([surface.points, np.zeros(3)]), np.hstack([surface.triangles, apex]), orient=True)


@pytest.fixture(scope="session")
def shaken() -> Callable[..., np.ndarray]:
    """A function: positions of a mesh, sheared, stretched and noisy, with no element inverted."""

    def shake(mesh: pl.TetMesh, seed: int = 0, noise: float = 0.15, strain: float = 0.2) -> np.ndarray:
        random = np.random.default_rng(seed)
        F = np.eye(3) + strain * random.uniform(-1, 1, (3, 3))
        edge = np.linalg.norm(mesh.points[mesh.tets[:, 0]] - mesh.points[mesh.tets[:, 1]], axis=1).min()
        wobble = random.uniform(-1, 1, mesh.points.shape)
        while True:
            x = mesh.points @ F.T + noise * edge * wobble
            corners = x[mesh.tets]
            if np.linalg.det(corners[:, 1:] - corners[:, :1]).min() > 0:
                return x
            noise /= 2

    return shake


@pytest.fixture(scope="session")
def make_simulation(shaken) -> Callable[..., pl.Simulation]:
    """A function: a block of 3 x 2 x 2 cells of 0.1 m, deformed and moving at random; `held` pins a face and ties
    vertices to skew lines and planes.
    """

    def make(
        law=pl.StableNeoHookean,
        *,
        held: bool = False,
        damping: float = 0.0,
        damping_form: str = "strain_rate",
        solver=None,
        mesh: pl.TetMesh | None = None,
        seed: int = 0,
        **options,
    ) -> pl.Simulation:
        mesh = pl.shapes.box((0.3, 0.2, 0.2), (3, 2, 2), "kuhn") if mesh is None else mesh
        random = np.random.default_rng(seed + 1)
        scene = pl.Scene()
        material = law.from_young(1e5, 0.0 if law is pl.ARAP else 0.35)
        body = scene.add_solid(mesh, material, 1000.0, damping, name="block", damping_form=damping_form)
        body.set_positions(shaken(mesh, seed))
        body.set_velocities(random.normal(0, 0.3, mesh.points.shape))
        if held:
            order = np.argsort(mesh.points[:, 0], kind="stable")
            body.pin(order[:6])
            body.constrain_to_line(order[6:10], (1.0, 0.5, -0.3))
            body.constrain_to_plane(order[10:13], (0.2, -1.0, 0.7))
            body.constrain_to_plane(order[13:15], (1.0, 0.0, 0.0))
        options = {"frame_rate": 100, "substeps": 1, "precision": "double", **options}
        return pl.Simulation(scene, pl.Newton() if solver is None else solver, **options)

    return make


def _stable_neo_hookean(l1, l2, l3, mu, lam):
    J = l1 * l2 * l3
    return mu * l1 - mu * l2 * l3 + (lam + mu) * (J - 1) * l2 * l3


def _neo_hookean(l1, l2, l3, mu, lam):
    return mu * (l1 - 1 / l1) + lam * np.log(l1 * l2 * l3) / l1


def _st_venant_kirchhoff(l1, l2, l3, mu, lam):
    trace = (l1**2 + l2**2 + l3**2 - 3) / 2
    return l1 * (mu * (l1**2 - 1) + lam * trace)


def _shape_1(l1, l2, l3):
    """Derivative of (l1^2 + l2^2 + l3^2) (l1 l2 l3)^(-2/3) by l1."""
    return 2 / (3 * l1) * (l1 * l2 * l3) ** (-2 / 3) * (2 * l1**2 - l2**2 - l3**2)


def _shape_2(l1, l2, l3):
    """Derivative of (l1^2 l2^2 + l2^2 l3^2 + l3^2 l1^2) (l1 l2 l3)^(-4/3) by l1."""
    return 2 / (3 * l1) * (l1 * l2 * l3) ** (-4 / 3) * (l1**2 * (l2**2 + l3**2) - 2 * l2**2 * l3**2)


def _volume(l1, l2, l3, mu, lam):
    """Derivative of kappa/2 (1/J - 1)^2 by l1."""
    J = l1 * l2 * l3
    return (lam + 2 * mu / 3) * (J - 1) / (J**2 * l1)


def _compressible_neo_hookean(l1, l2, l3, mu, lam):
    return mu / 2 * _shape_1(l1, l2, l3) + _volume(l1, l2, l3, mu, lam)


def _mooney_rivlin(l1, l2, l3, mu, lam, share=0.25):
    shape = (1 - share) * _shape_1(l1, l2, l3) + share * _shape_2(l1, l2, l3)
    return mu / 2 * shape + _volume(l1, l2, l3, mu, lam)


def _fung(l1, l2, l3, mu, lam, share=0.5, growth=1.0):
    k = (l1**2 + l2**2 + l3**2) / (l1 * l2 * l3) ** (2 / 3) - 3
    stiffening = 1 - share + share * np.exp(growth * k)
    return mu / 2 * stiffening * _shape_1(l1, l2, l3) + _volume(l1, l2, l3, mu, lam)


def _corotated(l1, l2, l3, mu, lam):
    return 2 * mu * (l1 - 1) + lam * (l1 + l2 + l3 - 3)


def _fixed_corotated(l1, l2, l3, mu, lam):
    return 2 * mu * (l1 - 1) + lam * (l1 * l2 * l3 - 1) * l2 * l3


def _arap(l1, l2, l3, mu, lam=0.0):
    return 2 * mu * (l1 - 1)


@pytest.fixture(scope="session")
def nominal_stress() -> dict[str, Callable[..., float]]:
    """dpsi/dl1 of each law at principal stretches l1, l2, l3 and its parameters, written by hand from the papers'
    formulas: another road than the invariants and SymPy.
    """
    return {
        "StableNeoHookean": _stable_neo_hookean,
        "NeoHookean": _neo_hookean,
        "StVenantKirchhoff": _st_venant_kirchhoff,
        "CompressibleNeoHookean": _compressible_neo_hookean,
        "MooneyRivlin": _mooney_rivlin,
        "Fung": _fung,
        "Corotated": _corotated,
        "FixedCorotated": _fixed_corotated,
        "ARAP": _arap,
    }


@pytest.fixture(scope="session")
def elastic_energy() -> Callable[[pl.IncrementalPotential, np.ndarray], float]:
    """A function: the elastic energy of a problem's model at x [J]."""
    return lambda problem, x: sum(
        energy_of(block).energy(block, x) for block in problem.model.blocks if block.is_stored
    )


@pytest.fixture(scope="session")
def from_packs() -> Callable[[ElementPacks, np.ndarray, int], np.ndarray]:
    """A function: numbers of elements (m, count), in their order, from flat (packs, count, width)."""

    def gather(packs: ElementPacks, flat: np.ndarray, count: int) -> np.ndarray:
        values = np.empty((packs.element.max() + 1, count), flat.dtype)
        values[packs.element] = flat.reshape(packs.pack_count, count, packs.width).transpose(0, 2, 1)
        return values

    return gather
