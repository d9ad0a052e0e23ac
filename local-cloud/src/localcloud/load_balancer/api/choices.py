"""The API of providers, flavors and availability zones, from which load balancers choose.

This cloud has one kind of load balancer. Further choices of administrators are stored, shown and
accepted, but have no effect.
"""

import json
from uuid import uuid4

from msgspec import Struct

from localcloud.core.store import Document
from localcloud.load_balancer.api.call import Call
from localcloud.load_balancer.errors import invalid, no_such, not_found
from localcloud.load_balancer.model.kinds import (
    FLAVOR,
    FLAVOR_PROFILE,
    LOAD_BALANCER,
    ZONE,
    ZONE_PROFILE,
    Kind,
)
from localcloud.load_balancer.model.state import State
from localcloud.web.api_request import Endpoint
from localcloud.web.http import BadRequestError, ConflictError
from localcloud.web.permissions import Access

# By the names that templates use.
PROVIDERS = {
    "amphora": "The Octavia Amphora driver.",
    "octavia": "Deprecated alias of the Octavia Amphora driver.",
}


def chosen_provider(state: State, values: Document) -> str:
    """Return the provider of a new load balancer; raises the API's 400 for an unknown one."""
    provider: str | None = values["provider"]
    flavor_id = values["flavor_id"]
    if flavor_id:
        flavor = state.of(FLAVOR).get(flavor_id)
        if flavor is None:
            raise invalid("Invalid flavor_id.")
        _require_enabled("flavor", flavor_id, flavor)
        profile = state.of(FLAVOR_PROFILE).get(flavor["flavor_profile_id"]) or {}
        named = str(profile.get("provider_name"))
        if provider not in (None, named):
            raise BadRequestError(
                f"Flavor '{flavor_id}' is not compatible with provider '{provider}'"
            )
        provider = named
    zone_name = values["availability_zone"]
    if zone_name:
        zone = next(state.of(ZONE).find(name=zone_name), None)
        if zone is None:
            raise invalid("Invalid availability_zone.")
        _require_enabled("availability_zone", zone_name, zone)
    chosen = provider or "amphora"
    if chosen not in PROVIDERS:
        raise _not_enabled(chosen)
    return chosen


def _require_enabled(option: str, value: str, found: Document) -> None:
    if not found["enabled"]:
        raise BadRequestError(f"The selected {option} is not allowed in this deployment: {value}")


def _not_enabled(provider: str) -> BadRequestError:
    return BadRequestError(f"Provider '{provider}' is not enabled.")


