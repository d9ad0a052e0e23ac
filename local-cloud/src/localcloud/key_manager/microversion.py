"""Which minor version of the API a request speaks."""

from starlette.requests import Request

from localcloud.http import NotAcceptable

MAXIMUM = 2
_HEADER = "openstack-api-version"
_SERVICE = "key-manager"


def minor(request: Request) -> int:
    """Return the minor version; raises NotAcceptable for one that does not exist."""
    for term in request.headers.get(_HEADER, "").split(","):
        service, _, version = term.strip().partition(" ")
        if service != _SERVICE:
            continue
        if version.strip() == "latest":
            return MAXIMUM
        major, _, number = version.strip().partition(".")
        if major != "1" or not number.isdecimal() or int(number) > MAXIMUM:
            raise NotAcceptable(f"Version {version} is not supported by the API.")
        return int(number)
    return 0


def supports(request: Request, least: int) -> bool:
    """Whether the request speaks this minor version or a later one."""
    return minor(request) >= least
