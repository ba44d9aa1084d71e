"""The README's tables are those that the results give."""

from experiments.vbd import tables


def test_readme_is_up_to_date():
    text = tables.README.read_text()
    assert tables.filled(text) == text, "run python -m experiments.vbd.tables --write"


def test_results_show_the_teapot_recovering_in_single_precision():
    runs = tables.results("recovery")
    accelerated = [run for name, run in runs.items() if name.startswith("teapot, single, Chebyshev, seed")]
    assert len(accelerated) == 8
    assert all(run["frames_until_no_tet_is_inverted"] <= 15 for run in accelerated)
    assert all(run["inverted_at_end"] == 0 for run in accelerated)
    near = [run["frames_until_within_1_percent_of_size"] for run in accelerated]
    assert sum(frames is not None and frames <= 35 for frames in near) >= 4  # others keep a coiled handle
