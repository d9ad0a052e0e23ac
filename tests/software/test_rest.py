"""Configs and deployments over HTTP: refusals, permissions, pages and limits."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa

from stoker.engine.execution.calls.build import with_software
from stoker.engine.execution.session import StackRows
from stoker.engine.model.evaluation_cache import EvaluationCache
from stoker.engine.model.interfaces import OwnerChange, PublicChange
from stoker.engine.model.records import Action, Resource, Stack, Status
from stoker.engine.service.signals.received import ReceivedSignal
from stoker.engine.service.signals.reports import ConcurrentUpdateError, report_deployment
from stoker.kernel.clock import isoformat
from stoker.kernel.ids import RandomIds
from stoker.kernel.values import replace
from stoker.resources.heat.software_deployment import SoftwareDeployment
from stoker.resources.nova.server.server import Server
from stoker.schema.software import Deployment
from tests.resource_types_heat.calls import make_call

from .conftest import CALLERS, OURS, USERS, Library, MakeLibrary

CONFIGS, DEPLOYMENTS = "/software_configs", "/software_deployments"


@pytest.mark.parametrize(
    ("what", "entry", "message"),
    [
        ("inputs", {"default": 1}, "inputs[0]: Property name not assigned"),
        ("inputs", {"name": "a", "zz": 1}, "Unknown Property zz"),
        ("inputs", {"name": "a", "type": "Text"}, "inputs[0].type"),
        ("inputs", {"name": "a", "type": "Number", "default": "x"}, "inputs[0].default"),
        ("inputs", {"name": "a", "type": "Boolean", "default": "x"}, "inputs[0].default"),
        ("inputs", {"name": "a", "type": "Json", "default": "{"}, "inputs[0].default"),
        ("inputs", {"name": "a", "type": "CommaDelimitedList", "default": 1}, "inputs[0].default"),
        ("inputs", "a", "inputs[0] is a map"),
        ("outputs", {}, "outputs[0]: Property name not assigned"),
        ("outputs", {"name": "a", "error_output": "x"}, "outputs[0].error_output"),
        ("outputs", {"name": "a", "value": 1}, "Unknown Property value"),
    ],
)
async def test_invalid_inputs_and_outputs_are_refused(
    library: Library, what: str, entry: Any, message: str
) -> None:
    answer = await library.ask("member", "POST", CONFIGS, {"name": "x", what: [entry]})
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "ValueError")
    assert message in answer.json()["error"]["message"]
    assert (await library.ask("member", "GET", CONFIGS)).json() == {"software_configs": []}


@pytest.mark.parametrize("what", ["inputs", "outputs"])
async def test_inputs_and_outputs_are_lists(library: Library, what: str) -> None:
    answer = await library.ask("member", "POST", CONFIGS, {"name": "x", what: {"a": 1}})
    assert answer.status_code == 400


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ({"name": "a"}, {"name": "a", "type": "String"}),
        (
            {"name": "a", "type": "Number", "default": "5", "replace_on_change": "true"},
            {"name": "a", "type": "Number", "default": "5", "replace_on_change": True},
        ),
        ({"name": "a", "value": 0}, {"name": "a", "type": "String", "value": 0}),
        ({"name": "a", "default": False}, {"name": "a", "type": "String", "default": False}),
    ],
)
async def test_an_input_is_stored_as_it_was_declared(
    library: Library, given: Any, stored: Any
) -> None:
    config = await library.config(inputs=[given])
    shown = await library.ask("member", "GET", f"{CONFIGS}/{config['id']}")
    assert shown.json()["software_config"]["inputs"] == [stored]


@pytest.mark.parametrize("value", ["é\0", {"a": [1, None]}, 5, None, "x" * 70_000])
async def test_config_fields_keep_any_value(library: Library, value: Any) -> None:
    fields = {"name": value, "group": value, "config": value}
    config = await library.config(**fields)
    shown = (await library.ask("member", "GET", f"{CONFIGS}/{config['id']}")).json()
    assert {key: shown["software_config"][key] for key in fields} == fields


async def test_a_list_of_configs_has_no_contents(library: Library) -> None:
    config = await library.config(group="script", config="secret")
    (row,) = (await library.ask("reader", "GET", CONFIGS)).json()["software_configs"]
    assert row == {
        "id": config["id"],
        "name": "c",
        "group": "script",
        "creation_time": isoformat(library.clock.time),
    }


@pytest.mark.parametrize("what", ["configs", "deployments"])
async def test_lists_are_read_page_by_page_oldest_first(library: Library, what: str) -> None:
    config = await library.config()
    ids = [config["id"]]
    for _ in range(4):
        made = await (library.config() if what == "configs" else library.deployment(config["id"]))
        ids.append(made["id"])
    if what == "deployments":
        del ids[0]
    found: list[str] = []
    while True:
        query: dict[str, Any] = {"limit": 2, **({"marker": found[-1]} if found else {})}
        answer = await library.ask("member", "GET", f"/software_{what}", **query)
        rows = answer.json()[f"software_{what}"]
        if not rows:
            break
        assert len(rows) <= 2
        found += [row["id"] for row in rows]
    assert found == ids
    none = await library.ask("member", "GET", f"/software_{what}", limit=0)
    assert none.json() == {f"software_{what}": []}
    assert (await library.ask("member", "GET", f"/software_{what}", limit="x")).status_code == 400


async def test_deployments_are_listed_for_one_server(library: Library) -> None:
    config = await library.config()
    await library.deployment(config["id"], server_id="one")
    other = await library.deployment(config["id"], server_id="two")
    answer = await library.ask("member", "GET", DEPLOYMENTS, server_id="two")
    assert answer.json()["software_deployments"] == [other]


async def test_another_project_sees_nothing_and_changes_nothing(library: Library) -> None:
    config = await library.config(config="secret")
    deployment = await library.deployment(config["id"])
    config_path = f"{CONFIGS}/{config['id']}"
    path = f"{DEPLOYMENTS}/{deployment['id']}"
    for method, address, body in [
        ("GET", config_path, None),
        ("DELETE", config_path, None),
        ("GET", path, None),
        ("PUT", path, {"status": "COMPLETE"}),
        ("DELETE", path, None),
        ("POST", DEPLOYMENTS, {"config_id": config["id"], "server_id": "mine"}),
    ]:
        answer = await library.ask("stranger", method, address, body)
        assert (answer.status_code, answer.json()["error"]["type"]) == (404, "NotFound"), method
    for address in (CONFIGS, DEPLOYMENTS, f"{DEPLOYMENTS}/metadata/server"):
        (found,) = (await library.ask("stranger", "GET", address)).json().values()
        assert found == []
    shown = await library.ask("member", "GET", path)
    assert shown.json()["software_deployment"] == deployment


async def test_deployment_of_other_project_is_not_offered(
    library: Library,
) -> None:
    theirs = await library.config("stranger", config="evil")
    await library.deployment(
        theirs["id"], "stranger", server_id="ours", stack_user_project_id=USERS
    )
    await serving(library, "ours", CALLERS["agent"].user_id)
    answer = await library.ask("agent", "GET", f"{DEPLOYMENTS}/metadata/ours")
    assert answer.json() == {"metadata": []}


@pytest.mark.parametrize(("owner", "sees"), [("u5", True), ("somebody", False)])
async def test_stack_user_sees_deployments_of_its_server(
    library: Library, owner: str, sees: bool
) -> None:
    config = await library.config(config="echo")
    await library.deployment(config["id"], server_id="ours")
    await serving(library, "ours", owner)
    answer = await library.ask("agent", "GET", f"{DEPLOYMENTS}/metadata/ours")
    assert answer.json() == {"metadata": [config] if sees else []}
    for method, path in [("GET", CONFIGS), ("GET", DEPLOYMENTS), ("POST", CONFIGS)]:
        assert (await library.ask("agent", method, path, {})).status_code == 403


async def test_a_reader_changes_nothing(library: Library) -> None:
    for method, path in [
        ("POST", CONFIGS),
        ("DELETE", f"{CONFIGS}/x"),
        ("POST", DEPLOYMENTS),
        ("PUT", f"{DEPLOYMENTS}/x"),
        ("DELETE", f"{DEPLOYMENTS}/x"),
    ]:
        assert (await library.ask("reader", method, path, {})).status_code == 403, path


async def test_configs_of_all_projects_need_a_policy(
    library: Library,
) -> None:
    answer = await library.ask("admin", "GET", CONFIGS, global_tenant="true")
    assert answer.status_code == 403


async def test_server_metadata_is_ordered_by_name(library: Library) -> None:
    for name in ("b", "c", "a"):
        config = await library.config(name=name)
        await library.deployment(config["id"])
    answer = await library.ask("member", "GET", f"{DEPLOYMENTS}/metadata/server")
    assert [config["name"] for config in answer.json()["metadata"]] == ["a", "b", "c"]


async def test_a_config_that_is_deployed_stays(library: Library) -> None:
    config = await library.config()
    deployment = await library.deployment(config["id"])
    path = f"{CONFIGS}/{config['id']}"
    refused = await library.ask("member", "DELETE", path)
    assert refused.status_code == 400
    assert refused.json()["error"]["type"] == "InvalidRestrictedAction"
    await library.ask("member", "DELETE", f"{DEPLOYMENTS}/{deployment['id']}")
    assert (await library.ask("member", "DELETE", path)).status_code == 204
    assert (await library.ask("member", "GET", path)).status_code == 404


async def test_what_an_update_leaves_out_stays(library: Library) -> None:
    first, second = await library.config(), await library.config()
    made = await library.deployment(first["id"], input_values={"i": 1}, action="CREATE")
    path = f"{DEPLOYMENTS}/{made['id']}"
    library.clock.time += 60
    changes = {"output_values": {"o": 1}, "status": "COMPLETE", "action": None}
    changed = (await library.ask("member", "PUT", path, changes)).json()["software_deployment"]
    assert changed == {
        **made,
        "output_values": {"o": 1},
        "status": "COMPLETE",
        "updated_time": isoformat(library.clock.time),
    }
    moved = await library.ask("member", "PUT", path, {"config_id": second["id"]})
    assert moved.json()["software_deployment"] == {**changed, "config_id": second["id"]}
    missing = await library.ask("member", "PUT", path, {"config_id": "nosuch"})
    assert missing.status_code == 404


@pytest.mark.parametrize("server_id", [None, "", 5, "x" * 256, "a\nb", "\ud800"])
async def test_a_deployment_is_for_a_server(library: Library, server_id: Any) -> None:
    config = await library.config()
    body = {"config_id": config["id"], "server_id": server_id}
    assert (await library.ask("member", "POST", DEPLOYMENTS, body)).status_code == 400
    listed = await library.ask("member", "GET", DEPLOYMENTS)
    assert listed.json() == {"software_deployments": []}


@pytest.mark.parametrize("limit", [{"configs_per_project": 2}, {"deployments_per_project": 2}])
async def test_limit_per_project_holds_for_concurrent_requests(
    library_of: MakeLibrary, limit: dict[str, int]
) -> None:
    library = library_of(**limit)
    path, body = CONFIGS, {"name": "c"}
    if "deployments_per_project" in limit:
        config = await library.config()
        path, body = DEPLOYMENTS, {"config_id": config["id"], "server_id": "s"}
    answers = await asyncio.gather(*(library.ask("member", "POST", path, body) for _ in range(6)))
    assert sorted(answer.status_code for answer in answers) == [200, 200, 400, 400, 400, 400]
    refused = next(answer for answer in answers if answer.status_code == 400)
    assert refused.json()["error"]["type"] == "RequestLimitExceeded"
    listed = (await library.ask("member", "GET", path)).json()
    assert len(listed[path.strip("/")]) == 2


async def test_project_has_no_more_bytes_than_its_limit(library_of: MakeLibrary) -> None:
    library = library_of(software_bytes_per_project=25_000)
    config = await library.config(config="x" * 10_000)
    deployment = await library.deployment(config["id"], input_values={"i": "x" * 10_000})
    large = {"i": "x" * 10_000}
    asked: list[tuple[str, str, dict[str, Any]]] = [
        ("POST", CONFIGS, {"name": "c", "config": "x" * 10_000}),
        ("POST", DEPLOYMENTS, {"config_id": config["id"], "server_id": "s", "input_values": large}),
        ("PUT", f"{DEPLOYMENTS}/{deployment['id']}", {"output_values": large}),
    ]
    for method, path, body in asked:
        refused = (await library.ask("member", method, path, body)).json()["error"]
        assert refused["type"] == "RequestLimitExceeded"
        assert "max_software_size_per_tenant" in refused["message"]
    await library.config("stranger", config="x" * 10_000)
    await library.ask("member", "DELETE", f"{DEPLOYMENTS}/{deployment['id']}")
    await library.config(config="x" * 10_000)


async def test_long_list_of_deployments_is_paged(library: Library) -> None:
    config = await library.config()
    for _ in range(14):
        await library.deployment(config["id"], input_values={"i": "x" * 1_000_000})
    refused = await library.ask("member", "GET", DEPLOYMENTS)
    assert refused.json()["error"]["type"] == "RequestLimitExceeded"
    page = await library.ask("member", "GET", DEPLOYMENTS, limit=10)
    assert len(page.json()["software_deployments"]) == 10


async def test_configs_and_deployments_are_encrypted_in_database(
    library: Library,
) -> None:
    config = await library.config(config="hush", inputs=[{"name": "i", "default": "hush"}])
    made = await library.deployment(config["id"], input_values={"i": "hush"}, status_reason="hush")
    await library.ask(
        "member", "PUT", f"{DEPLOYMENTS}/{made['id']}", {"output_values": {"o": "hush"}}
    )

    def everything(connection: sa.Connection) -> str:
        found = [
            [tuple(row) for row in connection.execute(sa.text(f"SELECT * FROM {table}"))]
            for table in ("software_configs", "software_deployments")
        ]
        return json.dumps(found)

    text = await library.store._read(everything)
    for known in (config, made):
        assert known["id"] in text
    assert "hush" not in text


async def serving(library: Library, server_id: str, user_id: str) -> None:
    """A stack with a server that has a stack user."""
    now = library.clock.time
    stack = Stack(
        "stack", OURS, "stack", Action.CREATE, Status.COMPLETE, "", now, "input",
        user_project_id=USERS,
    )  # fmt: skip
    await library.store.commit(PublicChange(stack.id, puts=(stack,)))
    row = Resource(
        "row", stack.id, "server", "OS::Nova::Server", "t", now, now,
        physical_id=server_id, data={"user_id": user_id, "project_id": USERS},
    )  # fmt: skip
    await library.store.commit(OwnerChange(stack.id, stack.fencing_token, puts=(row,)))


async def test_configs_stored_by_earlier_release_are_found(
    library: Library,
) -> None:
    config_id = "44444444-3333-3333-3333-333333333333"
    data = {"config": "echo", "group": "script", "inputs": [], "outputs": [], "options": {}}
    stack = Stack("stack", OURS, "stack", Action.CREATE, Status.COMPLETE, "", 1.0, "input")
    config = Resource(config_id, "stack", "c", "OS::Heat::SoftwareConfig", "t", 2.0, 2.0, data=data)
    server = Resource("server", "stack", "s", "OS::Nova::Server", "t", 2.0, 2.0)
    ports: Any = SimpleNamespace(store=library.store)
    call = make_call(Server(), {"user_data": config_id, "flavor": "f"})
    found = await with_software(StackRows(ports, stack, [config, server]), server, Server(), call)
    assert found.configs[config_id].text == "echo"


async def test_ids_of_other_objects_load_no_configs() -> None:
    stack = Stack("stack", OURS, "stack", Action.CREATE, Status.COMPLETE, "", 1.0, "input")
    server = Resource("server", "stack", "s", "OS::Nova::Server", "t", 2.0, 2.0)
    server = replace(server, physical_id="55555555-3333-3333-3333-333333333333")
    networks = [{"network": "44444444-3333-3333-3333-333333333333"}]
    call = make_call(Server(), {"networks": networks, "user_data": "echo", "flavor": "f"})
    without_store: Any = SimpleNamespace(store=SimpleNamespace(software=None))
    rows = StackRows(without_store, stack, [server])
    assert await with_software(rows, server, Server(), call) is call


async def test_one_of_two_concurrent_reports_counts(library: Library) -> None:
    config = await library.config()
    deployment = Deployment(
        str(uuid4()), OURS, 1.0, config["id"], "server", "stack", "CREATE", "IN_PROGRESS"
    )
    stack = Stack("stack", OURS, "stack", Action.CREATE, Status.IN_PROGRESS, "", 1.0, "input")
    await library.store.commit(PublicChange("stack", puts=(stack, deployment)))
    type_name = "OS::Heat::SoftwareDeployment"
    row = Resource(
        "row", "stack", "d", type_name, "t", 1.0, 1.0, type_name, physical_id=deployment.id,
        properties=make_call(SoftwareDeployment(), {"server": "server"}).properties,
    )  # fmt: skip
    ports: Any = SimpleNamespace(
        store=library.store, clock=library.clock, ids=RandomIds(), region=None,
        signallers=SimpleNamespace(of=lambda stack: None),
        evaluations=EvaluationCache(), workers=SimpleNamespace(compute=None),
        types=SimpleNamespace(find=lambda name: SoftwareDeployment()),
    )  # fmt: skip
    rows = StackRows(ports, stack, [row])
    done = await asyncio.gather(
        *(
            report_deployment(ReceivedSignal(rows, row, {"deploy_stdout": str(n)}, 0))
            for n in range(2)
        ),
        return_exceptions=True,
    )
    assert [type(each) for each in done] == [type(None), ConcurrentUpdateError]
    found = await library.store.deployment(OURS, deployment.id)
    assert found is not None
    assert (found.status, found.output_values["deploy_stdout"]) == ("COMPLETE", "0")
