"""The addresses of version 1, as data, and how a path is matched against them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from starlette.convertors import Convertor, register_url_convertor
from starlette.responses import Response
from starlette.routing import compile_path

from stoker.api.rest import (
    actions,
    events,
    explanations,
    handovers,
    lookups,
    outputs,
    previews,
    resource_types,
    resources,
    service_info,
    snapshots,
    software,
    stacks,
    templates,
)
from stoker.api.rest.call import Call

Handler = Callable[[Call], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Operation:
    """What answers a method at an address. ``rule`` is the policy; None: the handler enforces."""

    method: str
    path: str
    """Below ``/v1/{project_id}``."""
    handler: Handler
    rule: str | None


_STACK = "/stacks/{stack_name}/{stack_id}"
_RESOURCE = _STACK + "/resources/{resource_name}"
_CONFIG = "/software_configs/{config_id}"
_DEPLOYMENT = "/software_deployments/{deployment_id}"
_SNAPSHOT = _STACK + "/snapshots/{snapshot_id}"
_LOOKUP_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


ROUTES: tuple[Operation, ...] = (
    Operation("POST", "/validate", templates.validate, "stacks:validate_template"),
    Operation("GET", "/resource_types", resource_types.index, "stacks:list_resource_types"),
    Operation("GET", "/resource_types/{type_name}", resource_types.show, "stacks:resource_schema"),
    Operation(
        "GET",
        "/resource_types/{type_name}/template",
        resource_types.template,
        "stacks:generate_template",
    ),
    Operation(
        "GET", "/template_versions", templates.list_versions, "stacks:list_template_versions"
    ),
    Operation(
        "GET",
        "/template_versions/{version}/functions",
        templates.list_functions,
        "stacks:list_template_functions",
    ),
    Operation("GET", "/build_info", service_info.build_info, "build_info:build_info"),
    Operation("GET", "/services", service_info.index, "service:index"),
    Operation("GET", "/stacks", stacks.index, "stacks:index"),
    Operation("POST", "/stacks", stacks.create, "stacks:create"),
    Operation("GET", "/stacks/detail", stacks.index, "stacks:detail"),
    Operation("POST", "/stacks/preview", previews.preview_create, "stacks:preview"),
    *(
        Operation(method, f"/stacks/{name}", lookups.lookup, "stacks:lookup")
        for name in ("{stack_name:arn}", "{stack_name:arn}/{below:path}", "{stack_name}")
        for method in _LOOKUP_METHODS
    ),
    Operation("GET", "/stacks/{stack_name}/{below:read}", lookups.lookup, "stacks:lookup"),
    Operation("POST", "/stacks/{stack_name}/{below:post}", lookups.lookup, "stacks:lookup"),
    Operation("GET", _STACK, stacks.show, "stacks:show"),
    Operation("PUT", _STACK, stacks.update, "stacks:update"),
    Operation("PATCH", _STACK, stacks.patch, None),
    Operation("DELETE", _STACK, stacks.delete, "stacks:delete"),
    Operation("PUT", _STACK + "/preview", previews.preview_update, "stacks:preview_update"),
    Operation("PATCH", _STACK + "/preview", previews.preview_patch, "stacks:preview_update_patch"),
    Operation("DELETE", _STACK + "/preview", previews.preview_delete, "stacks:preview_delete"),
    Operation("GET", _STACK + "/why", explanations.of_stack, "stacks:why"),
    Operation("GET", _RESOURCE + "/why", explanations.of_resource, "resource:why"),
    Operation("GET", _STACK + "/template", stacks.template, "stacks:template"),
    Operation("GET", _STACK + "/environment", stacks.environment, "stacks:environment"),
    Operation("GET", _STACK + "/files", stacks.files, "stacks:files"),
    Operation("GET", _STACK + "/drift", stacks.drift, "stacks:drift"),
    Operation("GET", _STACK + "/outputs", outputs.index, "stacks:list_outputs"),
    Operation("GET", _STACK + "/outputs/{output_key}", outputs.show, "stacks:show_output"),
    Operation("GET", _STACK + "/export", handovers.export, "stacks:export"),
    Operation("DELETE", _STACK + "/abandon", handovers.abandon, "stacks:abandon"),
    Operation("POST", _STACK + "/actions", actions.act, "actions:action"),
    Operation("POST", _STACK + "/snapshots", snapshots.create, "stacks:snapshot"),
    Operation("GET", _STACK + "/snapshots", snapshots.index, "stacks:list_snapshots"),
    Operation("GET", _SNAPSHOT, snapshots.show, "stacks:show_snapshot"),
    Operation("DELETE", _SNAPSHOT, snapshots.delete, "stacks:delete_snapshot"),
    Operation("POST", _SNAPSHOT + "/restore", snapshots.restore, "stacks:restore_snapshot"),
    Operation("GET", _STACK + "/resources", resources.index, "resource:index"),
    Operation("GET", _RESOURCE, resources.show, "resource:show"),
    Operation("PATCH", _RESOURCE, resources.mark_unhealthy, "resource:mark_unhealthy"),
    Operation("GET", _RESOURCE + "/metadata", resources.metadata, "resource:metadata"),
    Operation("POST", _RESOURCE + "/signal", resources.signal, "resource:signal"),
    Operation("GET", _STACK + "/events", events.index, "events:index"),
    Operation("GET", _RESOURCE + "/events", events.index_of_resource, "events:index"),
    Operation("GET", _RESOURCE + "/events/{event_id}", events.show, "events:show"),
    Operation("GET", "/software_configs", software.list_configs, "software_configs:index"),
    Operation("POST", "/software_configs", software.create_config, "software_configs:create"),
    Operation("GET", _CONFIG, software.show_config, "software_configs:show"),
    Operation("DELETE", _CONFIG, software.delete_config, "software_configs:delete"),
    Operation(
        "GET", "/software_deployments", software.list_deployments, "software_deployments:index"
    ),
    Operation(
        "POST", "/software_deployments", software.create_deployment, "software_deployments:create"
    ),
    Operation(
        "GET",
        "/software_deployments/metadata/{server_id}",
        software.metadata,
        "software_deployments:metadata",
    ),
    Operation("GET", _DEPLOYMENT, software.show_deployment, "software_deployments:show"),
    Operation("PUT", _DEPLOYMENT, software.update_deployment, "software_deployments:update"),
    Operation("DELETE", _DEPLOYMENT, software.delete_deployment, "software_deployments:delete"),
)


class _Text(Convertor[str]):
    """A part of a path that a regular expression describes."""

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


class _Arn(_Text):
    """An ARN of a stack, which has slashes inside."""

    regex = r"arn:openstack:heat::[^/]+:stacks/[^/]+/[^/]+"


class _ReadBelow(_Text):
    """What can be read of a stack that is known by its name."""

    regex = "resources|events|template|actions|environment|files"


class _PostBelow(_Text):
    """What can be posted to of a stack that is known by its name."""

    regex = "resources|events|template|actions"


for _name, _kind in (("arn", _Arn), ("read", _ReadBelow), ("post", _PostBelow)):
    register_url_convertor(_name, _kind())


@dataclass(frozen=True, slots=True)
class Match:
    """An address that a path fits: what can be done there, and the variable parts."""

    operations: Mapping[str, Operation]
    """By method."""
    parts: Mapping[str, str]


class Router:
    """Finds what serves a path."""

    def __init__(self, routes: Sequence[Operation]) -> None:
        by_path: dict[str, dict[str, Operation]] = {}
        for route in routes:
            by_path.setdefault("/{project_id}" + route.path, {})[route.method] = route
        self._patterns = [(compile_path(path)[0], found) for path, found in by_path.items()]

    def matches(self, path: str) -> list[Match]:
        """The addresses that ``path`` fits, the most specific first."""
        found = ((pattern.match(path), operations) for pattern, operations in self._patterns)
        return [Match(operations, match.groupdict()) for match, operations in found if match]
