"""The addresses of version 1, as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.api.rest import outputs
from stoker.api.rest.handlers import (
    actions,
    events,
    explanations,
    handovers,
    overviews,
    previews,
    refactors,
    resources,
    snapshots,
    stacks,
)
from stoker.api.rest.operation import Operation
from stoker.api.rest.project_routes import OF_PROJECT, SOFTWARE

_STACK = "/stacks/{stack_name}/{stack_id}"
_RESOURCE = _STACK + "/resources/{resource_name}"
_SNAPSHOT = _STACK + "/snapshots/{snapshot_id}"
_LOOKUP_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


_STACKS: tuple[Operation, ...] = (
    Operation(
        "GET",
        "/stacks",
        stacks.index,
        "stacks:index",
        stacks.StackList,
        query=stacks.LIST_QUERY,
        further=("stacks:global_index",),
    ),
    Operation(
        "POST",
        "/stacks",
        stacks.create,
        "stacks:create",
        stacks.CreatedStack,
        status=201,
        body=stacks.CreateBody,
    ),
    Operation(
        "GET",
        "/stacks/detail",
        stacks.index,
        "stacks:detail",
        stacks.StackList,
        query=stacks.LIST_QUERY,
        further=("stacks:global_index",),
    ),
    Operation(
        "POST",
        "/stacks/preview",
        previews.preview_create,
        "stacks:preview",
        previews.CreatePreview,
        query=(previews.FINGERPRINT, previews.QUOTAS),
        body=stacks.CreateBody,
    ),
    *(
        Operation(method, f"/stacks/{name}", stacks.lookup, "stacks:lookup", status=302)
        for name in ("{stack_name:arn}", "{stack_name:arn}/{below:path}", "{stack_name}")
        for method in _LOOKUP_METHODS
    ),
    *(
        Operation(
            method,
            f"/stacks/{{stack_name}}/{{below:{kind}}}",
            stacks.lookup,
            "stacks:lookup",
            status=302,
        )
        for method, kind in (("GET", "read"), ("POST", "post"))
    ),
)

_REFACTORS: tuple[Operation, ...] = (
    Operation(
        "POST",
        "/stack_refactors",
        refactors.execute,
        "stacks:refactor",
        refactors.RefactorAnswer,
        body=refactors.RefactorBody,
        further=("stacks:create",),
    ),
    Operation(
        "POST",
        "/stack_refactors/preview",
        refactors.preview,
        "stacks:preview_refactor",
        refactors.RefactorAnswer,
        body=refactors.RefactorBody,
    ),
)

_STACK_ITSELF: tuple[Operation, ...] = (
    Operation(
        "GET",
        _STACK,
        stacks.show,
        "stacks:show",
        stacks.StackAnswer,
        query=(stacks.RESOLVE_OUTPUTS,),
    ),
    Operation("PUT", _STACK, stacks.update, "stacks:update", status=202, body=stacks.UpdateBody),
    Operation(
        "PATCH",
        _STACK,
        stacks.patch,
        None,
        status=202,
        body=stacks.UpdateBody,
        further=("stacks:update_patch", "stacks:update_no_change"),
    ),
    Operation(
        "DELETE",
        _STACK,
        stacks.delete,
        "stacks:delete",
        status=204,
        query=(stacks.PLAN_FINGERPRINT, stacks.EXPRESS),
    ),
    Operation(
        "PUT",
        _STACK + "/preview",
        previews.preview_update,
        "stacks:preview_update",
        previews.ChangesPreview,
        query=previews.UPDATE_QUERY,
        body=stacks.UpdateBody,
    ),
    Operation(
        "PATCH",
        _STACK + "/preview",
        previews.preview_patch,
        "stacks:preview_update_patch",
        previews.ChangesPreview,
        query=previews.UPDATE_QUERY,
        body=stacks.UpdateBody,
    ),
    Operation(
        "DELETE",
        _STACK + "/preview",
        previews.preview_delete,
        "stacks:preview_delete",
        previews.ChangesPreview,
        query=(previews.FINGERPRINT, previews.WARNINGS),
    ),
    Operation("GET", _STACK + "/why", explanations.of_stack, "stacks:why", explanations.WhyAnswer),
    Operation("GET", _STACK + "/drift", stacks.drift, "stacks:drift", stacks.DriftAnswer),
    Operation("GET", _STACK + "/template", stacks.template, "stacks:template", Mapping[str, Any]),
    Operation(
        "GET",
        _STACK + "/environment",
        stacks.environment,
        "stacks:environment",
        Mapping[str, Any],
    ),
    Operation("GET", _STACK + "/files", stacks.files, "stacks:files", Mapping[str, str]),
    Operation("GET", _STACK + "/outputs", outputs.index, "stacks:list_outputs", outputs.OutputList),
    Operation(
        "GET",
        _STACK + "/outputs/{output_key}",
        outputs.show,
        "stacks:show_output",
        outputs.OutputAnswer,
    ),
    Operation("GET", _STACK + "/export", handovers.export, "stacks:export", Mapping[str, Any]),
    Operation(
        "DELETE", _STACK + "/abandon", handovers.abandon, "stacks:abandon", Mapping[str, Any]
    ),
    Operation(
        "GET",
        _STACK + "/operations",
        overviews.operations,
        "stacks:list_operations",
        overviews.OperationList,
        query=(overviews.OPERATIONS, overviews.MARKER),
    ),
    Operation(
        "POST",
        _STACK + "/actions",
        actions.act,
        "actions:action",
        body=actions.ActionBody,
        further=tuple(f"actions:{action}" for action in actions.ACTIONS),
    ),
    Operation(
        "GET",
        _STACK + "/events",
        events.index,
        "events:index",
        events.EventList,
        query=(*events.LIST_QUERY, events.UNTIL_END),
    ),
)

_SNAPSHOTS: tuple[Operation, ...] = (
    Operation(
        "POST",
        _STACK + "/snapshots",
        snapshots.create,
        "stacks:snapshot",
        snapshots.SnapshotDetail,
        body=snapshots.NewSnapshot,
    ),
    Operation(
        "GET",
        _STACK + "/snapshots",
        snapshots.index,
        "stacks:list_snapshots",
        snapshots.SnapshotList,
    ),
    Operation("GET", _SNAPSHOT, snapshots.show, "stacks:show_snapshot", snapshots.SnapshotAnswer),
    Operation("DELETE", _SNAPSHOT, snapshots.delete, "stacks:delete_snapshot", status=204),
    Operation(
        "POST", _SNAPSHOT + "/restore", snapshots.restore, "stacks:restore_snapshot", status=202
    ),
)

_RESOURCES: tuple[Operation, ...] = (
    Operation(
        "GET",
        _STACK + "/resources",
        resources.index,
        "resource:index",
        resources.ResourceList,
        query=resources.LIST_QUERY,
    ),
    Operation(
        "GET",
        _RESOURCE,
        resources.show,
        "resource:show",
        resources.Resource,
        query=(resources.WITH_ATTR,),
    ),
    Operation(
        "PATCH",
        _RESOURCE,
        resources.mark_unhealthy,
        "resource:mark_unhealthy",
        body=resources.Mark,
    ),
    Operation(
        "GET",
        _RESOURCE + "/metadata",
        resources.metadata,
        "resource:metadata",
        resources.Metadata,
    ),
    Operation(
        "GET",
        _RESOURCE + "/console_log",
        resources.console_log,
        "resource:console_log",
        resources.ConsoleLog,
        query=(resources.LINES,),
    ),
    Operation("POST", _RESOURCE + "/signal", resources.signal, "resource:signal", is_signal=True),
    Operation(
        "GET", _RESOURCE + "/why", explanations.of_resource, "resource:why", explanations.WhyAnswer
    ),
    Operation(
        "GET",
        _RESOURCE + "/events",
        events.index_of_resource,
        "events:index",
        events.EventList,
        query=events.LIST_QUERY,
    ),
    Operation("GET", _RESOURCE + "/events/{event_id}", events.show, "events:show", events.Event),
)

# In the order in which they are matched: more specific ones first.
ROUTES: tuple[Operation, ...] = (
    *OF_PROJECT,
    *_STACKS,
    *_REFACTORS,
    *_STACK_ITSELF,
    *_SNAPSHOTS,
    *_RESOURCES,
    *SOFTWARE,
)
