"""Calls of resource types, as the engine makes them."""

from typing import Any

from stoker.kernel.values import replace
from stoker.schema.resource_type import Call, Outcome, ResourceType, Signal, StackFacts, Wait
from stoker.schema.values import check_properties


def make_call(type_: ResourceType, properties: dict[str, Any], **more: Any) -> Call:
    """Return a call at time 100 for an action that started at 100."""
    checked = check_properties(properties, type_.properties)
    assert not checked.errors
    call = Call(
        stack=StackFacts("s-id", "stack", "project", region="RegionOne"),
        name="r",
        resource_id="1d2e3f40-0000-4000-8000-000000000000",
        token="abcdefghijkl",
        physical_name="stack-r-abcdefghijkl",
        properties=checked.values,
        started_at=100.0,
        now=100.0,
    )
    return replace(call, **more)


def findings(type_: Any, properties: dict[str, Any]) -> list[Any]:
    """Return the findings of the type's own validation."""
    checked = check_properties(properties, type_.properties)
    assert not checked.errors
    return list(type_.validate(checked.values))


def signal(number: int, details: dict[str, Any]) -> Signal:
    """A signal as it was stored."""
    return Signal(str(number), 100.0 + number, details)


def after(call: Call, outcome: Outcome, **more: Any) -> Call:
    """Return the next call, with the data that the outcome asked to keep."""
    kept: dict[str, Any] = {}
    if outcome.physical_id is not None:
        kept["physical_id"] = outcome.physical_id
    if outcome.data is not None:
        kept["data"] = outcome.data
    if isinstance(outcome, Wait) and outcome.progress is not None:
        kept["progress"] = outcome.progress
    return replace(call, **kept, **more)


class RecordedSignalling:
    """Creates users, keys and addresses without an identity service, and records the calls."""

    def __init__(self) -> None:
        self.deleted: list[str] = []
        self.tokens = 0

    def create_user(self, call: Call) -> dict[str, Any]:
        return {
            "user_id": f"user-{call.name}",
            "username": "u",
            "password": "p",
            "project_id": "stack-project",
        }

    def delete_user(self, call: Call) -> None:
        self.deleted.append(call.resource_id)

    def create_keypair(self, call: Call, user_id: str) -> dict[str, Any]:
        return {"access": f"access-{user_id}", "secret": "secret"}

    def signal_url(self, call: Call, project_id: str | None = None) -> str:
        return f"http://stoker/v1/{project_id or 'stack-project'}/signal/{call.name}"

    def watch_url(self, call: Call) -> str:
        return "http://watch.example:8003/v1/"

    def metadata_url(self, call: Call) -> str:
        return "http://cfn.example/v1/"

    def presigned_url(self, call: Call, path: str, *, never_expire: bool = False) -> str:
        return f"http://cfn/v1/{path}/{call.name}?AWSAccessKeyId={call.data['access']}"

    def token(self, call: Call) -> str:
        self.tokens += 1
        return f"token-{self.tokens}-of-{call.data['user_id']}"
