"""Where a cloud of points is."""

from __future__ import annotations

from pliant.lanes.entry import entry


@entry(nogil=True)
def middle_of(x, counts, middle):
    """The middle (3,) [m] of the bounding box of the points x (n, 3) that count (n,); left as it was if none does."""
    for k in range(3):
        low, high = 1e300, -1e300
        for i in range(len(x)):
            if counts[i]:
                low, high = min(low, x[i, k]), max(high, x[i, k])
        if low <= high:
            middle[k] = 0.5 * (low + high)
