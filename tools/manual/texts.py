"""What the sources say of a name: docstrings, and comments beside fields."""

from __future__ import annotations

import inspect
import io
import re
import tokenize
from typing import Any


def described(value: Any) -> str:
    """All that is said of a name: its text, and for a class those of its bases and the comments of its fields."""
    texts = [inspect.getdoc(value) or ""]
    if inspect.isclass(value):
        own = [base for base in value.__mro__ if base.__module__.startswith("pliant")]
        texts += [base.__doc__ or "" for base in own[1:]]
        texts += [f"{name} {text}" for base in own for name, text in comments(base).items()]
    return "\n".join(texts)


def comments(kind: type) -> dict[str, str]:
    """The comment at the end of each line that declares a field."""
    try:
        source = inspect.cleandoc(inspect.getsource(kind))
    except (OSError, TypeError):
        return {}
    lines, found = source.splitlines(), {}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            declared = re.match(r"\s*(\w+): ", lines[token.start[0] - 1])
            if declared:
                found[declared[1]] = token.string.lstrip("# ")
    return found
