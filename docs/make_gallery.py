"""Run every scene of the gallery: measure it, draw its thumbnail, and list them all in docs/gallery.md.

python docs/make_gallery.py [NAME ...]
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
from pathlib import Path

from pliant.io.results import open_result
from pliant.scenes.files.schema import Output
from pliant.scenes.gallery import Entry, entries
from pliant.scenes.plans import open_plan
from pliant.scenes.runs import Run
from pliant.viewer import movies
from pliant.viewer.stage import View

PAGE = Path(__file__).with_name("gallery.md")
MOVIES = PAGE.parent / "images" / "movies"
HEIGHT = 240  # of a thumbnail [pixels]
#: The moment that is shown, as a part of the duration, where it is not the usual one.
MOMENTS = {
    "catapult": 0.45,
    "press": 0.55,
    "hoop": 0.22,
    "tear": 0.67,
    "slope": 0.9,
    "swing": 0.3,
    "ring": 0.6,
    "wave": 0.3,
    "jelly": 0.25,
    "pendulum": 0.2,
    "laws": 1.0,
    "poisson": 1.0,
    "hourglass": 0.4,
    "avalanche": 0.5,
    "grains-and-ball": 0.25,
    "teapot": 0.25,
    "ragdoll": 0.2,
    "chain": 0.25,
    "gripper": 0.93,
}
USUAL = 0.75


def run(entry: Entry, folder: Path) -> float:
    """Run a scene into a folder and draw its thumbnail; the processor time of the run [s], compiling excluded."""
    plan = open_plan(entry.name, threads=1)  # one thread: two wait for each other on a busy computer
    plan.simulation().advance()  # compiles
    simulation = plan.simulation()
    result = folder / "shown.npz"
    began = time.process_time()
    for _ in Run(simulation, plan.frames, folder, (Output(file=result.name),)):
        pass
    seconds = time.process_time() - began
    with open_result(result) as shown:
        wanted = MOMENTS.get(entry.name, USUAL) * simulation.time
        moment = min(shown.times, key=lambda t: abs(t - wanted))
        movies.render([shown], entry.thumbnail, View(height=HEIGHT), moments=[float(moment)])
    return seconds


def note_seconds(entry: Entry, seconds: float) -> None:
    """Write the run time into the scene."""
    text = entry.path.read_text(encoding="utf-8")
    entry.path.write_text(re.sub(r"(?m)^run_seconds = .*$", f"run_seconds = {seconds:.1f}", text), encoding="utf-8")


def main(names: list[str]) -> None:
    for entry in entries():
        if names and entry.name not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            seconds = run(entry, Path(folder))
        note_seconds(entry, seconds)
        print(f"{entry.name}: {seconds:.1f} s", flush=True)
    write_page()


def write_page() -> None:
    """All scenes, each with its movie if there is one, else with its thumbnail."""
    rows = [
        f"| ![{entry.title}]({shown(entry)}) | **{entry.title}** (`pliant gallery "
        f"{entry.name}`, {entry.run_seconds:.1f} s)<br>{entry.description} |"
        for entry in entries()
    ]
    head = (
        "# Gallery\n\n`pliant gallery` lists these scenes, `pliant gallery NAME` runs one, and `pliant view NAME` "
        "shows it in the browser. The files are in\n`src/pliant/scenes/gallery`: copy one to start a scene of your "
        "own. Times are processor times of one thread, compiling excluded.\n\n| | |\n|---|---|\n"
    )
    PAGE.write_text(head + "\n".join(rows) + "\n", encoding="utf-8")


def shown(entry: Entry) -> str:
    """The picture of a scene, as the page names it."""
    movie = MOVIES / f"{entry.name}.webp"
    return f"images/movies/{movie.name}" if movie.exists() else f"../src/pliant/scenes/gallery/{entry.name}.png"


if __name__ == "__main__":
    main(sys.argv[1:])
