"""Figures 10 and 11 in small: a coarse box, few positions of its top."""

import numpy as np
import pytest
from experiments.descent import box, forces

CELLS = (2, 2, 4)


@pytest.fixture(scope="module")
def stretched() -> dict[str, box.Curve]:
    laws = box.laws()
    return {name: box.load(laws[name], "stretch", np.linspace(1, 1.6, 7), CELLS) for name in forces.PAPERS}


@pytest.mark.slow
def test_laws_are_ordered_as_in_figure_11(stretched):
    """Fung above Mooney-Rivlin above neo-Hookean, and Fung stiffens while the others do not."""
    plain, mooney, fung = (stretched[name].efforts[1:] for name in forces.PAPERS[:3])
    assert (plain > 0).all()
    assert (mooney > 1.05 * plain).all()
    assert (fung > mooney).all()
    assert forces.stiffening(stretched["Fung"]) > 1 > forces.stiffening(stretched["neo-Hookean"])


@pytest.mark.slow
def test_st_venant_kirchhoff_is_a_cubic(stretched):
    assert forces.cubic_misfit(stretched["St. Venant-Kirchhoff"]) < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("name", forces.PAPERS)
def test_work_of_the_force_is_the_stored_energy(stretched, name):
    """The integral of the force over the way, to the error of the trapezium rule."""
    assert forces.work_misfit(stretched[name], box.SIZE[2]) < 1.0


@pytest.mark.slow
def test_torque_turns_with_the_twist():
    """To first order the torque of a clamped ARAP box grows with the angle, and changes sign with it."""
    law = box.laws()["ARAP"]
    one, other = (box.load(law, "twist", np.array([0.0, angle]), CELLS).efforts[1] for angle in (0.1, -0.1))
    assert one > 0
    assert one == pytest.approx(-other, rel=0.05)  # the mesh is not symmetric
