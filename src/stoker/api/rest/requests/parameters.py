"""Parameters of queries. One declaration is used to parse and to describe each."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from starlette.datastructures import QueryParams

from stoker.api.rest.requests.values import LARGEST, flag, whole_number
from stoker.kernel.errors import ValidationError


class Parameter(Struct, frozen=True):
    """An optional parameter of a query."""

    name: str
    description: str  # for the document of the API, with the default

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of its values."""
        return {"type": "string"}


class Flag(Parameter, frozen=True):
    """``true`` or ``false``."""

    default: bool = False

    def schema(self) -> dict[str, Any]:
        """Return the schema of a boolean."""
        return {"type": "boolean", "default": self.default}

    def read(self, query: QueryParams) -> bool:
        """Return the value. Rejects other words (400)."""
        return flag(self.name, query[self.name]) if self.name in query else self.default


class Number(Parameter, frozen=True):
    """An integer from 0."""

    def schema(self) -> dict[str, Any]:
        """Return the schema of a number."""
        return {"type": "integer", "minimum": 0, "maximum": LARGEST}

    def read(self, query: QueryParams) -> int | None:
        """Return the value, or None. Rejects other numbers (400)."""
        return whole_number(self.name, query[self.name]) if self.name in query else None


class Text(Parameter, frozen=True):
    """A text."""

    def read(self, query: QueryParams) -> str | None:
        """Return the value, or None if it is not given."""
        return query.get(self.name)


class Choice(Parameter, frozen=True):
    """One of a few words; the first is the default."""

    words: tuple[str, ...]

    def schema(self) -> dict[str, Any]:
        """Return the schema of the words."""
        return {"type": "string", "enum": list(self.words), "default": self.words[0]}

    def read(self, query: QueryParams) -> str:
        """Return the word. Rejects any other (400)."""
        word = query.get(self.name, self.words[0])
        if word not in self.words:
            known = " or ".join(f'"{each}"' for each in self.words)
            raise ValidationError(f'{self.name} is either {known}, not "{word:.100}".')
        return word


class Texts(Parameter, frozen=True):
    """Texts: the parameter may be repeated."""

    def schema(self) -> dict[str, Any]:
        """Return the schema of a list."""
        return {"type": "array", "items": {"type": "string"}}

    def read(self, query: QueryParams) -> tuple[str, ...]:
        """Return all values."""
        return tuple(query.getlist(self.name))
