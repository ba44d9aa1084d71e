"""Where the manual explains a warning or an error.

A warning names its section of the page by `logger.warning(..., extra={"entry": "not-converged"})`, an error by the
`entry` of its class. A test checks that the page has every section that is named.
"""

from __future__ import annotations

import logging

PAGE = "docs/troubleshooting.md"


def link(entry: str) -> str:
    """The place of a section."""
    return f"{PAGE}#{entry}"


def entry_of(record: logging.LogRecord) -> str:
    """The section that a message names; empty if it names none."""
    return str(record.__dict__.get("entry", ""))


class LinkFormatter(logging.Formatter):
    """Messages, and after those that name a section of the page, where it is."""

    def format(self, record: logging.LogRecord) -> str:
        text, entry = super().format(record), entry_of(record)
        return f"{text} See {link(entry)}." if entry else text
