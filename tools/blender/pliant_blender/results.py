"""Reads Pliant's results (.npz): an archive of arrays that NumPy opens. Knows nothing of Blender."""

import json
import zipfile

import numpy as np

FORMAT = 2


class ResultError(Exception):
    """A file that is no result."""


class Result:
    """Bodies and frames of a file; frames are read when asked for."""

    def __init__(self, path):
        try:
            self._file = np.load(path, allow_pickle=False)
            about = json.loads(str(self._file["result"]))
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise ResultError(
                f"{path}: this is no whole result of Pliant ({error}). pliant convert broken.npz whole.npz mends one "
                "whose run was killed."
            ) from None
        if about["format"] != FORMAT:
            raise ResultError(f"{path}: result format {about['format']}; this add-on reads {FORMAT}.")
        self.names, self.rate = about["body_names"], float(about["frame_rate"])
        self.starts, self.colours = self._file["body_start"], self._file["colours"]
        self._triangles, self._edges = self._file["triangles"], self._file["edges"]
        numbers = sorted(int(name[5:]) for name in self._file.files if name.startswith("time_"))
        self.times = np.array([float(self._file[f"time_{k:05d}"]) for k in numbers])

    def faces(self, body):
        """(k, 3) triangles of a body, by its own points."""
        return self._of(body, self._triangles)

    def edges(self, body):
        """(k, 2) springs of a body, by its own points."""
        return self._of(body, self._edges)

    def points(self, frame, body):
        """(n, 3) [m] of a body."""
        return self._file[f"points_{frame:05d}"][self.starts[body] : self.starts[body + 1]]

    def _of(self, body, cells):
        first, last = self.starts[body], self.starts[body + 1]
        return cells[(cells[:, 0] >= first) & (cells[:, 0] < last)] - first
