"""A user's own function as a law: as good as a built-in one, and its mistakes are said before anything is solved."""

import math

import numpy as np
import pytest
import sympy

import pliant as pl
from pliant.errors import MaterialError
from pliant.materials import LameLaw, SolidLaw, StableNeoHookean
from pliant.materials.calculus import law_code
from pliant.materials.functions import cube_root, exp, log, sqrt
from pliant.materials.user_law import material, rest_properties

MU, JM, KAPPA = 4e4, 30.0, 1e5


@material
def gent(I, II, J, mu, jm, kappa):
    """Rubber whose chains stretch only so far."""
    return -mu * jm / 2 * log(1 - (I - 3) / jm) - mu * log(J) + kappa / 2 * (J - 1) ** 2


@material
def copied(I, II, J, mu, lam):
    return mu / 2 * (I - 3) - mu * (J - 1) + (lam + mu) / 2 * (J - 1) ** 2


@pytest.fixture
def states() -> np.ndarray:
    """I, II and J (3, n) of random deformations."""
    F = np.eye(3) + 0.4 * np.random.default_rng(0).normal(size=(300, 3, 3))
    F = F[np.linalg.det(F) > 0.2]
    C = F.swapaxes(1, 2) @ F
    return np.array([np.trace(C, axis1=1, axis2=2), np.sum(C * C, axis=(1, 2)), np.linalg.det(F)])


# --- the law ---


def test_a_function_becomes_a_law() -> None:
    """A frozen dataclass with the function's name, text and parameters."""
    assert issubclass(gent, SolidLaw)
    assert gent.__name__ == "gent"
    assert "chains" in (gent.__doc__ or "")
    assert gent.parameter_names() == ("mu", "jm", "kappa")
    made = gent(mu=MU, jm=JM, kappa=KAPPA)
    assert made == gent(MU, JM, KAPPA)
    assert made.parameters == (MU, JM, KAPPA)
    assert repr(made) == f"gent(mu={MU}, jm={JM}, kappa={KAPPA})"
    with pytest.raises(AttributeError):
        made.mu = 1.0


def test_energy_is_the_functions(states: np.ndarray) -> None:
    I, II, J = states
    expected = -MU * JM / 2 * np.log(1 - (I - 3) / JM) - MU * np.log(J) + KAPPA / 2 * (J - 1) ** 2
    psi = law_code(gent).functions.energy_density(I, II, J, MU, JM, KAPPA)
    np.testing.assert_allclose(psi, expected, rtol=1e-12, atol=1e-10 * MU)


def test_derivatives_equal_finite_differences(states: np.ndarray) -> None:
    """First ones of the energy, second ones of the first."""
    functions = law_code(gent).functions

    def first(x: np.ndarray) -> np.ndarray:
        values, _ = functions.derivatives(*x, MU, JM, KAPPA)
        return np.array([np.zeros_like(x[0]) if d is None else d + 0 * x[0] for d in values])

    _, second = functions.derivatives(*states, MU, JM, KAPPA)
    pairs = [(k, l) for k in range(3) for l in range(k, 3)]
    curvature = {pair: 0.0 if d is None else d for pair, d in zip(pairs, second, strict=True)}
    for k in range(3):
        step = 1e-5 * states * np.eye(3)[k][:, None]
        plus, minus, width = states + step, states - step, 2 * step[k]
        slope = (
            functions.energy_density(*plus, MU, JM, KAPPA) - functions.energy_density(*minus, MU, JM, KAPPA)
        ) / width
        np.testing.assert_allclose(slope, first(states)[k], rtol=1e-5, atol=1e-4 * MU)
        slopes = (first(plus) - first(minus)) / width
        for l in range(3):
            expected = curvature[min(k, l), max(k, l)] + np.zeros_like(slopes[l])
            np.testing.assert_allclose(slopes[l], expected, rtol=1e-5, atol=1e-4 * MU)


