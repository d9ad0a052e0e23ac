"""Every address of the API with a request that works: those of Heat, and Stoker's own."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

from tests.isolation.people import Person
from tests.rest.scene import EMPTY, TEMPLATE, Scene, one_value

STACK = "/stacks/{stack_name}/{stack_id}"
RESOURCE = STACK + "/resources/{resource_name}"
SNAPSHOT = STACK + "/snapshots/{snapshot_id}"
CONFIG = "/software_configs/{config_id}"
DEPLOYMENT = "/software_deployments/{deployment_id}"
READ_BELOW = ("resources", "events", "template", "actions", "environment", "files")
POST_BELOW = READ_BELOW[:4]
LOOKUPS = ("GET", "POST", "PUT", "PATCH", "DELETE")
NEW = {"stack_name": "{new_name}", "template": EMPTY}
SAME = {"template": TEMPLATE, "tags": "tagged"}


RENAME = {
    "stacks": [{"stack_name": "{new_name}", "template": one_value("new")}],
    "moves": {"/old": "/new"},
}


def _refactorable(scene: Scene) -> dict[str, str]:
    name = _name(scene)["new_name"]
    scene.member.create(name, one_value("old"))
    return {"new_name": name}


def _stack(scene: Scene) -> dict[str, str]:
    name, stack_id = scene.new_stack().split("/")
    return {"stack_name": name, "stack_id": stack_id}


def _name(scene: Scene) -> dict[str, Any]:
    scene.made += 1
    return {"new_name": f"made{scene.made}"}


def _snapshot(scene: Scene) -> dict[str, str]:
    return {"snapshot_id": scene.new_snapshot()}


def _config(scene: Scene) -> dict[str, str]:
    return {"config_id": scene.new_config()}


def _deployment(scene: Scene) -> dict[str, str]:
    return {"deployment_id": scene.new_deployment()}


def _rests(scene: Scene) -> dict[str, str]:
    scene.settled()
    return {}


@dataclass(frozen=True, eq=False)
class Row:
    """A request, and its regular answer."""

    method: str
    path: str
    status: int
    keys: str | None = None  # keys that the answer's JSON object always has; None: no object
    body: Any = None
    # Creates the objects that the request consumes, or waits for them; returns their names.
    before: Callable[[Scene], dict[str, str]] | None = None
    own: bool = False  # whether Heat does not have it

    def ask(self, scene: Scene, person: Person, project: str) -> httpx.Response:
        """Return the answer to a person, at the address of a project."""
        spared = scene.spared.pop(self, None)
        if spared is None:
            spared = self.before(scene) if self.before else {}
        names = {**scene.names, **spared}

        def filled(text: str) -> str:
            return re.sub(r"\{(\w+)\}", lambda variable: names[variable[1]], text)

        body = None if self.body is None else json.loads(filled(json.dumps(self.body)))
        answer = person.ask_project(project, self.method, filled(self.path), body)
        if answer.status_code != self.status:
            scene.spared[self] = spared  # nothing has become of it
        return answer


def _r(*fields: Any, **more: Any) -> Row:
    return Row(*fields, **more)


LOOKED_UP = (
    *(_r(method, "/stacks/{stack_name}", 302) for method in LOOKUPS),
    *(_r("GET", f"/stacks/{{stack_name}}/{below}", 302) for below in READ_BELOW),
    *(_r("POST", f"/stacks/{{stack_name}}/{below}", 302) for below in POST_BELOW),
)
ROWS: tuple[Row, ...] = (
    _r("POST", "/stacks", 201, "stack", NEW, _name),
    _r("POST", "/stacks/preview", 200, "stack plan_fingerprint", NEW, _name),
    _r("GET", "/stacks", 200, "stacks"),
    _r("GET", "/stacks/detail", 200, "stacks"),
    *LOOKED_UP,
    _r("GET", STACK, 200, "stack"),
    _r("GET", STACK + "/template", 200, "heat_template_version description resources outputs"),
    _r(
        "GET",
        STACK + "/environment",
        200,
        "parameters parameter_defaults encrypted_param_names event_sinks resource_registry",
    ),
    _r("GET", STACK + "/files", 200, ""),
    _r("PUT", STACK, 202, None, SAME, _rests),
    _r("PATCH", STACK, 202, None, {"tags": "tagged"}, _rests),
    _r("PUT", STACK + "/preview", 200, "resource_changes plan_fingerprint", SAME),
    _r("PATCH", STACK + "/preview", 200, "resource_changes plan_fingerprint", {"tags": "t"}),
    _r("DELETE", STACK, 204, None, None, _stack),
    _r(
        "DELETE",
        STACK + "/abandon",
        200,
        "name id action status environment files template resources project_id"
        " stack_user_project_id tags",
        None,
        _stack,
    ),
    _r(
        "GET",
        STACK + "/export",
        200,
        "name id action status environment files template resources project_id"
        " stack_user_project_id tags",
    ),
    _r(
        "POST",
        STACK + "/snapshots",
        200,
        "id name action status status_reason data creation_time",
        {"name": "n"},
        _stack,
    ),
    _r("GET", STACK + "/snapshots", 200, "snapshots"),
    _r("GET", SNAPSHOT, 200, "snapshot"),
    _r("DELETE", SNAPSHOT, 204, None, None, _snapshot),
    _r("POST", SNAPSHOT + "/restore", 202, None, None, _rests),
    _r("GET", STACK + "/outputs", 200, "outputs"),
    _r("GET", STACK + "/outputs/{output_key}", 200, "output"),
    _r("POST", STACK + "/actions", 200, None, {"check": None}, _rests),
    _r("GET", STACK + "/resources", 200, "resources"),
    _r("GET", RESOURCE, 200, "resource"),
    _r("PATCH", RESOURCE, 200, None, {"mark_unhealthy": False}, _rests),
    _r("GET", RESOURCE + "/metadata", 200, "metadata"),
    _r("POST", RESOURCE + "/signal", 200, None, {"id": "1"}),
    _r("GET", STACK + "/events", 200, "events"),
    _r("GET", RESOURCE + "/events", 200, "events"),
    _r("GET", RESOURCE + "/events/{event_id}", 200, "event"),
    _r("GET", "/resource_types", 200, "resource_types"),
    _r(
        "GET",
        "/resource_types/{type_name}",
        200,
        "resource_type properties attributes support_status",
    ),
    _r(
        "GET",
        "/resource_types/{type_name}/template",
        200,
        "HeatTemplateFormatVersion Description Parameters Resources Outputs",
    ),
    _r("GET", "/template_versions", 200, "template_versions"),
    _r("GET", "/template_versions/{version}/functions", 200, "template_functions"),
    _r("POST", "/validate", 200, "Description Parameters Environment", {"template": TEMPLATE}),
    _r("GET", "/existing_template", 200, "template"),
    _r("GET", "/constraint_choices/{constraint}", 200, "choices", own=True),
    _r("POST", "/stack_refactors/preview", 200, "refactor", RENAME, _refactorable, own=True),
    _r("POST", "/stack_refactors", 200, "refactor", RENAME, _refactorable, own=True),
    _r("GET", "/build_info", 200, "api engine"),
    _r("GET", "/services", 200, "services"),
    _r("GET", "/software_configs", 200, "software_configs"),
    _r("POST", "/software_configs", 200, "software_config", {"name": "n"}),
    _r("GET", CONFIG, 200, "software_config"),
    _r("DELETE", CONFIG, 204, None, None, _config),
    _r("GET", "/software_deployments", 200, "software_deployments"),
    _r("GET", "/software_deployments/metadata/{server_id}", 200, "metadata"),
    _r(
        "POST",
        "/software_deployments",
        200,
        "software_deployment",
        {"config_id": "{config_id}", "server_id": "s"},
    ),
    _r("GET", DEPLOYMENT, 200, "software_deployment"),
    _r("PUT", DEPLOYMENT, 200, "software_deployment", {"status": "COMPLETE"}),
    _r("DELETE", DEPLOYMENT, 204, None, None, _deployment),
    _r("GET", STACK + "/why", 200, "why", own=True),
    _r("GET", RESOURCE + "/why", 200, "why", own=True),
    _r("GET", STACK + "/drift", 200, "drift", own=True),
    _r("GET", RESOURCE + "/console_log", 404, "error", own=True),  # it is no server
    _r("GET", STACK + "/operations", 200, "operations", own=True),
    _r("GET", "/search", 200, "matches", own=True),
    _r("DELETE", STACK + "/preview", 200, "resource_changes plan_fingerprint", own=True),
)
