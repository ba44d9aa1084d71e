"""`.usda`: the same as `.usdc`, as text.

usd-core writes all that does not change with time, and in the place of what does a sample without values, whose time
code is a number; there go the samples of all frames, which are printed here, several times quicker than usd-core does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO

from pliant.io.results.digits import rows_of_text
from pliant.io.results.places import replacing
from pliant.io.results.result import Result
from pliant.io.results.usd import SAVE_BYTES, Drawn, Usd, Vt, coded_frames, describe

_PLACEHOLDER = re.compile(r"^ *(\d+): \[\],\n", re.MULTILINE)

#: Where the samples of an attribute are in a file, by its path on the stage: first byte and length.
Samples = dict[str, list[tuple[int, int]]]


def export(result: Result, path: Path) -> None:
    """Write the surfaces of all frames of a result, in single precision."""
    stage = Usd.Stage.CreateInMemory(".usda")
    bodies = describe(stage, result)
    # an attribute's samples follow each other in the file, but come frame by frame
    with replacing(path) as beside, SpooledTemporaryFile(int(SAVE_BYTES), dir=str(path.parent)) as spool:
        samples = _print_samples(result, bodies, spool)
        pieces, places = _PLACEHOLDER.split(_with_placeholders(stage, list(samples))), list(samples.values())
        with beside.open("wb") as file:
            for text, number in zip_longest(pieces[::2], pieces[1::2]):
                file.write(text.encode())
                for first, length in places[int(number)] if number else ():
                    spool.seek(first)
                    file.write(spool.read(length))


def _print_samples(result: Result, bodies: Sequence[Drawn], spool: IO[bytes]) -> Samples:
    """Append the samples of all frames to a file, as lines such as "0.5: [(0, 1, 2), (3, 4, 5)],"."""
    samples: Samples = {}
    for code, time, points in coded_frames(result):
        for body in bodies:
            for name, values in body.sample(points, time).items():
                is_vector = values.ndim == 2
                rows = values if is_vector else values[:, None]
                numbers = rows_of_text(rows, "(" if is_vector else "", ", ", "), " if is_vector else ", ")
                places = samples.setdefault(f"{body.prim.GetPath()}.{name}", [])
                places.append((spool.tell(), spool.write(b"%r: [%b],\n" % (code, numbers[:-2]))))
    return samples


def _with_placeholders(stage: Usd.Stage, attributes: Sequence[str]) -> str:
    """The text of a stage whose attribute of number k has one sample without values, at the time code k."""
    for number, path in enumerate(attributes):
        stage.GetAttributeAtPath(path).Set(Vt.FloatArray() if path.endswith(".widths") else Vt.Vec3fArray(), number)
    return str(stage.GetRootLayer().ExportToString())
