"""Numbers as text, compiled: Python's own formatting would hold up the simulation that is being recorded."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

DIGITS = 9  # enough to give back any number in single precision
WIDEST = 20  # characters of one number, and what separates it from the next
SMALLEST = 1e-290  # [in any unit] what is nearer to zero is written as zero, so that no power of ten overflows
_POWERS = np.array([float(f"1e{k}") for k in range(-308, 309)])


def rows_of_text(letter: str, rows: np.ndarray) -> bytes:
    """Lines such as "v 0.1 -2 3.5e-07" of rows (n, k), numbers as "%.9g" has them."""
    rows = np.ascontiguousarray(rows, np.float64)
    text = np.empty(rows.size * WIDEST + 3 * len(rows), np.uint8)
    return text[: _print_rows(ord(letter), rows, _POWERS, text)].tobytes()


@njit(cache=True, nogil=True)
def _print_rows(letter, rows, powers, text):
    at = 0
    for row in rows:
        text[at] = letter
        at += 1
        for value in row:
            text[at] = ord(" ")
            at = _print(value, powers, text, at + 1)
        text[at] = ord("\n")
        at += 1
    return at


@njit(cache=True, nogil=True)
def _print(value, powers, text, at):
    """Write a number at a place; the place after it."""
    if not math.isfinite(value):
        letters = (110, 97, 110) if math.isnan(value) else (105, 110, 102)  # nan, inf
        if value < 0:
            text[at] = ord("-")
            at += 1
        for letter in letters:
            text[at] = letter
            at += 1
        return at
    if math.copysign(1.0, value) < 0:
        text[at] = ord("-")
        at += 1
    value = abs(value)
    if value < SMALLEST:
        text[at] = ord("0")
        return at + 1
    exponent = math.floor(math.log10(value))
    digits = int(value * powers[308 + DIGITS - 1 - exponent] + 0.5)
    if digits >= 10**DIGITS:  # rounded up to the next power of ten
        exponent, digits = exponent + 1, 10 ** (DIGITS - 1)
    count = DIGITS
    while digits % 10 == 0 and count > 1:
        digits, count = digits // 10, count - 1
    if -5 < exponent < DIGITS:
        return _print_plain(digits, count, exponent, text, at)
    at = _print_plain(digits, count, 0, text, at)
    text[at], text[at + 1] = ord("e"), ord("-") if exponent < 0 else ord("+")
    exponent = abs(exponent)
    width = 3 if exponent > 99 else 2
    _put_digits(exponent, width, text, at + 2)
    return at + 2 + width


@njit(cache=True, nogil=True)
def _print_plain(digits, count, exponent, text, at):
    """digits, so many, the first of them worth 10^exponent."""
    if exponent >= count - 1:
        for _ in range(exponent - count + 1):
            digits *= 10
        _put_digits(digits, exponent + 1, text, at)
        return at + exponent + 1
    whole, after = max(exponent + 1, 1), count - 1 - exponent
    point = at + whole
    text[point] = ord(".")
    _put_digits(_put_digits(digits, after, text, point + 1), whole, text, at)
    return point + 1 + after


@njit(cache=True, nogil=True)
def _put_digits(number, width, text, at):
    """Write the last digits of a number, so many; what is left of it before them."""
    for k in range(at + width - 1, at - 1, -1):
        rest = number // 10  # one division a digit, rather than two
        text[k] = ord("0") + (number - 10 * rest)
        number = rest
    return number
