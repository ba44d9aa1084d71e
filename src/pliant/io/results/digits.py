"""Numbers as text, compiled: Python's own formatting would hold up the simulation that is being recorded."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

DIGITS = 9  # enough to give back any number in single precision
WIDEST = 17  # characters of one number at most, as "-1.23456789e-123", and one for the point's way to its place
WORD = 4  # characters of a word at most
SMALLEST = 1e-290  # [in any unit] what is nearer to zero is written as zero, so that no power of ten overflows
_POWERS = np.array([float(f"1e{k}") for k in range(-308, 309)])
_PAIRS = np.frombuffer("".join(f"{k:02d}" for k in range(100)).encode(), np.uint8)  # "000102...99"
_ZERO, _POINT, _MINUS, _PLUS, _E = np.frombuffer(b"0.-+e", np.uint8)

# without counting references to the arrays, which would take longer than printing a number
inlined = njit(nogil=True, error_model="numpy", forceinline=True, _nrt=False)


def rows_of_text(rows: np.ndarray, begin: str, between: str, end: str) -> bytes:
    """Rows (n, k) of numbers as "%.9g" has them: each row begins, parts its numbers and ends with these words.

    Words have at most four letters.
    """
    rows = np.ascontiguousarray(rows, np.float64)
    words = np.array([list(word.ljust(WORD).encode()) for word in (begin, between, end)], np.uint8)
    text = np.empty((rows.size + 1) * (WIDEST + WORD) + 2 * WORD * len(rows), np.uint8)
    return text[: _print_rows(rows, words, (len(begin), len(between), len(end)), _POWERS, _PAIRS, text)].tobytes()


@njit(cache=True, nogil=True, error_model="numpy", _nrt=False)
def _print_rows(rows, words, lengths, powers, pairs, text):
    at = 0
    for row in range(len(rows)):
        at = _put(words, 0, lengths[0], text, at)
        at = _print(rows[row, 0], powers, pairs, text, at)
        for column in range(1, rows.shape[1]):
            at = _put(words, 1, lengths[1], text, at)
            at = _print(rows[row, column], powers, pairs, text, at)
        at = _put(words, 2, lengths[2], text, at)
    return at


@inlined
def _put(words, number, length, text, at):
    for k in range(WORD):  # all, always: what is too much will be overwritten
        text[at + k] = words[number, k]
    return at + length


@inlined
def _print(value, powers, pairs, text, at):
    """Write a number at a place; the place after it."""
    if not math.isfinite(value):
        return _print_special(value, text, at)
    text[at] = _MINUS  # a sign is anybody's guess: better overwritten than asked for
    at += int(np.float64(value).view(np.int64) < 0)
    value = abs(value)
    if value < SMALLEST:
        text[at] = _ZERO
        return at + 1
    exponent = _decimal_exponent(value, powers)
    digits = np.uint32(value * powers[308 + DIGITS - 1 - exponent] + 0.5)
    if digits >= 10**DIGITS:  # rounded up to the next power of ten
        exponent, digits = exponent + 1, np.uint32(10 ** (DIGITS - 1))
    if 0 <= exponent < DIGITS:
        return _print_plain(digits, exponent, pairs, text, at)
    if -5 < exponent < 0:
        for k in range(5):  # "0." and as many zeros as there can be
            text[at + k] = _ZERO
        text[at + 1] = _POINT
        at += 1 - exponent
        return _without_zeros(text, _print_digits(digits, pairs, text, at, at + 1))
    at = _print_plain(digits, 0, pairs, text, at)
    return _print_exponent(exponent, pairs, text, at)


@inlined
def _decimal_exponent(value, powers):
    """The greatest k with 10^k <= value."""
    binary = (np.float64(value).view(np.int64) >> 52) - 1023
    exponent = (binary * 1233) >> 12  # log10(2) is a little less than 1233 / 4096: right, or off by one
    return exponent + int(value >= powers[309 + exponent]) - int(value < powers[308 + exponent])


@inlined
def _print_plain(digits, exponent, pairs, text, at):
    """Digits of which the first is worth 10^exponent, 0 <= exponent < DIGITS, with a point but no zeros at the end."""
    end = _print_digits(digits, pairs, text, at, at + 2)
    for k in range(at + 1, at + 1 + exponent):  # whole numbers after the first make room for the point
        text[k] = text[k + 1]
    point = at + exponent + 1
    text[point] = _POINT
    end = _without_zeros(text, end)
    return point if end == point + 1 else end


@inlined
def _print_digits(digits, pairs, text, at, then):
    """All nine: one at a place, four pairs at the next; the place after them."""
    first = digits // np.uint32(10**8)
    text[at] = _ZERO + first
    rest = digits - first * np.uint32(10**8)
    upper = rest // np.uint32(10**4)
    lower = rest - upper * np.uint32(10**4)
    _print_four(upper, pairs, text, then)
    _print_four(lower, pairs, text, then + 4)
    return then + DIGITS - 1


@inlined
def _print_four(number, pairs, text, at):
    upper = number // np.uint32(100)
    lower = number - upper * np.uint32(100)
    text[at], text[at + 1] = pairs[2 * upper], pairs[2 * upper + 1]
    text[at + 2], text[at + 3] = pairs[2 * lower], pairs[2 * lower + 1]


@inlined
def _without_zeros(text, end):
    """The place after the last digit that is no zero; or after the point."""
    while text[end - 1] == _ZERO:
        end -= 1
    return end


@inlined
def _print_exponent(exponent, pairs, text, at):
    text[at], text[at + 1] = _E, _MINUS if exponent < 0 else _PLUS
    at, exponent = at + 2, abs(exponent)
    if exponent > 99:
        text[at] = _ZERO + exponent // 100
        at += 1
    pair = 2 * (exponent % 100)
    text[at], text[at + 1] = pairs[pair], pairs[pair + 1]
    return at + 2


@inlined
def _print_special(value, text, at):
    letters = (110, 97, 110) if math.isnan(value) else (105, 110, 102)  # nan, inf
    if value < 0:
        text[at] = _MINUS
        at += 1
    for letter in letters:
        text[at] = letter
        at += 1
    return at
