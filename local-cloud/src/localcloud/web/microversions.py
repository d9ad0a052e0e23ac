"""Microversions of APIs: which one a request asks for, and how an answer confirms it."""

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct
from starlette.datastructures import Headers

from localcloud.web.http import BadRequestError, NotAcceptableError

_NUMBER = re.compile(r"(\d{1,4})\.(\d{1,4})")
# The header of all services, with a term for each: `compute 2.90`.
_COMMON = "OpenStack-API-Version"


class Microversions(Struct, frozen=True):
    """Those that an API has, by their minor numbers below one major version."""

    major: int
    minimum: int  # what a request gets that asks for none
    maximum: int
    # The service's word in the common header; None where that says nothing of the service.
    word: str | None = None
    header: str | None = None  # a header of the service's own

    def negotiate(self, headers: Headers) -> "Microversion":
        """Return the version that a request asks for.

        Raises :class:`BadRequestError` for text that is no version, and
        :class:`NotAcceptableError` for a version that is not served.
        """
        text = self._asked(headers)
        if text is None:
            return Microversion(self, self.minimum)
        if text == "latest" and self.word is not None:
            return Microversion(self, self.maximum)
        found = _NUMBER.fullmatch(text)
        if found is None:
            raise BadRequestError(
                f"API Version String {text} is of invalid format."
                " Must be of format MajorNum.MinorNum."
            )
        major, minor = int(found[1]), int(found[2])
        if major != self.major or not self.minimum <= minor <= self.maximum:
            raise NotAcceptableError(
                f"Version {text} is not supported by the API. "
                f"Minimum is {self.first} and maximum is {self.latest}."
            )
        return Microversion(self, minor)

    @property
    def first(self) -> str:
        """The lowest version."""
        return f"{self.major}.{self.minimum}"

    @property
    def latest(self) -> str:
        """The highest version."""
        return f"{self.major}.{self.maximum}"

    def _asked(self, headers: Headers) -> str | None:
        if self.word is not None:
            for term in ",".join(headers.getlist(_COMMON)).split(","):
                service, _, version = term.strip().partition(" ")
                if service.lower() == self.word:
                    return version.strip().lower()
        return headers.get(self.header) if self.header is not None else None


class Microversion(Struct, frozen=True):
    """A version of an API, by its minor number."""

    api: Microversions
    minor: int

    def __str__(self) -> str:
        return f"{self.api.major}.{self.minor}"

    def since(self, minor: int) -> bool:
        """Return whether the version is the one with this minor number or later."""
        return self.minor >= minor

    def within(self, first: int, last: int) -> bool:
        """Return whether the version is in this range, both ends included."""
        return first <= self.minor <= last

    def names(self, always: Iterable[str], later: Mapping[int, Iterable[str]]) -> set[str]:
        """Return these names, and those of ``later`` whose minor number has come."""
        return {*always, *(name for minor in later if self.since(minor) for name in later[minor])}

    def headers(self) -> dict[str, str]:
        """Return the headers of an answer in this version."""
        found = {}
        if self.api.word is not None:
            found[_COMMON] = f"{self.api.word} {self}"
        if self.api.header is not None:
            found[self.api.header] = str(self)
        return {**found, "Vary": ", ".join(found)}


COMPUTE = Microversions(2, 1, 96, word="compute", header="X-OpenStack-Nova-API-Version")
BLOCK_STORAGE = Microversions(3, 0, 71, word="volume")
SHARED_FILE_SYSTEM = Microversions(2, 0, 99, header="X-OpenStack-Manila-API-Version")
KEY_MANAGER = Microversions(1, 0, 2, word="key-manager")
