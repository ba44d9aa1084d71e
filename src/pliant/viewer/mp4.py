"""`.mp4` through ffmpeg."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import PliantError
from pliant.viewer.movies import export

try:
    import imageio_ffmpeg
except ImportError:
    raise PliantError('.mp4 movies need the package imageio-ffmpeg: pip install "pliant[render]".') from None

__all__ = ["export", "write_mp4"]


def write_mp4(path: Path, images: Iterator[Any], rate: float) -> None:
    """Write Pillow images, so many a second, as H.264, which every browser plays."""
    first = next(images)
    size = (first.width - first.width % 2, first.height - first.height % 2)  # the codec's colours need even numbers
    options = ["-crf", "20", "-preset", "medium", "-movflags", "+faststart"]
    writer = imageio_ffmpeg.write_frames(
        str(path), size, fps=rate, codec="libx264", quality=None, macro_block_size=2, output_params=options
    )
    writer.send(None)
    try:
        for image in chain([first], images):
            writer.send(np.ascontiguousarray(np.asarray(image)[: size[1], : size[0]]))
    finally:
        writer.close()
