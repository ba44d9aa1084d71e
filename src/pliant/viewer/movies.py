"""Movies and pictures of results, several side by side: `.mp4`, `.gif`, `.png`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import FileError, PliantError
from pliant.io.results.places import cannot_write, replacing
from pliant.io.results.result import Result
from pliant.progress import progress_bar
from pliant.viewer.pictures import pillow, save
from pliant.viewer.stage import Stage, View

STRIP_MOMENTS = 7
GIF_RATE = 25.0  # frames per second, at most: viewers slow faster ones down
MP4_RATE = 60.0
ENDINGS = (".mp4", ".gif", ".png")

pillow()  # if it is missing, that is said when a recording begins, not when it ends


def render(
    results: Sequence[Result],
    path: str | Path,
    view: View | None = None,
    labels: Sequence[str] = (),
    moments: Sequence[float] | None = None,
    progress: str | None = None,
) -> None:
    """Draw results side by side into a movie in real time (.mp4, .gif) or a picture (.png).

    labels: a name for each result; moments [s]: of a picture, one for a still, several for a strip, a strip of 7 if not
    given; progress: what a bar says while a movie is drawn, None for no bar.
    """
    path, view = Path(path), view or View()
    check_ending(path)
    if path.suffix.lower() == ".png":
        times = _moments(results) if moments is None else list(moments)
        stage = Stage(results, view, labels, tight=len(times) > 1)
        save(stage.strip(times) if len(times) > 1 else stage.picture(times[0]), path)
        return
    rate = min(max(r.layout.frame_rate for r in results), GIF_RATE if path.suffix.lower() == ".gif" else MP4_RATE)
    try:
        with replacing(path) as beside:
            _writer(path)(beside, pictures(results, view, labels, rate, progress), rate)
    except OSError as error:
        raise error if isinstance(error, PliantError) else cannot_write(path, error) from None


def pictures(
    results: Sequence[Result], view: View, labels: Sequence[str], rate: float, progress: str | None = None
) -> Iterator[Any]:
    """Pillow images of all results together, so many a second from the first to the last frame."""
    stage = Stage(results, view, labels)
    first, last = min(r.times[0] for r in results), max(r.times[-1] for r in results)
    count = math.ceil((last - first) * rate - 1e-6) + 1  # the last moment is always shown
    with progress_bar(progress, count) as tick:
        for k in range(count):
            yield stage.picture(first + k / rate)
            tick()


def check_ending(path: Path) -> None:
    """Refuse what cannot be drawn, and say which package is missing."""
    if path.suffix.lower() not in ENDINGS:
        raise FileError(f"{path}: pictures and movies are {', '.join(ENDINGS)}.")
    _writer(path)


def export(result: Result, path: Path) -> None:
    """A movie in real time, or a strip; how a recording is finished."""
    render([result], path)


def _writer(path: Path) -> Callable[[Path, Iterator[Any], float], None]:
    if path.suffix.lower() != ".mp4":
        return _write_gif
    from pliant.viewer.mp4 import write_mp4

    return write_mp4


def _moments(results: Sequence[Result]) -> list[float]:
    first, last = min(r.times[0] for r in results), max(r.times[-1] for r in results)
    count = min(STRIP_MOMENTS, max(len(r) for r in results))
    return np.linspace(first, last, count).tolist()


def _write_gif(path: Path, images: Iterator[Any], rate: float) -> None:
    """Colours of the first picture serve all, so that still parts do not flicker."""
    first = next(images)
    palette = first.quantize(256, dither=0)
    others = (image.quantize(palette=palette, dither=0) for image in images)
    palette.save(path, save_all=True, append_images=others, duration=round(1000 / rate), loop=0)