def test_moduli_at_rest() -> None:
    """By hand, mu and kappa + 2 mu / 3 + 2 mu / jm; and by differences of the energy."""

    def psi(F: np.ndarray) -> float:
        C = F.T @ F
        return law_code(gent).functions.energy_density(np.trace(C), np.sum(C * C), np.linalg.det(F), MU, JM, KAPPA)

    stress, shear, bulk = rest_properties(gent, (MU, JM, KAPPA))
    a = 1e-3
    assert stress == pytest.approx(0, abs=1e-10 * MU)
    assert shear == pytest.approx(MU, rel=1e-12)
    assert bulk == pytest.approx(KAPPA + 2 * MU / 3 + 2 * MU / JM, rel=1e-12)
    assert psi(np.diag(np.exp([a, -a, 0]))) / (2 * a**2) == pytest.approx(shear, rel=1e-4)
    swollen = (psi(np.exp(a) * np.eye(3)) + psi(np.exp(-a) * np.eye(3))) / 2
    assert swollen / (4.5 * a**2) == pytest.approx(bulk, rel=1e-4)


@pytest.mark.parametrize("law", [pl.StableNeoHookean, pl.NeoHookean, pl.StVenantKirchhoff])
def test_moduli_at_rest_of_built_in_laws(law: type[LameLaw]) -> None:
    """No stress, mu, and lam + 2 mu / 3."""
    stress, shear, bulk = rest_properties(law, law(2.0, 5.0).parameters)
    assert (stress, shear, bulk) == pytest.approx((0, 2.0, 5 + 4 / 3), abs=1e-12)


def test_form_is_found_from_the_formula() -> None:
    """Gent's law is general and has a barrier; the copy of stable neo-Hooke takes the fast path."""
    assert (law_code(gent).is_volumetric, law_code(gent).has_barrier) == (False, True)
    assert (law_code(copied).is_volumetric, law_code(copied).has_barrier) == (True, False)


def test_all_functions_and_natural_names_of_parameters(states: np.ndarray) -> None:
    """log, exp, sqrt and cube_root; c0 and c1 are names that the generated text uses too."""

    @material
    def mixed(I, II, J, c0, c1, k):
        third = cube_root(J)
        spread = c0 * (exp(I / third**2 - 3) - 1) + c1 * (sqrt((I**2 - II) / 2 / third**4) - sqrt(3))
        return spread + k / 2 * log(J) ** 2

    I, II, J = states
    reduced = I / J ** (2 / 3) - 3
    expected = 2 * np.expm1(reduced) + 5 * (np.sqrt((I**2 - II) / 2 / J ** (4 / 3)) - np.sqrt(3)) + 35 * np.log(J) ** 2
    functions = law_code(mixed).functions
    np.testing.assert_allclose(functions.energy_density(I, II, J, 2.0, 5.0, 70.0), expected, rtol=1e-11, atol=1e-11)
    psi_I = functions.derivatives(I, II, J, 2.0, 5.0, 70.0)[0][0]
    by_hand = 2 * np.exp(reduced) * J ** (-2 / 3) + 5 * I / np.sqrt(2 * (I**2 - II)) * J ** (-2 / 3)
    np.testing.assert_allclose(psi_I, by_hand, rtol=1e-11)
    mixed(c0=2.0, c1=5.0, k=70.0)


def test_laws_with_one_name_are_two_laws() -> None:
    """A function edited in a notebook is a new law."""

    def make(power: int) -> type[SolidLaw]:
        @material
        def stiffening(I, II, J, mu, kappa):
            return mu / 2 * (I - 3) - mu * log(J) + kappa * (J - 1) ** power

        return stiffening

    energies = [law_code(make(power)).functions.volume_energy(3.0, 0.0, 1.0) for power in (2, 4)]
    assert energies == [4.0, 16.0]


# --- simulations ---


@pytest.fixture
def simulated(shaken):
    """A function: a simulation of a deformed block of a material, hung at one end."""

    def make(law: SolidLaw, solver: object, precision: str = "double") -> pl.Simulation:
        mesh = pl.shapes.box((0.3, 0.2, 0.2), (3, 2, 2))
        scene = pl.Scene()
        body = scene.add_solid(mesh, law, 1000.0)
        body.pin(mesh.points[:, 0] < -0.149)
        body.set_positions(np.where(mesh.points[:, :1] < -0.149, mesh.points, shaken(mesh)))
        return pl.Simulation(scene, solver, frame_rate=100, substeps=1, precision=precision)

    return make


def test_vbd_converges_to_newton(simulated) -> None:
    """Within 1e-6 of the way travelled."""
    problem = simulated(gent(MU, JM, KAPPA), pl.VBD()).problem()
    newton = pl.solve(problem, pl.Newton(), stop=pl.Stop(iterations=30))
    assert newton.residual < 1e-9
    vbd = pl.solve(problem, pl.VBD(), stop=pl.Stop(iterations=300, residual=1e-9), measure_every=20)
    travelled = np.abs(newton.x - problem.x_guess).max()
    assert travelled > 1e-3
    assert np.abs(vbd.x - newton.x).max() <= 1e-6 * travelled


