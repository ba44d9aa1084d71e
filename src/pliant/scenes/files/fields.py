"""Kinds of values in scene files: each checks itself, says what is allowed and describes itself to editors."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, Any, Self, Union, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError, core_schema

from pliant.arguments import is_finite_number


def refuse(allowed: str) -> PydanticCustomError:
    """The error of a value; what was found, and where, is added when it is told."""
    return PydanticCustomError("value", "{allowed}", {"allowed": allowed})


class Table(BaseModel):
    """A table of a scene file: no key but those it knows."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)

    @model_validator(mode="wrap")
    @classmethod
    def _keys_are_known(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Tell every unknown key with the nearest known one, beside what is wrong with the others; pydantic itself
        would not name it.
        """
        unknown = [key for key in data if key not in cls.model_fields] if isinstance(data, dict) else []
        if not unknown:
            return handler(data)
        errors: list[Any] = [{"type": _unknown_key(key, cls.model_fields), "loc": (), "input": data} for key in unknown]
        try:
            handler({key: value for key, value in data.items() if key not in unknown})
        except ValidationError as invalid:
            errors += [_again(error) for error in invalid.errors(include_url=False)]
        raise ValidationError.from_exception_data(cls.__name__, errors)


def _unknown_key(key: str, known: Any) -> PydanticCustomError:
    context = {"key": key, "hint": nearest(key, known), "known": ", ".join(known)}
    return PydanticCustomError("unknown_key", "unknown key", context)


def _again(error: Any) -> dict[str, Any]:
    """An error of a ValidationError as another one takes it."""
    custom = PydanticCustomError(error["type"], error["msg"].replace("{", "{{").replace("}", "}}"), error.get("ctx"))
    return {"type": custom, "loc": error["loc"], "input": error["input"]}


def one_of(tables: Iterable[type[Table]], tag: str) -> Any:
    """One of several tables, told apart by the words that a key of each has."""
    found = tuple(tables)
    words = [word for table in found for word in get_args(table.model_fields[tag].annotation)]

    def has_tag(value: Any) -> Any:
        """pydantic alone would not say which words there are."""
        if not isinstance(value, dict | Table):
            raise refuse(f"give a table whose key {tag!r} is one of {', '.join(words)}")
        if isinstance(value, dict) and tag not in value:
            near = get_close_matches(tag, value, n=1)
            hint = f" Is {near[0]!r} meant to be it?" if near else ""
            raise PydanticCustomError("missing_tag", "missing", {"tag": tag, "hint": hint, "allowed": ", ".join(words)})
        return value

    table: Any = Annotated[Union[found], Field(discriminator=tag)] if len(found) > 1 else found[0]  # noqa: UP007
    return Annotated[table, BeforeValidator(has_tag)]


def nearest(word: str, words: Any) -> str:
    """A question that names the word most like the one given; empty if none is like it."""
    folded = {str(known).casefold(): known for known in words}
    near = get_close_matches(str(word).casefold(), folded, n=1, cutoff=0.5)
    return f" Did you mean {folded[near[0]]!r}?" if near else ""


class _Value(ABC):
    """Base of kinds of values: `check` returns the value or refuses it, `schema` is its JSON schema."""

    @abstractmethod
    def check(self, value: Any) -> Any: ...

    @abstractmethod
    def schema(self) -> dict[str, Any]: ...

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return core_schema.no_info_plain_validator_function(self.check)

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        return self.schema()


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and is_finite_number(value)


@dataclass(frozen=True)
class Number(_Value):
    """A finite number in a unit, or inf where that is allowed, with bounds that are excluded (above, below) or not
    (least, most).
    """

    unit: str
    above: float | None = None
    least: float | None = None
    below: float | None = None
    most: float | None = None
    or_infinite: bool = False

    def check(self, value: Any) -> float:
        inside = (_is_number(value) or (self.or_infinite and value == math.inf)) and (
            (self.above is None or value > self.above)
            and (self.least is None or value >= self.least)
            and (self.below is None or value < self.below)
            and (self.most is None or value <= self.most)
        )
        if not inside:
            raise refuse(f"give {self.allowed()}")
        return float(value)

    def allowed(self) -> str:
        bounds = [
            f"{word} {bound:g}"
            for word, bound in (
                ("above", self.above),
                ("of at least", self.least),
                ("below", self.below),
                ("of at most", self.most),
            )
            if bound is not None
        ]
        return f"a number {' and '.join(bounds)}{' ' if bounds else ''}[{self.unit}]"

    def schema(self) -> dict[str, Any]:
        words = {"exclusiveMinimum": self.above, "minimum": self.least, "exclusiveMaximum": self.below}
        words["maximum"] = self.most
        bounds = {word: bound for word, bound in words.items() if bound is not None}
        return {"type": "number", "description": f"[{self.unit}]", **bounds}


@dataclass(frozen=True)
class Whole(_Value):
    """A whole number."""

    least: int = 1

    def check(self, value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value < self.least:
            raise refuse(f"give a whole number of at least {self.least}")
        return value

    def schema(self) -> dict[str, Any]:
        return {"type": "integer", "minimum": self.least}


@dataclass(frozen=True)
class Vector(_Value):
    """Three finite numbers in a unit; one stands for all three if `or_one`."""

    unit: str
    or_one: bool = False

    def check(self, value: Any) -> Any:
        if self.or_one and _is_number(value):
            return float(value)
        if not (isinstance(value, list | tuple) and len(value) == 3 and all(map(_is_number, value))):
            one = "one number or " if self.or_one else ""
            raise refuse(f"give {one}three numbers [{self.unit}], such as [0.0, 0.0, 1.0]")
        return tuple(map(float, value))

    def schema(self) -> dict[str, Any]:
        three = {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3}
        three["description"] = f"[{self.unit}]"
        return {"anyOf": [{"type": "number"}, three]} if self.or_one else three


@dataclass(frozen=True)
class Pair(_Value):
    """Two finite numbers in a unit, the lower one first."""

    unit: str

    def check(self, value: Any) -> tuple[float, ...]:
        is_pair = isinstance(value, list | tuple) and len(value) == 2 and all(map(_is_number, value))
        if not is_pair or not value[0] < value[1]:
            raise refuse(f"give two numbers [{self.unit}], the lower one first, such as [-1.0, 1.0]")
        return tuple(map(float, value))

    def schema(self) -> dict[str, Any]:
        two = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
        return {**two, "description": f"[{self.unit}]"}


@dataclass(frozen=True)
class Quaternion(_Value):
    """Four numbers (w, x, y, z), not all zero."""

    def check(self, value: Any) -> tuple[float, ...]:
        is_four = isinstance(value, list | tuple) and len(value) == 4 and all(map(_is_number, value))
        if not is_four or not any(value):
            raise refuse("give a quaternion (w, x, y, z) that is not zero, such as [1.0, 0.0, 0.0, 0.0]")
        return tuple(map(float, value))

    def schema(self) -> dict[str, Any]:
        return {"type": "array", "items": {"type": "number"}, "minItems": 4, "maxItems": 4}


@dataclass(frozen=True)
class Corner(_Value):
    """Three lengths [m], of which any may be inf or -inf: no wall there."""

    def check(self, value: Any) -> tuple[float, ...]:
        numbers = isinstance(value, list | tuple) and len(value) == 3
        if not numbers or not all(_is_number(v) or (isinstance(v, float) and math.isinf(v)) for v in value):
            raise refuse("give three numbers [m], inf or -inf where there is no wall, such as [-inf, -inf, 0.0]")
        return tuple(map(float, value))

    def schema(self) -> dict[str, Any]:
        return {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3, "description": "[m]"}


@dataclass(frozen=True)
class Colour(_Value):
    """Red, green, blue from 0 to 1, or "#rrggbb"."""

    def check(self, value: Any) -> tuple[float, ...]:
        if isinstance(value, str) and len(value) == 7 and value[0] == "#":
            try:
                return tuple(int(value[k : k + 2], 16) / 255 for k in (1, 3, 5))
            except ValueError:
                pass
        elif isinstance(value, list | tuple) and len(value) == 3 and all(_is_number(v) and 0 <= v <= 1 for v in value):
            return tuple(map(float, value))
        raise refuse('give "#rrggbb" or three numbers from 0 to 1')

    def schema(self) -> dict[str, Any]:
        numbers = {"type": "number", "minimum": 0, "maximum": 1}
        three = {"type": "array", "items": numbers, "minItems": 3, "maxItems": 3}
        return {"anyOf": [{"type": "string", "pattern": "^#[0-9a-fA-F]{6}$"}, three]}
