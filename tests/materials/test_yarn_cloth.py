"""Yarn cloth as a material: the shipped fabric, splines, extrapolation, uniaxial stretch, wrong files."""

import copy
import json
import pickle

import numpy as np
import pytest

import pliant as pl
from pliant.materials.yarn_density import PAIRS, STRAINS


@pytest.fixture(scope="module")
def jersey():
    return pl.YarnCloth.example()


def along(k: int, values: np.ndarray) -> np.ndarray:
    s = np.zeros((len(values), 6))
    s[:, k] = values
    return s


def test_the_shipped_fabric_has_the_moduli_it_was_made_of(jersey):
    """tools/make_jersey.py: Fung's k at rest, B of bending, and psi = 0 where the fabric would like to be."""
    gradient, hessian = jersey.derivatives(np.zeros((1, 6)))
    # knots 0.15 apart: Hermite interpolation of Fung's energy is right to 2 %
    assert np.diag(hessian[0])[:3] == pytest.approx([30, 8, 45], rel=0.02)
    assert hessian[0, 0, 2] == pytest.approx(10)
    assert hessian[0][[3, 5], [3, 5]] == pytest.approx([1.2e-5, 1.0e-5])
    assert gradient[0] == pytest.approx([0, 0, 0, 60 * 1.2e-5, 0, -50 * 1.0e-5])
    assert jersey.density == 0.2


@pytest.mark.parametrize("k", range(3))
def test_uniaxial_curves_are_those_of_the_table(jersey, k):
    term = jersey.document["coeffs"]["1D"][k]
    scale = jersey.scales[k]
    t, p, m = (np.array(term[key]) for key in ("t", "p", "m"))
    psi = jersey.energy_density(along(k, t * scale))
    slope = jersey.derivatives(along(k, t * scale))[0][:, k]
    at_rest = jersey.energy_density(np.zeros((1, 6)))[0]
    assert np.abs(psi - at_rest - p).max() < 1e-12
    assert np.abs(slope - m / scale).max() < 1e-10 * np.abs(m).max() / scale


def test_derivatives_by_finite_differences(jersey):
    """At random strains within and beyond the knots; knots themselves, where psi is only once differentiable, apart."""
    rng = np.random.default_rng(0)
    units = np.array([0.5, 0.5, 0.5, 150, 150, 150])
    s = rng.normal(size=(200, 6)) * units
    gradient, hessian = jersey.derivatives(s)
    h = 1e-6
    for k in range(6):
        step = h * units[k] * np.eye(6)[k]
        slope = (jersey.energy_density(s + step) - jersey.energy_density(s - step)) / (2 * h * units[k])
        assert np.abs(slope - gradient[:, k]).max() * units[k] < 1e-7
        change = (jersey.derivatives(s + step)[0] - jersey.derivatives(s - step)[0]) / (2 * h)
        expected = hessian[:, :, k] * units[k]
        error = np.abs(change - expected) * units / np.abs(hessian * units * units[:, None]).max()
        assert np.quantile(error, 0.99) < 1e-7


def test_bending_is_a_function_of_the_second_fundamental_form(jersey):
    """f(II)_xx + f(II)_yy by SciPy's function of a matrix, with the polynomials the fabric was made of."""
    rng = np.random.default_rng(1)
    for _ in range(5):
        a, b, c = rng.uniform(-90, 90, 3)
        II = np.array([[a, b], [b, c]])
        values, vectors = np.linalg.eigh(II)
        entry = [float(vectors[i] ** 2 @ f(values)) for i, f in ((0, warp_bending), (1, weft_bending))]
        psi = jersey.energy_density([[0, 0, 0, a, b, c]])[0]
        assert psi == pytest.approx(sum(entry), rel=1e-9)


def warp_bending(curvature):
    return 0.5 * 1.2e-5 * (curvature + 60) ** 2


def weft_bending(curvature):
    return 0.5 * 1.0e-5 * (curvature - 50) ** 2


def test_flat_cloth_has_the_limit_of_the_gradient(jersey):
    near, _ = jersey.derivatives([[0, 0, 0, 1e-7, 0, -1e-7]])
    at, _ = jersey.derivatives(np.zeros((1, 6)))
    # stretch and curvature are coupled by 1.5e-3
    assert np.abs(near - at).max() < 2e-10


@pytest.mark.parametrize("ext", [0, 1, 2])
def test_extrapolation(jersey, ext):
    document = copy.deepcopy(jersey.document)
    for term in document["coeffs"]["1D"] + document["coeffs"]["2D"]:
        term["ext"] = ext
    cloth = pl.YarnCloth.from_document(document)
    term, scale = document["coeffs"]["1D"][0], jersey.scales[0]
    end, value, slope = term["t"][-1], term["p"][-1], term["m"][-1]
    psi = cloth.energy_density(along(0, np.array([0.0, (end + 0.5) * scale])))
    expected = {0: value + 0.5 * slope, 1: value, 2: 0.0}[ext]
    assert psi[1] - psi[0] == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_knots_at_any_distances():
    """A function with uneven knots, evaluated piece by piece."""
    t = np.array([-1.0, -0.3, 0.0, 0.05, 0.4, 1.0])
    document = copy.deepcopy(pl.YarnCloth.example().document)
    document["coeffs"]["1D"][0] |= {"t": t.tolist(), "p": (t**3).tolist(), "m": (3 * t**2).tolist()}
    cloth = pl.YarnCloth.from_document(document)
    u = np.linspace(-0.999, 0.999, 301)
    s = along(0, u * cloth.scales[0])
    psi = cloth.energy_density(s) - cloth.energy_density(np.zeros((1, 6)))
    assert np.abs(psi - u**3).max() < 1e-12


