"""Parameters of queries: each is declared once, and that is how it is read and described."""

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
        """Its values, as a JSON schema."""
        return {"type": "string"}


class Flag(Parameter, frozen=True):
    """``true`` or ``false``."""

    default: bool = False

    def schema(self) -> dict[str, Any]:
        """A boolean."""
        return {"type": "boolean", "default": self.default}

    def read(self, query: QueryParams) -> bool:
        """Return the value; refuses (400) other words."""
        return flag(self.name, query[self.name]) if self.name in query else self.default


class Number(Parameter, frozen=True):
    """An integer from 0."""

    def schema(self) -> dict[str, Any]:
        """A number."""
        return {"type": "integer", "minimum": 0, "maximum": LARGEST}

    def read(self, query: QueryParams) -> int | None:
        """Return the value, or None; refuses (400) other numbers."""
        return whole_number(self.name, query[self.name]) if self.name in query else None


class Text(Parameter, frozen=True):
    """A text."""

    def read(self, query: QueryParams) -> str | None:
        """The value, or None where there is none."""
        return query.get(self.name)


class Choice(Parameter, frozen=True):
    """One of a few words; the first counts where none is given."""

    words: tuple[str, ...]

    def schema(self) -> dict[str, Any]:
        """The words."""
        return {"type": "string", "enum": list(self.words), "default": self.words[0]}

    def read(self, query: QueryParams) -> str:
        """The word; refuses (400) any other."""
        word = query.get(self.name, self.words[0])
        if word not in self.words:
            known = " or ".join(f'"{each}"' for each in self.words)
            raise ValidationError(f'{self.name} is either {known}, not "{word:.100}".')
        return word


class Texts(Parameter, frozen=True):
    """Texts: the parameter may be repeated."""

    def schema(self) -> dict[str, Any]:
        """A list."""
        return {"type": "array", "items": {"type": "string"}}

    def read(self, query: QueryParams) -> tuple[str, ...]:
        """All values."""
        return tuple(query.getlist(self.name))