def test_runs_in_single_precision(simulated) -> None:
    """Ten steps follow those in double precision, to 1e-4 of the body's size."""
    runs = {}
    for precision in ("single", "double"):
        sim = simulated(gent(MU, JM, KAPPA), pl.VBD(iterations=60), precision)
        for _ in range(10):
            sim.step()
        runs[precision] = sim.positions
    assert np.abs(runs["double"] - simulated(gent(MU, JM, KAPPA), pl.VBD()).positions).max() > 1e-3
    np.testing.assert_allclose(runs["single"], runs["double"], rtol=0, atol=3e-5)


def test_a_copy_of_a_built_in_law_gives_the_same_bits(simulated) -> None:
    """The same generated text, so the same kernel: a user's law is no slower."""
    assert law_code(copied).text == law_code(StableNeoHookean).text
    built_in = simulated(StableNeoHookean(MU, KAPPA), pl.VBD(iterations=10), "single")
    own = simulated(copied(MU, KAPPA), pl.VBD(iterations=10), "single")
    for _ in range(5):
        built_in.step()
        own.step()
    np.testing.assert_array_equal(own.positions, built_in.positions)
    np.testing.assert_array_equal(own.velocities, built_in.velocities)


def test_two_materials_of_a_law_and_a_built_in_one_share_a_scene() -> None:
    """Each body has its own parameters."""
    scene = pl.Scene()
    for law in (gent(MU, JM, KAPPA), gent(2 * MU, JM / 2, KAPPA), StableNeoHookean(MU, KAPPA)):
        scene.add_solid(pl.shapes.box(cells=1), law)
    solids = pl.Simulation(scene, pl.Newton()).problem().model.solids
    assert [s.law for s in solids] == [gent, StableNeoHookean]
    np.testing.assert_array_equal(np.unique(solids[0].parameters, axis=0), [[MU, JM, KAPPA], [2 * MU, JM / 2, KAPPA]])


# --- mistakes in the function ---


def refused(*words: str):
    """A MaterialError that names the law and says these words."""
    return pytest.raises(MaterialError, match=r"(?s)" + ".*".join(words))


def test_wrong_first_arguments() -> None:
    def swapped(J, I, II, mu):
        return mu / 2 * (I - 3)

    def short(I, J, mu):
        return mu / 2 * (I - 3)

    with refused("swapped", r"\(J, I, II, mu\)", "must be I, II, J"):
        material(swapped)
    with refused("short", r"\(I, J, mu\)", "must be I, II, J"):
        material(short)


def test_no_parameters() -> None:
    def fixed(I, II, J):
        return 5 * (I - 3)

    with refused("fixed", r"\(I, II, J\)", "at least one parameter"):
        material(fixed)


FOREIGN = {
    "math.log": lambda J: math.log(J),
    "numpy.sin": lambda J: np.sin(J),
    "numpy.log": lambda J: np.log(J),
    "if": lambda J: J if J > 1 else 1,
    "max": lambda J: max(J, 1),
    "wrong name": lambda J: J.determinant,
}


@pytest.mark.parametrize("function", FOREIGN.values(), ids=FOREIGN)
def test_functions_that_raise_inside(function) -> None:
    """What they raised is told, with what may be used instead."""

    def foreign(I, II, J, mu):
        return mu / 2 * (I - 3) - mu * function(J)

    with refused("^foreign: its energy density cannot be differentiated", "Error", "cube_root", "NumPy or math"):
        material(foreign)


KINKS = {
    "abs": (lambda J: abs(J - 1), "abs"),
    "sign": (lambda J: sympy.sign(J - 1) * J, "without cases"),
    "Max": (lambda J: sympy.Max(J, 1) ** 2, "max"),
    "Piecewise": (lambda J: sympy.Piecewise((J, J > 1), (1, True)), "without cases"),
    "sin": (lambda J: sympy.sin(J), "uses sin"),
    "tanh": (lambda J: sympy.tanh(J), "uses tanh"),
    "gamma": (lambda J: sympy.gamma(J), "uses gamma"),
    "division by zero": (lambda J: J / 0, "nan"),
    "nan": (lambda J: J * float("nan"), "nan"),
}