class Choices(Struct, frozen=True):
    """The requests on the objects of one kind."""

    kind: Kind
    path: str
    key: str = "id"  # by what the path names one
    users: Kind | None = None  # the kind of what uses them, ..
    used_as: str = ""  # ... and the field in which that has it.
    data: str | None = None  # the field that is JSON

    def endpoints(self) -> list[Endpoint]:
        """Return the endpoints."""
        one, admin = f"{self.path}/{{id}}", Access.ADMIN
        reads = admin if self.data else None
        return [
            Endpoint("GET", self.path, self._listed, reads),
            Endpoint("POST", self.path, self._create, admin, status=201),
            Endpoint("GET", one, self._show, reads),
            Endpoint("PUT", one, self._change, admin),
            Endpoint("DELETE", one, self._delete, admin),
        ]

    def _shown(self, document: Document) -> Document:
        hidden = {"id"} if self.key == "name" else set()
        return {name: value for name, value in document.items() if name not in hidden}

    async def _listed(self, call: Call) -> Document:
        return call.listed(self.kind, map(self._shown, call.state.of(self.kind).values()))

    def _found(self, call: Call) -> Document:
        key = call.argument("id")
        for found in call.state.of(self.kind).find(**{self.key: key}):
            return found
        raise not_found(self.kind.words, key)

    async def _show(self, call: Call) -> Document:
        return call.one(self.kind.name, self._shown(self._found(call)))

    async def _create(self, call: Call) -> Document:
        values = self.kind.new(call.wrapped(self.kind.name))
        self._check(call.state, values)
        if any(call.state.of(self.kind).find(name=values["name"])) and self.data is None:
            raise ConflictError(f"A {self.kind.words.lower()} of {values['name']} already exists.")
        made = {"id": str(uuid4()), **values}
        call.state.of(self.kind).put(made)
        return {self.kind.name: self._shown(made)}

    def _check(self, state: State, values: Document) -> None:
        if self.data in values:
            try:
                data = json.loads(values[self.data])
            except ValueError:
                data = None
            if not isinstance(data, dict):
                raise BadRequestError(f"{values[self.data]} is not a valid option for {self.data}")
        if "provider_name" in values and values["provider_name"] not in PROVIDERS:
            raise _not_enabled(values["provider_name"])
        for name, profile in (
            ("flavor_profile_id", FLAVOR_PROFILE),
            ("availability_zone_profile_id", ZONE_PROFILE),
        ):
            if name in values and state.of(profile).get(values[name]) is None:
                raise no_such(profile.words, values[name])

    async def _change(self, call: Call) -> Document:
        found = self._found(call)
        changes = self.kind.changes(call.wrapped(self.kind.name))
        self._check(call.state, changes)
        if self.data and set(changes) - {"name"}:
            self._require_unused(call, found)
        changed = {**found, **changes}
        call.state.of(self.kind).put(changed)
        return {self.kind.name: self._shown(changed)}

    async def _delete(self, call: Call) -> None:
        found = self._found(call)
        self._require_unused(call, found)
        call.state.of(self.kind).delete(found["id"])

    def _require_unused(self, call: Call, found: Document) -> None:
        if self.users is not None:
            for user in call.state.of(self.users).values():
                if user[self.used_as] == found[self.key]:
                    raise ConflictError(
                        f"{self.kind.words} {found[self.key]} is in use and cannot be modified."
                    )


async def providers(call: Call) -> Document:
    """Return the providers."""
    return {"providers": [{"name": name, "description": text} for name, text in PROVIDERS.items()]}


async def flavor_capabilities(call: Call) -> Document:
    """Return the capabilities of flavors. None of them has an effect."""
    _require_provider(call)
    return {"flavor_capabilities": []}


async def zone_capabilities(call: Call) -> Document:
    """Return the capabilities of availability zones. None of them has an effect."""
    _require_provider(call)
    return {"availability_zone_capabilities": []}


def _require_provider(call: Call) -> None:
    if call.argument("provider") not in PROVIDERS:
        raise _not_enabled(call.argument("provider"))


_PROVIDERS = "/lbaas/providers"
KINDS = (
    Choices(FLAVOR, "/lbaas/flavors", users=LOAD_BALANCER, used_as="flavor_id"),
    Choices(
        FLAVOR_PROFILE,
        "/lbaas/flavorprofiles",
        users=FLAVOR,
        used_as="flavor_profile_id",
        data="flavor_data",
    ),
    Choices(
        ZONE,
        "/lbaas/availabilityzones",
        key="name",
        users=LOAD_BALANCER,
        used_as="availability_zone",
    ),
    Choices(
        ZONE_PROFILE,
        "/lbaas/availabilityzoneprofiles",
        users=ZONE,
        used_as="availability_zone_profile_id",
        data="availability_zone_data",
    ),
)
ENDPOINTS = (
    *(endpoint for choices in KINDS for endpoint in choices.endpoints()),
    Endpoint("GET", _PROVIDERS, providers),
    Endpoint(
        "GET", f"{_PROVIDERS}/{{provider}}/flavor_capabilities", flavor_capabilities, Access.ADMIN
    ),
    Endpoint(
        "GET",
        f"{_PROVIDERS}/{{provider}}/availability_zone_capabilities",
        zone_capabilities,
        Access.ADMIN,
    ),
)
