"""The tables of README.md, made from results/*.json, so that they cannot go stale.

python -m experiments.vbd.tables           prints them
python -m experiments.vbd.tables --write   puts them into README.md
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

README = Path(__file__).parent / "README.md"
RESULTS = Path(__file__).parent / "results"
STARTS = ("previous", "inertial", "accelerated", "adaptive")
HEALTHY, NEAR = "frames_until_no_tet_is_inverted", "frames_until_within_1_percent_of_size"
BEAMS = {"mu 1e+06 Pa": 15, "mu 3e+06 Pa": 25, "mu 1e+07 Pa": 50}  # the paper's iterations a frame


def results(name: str) -> dict:
    return json.loads((RESULTS / f"{name}.json").read_text())


def table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows]).replace(
        "| --- ", "|---"
    )


def claims() -> str:
    rows = [*_swing_claims(), *_beam_claims(), *_recovery_claims(), *_pull_claims()]
    return table(["figure", "the paper's claim", "its number", "ours", "verdict"], rows)


def _swing_claims() -> list[list[str]]:
    main = results("starts")["main"]
    newton, step, frame = main["Newton"], {}, {}
    for start in STARTS:
        step[start], frame[start] = (main[f"{start}, {n} iterations a step"] for n in (20, 4))
    fallen = [100 * runs[s]["height_at_bottom_time_m"] / newton["height_at_bottom_time_m"]
              for runs in (step, frame) for s in ("previous", "inertial")]  # fmt: skip
    down, error = "largest_error_down_percent_of_length", "largest_error_percent_of_length"
    stretch = [run["largest_stretch_percent"] for run in (step["accelerated"], newton, frame["accelerated"])]
    return [
        ["5a, 5b", 'starts *previous* and *inertial* "fail to properly move under gravity"', "pictures",
         "when Newton is at the bottom they have fallen {:.0f} % and {:.0f} % of the way (20 iterations a step), "
         "{:.1f} % and {:.0f} % (20 a frame)".format(*fallen), "holds"],
        ["5c", '*accelerated* "leads to excessive stretching"', "pictures",
         "{:.1f} % (Newton: {:.1f} %); {:.0f} % with 20 a frame".format(*stretch), "holds"],
        ["5d", '*adaptive* "closely matches" Newton, on the way down', "pictures",
         f"within {step['adaptive'][down]:.0f} % of the length; {frame['adaptive'][down]:.0f} % with 20 a frame",
         "holds in part"],
        ["5d", "the same, after the bottom", "pictures",
         f"{step['adaptive'][error]:.0f} % of the length away, "
         f"gains {step['adaptive']['largest_energy_gain_percent']:.0f} % of the energy of the fall", "**missed**"],
        ["6", "gravity's part in the start: red (all) in free fall, blue (none) where held", "pictures",
         "1 at the bob, 0 at the hinge at first; 0 everywhere near the bottom", "holds"],
    ]  # fmt: skip


def _beam_claims() -> list[list[str]]:
    beam = results("beam_sagging")
    tips = [beam[mu][f"{n} iterations a frame"] for mu, n in BEAMS.items()]
    until, over = (", ".join(f"{tip[key]:.1f}" for tip in tips)
                   for key in ("largest_error_until_lowest_percent", "largest_error_percent"))  # fmt: skip
    return [
        ["13", "iterations a frame for a soft, a medium and a stiff beam to look converged", "15, 25, 50",
         f"with these the tip is within {until} % of the deflection until its lowest point, {over} % over 2.5 s",
         "holds to the eye, not to 1 %"],
    ]  # fmt: skip


def _recovery_claims() -> list[list[str]]:
    runs = results("recovery")
    flat = runs["armadillo, single, Chebyshev"]
    balls: dict[str, list[dict]] = {}
    for name, run in runs.items():
        if name.startswith("teapot"):
            balls.setdefault(name.removeprefix("teapot, ").partition(", seed")[0], []).append(run)
    accelerated = {precision: balls[f"{precision}, Chebyshev"] for precision in ("single", "double")}
    plain = {precision: balls[f"{precision}, no Chebyshev"] for precision in ("single", "double")}
    return [
        ["3, top", 'the flattened armadillo "quickly" recovers', "pictures",
         f"single precision: no inverted tet after {_or_not(flat[HEALTHY])} frames, within 1 % of its shape after "
         f"{_or_not(flat[NEAR])}", _verdict([flat])],
        ["3, bottom", 'the scrambled teapot "quickly" recovers (Chebyshev, rho = 0.95)', "pictures",
         "; ".join(f"{p} precision: {_recovered(runs)}" for p, runs in accelerated.items()),
         _verdict(accelerated["single"] + accelerated["double"])],
        ["3, bottom", "the same without Chebyshev (the paper does not claim it)", "-",
         "; ".join(f"{p} precision: {_recovered(runs)}" for p, runs in plain.items()),
         _verdict(plain["single"] + plain["double"])],
    ]  # fmt: skip


def _pull_claims() -> list[list[str]]:
    one = results("one_iteration")["1 iterations a frame"]
    return [
        ["16", 'one iteration a frame: "stable deformations with extreme stretching"', "pictures",
         f"an edge stretched {one['largest_edge_stretch']:.0f} times, no free vertex faster than "
         f"{one['largest_speed_of_a_free_vertex_m_per_s']:.2f} m/s in {one['frames']} frames",
         "holds; it is not accurate"],
    ]  # fmt: skip


def starts() -> str:
    numbers = results("starts")
    rows = []
    for size in sorted([numbers["main"], *numbers["other_cell_sizes_m"].values()], key=lambda s: s["length_m"]):
        for start in STARTS:
            cells = [_swing(size[f"{start}, {n} iterations a step"]) for n in (20, 4)]
            rows.append([f"{size['length_m']:.2g} m", start, *cells])
        newton = [f"{size['Newton'][key]:.1f}" for key in ("largest_stretch_down_percent", "largest_stretch_percent")]
        rows.append([f"{size['length_m']:.2g} m", "Newton", f"stretch {' / '.join(newton)} %", "the same"])
    head = ["length", "start", "20 iterations a step: error down / all, stretch down / all", "4 a step (20 a frame)"]
    return table(head, rows)


def gains() -> str:
    main = results("starts")["main"]
    gain = {s: main[f"{s}, 20 iterations a step"]["largest_energy_gain_percent"] for s in ("accelerated", "adaptive")}
    rows = [[f"{s}, 20 iterations a step", f"{value:.0f} %"] for s, value in gain.items()]
    more = main["largest_energy_gain_percent_of_adaptive"]
    rows += [[f"adaptive, {n} iterations a step", f"{max(value, 0):.1f} %"] for n, value in more.items()]
    rows.append(["Newton", f"{max(main['Newton']['largest_energy_gain_percent'], 0):.1f} %"])
    return table(["4.4 m", "largest gain of energy, of that of the whole fall"], rows)


def beam_sagging() -> str:
    numbers, rows = results("beam_sagging"), []
    for n in (5, 15, 25, 50, 150):
        row = [str(n)]
        for mu, paper in BEAMS.items():
            run = numbers[mu][f"{n} iterations a frame"]
            errors = f"{_short(run['largest_error_until_lowest_percent'])} / {_short(run['largest_error_percent'])} %"
            row.append(f"**{errors}**" if n == paper else errors)
        rows.append(row)
    deepest = [f"{numbers[mu]['largest_deflection_m']:.1f} m" for mu in BEAMS]
    heads = [f"mu = {mu[3:8].replace('+0', '')} Pa (lowest {d})" for mu, d in zip(BEAMS, deepest, strict=True)]
    return table(["iterations a frame", *heads], rows)


def beam_wrecked() -> str:
    energies = results("beam_sagging")["largest_elastic_energy_in_1_second_J"]
    return table(["mu = 1e7 Pa, rho = 0.93, first second", "largest elastic energy"],
                 [[name, f"{value:.2g} J"] for name, value in energies.items()])  # fmt: skip


def recovery() -> str:
    """One row a variant, its balls side by side."""
    groups: dict[str, list[dict]] = {}
    for name, run in results("recovery").items():
        groups.setdefault(name.partition(", seed")[0], []).append(run)
    rows = []
    for name, runs in groups.items():
        healthy, near = (["no" if run[key] is None else str(run[key]) for run in runs] for key in (HEALTHY, NEAR))
        rows.append([name, ", ".join(healthy), ", ".join(near), ", ".join(_distance(run) for run in runs)])
    head = ["run", "frames until no tet is inverted (no: not in 60)", "frames until within 1 %"]
    return table([*head, "distance at frame 60 [%]"], rows)


def one_iteration() -> str:
    rows = []
    for name, run in results("one_iteration").items():
        moments = ("largest_elastic_energy", "elastic_energy_when_the_nose_is_back", "elastic_energy_at_end")
        energies = [run[f"{moment}_J"] for moment in moments]
        rows.append([f"{name.split()[0]} ({run['frames']})", f"{run['largest_edge_stretch']:.0f}",
                     f"{run['largest_speed_of_a_free_vertex_m_per_s']:.2g} m/s",
                     ", ".join(f"{e:.0f}" for e in energies) + " J", f"{run['largest_kinetic_energy_J']:.1g} J",
                     f"{run['most_inverted_tets']}, {run['inverted_tets_at_end']}"])  # fmt: skip
    head = ["iterations a frame (frames run)", "longest edge / rest", "fastest free vertex"]
    return table(
        [*head, "elastic energy: most, nose back, end", "largest kinetic energy", "inverted tets: most, end"], rows
    )


TABLES = (claims, starts, gains, beam_sagging, beam_wrecked, recovery, one_iteration)


def filled(text: str) -> str:
    """The README with every table between its marks made again."""
    for make in TABLES:
        begin, end = f"<!-- {make.__name__} -->", f"<!-- end of {make.__name__} -->"
        if begin not in text or end not in text:
            raise ValueError(f"README.md has no place for the table {make.__name__}: {begin} and {end}.")
        new = f"{begin}\n{make()}\n{end}"
        text = re.sub(f"{re.escape(begin)}.*?{re.escape(end)}", lambda _, new=new: new, text, flags=re.S)
    return text


def _swing(run: dict) -> str:
    error = [_short(run[f"largest_error_{part}percent_of_length"]) for part in ("down_", "")]
    stretch = [f"{max(run[f'largest_stretch_{part}percent'], 0):.1f}" for part in ("down_", "")]
    return f"{' / '.join(error)} %, {' / '.join(stretch)} %"


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def _or_not(frames: int | None) -> str:
    return "not in 60" if frames is None else str(frames)


def _distance(run: dict) -> str:
    percent = run["distance_at_end_percent_of_size"]
    if run["ended"] != "did all frames":
        return f"stopped in {run['ended'].partition(':')[0]}"
    return f"{percent:.1f}" if percent < 100 else "blown up"


def _recovered(runs: list[dict]) -> str:
    """In how many runs no tet is inverted any more and after how many frames; in how many the shape is back."""
    healthy, near = ([run[key] for run in runs if run[key] is not None] for key in (HEALTHY, NEAR))
    text = f"no inverted tet in {len(healthy)} of {len(runs)}"
    text += f", after {_span(healthy)} frames" if healthy else ""
    return text + f"; within 1 % in {len(near)}" + (f", after {_span(near)}" if near else "")


def _span(values: list[int]) -> str:
    return f"{min(values)} to {max(values)}" if min(values) < max(values) else str(values[0])


def _verdict(runs: list[dict]) -> str:
    if all(run[HEALTHY] is not None for run in runs):
        other = sum(run[NEAR] is None for run in runs)
        return f"holds, but {other} of {len(runs)} keep another shape" if other else "holds"
    return f"**recovers in {sum(run[HEALTHY] is not None for run in runs)} of {len(runs)}**"


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        README.write_text(filled(README.read_text()))
        print(f"Wrote the tables of {README}.")
    else:
        print("\n\n".join(make() for make in TABLES))
