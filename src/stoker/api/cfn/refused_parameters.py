"""Parameters of AWS without a meaning here: they are rejected with the reason, never ignored."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.kernel.errors import NOT_SUPPORTED, ValidationError

_EMPTY = frozenset({"", "0", "false", "STANDARD"})  # values without an effect
_REASONS: Mapping[str, str] = {
    "CallAs": "there are no organizations of accounts",
    "DeletionMode": "delete the stack again, or abandon it, to leave objects behind",
    "DeploymentMode": 'drift is repaired by an update with "converge" of the orchestration API',
    "ImportExistingResources": "name the objects in ResourcesToImport",
    "NotificationARNs": "there are no topics to send events to; follow the stack's events",
    "ResourceTypes": "the policies of the service say which types a user may use",
    "ResourcesToSkip": "a rollback goes back with all resources",
    "RetainExceptOnCreate": "deletion policies hold for rollbacks, too",
    "RetainResources": "give the resources the deletion policy Retain, or abandon the stack",
    "RoleARN": "stacks act for the user who makes them, by a trust",
    "RollbackConfiguration": "nobody watches alarms while a stack changes",
    "StackSetName": "there are no stack sets",
}


def refuse_unsupported(parameters: Mapping[str, str]) -> None:
    """Raise ValidationError for a request with unsupported parameters."""
    for written, value in parameters.items():
        name = written.partition(".")[0]
        if name in _REASONS and value not in _EMPTY:
            raise ValidationError(f"{name} is not supported: {_REASONS[name]}.", NOT_SUPPORTED)
