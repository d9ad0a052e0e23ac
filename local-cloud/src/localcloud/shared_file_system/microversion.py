"""The microversions of the API of shared file systems: which one a request asks for."""

import re
from dataclasses import dataclass

from starlette.datastructures import Headers

from localcloud.http import BadRequest, NotAcceptable

MAXIMUM = 99
"""Minor numbers below major version 2, from 0 on."""
_NUMBER = re.compile(r"([1-9]\d{0,3})\.(\d{1,4})")
_HEADER = "X-OpenStack-Manila-API-Version"


@dataclass(frozen=True)
class Microversion:
    """A version of the API, by its minor number."""

    minor: int

    def since(self, minor: int) -> bool:
        """Whether the version is 2.``minor`` or later."""
        return self.minor >= minor

    def headers(self) -> dict[str, str]:
        """Return the headers of an answer in this version."""
        return {_HEADER: f"2.{self.minor}", "Vary": _HEADER}


def negotiate(headers: Headers) -> Microversion:
    """Return the version that the request asks for, 2.0 where it asks for none.

    Raises :class:`BadRequest` for text that is no version, and :class:`NotAcceptable` for a
    version that is not served.
    """
    text = headers.get(_HEADER)
    if text is None:
        return Microversion(0)
    found = _NUMBER.fullmatch(text)
    if found is None:
        raise BadRequest(
            f"API Version String {text} is of invalid format. Must be of format MajorNum.MinorNum."
        )
    major, minor = int(found[1]), int(found[2])
    if major != 2 or minor > MAXIMUM:
        raise NotAcceptable(
            f"Version {text} is not supported by the API. "
            f"Minimum is 2.0 and maximum is 2.{MAXIMUM}."
        )
    return Microversion(minor)
