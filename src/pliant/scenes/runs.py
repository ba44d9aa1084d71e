"""A run from beginning to end: results and checkpoints in a folder, resumable whenever it stops."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pliant.device.opencl import OpenCL
from pliant.errors import DeviceError, FileError
from pliant.io.results import formats
from pliant.io.results.places import check_place
from pliant.scenes.disk import Reserve, bytes_a_frame
from pliant.scenes.files.schema import CHECKPOINT, Output
from pliant.simulate import Simulation
from pliant.solvers import SolveReport


@dataclass
class Run:
    """A simulation on its way to so many frames.

    Iterating advances it frame by frame. At the start, every `keep_seconds` of work, after Ctrl-C and at the end it
    writes a checkpoint, from which `resumed` goes on with the same bits even after the process was killed.
    """

    simulation: Simulation
    frames: int  # in all, from time 0
    folder: Path
    outputs: Sequence[Output] = ()
    elsewhere: Sequence[Path] = ()  # further results, which the user named with their place
    keep_seconds: float = 30.0
    title: str = ""
    checkpoint_name: str = CHECKPOINT
    report: SolveReport | None = field(default=None, init=False)  # of the last step

    def __post_init__(self) -> None:
        self.first_frame = self.frames_done
        self.simulation.notes = {
            "title": self.title,
            "frames": self.frames,
            "outputs": [output.model_dump() for output in self.outputs],
        }

    @classmethod
    def resumed(
        cls,
        checkpoint: Path,
        frames: int | None = None,
        threads: int | None = None,
        elsewhere: Sequence[Path] = (),
        device: str | OpenCL = "cpu",
    ) -> Run:
        """Go on from a checkpoint, into its folder; `frames`: so many more than it has, else as many as it was to have.

        Results of the rest get names of their own, as twist-from-60.mp4, because the first part is already written.
        """
        simulation = Simulation.resume(checkpoint, threads=threads, device=device)
        done, notes = simulation.state.step // simulation.substeps, simulation.notes
        total = notes.get("frames", done) if frames is None else done + frames
        if total <= done:
            raise FileError(f"{checkpoint}: this run is finished, {done} frames. Go on with --frames N for N more.")
        outputs = [Output(**about) for about in notes.get("outputs", [])]
        title = notes.get("title", checkpoint.stem)
        names = {"title": title, "checkpoint_name": checkpoint.name}
        return cls(simulation, total, checkpoint.parent, outputs, elsewhere, **names)

    @property
    def checkpoint(self) -> Path:
        return self.folder / self.checkpoint_name

    @property
    def frames_done(self) -> int:
        return self.simulation.state.step // self.simulation.substeps

    @property
    def results(self) -> list[Path]:
        """Where the results go."""
        part = f"-from-{self.first_frame}" if self.first_frame else ""
        inside = [self.folder / output.file for output in self.outputs]
        return [path.with_stem(f"{path.stem}{part}") for path in (*inside, *self.elsewhere)]

    @property
    def unfinished(self) -> list[tuple[Path, Path]]:
        """Streams that an earlier part left when it was killed, each with the result that is to be made of it."""
        firsts = [self.folder / output.file for output in self.outputs] if self.first_frame else []
        return [(journal, path) for path in firsts if (journal := formats.journal_of(path)).exists()]

    def check_places(self) -> None:
        """Refuse before any work what cannot be written: links that lead out of the folder, two results of one name,
        places without permission, a disk that is too full.
        """
        for path in self.elsewhere:
            formats.exporter(path)  # raises for an unknown ending
        root = self.folder.resolve()
        for path in self.results[: len(self.outputs)]:
            if not path.resolve().is_relative_to(root):
                raise FileError(f"{path}: this leads out of the output folder {root}. Name it with --output instead.")
            path.parent.mkdir(parents=True, exist_ok=True)
        taken = {self.checkpoint.resolve(): "the checkpoint's name"}
        for path in self.results:
            check_place(path)
            place = path.resolve()
            if place in taken:
                raise FileError(f"{path}: this is {taken[place]}; give the output another one.")
            taken[place] = "the name of another output"
        free, needed = shutil.disk_usage(self.folder).free, self.bytes_needed()
        if free < needed:
            raise FileError(
                f"{self.folder}: the results need at least {needed / 1e6:.0f} MB, {free / 1e6:.0f} MB are free. "
                "Free some disk, choose another folder with --out, or record fewer frames with `every`."
            )

    def bytes_needed(self) -> int:
        """A lower bound: two checkpoints (the new one is written beside the old) and the recorded frames."""
        state, model = self.simulation.state, self.simulation.model
        # (n, 3) each: x, v, v before, start's x and v, directions, points at rest; and the corners of tets
        checkpoint = 7 * state.x.nbytes + model.n_tets * 4 * 8
        surfaces = [body.surface for body in self.simulation.scene.bodies]
        surface = sum(np.unique(own).size for own in surfaces), sum(map(len, surfaces)), 3
        whole = model.n_vertices, model.n_tets, 4
        rest, total = self.frames - self.first_frame, 2 * checkpoint
        for path, (every, volume, _) in zip(self.results, self._kinds, strict=True):
            total += rest // every * bytes_a_frame(path, *(whole if volume else surface))
        return total

    @property
    def _kinds(self) -> list[tuple[int, bool, bool]]:
        """Of each result: every n-th frame, and whether it holds whole volumes and tensors."""
        kinds = [(output.every, output.volume, output.tensors) for output in self.outputs]
        return kinds + [(1, False, False)] * len(self.elsewhere)

    def __iter__(self) -> Iterator[int]:
        """Advance frame by frame, yielding how many are done."""
        simulation = self.simulation
        simulation.save(self.checkpoint)
        with Reserve(self.checkpoint) as reserve:
            try:
                yield from self._record()
            except FileError as error:  # a disk that filled up: keep what can be kept
                reserve.release()
                simulation.save(self.checkpoint)
                rest = f" Then: pliant resume {self.checkpoint}" if self.frames_done < self.frames else ""
                raise FileError(f"{error}{rest}") from None
            except DeviceError as error:  # a device that was lost: the state is that of the last complete step
                simulation.save(self.checkpoint)
                raise DeviceError(f"{error} Go on with: pliant resume {self.checkpoint} --device cpu") from None

    def _record(self) -> Iterator[int]:
        simulation = self.simulation
        with ExitStack() as stack:
            for path, (every, volume, tensors) in zip(self.results, self._kinds, strict=True):
                stack.enter_context(simulation.record(path, every=every, volume=volume, tensors=tensors))
            watch = lambda state, report: setattr(self, "report", report)  # noqa: E731
            simulation.observers.append(watch)
            stack.callback(simulation.observers.remove, watch)
            yield from self._advance()

    def _advance(self) -> Iterator[int]:
        simulation, kept = self.simulation, time.monotonic()
        for _ in range(-simulation.state.step % simulation.substeps):  # of a frame in which a device was lost
            simulation.step()
        rest = self.frames - self.frames_done
        for _ in simulation.frames(rest, on_interrupt=self.checkpoint) if rest > 0 else ():
            if time.monotonic() - kept >= self.keep_seconds:
                simulation.save(self.checkpoint)
                kept = time.monotonic()
            yield self.frames_done
        simulation.save(self.checkpoint)
