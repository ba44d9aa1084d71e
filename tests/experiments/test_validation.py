"""The errors of docs/validation.md."""

import pytest
from experiments.validation.cases import CASES, Case

QUICK = ("hanging bar", "catenary", "pulled sheet, nu = 0.45", "block at rest")
every_case = pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=case.name, marks=() if case.name in QUICK else pytest.mark.slow) for case in CASES],
)


@pytest.mark.slow
@every_case
def test_error_with_the_most_cells_is_within_its_bound(case: Case) -> None:
    assert abs(case.error(case.cells[-1])) < case.tolerance


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in CASES if "catenary" in case.name or "quadratic" in case.name])
def test_order_of_convergence_is_two(case: Case) -> None:
    """Twice the cells leave a quarter of the error, roughly, of ropes and strips."""
    coarse, fine = (abs(case.error(cells)) for cells in case.cells[-2:])
    assert fine < 0.4 * coarse
