"""The absence of a cloud and of an identity service, as ports of an engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from stoker.engine.model.records import Stack
from stoker.engine.model.requests import Caller
from stoker.kernel.errors import NotFoundError
from stoker.schema.constraints import CustomCheck
from stoker.schema.inventory import ExistingObject, NamedObject
from stoker.schema.properties import NameLookup
from stoker.schema.quotas import Quota, QuotaKeys
from stoker.schema.resource_type import Call
from stoker.trial.types import ImaginedTypes

_URL = "http://stoker.invalid"  # a name that never resolves, RFC 2606


class NoClouds:
    """Answers questions about clouds from the facts of a test."""

    def __init__(self, types: ImaginedTypes) -> None:
        self._types = types

    def connection(self, stack: Stack) -> Any:
        """Return None: there is no cloud."""

    def lookup(self, stack: Stack, lookups: Sequence[NameLookup]) -> Sequence[str]:
        """Return names as they are, in place of ids."""
        return [lookup.value for lookup in lookups]

    def check(self, stack: Stack, checks: Sequence[CustomCheck]) -> Sequence[str | None]:
        """Return the faults that the names of the test's cloud show."""
        return [self._types.cloud.fault(check) for check in checks]

    def known_faults(self, stack: Stack, checks: Sequence[CustomCheck]) -> Sequence[str | None]:
        """Return the same as :meth:`check`."""
        return self.check(stack, checks)

    def lacking(
        self, stack: Stack, dependencies: Sequence[tuple[str, str]]
    ) -> Sequence[str | None]:
        """Return that no service is missing."""
        return [None] * len(dependencies)

    def quotas(self, stack: Stack, use: QuotaKeys) -> Sequence[Quota]:
        """Return no quotas."""
        return []

    def inventory(self, stack: Stack) -> Sequence[ExistingObject]:
        """Return no objects."""
        return []

    def choices(self, stack: Stack, constraint: str, most: int) -> Sequence[NamedObject]:
        """Raise NotFoundError: there is no list."""
        raise NotFoundError("a test without a cloud has no lists of objects")

    def console_log(self, stack: Stack, server_id: str, lines: int) -> str:
        """Raise NotFoundError: there is no server."""
        raise NotFoundError("a test without a cloud has no servers")


class NoFaults:
    """Classifies exceptions: none of them is of a cloud."""

    def is_not_found(self, error: Exception) -> bool:
        """Return False."""
        return False

    def lands_within(self, error: Exception) -> float:
        """Return that no request is in flight."""
        return 0.0

    def retry_after(self, error: Exception, attempt: int) -> float | None:
        """Return that no call is repeated."""
        return None

    def describe(self, error: Exception) -> str:
        """Return the exception as text."""
        return f"{type(error).__name__}: {error}"


class NoTrusts:
    """Grants no credentials, since no service asks for them."""

    async def grant(self, caller: Caller) -> Mapping[str, Any]:
        """Return no credentials."""
        return {}

    def forget(self, credentials: Mapping[str, Any]) -> None:
        """Do nothing."""

    async def revoke(self, credentials: Mapping[str, Any]) -> None:
        """Do nothing."""


class ImaginedSignallers:
    """Makes credentials and URLs for signals that nothing accepts."""

    def of(self, stack: Stack) -> ImaginedSignallers:
        """Return the credentials for the resources of a stack."""
        return self

    def close(self, stack: Stack) -> None:
        """Do nothing."""

    def create_user(self, call: Call) -> Mapping[str, Any]:
        """Return the data of a user."""
        return {"user_id": f"user-{call.name}", "username": call.physical_name, "password": "-"}

    def delete_user(self, call: Call) -> None:
        """Do nothing."""

    def create_keypair(self, call: Call, user_id: str) -> Mapping[str, Any]:
        """Return an EC2 key pair."""
        return {"access": f"access-{call.name}", "secret": f"secret-{call.name}"}

    def delete_keypair(self, call: Call, access: str) -> None:
        """Do nothing."""

    def user_id(self, call: Call, username: str) -> str | None:
        """Return the id of a user."""
        return f"user-{username}"

    def signal_url(self, call: Call, project_id: str | None = None) -> str:
        """Return the URL for signals of the REST API."""
        return f"{_URL}/v1/{call.stack.project_id}/stacks/{call.stack.name}/{call.name}/signal"

    def metadata_url(self, call: Call) -> str:
        """Return the URL of the CloudFormation API."""
        return f"{_URL}/v1/"

    def watch_url(self, call: Call) -> str:
        """Return the URL of the CloudWatch API."""
        return f"{_URL}/v1/"

    def presigned_url(self, call: Call, path: str, *, never_expire: bool = False) -> str:
        """Return a URL with a signature that is not valid."""
        query = urlencode({"Signature": "imagined"})
        return f"{_URL}/v1/{path}/{call.stack.name}/resources/{call.name}?{query}"

    def token(self, call: Call) -> str:
        """Return a token."""
        return f"token-{call.name}"
