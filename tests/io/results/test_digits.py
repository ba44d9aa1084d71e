"""Numbers as text, against Python's own "%.9g"."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pliant.io.results.digits import rows_of_text

SPECIAL = [0.0, -0.0, 1.0, -1.0, 10.0, 0.1, 1e-5, 9.9999e-5, 1e8, 123456789.0, 1e9, 999999999.6, 9.9999999996, np.nan]
SPECIAL += [np.inf, -np.inf, 1e300, -1e300, 1e-280, 5e-324, 1 / 3, 2 / 3, 1e100, 1e-100, 100.0, 1200.5]


def test_special_numbers_are_written_as_python_writes_them():
    said = rows_of_text(np.array(SPECIAL)[:, None], "v ", " ", "\n").decode().split("\n")[:-1]
    expected = [f"v {value:.9g}" for value in SPECIAL]
    expected[SPECIAL.index(5e-324)] = "v 0"
    assert said == expected


@settings(suppress_health_check=[HealthCheck.too_slow])  # on a busy computer
@given(st.lists(st.floats(width=32), min_size=3, max_size=3))
def test_numbers_in_single_precision_come_back(numbers):
    letter, *words = rows_of_text(np.array([numbers]), "v ", " ", "\n").decode().split()
    assert letter == "v"
    np.testing.assert_array_equal(np.array(words, float).astype(np.float32), np.array(numbers, np.float32))


def test_many_numbers_are_written_as_python_writes_them():
    """Of all sizes; random numbers have no ties in the ninth digit."""
    sizes = 10.0 ** np.arange(-9, 12)[:, None, None]
    values = (np.random.default_rng(5).normal(size=(21, 150, 3)) * sizes).reshape(-1, 3)
    said = rows_of_text(values, "v ", " ", "\n").decode()
    assert said == "".join("v {:.9g} {:.9g} {:.9g}\n".format(*row) for row in values)


def test_powers_of_ten_and_their_neighbours_are_written_as_python_writes_them():
    """Where the exponent changes, over the whole range."""
    powers = 10.0 ** np.arange(-280, 300)
    values = np.concatenate([powers, np.nextafter(powers, 0), np.nextafter(powers, np.inf)])[:, None]
    assert rows_of_text(values, "", "", ";").decode() == "".join(f"{value:.9g};" for value in values.ravel())


def test_rows_are_parted_by_the_words_that_are_asked_for():
    assert (
        rows_of_text(np.array([[1, -2.5, 3e-7], [0, 1e9, 20]]), "(", ", ", ")\n")
        == b"(1, -2.5, 3e-07)\n(0, 1e+09, 20)\n"
    )
