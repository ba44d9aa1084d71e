"""Pictures and movies where a notebook shows them."""

from __future__ import annotations

import tempfile
from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pliant.errors import FileError, PliantError
from pliant.io.results import open_result
from pliant.io.results.places import cannot_write, check_place
from pliant.viewer.movies import check_ending, render
from pliant.viewer.stage import Stage, View

if TYPE_CHECKING:
    from pliant.simulate import Simulation
    from pliant.statics import Equilibrium

ENDINGS = (".gif", ".mp4")


@dataclass(frozen=True)
class Animation:
    """A movie that a notebook plays."""

    data: bytes
    ending: str  # .gif or .mp4

    def __repr__(self) -> str:
        """Short: a notebook keeps it beside the movie."""
        return f"<Animation: {self.ending}, {len(self.data) / 1000:.0f} kB>"

    def _repr_html_(self) -> str:
        text = b64encode(self.data).decode()
        if self.ending == ".gif":
            return f'<img src="data:image/gif;base64,{text}">'
        return f'<video controls loop autoplay muted src="data:video/mp4;base64,{text}"></video>'

    def save(self, path: str | Path) -> None:
        """Write the movie; the ending is the one it was made with."""
        path = Path(path)
        if path.suffix.lower() != self.ending:
            raise FileError(f"{path}: the movie is a {self.ending}; animate(..., ending={path.suffix!r}) makes others.")
        check_place(path)
        try:
            path.write_bytes(self.data)
        except OSError as error:
            raise cannot_write(path, error) from None


def plot(sim: Simulation, **options: Any) -> Any:
    """A Pillow image of the current state; options as of View."""
    view = View(**options)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.npz"
        sim.record(path).close()
        with open_result(path) as result:
            return Stage([result], view).picture(sim.time)


def plot_equilibrium(found: Equilibrium, **options: Any) -> Any:
    """A Pillow image of a static shape; options as of View."""
    view = View(**options)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.npz"
        found.save(path, volume=False)
        with open_result(path) as result:
            return Stage([result], view).picture(0.0)


def animate(sim: Simulation, frames: int, every: int = 1, ending: str = ".gif", **options: Any) -> Animation:
    """Advance and draw; ending: .gif, or .mp4, which is smaller and needs imageio-ffmpeg; options as of View."""
    view = View(**{"height": 360, **options})
    if ending not in ENDINGS:
        raise PliantError(f"animate: the ending is {ending!r}; choose {' or '.join(ENDINGS)}.")
    with tempfile.TemporaryDirectory() as folder:
        frames_path, movie = Path(folder) / "frames.npz", Path(folder) / f"movie{ending}"
        check_ending(movie)
        with sim.record(frames_path, every=every):
            for _ in sim.frames(frames):
                pass
        with open_result(frames_path) as result:
            render([result], movie, view)
        return Animation(movie.read_bytes(), ending)
