"""Prepares another attempt after a server has reported a failure.

A wait handle keeps its signals. As long as it does, every further attempt would fail immediately
with the old failure. So such a handle is replaced, and with it the servers that use it.
"""

from __future__ import annotations

from collections.abc import Sequence

from stoker.cli.client.client import Client
from stoker.cli.client.stacks import ORCHESTRATION, Event, Resource, Stack, events_of, resources_of

_CONDITIONS = ("OS::Heat::WaitCondition", "AWS::CloudFormation::WaitCondition")
_HANDLES = ("OS::Heat::WaitConditionHandle", "AWS::CloudFormation::WaitConditionHandle")
_REASON = "it keeps the failure that an earlier attempt has reported"


def handles_to_renew(client: Client, stack: Stack) -> list[Resource]:
    """Return the handles of a failed stack that have a failure signal."""
    if stack.status != "FAILED":
        return []
    return failed_handles(resources_of(client, stack), events_of(client, stack))


def renew(client: Client, handles: Sequence[Resource]) -> None:
    """Mark the handles, so that the next update replaces them."""
    for handle in handles:
        path = f"/stacks/{handle.stack_name}/{handle.stack_id}/resources/{handle.name}"
        body = {"mark_unhealthy": True, "resource_status_reason": _REASON}
        client.call(ORCHESTRATION, "PATCH", path, body)


def failed_handles(resources: Sequence[Resource], events: Sequence[Event]) -> list[Resource]:
    """Return the handles with a failure signal, in stacks where a wait condition has failed."""
    waiting = {r.stack_id for r in resources if r.type_name in _CONDITIONS and r.status == "FAILED"}
    failed = {
        (event.stack_id, event.resource, event.physical_id)
        for event in events
        if event.state.startswith("SIGNAL_") and "FAILURE" in event.reason
    }
    return [
        resource
        for resource in resources
        if resource.type_name in _HANDLES
        and resource.stack_id in waiting
        and (*resource.key, resource.physical_id) in failed
    ]