def test_equal_materials_are_one(jersey):
    again = pickle.loads(pickle.dumps(jersey))
    assert again == jersey
    assert hash(again) == hash(jersey)
    other = copy.deepcopy(jersey.document)
    other["coeffs"]["1D"][0]["p"][0] += 1e-3
    assert pl.YarnCloth.from_document(other) != jersey


def broken(change) -> dict:
    document = copy.deepcopy(pl.YarnCloth.example().document)
    change(document)
    return document


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d.pop("density"), "density is None"),
        (lambda d: d.pop("coeffs"), "coeffs is missing"),
        (lambda d: d.__setitem__("strain scale", [1, 1]), "strain scale"),
        (lambda d: d["coeffs"]["1D"].pop(3), "1D term of strain 3: the file has 0"),
        (lambda d: d["coeffs"]["1D"][1].pop("t"), "1D term of strain 1: t is missing"),
        (lambda d: d["coeffs"]["1D"][1]["t"].reverse(), "must ascend, but knot 1 is 0.75 after 1"),
        (lambda d: d["coeffs"]["1D"][1]["t"].__setitem__(2, d["coeffs"]["1D"][1]["t"][1]), "must ascend"),
        (lambda d: d["coeffs"]["1D"][0]["p"].pop(), "p has shape (8,), but the knots ask for 9"),
        (lambda d: d["coeffs"]["1D"][0]["m"].__setitem__(0, float("nan")), "not finite"),
        (lambda d: d["coeffs"]["2D"][0].__setitem__("k1", 9), "(0, 9) is unknown"),
        (lambda d: d["coeffs"]["2D"][0]["tv"].__setitem__(0, 5.0), "knots tv must ascend"),
        (lambda d: d["coeffs"]["1D"][0].__setitem__("ext", 7), "ext is 7"),
    ],
)
def test_bad_documents_are_refused(change, words):
    with pytest.raises(pl.PliantError) as refused:
        pl.YarnCloth.from_document(broken(change))
    assert words in str(refused.value)


def test_bad_files_are_refused(tmp_path):
    with pytest.raises(pl.PliantError, match=r"absent\.json: the yarn cloth cannot be read"):
        pl.YarnCloth(tmp_path / "absent.json")
    (tmp_path / "text.json").write_text("{")
    with pytest.raises(pl.PliantError, match="not a JSON file"):
        pl.YarnCloth(tmp_path / "text.json")
    (tmp_path / "list.json").write_text(json.dumps([1, 2]))
    with pytest.raises(pl.PliantError, match="holds a list"):
        pl.YarnCloth(tmp_path / "list.json")
    (tmp_path / "whole.json").write_text(json.dumps(pl.YarnCloth.example().document))
    assert pl.YarnCloth(tmp_path / "whole.json") == pl.YarnCloth.example()


def nearly_common(distance: float) -> dict:
    """A knot of the coupled term of strains 0 and 2 that lies so far above one of strain 0 alone."""
    document = copy.deepcopy(pl.YarnCloth.example().document)
    term = next(term for term in document["coeffs"]["2D"] if (term["k0"], term["k1"]) == (0, 2))
    term["tu"][1] += distance
    return document


def test_knots_of_several_terms_are_one_up_to_rounding(jersey):
    strains = np.random.default_rng(3).normal(size=(100, 6)) * [0.3, 0.3, 0.3, 100, 100, 100]
    near = pl.YarnCloth.from_document(nearly_common(1e-15))
    np.testing.assert_allclose(near.energy_density(strains), jersey.energy_density(strains), rtol=1e-12)
    apart = pl.YarnCloth.from_document(nearly_common(1e-3))
    assert np.abs(apart.energy_density(strains) - jersey.energy_density(strains)).max() > 1e-6
    with pytest.raises(pl.PliantError, match=r"knots of all terms of strain 0: knots \d and \d are only 1e-08 apart"):
        pl.YarnCloth.from_document(nearly_common(1e-8))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_polynomials_begin_at_cache_lines(dtype):
    """Lanes read a polynomial's sixteen numbers at once."""
    table = pl.YarnCloth.example().table(dtype)
    pairs = table.numbers[4 * STRAINS : 4 * STRAINS + 2 * len(PAIRS)].reshape(-1, 2)
    assert table.rows.ctypes.data % 64 == 0
    assert (pairs % 4 == 0).all()
