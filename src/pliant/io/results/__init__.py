"""Results: what a simulation did, frame by frame, in the formats people open.

`formats.py` lists them. Some are written frame by frame, the others are finished from such a stream when the recording
ends. `open_result` reads them back.
"""

from pliant.io.results.formats import open_result

__all__ = ["open_result"]
