"""A zip archive that grows entry by entry and can be read to its last whole entry even if it was never closed.

Python's zipfile goes back to fill in an entry's header and keeps what a failed write left. Here an entry is one stretch
of bytes, header first, and is never touched again; the directory at the end, which other programs want, comes when the
file is closed (layout: PKWARE, .ZIP File Format Specification 6.3.10, 4.3). Nothing is compressed.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import NamedTuple

from pliant.io.results.places import write_all

LOCAL = struct.Struct("<4s5H3L2H")  # signature, version, flags, method, time, date, crc, 2 sizes, name, extra
CENTRAL = struct.Struct("<4s6H3L5H2L")
END = struct.Struct("<4s4H2LH")
END64 = struct.Struct("<4sQ2H2L4Q")
LOCATOR64 = struct.Struct("<4sLQL")
LIMIT16, LIMIT32 = 0xFFFF, 0xFFFFFFFF
VERSION, DATE = 45, 0x21  # 4.5 knows large files; 1 January 1980


class Entry(NamedTuple):
    name: str
    offset: int  # of its header
    size: int
    crc: int

    @property
    def data_offset(self) -> int:
        return self.offset + LOCAL.size + len(self.name.encode())


class ZipStream:
    """Writes a new archive."""

    def __init__(self, path: Path):
        self._file = path.open("wb", buffering=0)
        self._entries: list[Entry] = []
        self._end = 0

    def append(self, parts: Mapping[str, Sequence[bytes | memoryview]]) -> None:
        """Add entries by name, each as pieces of bytes; an OSError takes back what was half written."""
        entries: list[Entry] = []
        chunks: list[bytes | memoryview] = []
        offset = self._end
        for name, pieces in parts.items():
            crc = reduce(lambda so_far, piece: zlib.crc32(piece, so_far), pieces, 0)
            entry = Entry(name, offset, sum(map(len, pieces)), crc)
            chunks += [_local_header(entry), *pieces]
            entries.append(entry)
            offset = entry.data_offset + entry.size
        try:
            write_all(self._file, chunks)
        except OSError:
            self._file.seek(self._end)
            self._file.truncate()
            raise
        self._entries += entries
        self._end = offset

    def close(self) -> None:
        """Write the directory."""
        if self._file.closed:
            return
        try:
            write_all(self._file, [_directory(self._entries, self._end)])
        finally:
            self._file.close()


def entries(path: Path) -> list[Entry]:
    """All whole entries, from their headers: the directory may be missing. Empty if this is no such archive."""
    found, size = [], path.stat().st_size
    with path.open("rb") as file:
        offset = 0
        while len(head := file.read(LOCAL.size)) == LOCAL.size:
            signature, _, _, method, _, _, crc, stored, _, name_length, extra_length = LOCAL.unpack(head)
            if signature != b"PK\x03\x04" or method or extra_length or stored == LIMIT32:
                break
            name = file.read(name_length).decode(errors="replace")
            entry = Entry(name, offset, stored, crc)
            offset = entry.data_offset + stored
            if offset > size:
                break
            found.append(entry)
            file.seek(offset)
    return found


def _local_header(entry: Entry) -> bytes:
    name = entry.name.encode()
    fixed = LOCAL.pack(b"PK\x03\x04", VERSION, 0, 0, 0, DATE, entry.crc, entry.size, entry.size, len(name), 0)
    return fixed + name


def _directory(entries: list[Entry], start: int) -> bytes:
    chunks = []
    for entry in entries:
        name = entry.name.encode()
        far = struct.pack("<2HQ", 1, 8, entry.offset) if entry.offset >= LIMIT32 else b""
        versions, sizes = (VERSION, VERSION, 0, 0, 0, DATE), (entry.crc, entry.size, entry.size)
        lengths = (len(name), len(far), 0, 0, 0)
        offset = min(entry.offset, LIMIT32)
        chunks += [CENTRAL.pack(b"PK\x01\x02", *versions, *sizes, *lengths, 0, offset), name, far]
    size, count = sum(map(len, chunks)), len(entries)
    if start >= LIMIT32 or count >= LIMIT16:
        chunks.append(END64.pack(b"PK\x06\x06", 44, VERSION, VERSION, 0, 0, count, count, size, start))
        chunks.append(LOCATOR64.pack(b"PK\x06\x07", 0, start + size, 1))
    count, start = min(count, LIMIT16), min(start, LIMIT32)
    return b"".join([*chunks, END.pack(b"PK\x05\x06", 0, 0, count, count, size, start, 0)])
