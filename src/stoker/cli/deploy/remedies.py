"""Remedies for failures with texts that are known from clouds.

A remedy is a sentence, with a command if possible. It names the resource of the stack that uses a
port, an address or a subnet, if the service or the cloud knows it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from stoker.cli.client.client import Client
from stoker.cli.console.failures import CommandError

_QUOTA = re.compile(r"quota|(?:Limit|maximum number of \S+ allowed .*)Exceeded", re.IGNORECASE)
_NO_ROUTE = re.compile(r"External network \S+ is not reachable from subnet")
_IN_USE = re.compile(r"Port (?P<id>\S+) is (?:still|already|currently) in use|PortInUse")
_TAKEN = re.compile(r"IP address (?P<id>\S+) (?:is )?already allocated")
_SUBNET = re.compile(r"operation on subnet (?P<id>[0-9a-f-]{36}).*IP allocation", re.DOTALL)
_DOUBTFUL = re.compile(r"\bHTTP (409|500)\b")
_MOST_PORTS = 5


class KnownObject(Struct, frozen=True):
    """An object in a failure text, and the stack's resource for it."""

    id: str
    name: str | None  # path of the resource with the object
    used_by: tuple[str, ...]


class Failure(Struct, frozen=True):
    """A failure with everything that its remedy depends on."""

    name: str  # path of the resource
    text: str
    objects: tuple[KnownObject, ...] = ()

    @property
    def holders(self) -> str:
        """Return the other resources that use the objects in the text."""
        return ", ".join(dict.fromkeys(user for each in self.objects for user in each.used_by))


def _quota(failure: Failure) -> str:
    return (
        'the project\'s quota is used up: "openstack quota show --usage" shows it; delete what is'
        ' not needed, or have an administrator raise it with "openstack quota set"'
    )


def _no_route(failure: Failure) -> str:
    return (
        "connect the subnet to a router whose gateway is that network, with"
        " OS::Neutron::RouterInterface, and let this resource depend on it (depends_on)"
    )


def _in_use(failure: Failure) -> str:
    if failure.holders:
        return (
            f"{failure.holders} holds the port, and is only deleted or changed later: keep its"
            " name, use another port here, or remove it in a deployment of its own before this one"
        )
    found = _IN_USE.search(failure.text)
    port = found["id"] if found is not None and found["id"] else "PORT"
    return f'something outside the stack uses the port: "openstack port show {port}" says what'


def _taken(failure: Failure) -> str:
    found = _TAKEN.search(failure.text)
    address = found["id"] if found is not None else "ADDRESS"
    if failure.holders:
        return f"{failure.holders} has the address: give one of the two another, or none"
    return (
        f"something outside the stack has it: openstack port list --fixed-ip ip-address={address}"
    )


def _subnet(failure: Failure) -> str:
    found = _SUBNET.search(failure.text)
    subnet = found["id"] if found is not None else "SUBNET"
    return (
        "ports from outside the stack are in the subnet; delete them, or detach what uses them:"
        f" openstack port list --fixed-ip subnet={subnet}"
    )


_REMEDIES: tuple[tuple[re.Pattern[str], Callable[[Failure], str]], ...] = (
    (_QUOTA, _quota),
    (_NO_ROUTE, _no_route),
    (_IN_USE, _in_use),
    (_TAKEN, _taken),
    (_SUBNET, _subnet),
)


def remedy_for(failure: Failure) -> str | None:
    """Return the remedy for a failure, or None if its text is unknown."""
    for words, remedy in _REMEDIES:
        if words.search(failure.text):
            return remedy(failure)
    return None


def retry_advice(text: str) -> str:
    """Return a sentence about the time for which a refused call is repeated."""
    if _DOUBTFUL.search(text):
        return "it is retried for up to 5 minutes; then the operation fails"
    return "it is retried until the cloud accepts it or the operation times out"


def ports_in_the_way(client: Client, text: str) -> Sequence[str]:
    """Return the ports that prevent the deletion of a subnet, one per line."""
    found = _SUBNET.search(text)
    if found is None:
        return ()
    query = {"fixed_ips": f"subnet_id={found['id']}"}
    try:
        ports = client.get("network", "/v2.0/ports", query)["ports"]
    except (CommandError, KeyError, TypeError):
        return ()
    lines = [
        f"port {port['id']}" + (f" ({port['name']})" if port.get("name") else "") + " is in it"
        for port in ports
        if port.get("device_owner") not in ("network:dhcp", "network:distributed")
    ]
    more = [f"and {len(lines) - _MOST_PORTS} more"] if len(lines) > _MOST_PORTS else []
    return [*lines[:_MOST_PORTS], *more]
