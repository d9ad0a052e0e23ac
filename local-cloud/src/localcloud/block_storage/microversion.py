"""The microversions of the block storage API: which one a request asks for."""

import re
from dataclasses import dataclass

from starlette.datastructures import Headers

from localcloud.http import BadRequest, NotAcceptable

MAXIMUM = 71
"""Minor numbers below major version 3, from 0 on."""
_NUMBER = re.compile(r"(\d{1,4})\.(\d{1,4})")
_HEADER = "OpenStack-API-Version"


@dataclass(frozen=True)
class Microversion:
    """A version of the API, by its minor number."""

    minor: int

    def since(self, minor: int) -> bool:
        """Whether the version is 3.``minor`` or later."""
        return self.minor >= minor

    def headers(self) -> dict[str, str]:
        """Return the headers of an answer in this version."""
        return {_HEADER: f"volume 3.{self.minor}", "Vary": _HEADER}


def negotiate(headers: Headers) -> Microversion:
    """Return the version that the request asks for, 3.0 where it asks for none.

    Raises :class:`BadRequest` for text that is no version, and :class:`NotAcceptable` for a
    version that is not served.
    """
    for term in ",".join(headers.getlist(_HEADER)).split(","):
        service, _, text = term.strip().partition(" ")
        if service.lower() == "volume":
            return _parsed(text.strip().lower())
    return Microversion(0)


def _parsed(text: str) -> Microversion:
    if text == "latest":
        return Microversion(MAXIMUM)
    found = _NUMBER.fullmatch(text)
    if found is None:
        raise BadRequest(
            f"API Version String {text} is of invalid format. Must be of format MajorNum.MinorNum."
        )
    major, minor = int(found[1]), int(found[2])
    if major != 3 or minor > MAXIMUM:
        raise NotAcceptable(
            f"Version {text} is not supported by the API. "
            f"Minimum is 3.0 and maximum is 3.{MAXIMUM}."
        )
    return Microversion(minor)
