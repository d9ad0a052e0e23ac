"""The microversions of the compute API: which one a request asks for, and how it is confirmed."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from starlette.datastructures import Headers

from localcloud.http import BadRequest, NotAcceptable

MINIMUM = 1
MAXIMUM = 96
"""Minor numbers below major version 2."""
_NUMBER = re.compile(r"(\d{1,4})\.(\d{1,4})")
_HEADER = "OpenStack-API-Version"
_OLD_HEADER = "X-OpenStack-Nova-API-Version"


@dataclass(frozen=True)
class Microversion:
    """A version of the API, by its minor number."""

    minor: int

    def __str__(self) -> str:
        return f"2.{self.minor}"

    def since(self, minor: int) -> bool:
        """Whether the version is 2.``minor`` or later."""
        return self.minor >= minor

    def within(self, first: int, last: int) -> bool:
        """Whether the version is in this range, both ends included."""
        return first <= self.minor <= last

    def names(self, always: Iterable[str], later: Mapping[int, Iterable[str]]) -> set[str]:
        """Return these names, and those of ``later`` whose minor number has come."""
        return {*always, *(name for minor in later if self.since(minor) for name in later[minor])}

    def headers(self) -> dict[str, str]:
        """Return the headers of an answer in this version."""
        return {
            _HEADER: f"compute {self}",
            _OLD_HEADER: str(self),
            "Vary": f"{_HEADER}, {_OLD_HEADER}",
        }


def negotiate(headers: Headers) -> Microversion:
    """Return the version that the request asks for, 2.1 where it asks for none.

    Raises :class:`BadRequest` for text that is no version, and :class:`NotAcceptable` for a
    version that is not served.
    """
    text = _asked(headers)
    if text is None:
        return Microversion(MINIMUM)
    if text == "latest":
        return Microversion(MAXIMUM)
    found = _NUMBER.fullmatch(text)
    if found is None:
        raise BadRequest(f"The API version '{text}' is invalid; it must look like 2.1.")
    major, minor = int(found[1]), int(found[2])
    if major != 2 or not MINIMUM <= minor <= MAXIMUM:
        raise NotAcceptable(
            f"Version {text} is not supported by the API. "
            f"Minimum is 2.{MINIMUM} and maximum is 2.{MAXIMUM}."
        )
    return Microversion(minor)


def _asked(headers: Headers) -> str | None:
    for term in ",".join(headers.getlist(_HEADER)).split(","):
        service, _, version = term.strip().partition(" ")
        if service.lower() == "compute":
            return version.strip().lower()
    return headers.get(_OLD_HEADER)
