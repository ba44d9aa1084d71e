"""Where the manual explains a warning or an error.

A warning names its section of the page by `logger.warning(..., extra={"entry": "not-converged"})`, an error by the
`entry` of its class. A test checks that the page has every section that is named. The page comes with the package, so
that `pliant explain` finds it wherever Pliant is installed; in a checkout that is a link to docs/
"""

from __future__ import annotations

import logging
import re

PAGE = "docs/troubleshooting.md"


def link(entry: str) -> str:
    """The place of a section."""
    return f"{PAGE}#{entry}"


def see(entry: str) -> str:
    """The sentence that ends a message."""
    return f"See {link(entry)}, or run: pliant explain {entry}"


def sections(page: str) -> dict[str, str]:
    """Text of each section of the page by its name: the heading without marks, then the paragraphs."""
    parts = re.split(r"(?m)^#+ (.*?) \{ #([\w-]+) \}$", page)
    texts = (re.split(r"(?m)^#+ ", text)[0].strip() for text in parts[3::3])
    return {name: f"{title}\n\n{text}" for title, name, text in zip(parts[1::3], parts[2::3], texts, strict=True)}


def entry_of(record: logging.LogRecord) -> str:
    """The section that a message names; empty if it names none."""
    return str(record.__dict__.get("entry", ""))


class LinkFormatter(logging.Formatter):
    """Messages, and after those that name a section of the page, where it is."""

    def format(self, record: logging.LogRecord) -> str:
        text, entry = super().format(record), entry_of(record)
        return f"{text} {see(entry)}" if entry else text
