"""Draw small looping movies of scenes of the gallery into docs/images/movies, and list them in docs/gallery.md.

python docs/make_movies.py NAME ...
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from make_gallery import MOVIES, write_page

from pliant.io.results import open_result
from pliant.scenes.gallery import entries
from pliant.scenes.plans import open_plan
from pliant.viewer import movies
from pliant.viewer.stage import View

HEIGHT = 160  # [pixels]
RATE = 12.0  # pictures per second
QUALITY = 50  # of WebP, of 100


def draw(name: str) -> Path:
    """Run a scene and draw it from its first frame to its last, in real time."""
    plan = open_plan(name, threads=1)
    simulation = plan.simulation()
    every = max(1, round(simulation.frame_rate / RATE))
    with tempfile.TemporaryDirectory() as folder:
        with simulation.record(f"{folder}/shown.npz", every=every):
            for _ in simulation.frames(plan.frames):
                pass
        with open_result(f"{folder}/shown.npz") as shown:
            first, *others = movies.pictures([shown], View(height=HEIGHT), (), RATE)
    path = MOVIES / f"{name}.webp"
    path.parent.mkdir(exist_ok=True)
    options = {"duration": round(1000 / RATE), "loop": 0, "quality": QUALITY, "method": 6}
    first.save(path, save_all=True, append_images=others, **options)
    return path


def main(names: list[str]) -> None:
    known = [entry.name for entry in entries()]
    for name in names:
        if name not in known:
            sys.exit(f"{name}: there is no such scene in the gallery; it has {', '.join(known)}.")
        path = draw(name)
        print(f"{path}: {path.stat().st_size / 1000:.0f} kB", flush=True)
    write_page()


if __name__ == "__main__":
    main(sys.argv[1:])
