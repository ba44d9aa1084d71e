"""Arrays in .npz files. Files may come from anywhere: nothing is unpacked that the file itself does not hold."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import numpy as np

from pliant.errors import FileError


def read_arrays(path: Path, what: str) -> dict[str, np.ndarray]:
    """All arrays of a file that np.savez wrote, by name.

    np.savez does not compress, so that the arrays are at most as large as the file. A file that claims more (compressed
    entries, entries that overlap, arrays larger than their entry) is refused before memory is allocated for it.
    """
    if not path.exists():
        raise FileError(f"{path}: there is no such file.")
    if path.is_dir():
        raise FileError(f"{path}: this is a folder; name the file in it.")
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if sum(entry.file_size for entry in entries) > path.stat().st_size:
                raise ValueError("its entries are larger than the file; np.savez writes arrays as they are")
            return {entry.filename.removesuffix(".npy"): _array(archive, entry) for entry in entries}
    except (OSError, ValueError, EOFError, KeyError, NotImplementedError, RuntimeError, zipfile.BadZipFile) as error:
        raise FileError(f"{path}: this is not a whole {what} ({error}).") from None


def write_arrays(file: IO[bytes] | Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays by name as np.savez does, and none that holds Python objects.

    Older NumPy (1.26) takes np.savez's own option allow_pickle for the name of an array.
    """
    objects = [name for name, array in arrays.items() if np.asarray(array).dtype.hasobject]
    if objects:
        raise ValueError(f"{', '.join(objects)}: Python objects cannot be written")
    np.savez(file, **dict(arrays))  # type: ignore[arg-type]


def _array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> np.ndarray:
    """One array, whose description is compared with the size of its entry before it is read."""
    if entry.compress_type != zipfile.ZIP_STORED:
        raise ValueError(f"array {entry.filename} is compressed")
    with archive.open(entry) as file:
        shape, dtype = _described(file)
        size = math.prod(shape) * dtype.itemsize
        if size != entry.file_size - file.tell():
            raise ValueError(f"array {entry.filename} claims the shape {shape}, which is not what the entry holds")
    with archive.open(entry) as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def _described(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype]:
    version = np.lib.format.read_magic(file)
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in readers:
        raise ValueError(f"its arrays have the format {version}")
    shape, _, dtype = readers[version](file)
    if dtype.hasobject:
        raise ValueError("it holds Python objects")
    return shape, dtype
