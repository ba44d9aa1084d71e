"""What a run was asked for, kept until its first checkpoint: whenever it is killed, `pliant resume` has something to
go on from.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pliant.cli.output import writable_folder
from pliant.errors import FileError

NAME = "run.start.json"


@contextmanager
def kept_start(folder: Path, scene: str, output: Sequence[Path], **options: Any) -> Iterator[Path]:
    """Keep the arguments of a run in its folder while it is built and compiled. What ends with an error has nothing to
    go on from: only a kill leaves the file.
    """
    is_new = not folder.exists()
    path = writable_folder(folder) / NAME
    is_file = Path(scene).is_file()  # the folder of a gallery scene has its name
    about = {"scene": str(Path(scene).resolve()) if is_file else scene, "output": [str(p.resolve()) for p in output]}
    try:
        temporary = path.with_suffix(".tmp")
        temporary.write_text(json.dumps({**about, **options}) + "\n", encoding="utf-8")
        os.replace(temporary, path)
    except OSError as error:
        raise FileError(f"{path}: cannot be written ({error.strerror}). Choose another folder with --out.") from None
    try:
        yield path
    finally:
        with suppress(OSError):
            path.unlink()
            if is_new:
                folder.rmdir()  # only if nothing is in it: the run was refused


def start_of(checkpoint: Path) -> dict[str, Any] | None:
    """Arguments of a run that was killed before it wrote this checkpoint; None if the checkpoint is there. An error if
    there is neither.
    """
    from pliant.scenes.files.schema import CHECKPOINT

    path = checkpoint.parent / NAME
    if not path.is_file() or checkpoint.name != CHECKPOINT:
        if not checkpoint.exists():
            raise FileError(
                f"{checkpoint}: there is no such file to resume, nor what a run leaves that is killed before its first "
                "checkpoint. Start it with: pliant run SCENE"
            )
        return None
    if checkpoint.exists() and checkpoint.stat().st_mtime_ns >= path.stat().st_mtime_ns:  # else it is of a run before
        return None
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        about["output"] = [Path(name) for name in about["output"]]
        keep_every, frames = float(about["keep_every"]), about["frames"]
        words = all(isinstance(setting, str) for setting in [about["scene"], *about["settings"]])
        if not words or not isinstance(frames, int | None) or not keep_every >= 0:
            raise ValueError("a value of the wrong kind")
        if not isinstance(about["solver"], str | None):
            raise ValueError("a solver that is not a name")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FileError(f"{path}: this is not what a run keeps of its start ({error}); run it again.") from None
    return about


def forget_start(checkpoint: Path) -> None:
    """Delete what a killed run was asked for, once its checkpoint has taken its place."""
    from pliant.scenes.files.schema import CHECKPOINT

    if checkpoint.name == CHECKPOINT:
        with suppress(OSError):
            (checkpoint.parent / NAME).unlink()
