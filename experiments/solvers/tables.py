"""The tables of README.md, made from results/*.json, so that they cannot go stale.

python -m experiments.solvers.tables           prints them
python -m experiments.solvers.tables --write   puts them into README.md
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from experiments.vbd.tables import table

README = Path(__file__).parent / "README.md"
RESULTS = Path(__file__).parent / "results"


def results(name: str) -> dict:
    return json.loads((RESULTS / f"{name}.json").read_text())


def release_soft() -> str:
    return _times("release_soft")


def release_stiff() -> str:
    return _times("release_stiff")


def springs() -> str:
    return _times("springs")


def descent_methods() -> str:
    return _errors("descent_methods", ("8", "32", "96", "200"))


def descent_refresh() -> str:
    return _errors("descent_refresh", ("8", "32", "96"))


def descent_acceleration() -> str:
    return _errors("descent_acceleration", ("8", "32", "96"))


def starts() -> str:
    found = results("starts")
    rows = [[start, f"{median:.1e} J", str(found["frames_in_which_it_is_best"][start])]
            for start, median in found["median_J"].items()]  # fmt: skip
    return table(["start", "median energy above the minimum", f"best in so many of {found['frames']} frames"], rows)


def steps() -> str:
    """Who is first in which step, and VBD with Chebyshev beside it."""
    heads = ["vertices", "h", "h^2 mu / (density dx^2)", "first to 0.1", "VBD + Chebyshev", "first to 0.01",
             "VBD + Chebyshev"]  # fmt: skip
    rows = []
    for row in sorted(results("steps"), key=lambda row: row["h2_mu_over_density_dx2"]):
        cells = []
        for reached in row["iterations_and_ms_to_error"].values():
            done = {name: cell for name, cell in reached.items() if cell is not None}
            first = min(done, key=lambda name: done[name][1])
            own = done.get("VBD + Chebyshev")
            cells += [f"{first}, {_reached(done[first])}", "-" if own is None else _reached(own)]
        rows.append(
            [f"{row['vertices']:,}", f"1/{row['steps_a_second']} s", f"{row['h2_mu_over_density_dx2']:.2g}", *cells]
        )
    return table(heads, rows)


def squishy() -> str:
    heads = ["solver", "h^2 mu / (density dx^2)", "ended", "a frame of 1/60 s", "inverted tets",
             "rms distance to the reference at 0.15, 0.3, 0.45 s, of the size"]  # fmt: skip
    rows = [
        [name, f"{run['h2_mu_over_density_dx2']:.2g}", _ended(run), _ms(run["ms_a_frame"]),
         str(run["most_inverted_tets"]),
         ", ".join(f"{d:.2g} %" for d in run["rms_distance_to_reference_percent_of_size"]) or "-"]
        for name, run in results("squishy").items()
    ]  # fmt: skip
    return table(heads, rows)


def mass_ratio() -> str:
    heads = ["solver", "ended", "least volume of the light cube", "most inverted tets",
             "bottom of the heavy cube at the end", "speed at the end", "a frame"]  # fmt: skip
    rows = [
        [name, _ended(run), f"{run['least_volume_of_the_light_cube']:.2f}",
         str(run["most_inverted_tets_of_the_light_cube"]), f"{100 * run['bottom_of_the_heavy_cube_at_end_m']:.1f} cm",
         f"{run['rms_speed_at_end_m_s']:.2g} m/s", _ms(run["ms_a_frame"])]
        for name, run in results("mass_ratio").items()
    ]  # fmt: skip
    return table(heads, rows)


def _ended(run: dict) -> str:
    return "yes" if run["ended"] == "did all frames" else run["ended"]


def _times(name: str) -> str:
    """Time an iteration, and iterations and time to each accuracy."""
    runs = results(name)["runs"]
    accuracies = list(next(iter(runs.values()))["iterations_and_ms_to_error"])
    rows = []
    for solver, run in runs.items():
        reached = run["iterations_and_ms_to_error"].values()
        cells = ["-" if r is None else _reached(r) for r in reached]
        rows.append([solver, _ms(run["setup_ms"]), _ms(run["ms_an_iteration"]), *cells, f"{run['error_at_end']:.0e}"])
    heads = ["solver", "setup", "an iteration", *(f"to {float(a):g}" for a in accuracies), "at the end"]
    return f"{_mesh(name)}\n\n{table(heads, rows)}"


def _reached(cell: list) -> str:
    return f"{cell[0]}: {_ms(cell[1])}"


def _errors(name: str, moments: tuple[str, ...]) -> str:
    """Errors after so many iterations."""
    rows = []
    for solver, run in results(name)["runs"].items():
        errors = [run["error_after_iterations"][n] for n in moments]
        cells = ["-" if error is None else f"{error:.1e}" for error in errors]
        rows.append([solver, *cells, f"{run['error_at_end']:.1e} ({run['iterations']})", _ms(run["ms_an_iteration"])])
    heads = [f"after {n}" for n in moments]
    return f"{_mesh(name)}\n\n{table(['solver', *heads, 'at the end (iterations)', 'an iteration'], rows)}"


def _mesh(name: str) -> str:
    found = results(name)
    return f"{found['vertices']:,} vertices, {found['precision']} precision, one thread."


def _ms(value: float) -> str:
    return f"{value / 1e3:.2g} s" if value >= 1000 else f"{value:.3g} ms"


TABLES = (
    release_soft, release_stiff, steps, squishy, mass_ratio, springs, descent_methods, descent_refresh,
    descent_acceleration, starts,
)  # fmt: skip


def filled(text: str) -> str:
    """The README with every table between its marks made again."""
    for make in TABLES:
        begin, end = f"<!-- {make.__name__} -->", f"<!-- end of {make.__name__} -->"
        if begin not in text or end not in text:
            raise ValueError(f"README.md has no place for the table {make.__name__}: {begin} and {end}.")
        new = f"{begin}\n{make()}\n{end}"
        text = re.sub(f"{re.escape(begin)}.*?{re.escape(end)}", lambda _, new=new: new, text, flags=re.S)
    return text


def write() -> None:
    README.write_text(filled(README.read_text()))


if __name__ == "__main__":
    if "--write" in sys.argv:
        write()
    else:
        for make in TABLES:
            print(f"{make.__name__}\n{make()}\n")
