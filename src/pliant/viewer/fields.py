"""Values as colours: fields on triangles, a colour scale and its legend."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np

from pliant.errors import PliantError
from pliant.io.results.result import Frame, Layout
from pliant.viewer.pictures import INK

#: From low to high, of steadily growing lightness: dark blue, teal, green, yellow. Red, green, blue from 0 to 1.
SCALE = np.array(
    [
        (0.19, 0.12, 0.38),
        (0.20, 0.27, 0.53),
        (0.16, 0.43, 0.58),
        (0.15, 0.58, 0.55),
        (0.34, 0.72, 0.44),
        (0.66, 0.82, 0.33),
        (0.97, 0.89, 0.30),
    ]
)
NO_VALUE = (0.72, 0.73, 0.75)
_TITLES = {
    "von_mises": ("von Mises stress", "Pa"),
    "energy_density": ("energy density", "J/m^3"),
    "speed": ("speed", "m/s"),
    "contact_force": ("contact force", "N"),
    "penetration": ("penetration", "m"),
    "spin": ("spin", "rad/s"),
    "displacement": ("displacement", "m"),
    "reaction_force": ("reaction force", "N"),
    "stress": ("stress, Frobenius norm", "Pa"),
    "strain": ("strain, Frobenius norm", ""),
}
_PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"))


def title_of(name: str) -> str:
    """A field's name in words."""
    return _TITLES.get(name, (name.replace("_", " "), ""))[0]


def on_points(layout: Layout, frame: Frame, name: str) -> np.ndarray:
    """Values (n,) of a field: of vectors their length, of cells the mean of a point's surface triangles.

    "speed" is the length of the velocity. Not a number where there is none.
    """
    if name in frame.cell_fields:
        cells = np.asarray(frame.cell_fields[name], float)
        return _mean_at_points(layout, layout.on_triangles(np.linalg.norm(cells, axis=1) if cells.ndim == 2 else cells))
    known = {("speed" if key == "velocity" else key): values for key, values in frame.point_fields.items()}
    if name not in known:
        names = [*frame.cell_fields, *known]
        near = get_close_matches(name, names, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise PliantError(f"the result has no field {name!r}; it has {', '.join(names) or 'none'}.{hint}")
    values = np.asarray(known[name], float)
    return np.linalg.norm(values, axis=1) if values.ndim == 2 else values


def _mean_at_points(layout: Layout, values: np.ndarray) -> np.ndarray:
    known = np.isfinite(values)
    corners, repeated = layout.triangles[known].ravel(), np.repeat(values[known], 3)
    counts = np.bincount(corners, minlength=layout.n_points)
    sums = np.bincount(corners, repeated, minlength=layout.n_points)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def distinct(low: float, high: float) -> tuple[float, float]:
    """Ends of a colour scale for values from low to high: zero without rounding at rest, and never the same twice."""
    if not low <= high:  # there is no value
        return 0.0, 1.0
    low = 0.0 if abs(low) < 1e-6 * high else low
    return low, high if high > low else low + (abs(low) or 1.0)


@dataclass(frozen=True)
class ColourScale:
    """A field's colours between two values; what lies outside has the colour of the end."""

    name: str
    low: float
    high: float

    def colours(self, values: np.ndarray) -> np.ndarray:
        """(..., 3) of values (...); grey where there is none."""
        place = (values - self.low) / max(self.high - self.low, 1e-300) * (len(SCALE) - 1)
        known = np.isfinite(place)
        place = np.clip(np.where(known, place, 0), 0, len(SCALE) - 1)
        steps = np.arange(len(SCALE))
        mixed = np.stack([np.interp(place, steps, SCALE[:, c]) for c in range(3)], axis=-1)
        return np.where(known[..., None], mixed, NO_VALUE)

    def legend(self, edge: np.ndarray) -> Any:
        """A Pillow image to the right of a picture whose last column is `edge` (rows, 3): scale, five values, unit."""
        from PIL import Image, ImageDraw, ImageFont

        height = len(edge)
        size = max(10, height // 32)
        font = ImageFont.load_default(size=size)
        title, ticks = self.texts()
        width = round(max([font.getlength(title), *(3.5 * size + font.getlength(text) for text in ticks)])) + 2 * size
        image = Image.fromarray(np.repeat(edge[:, None], width + width % 2, axis=1))
        pen = ImageDraw.Draw(image)
        top, bottom, left = round(0.25 * height), round(0.85 * height), size
        rows = self.colours(np.linspace(self.high, self.low, bottom - top))
        bar = np.repeat(np.round(255 * rows).astype(np.uint8)[:, None], round(1.4 * size), axis=1)
        image.paste(Image.fromarray(bar), (left, top))
        pen.text((left, top - 1.6 * size), title, fill=INK, font=font, anchor="ls")
        for k, text in enumerate(ticks):
            y = bottom + (top - bottom) * k / (len(ticks) - 1)
            pen.line([(left + 1.4 * size, y), (left + 1.8 * size, y)], fill=INK)
            pen.text((left + 2.2 * size, y), text, fill=INK, font=font, anchor="lm")
        return image

    def texts(self) -> tuple[str, list[str]]:
        """Its title with the unit, and five values from low to high."""
        title, unit = title_of(self.name), _TITLES.get(self.name, ("", ""))[1]
        largest = max(abs(self.low), abs(self.high))
        fitting = (prefix for prefix in _PREFIXES if unit and largest >= prefix[0])
        factor, prefix = next(fitting, (1.0, ""))
        values = np.linspace(self.low, self.high, 5) / factor
        return f"{title} [{prefix}{unit}]" if unit else title, [f"{value:.3g}" for value in values]
