"""Archives that grow: Python's zipfile reads them, and a cut-off one is read to its last whole entry."""

import zipfile

import pytest

from pliant.io.results.zip_stream import ZipStream, entries


def test_zipfile_reads_it(tmp_path):
    path = tmp_path / "a.zip"
    stream = ZipStream(path)
    stream.append({"one": [b"1" * 4, b"1" * 6], "two": [b""]})
    stream.append({"three": [b"3" * 5000]})
    stream.close()
    with zipfile.ZipFile(path) as file:
        assert file.testzip() is None
        assert {name: len(file.read(name)) for name in file.namelist()} == {"one": 10, "two": 0, "three": 5000}


def test_every_cut_is_read_to_the_last_whole_entry(tmp_path):
    path = tmp_path / "a.zip"
    stream = ZipStream(path)
    ends = []
    for k in range(4):
        stream.append({f"entry{k}": [bytes([k]) * 50]})
        ends.append(path.stat().st_size)
    stream.close()
    data = path.read_bytes()
    for cut in range(len(data) + 1):
        path.write_bytes(data[:cut])
        assert [entry.name for entry in entries(path)] == [f"entry{k}" for k in range(4) if ends[k] <= cut]


def test_files_beyond_4_gb_and_many_entries(tmp_path):
    path = tmp_path / "a.zip"
    stream = ZipStream(path)
    stream.append({"first": [b"a"]})
    for k in range(66_000):
        stream.append({f"{k}": [b""]})
    with zipfile_gap(stream, 2**32 + 1000):
        stream.append({"far": [b"b" * 9]})
    stream.close()
    with zipfile.ZipFile(path) as file:
        assert len(file.namelist()) == 66_002
        assert file.read("far") == b"b" * 9
        assert file.read("first") == b"a"


class zipfile_gap:
    """Leave a hole in the file, which takes no disk, so that what follows lies beyond 4 GB."""

    def __init__(self, stream, size):
        self.stream, self.size = stream, size

    def __enter__(self):
        self.stream._end += self.size
        self.stream._file.seek(self.stream._end)

    def __exit__(self, *_):
        pass


def test_failed_write_is_taken_back(tmp_path, monkeypatch):
    path = tmp_path / "a.zip"
    stream = ZipStream(path)
    stream.append({"one": [b"1" * 100]})
    whole = path.stat().st_size

    class FullDisk:
        def __init__(self, file):
            self.file = file

        def write(self, data):
            self.file.write(bytes(data)[:7])
            raise OSError(28, "No space left on device")

        def __getattr__(self, name):
            return getattr(self.file, name)

    stream._file = FullDisk(stream._file)
    with pytest.raises(OSError, match="No space"):
        stream.append({"two": [b"2" * 100]})
    assert path.stat().st_size == whole
    stream._file = stream._file.file
    stream.append({"three": [b"3"]})
    stream.close()
    assert zipfile.ZipFile(path).namelist() == ["one", "three"]
