"""Authentication by packages that operators install."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from stoker.engine.model.requests import Caller

if TYPE_CHECKING:
    from oslo_config.cfg import ConfigOpts

# The group of entry points. An entry point is called as ``factory(conf, keystone)``: the options of
# the service, and its own way to authenticate. It returns an :data:`Authentication`.
GROUP = "stoker.authentication"

# Called with the headers of a request, their names in lower case, and the project in its address.
# Returns the caller, or None if the request does not prove its sender.
Authentication = Callable[[Mapping[str, str], str | None], Awaitable[Caller | None]]


def authentication(conf: ConfigOpts, keystone: Authentication) -> Authentication:
    """Return the authentication that the options choose: ``keystone``, or that of a package.

    Raise ValueError if no such package is installed.
    """
    name = conf.authentication_backend
    if not name and conf.paste_deploy.flavor != "custombackend":
        return keystone
    known = {found.name: found for found in entry_points(group=GROUP)}
    if name not in known:
        there = ", ".join(sorted(known)) or "none"
        raise ValueError(
            f"[DEFAULT] authentication_backend has to name an entry point of the group {GROUP} in"
            f' an installed package; there is {there}, not "{name}"'
        )
    factory = known[name].load()
    chosen: Authentication = factory(conf, keystone)
    return chosen