@pytest.mark.parametrize(("function", "word"), KINKS.values(), ids=KINKS)
def test_functions_that_lanes_lack_or_that_have_kinks(function, word: str) -> None:
    """Named, with what may be used instead."""

    def kinked(I, II, J, mu):
        return mu / 2 * (I - 3) - mu * log(J) + mu * function(J)

    with refused("^kinked: a law uses", "arithmetic, powers and sqrt, log, exp") as caught:
        material(kinked)
    assert word in str(caught.value)


def test_no_return() -> None:
    def silent(I, II, J, mu):
        mu / 2 * (I - 3)

    with refused("^silent: its energy density cannot be differentiated", "NoneType"):
        material(silent)


def test_own_error_of_the_function_is_told() -> None:
    def broken(I, II, J, mu):
        raise RuntimeError("I am not finished")

    with refused("broken", "RuntimeError: I am not finished"):
        material(broken)


# --- mistakes in the numbers ---


def test_stress_at_rest() -> None:
    """The sentence has the stress and a way out."""

    @material
    def tense(I, II, J, mu, kappa):
        return mu / 2 * (I - 3) + kappa / 2 * (J - 1) ** 2

    with refused(r"tense\(mu=2.0, kappa=5.0\) is under stress at rest", "= 2 Pa", "It must be zero", r"-mu log\(J\)"):
        tense(mu=2.0, kappa=5.0)


def test_stress_at_rest_is_checked_for_the_numbers_given() -> None:
    """The same function is right for some numbers and wrong for others."""

    @material
    def balanced(I, II, J, mu, push, kappa):
        return mu / 2 * (I - 3) - push * log(J) + kappa / 2 * (J - 1) ** 2

    balanced(mu=2.0, push=2.0, kappa=5.0)
    balanced(mu=0.1 + 0.2, push=0.3, kappa=5.0)  # to rounding
    with refused("balanced", "under stress at rest: .* = -1 Pa"):
        balanced(mu=2.0, push=3.0, kappa=5.0)


def test_negative_shear_modulus() -> None:
    with refused(r"copied\(mu=-1.0, lam=5.0\)", "shear modulus -1 Pa", "must be positive"):
        copied(mu=-1.0, lam=5.0)


def test_no_bulk_modulus() -> None:
    """lam = -2/3 mu, where a body may be swollen for nothing."""

    @material
    def hollow(I, II, J, mu, kappa):
        return mu / 2 * (I / cube_root(J) ** 2 - 3) + kappa / 2 * (J - 1) ** 2

    with refused("hollow", "bulk modulus", "must be positive"):
        hollow(mu=1.0, kappa=0.0)
    with refused("hollow", "bulk modulus -3 Pa", "must be positive"):
        hollow(mu=1.0, kappa=-3.0)
    hollow(mu=1.0, kappa=1e-3)


def test_no_resistance_at_all() -> None:
    @material
    def nothing(I, II, J, mu):
        return mu * 0

    with refused("nothing", "shear modulus 0 Pa"):
        nothing(mu=1.0)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "1e5", None, True])
def test_parameter_that_is_no_finite_number(value: object) -> None:
    with refused("gent: jm is ", "give a number") as caught:
        gent(mu=MU, jm=value, kappa=KAPPA)
    assert repr(value) in str(caught.value)


def test_wrong_number_or_name_of_parameters() -> None:
    """Python's own sentence names them."""
    with pytest.raises(TypeError, match="'kappa'"):
        gent(MU, JM)
    with pytest.raises(TypeError, match="takes 4 positional arguments"):
        gent(MU, JM, KAPPA, 1.0)
    with pytest.raises(TypeError, match="'nu'"):
        gent(mu=MU, jm=JM, kappa=KAPPA, nu=0.3)


def test_a_class_in_place_of_a_material_is_refused() -> None:
    """gent instead of gent(...)."""
    with pytest.raises(pl.PliantError):
        pl.Scene().add_solid(pl.shapes.box(cells=1), gent)


def test_a_checkpoint_says_that_it_cannot_keep_the_law(simulated, tmp_path) -> None:
    """The function is not in the file, so `resume` could not find it."""
    sim = simulated(gent(MU, JM, KAPPA), pl.Newton())
    with pytest.raises(pl.FileError, match="law gent, which is not registered"):
        sim.save(tmp_path / "gent.npz")
