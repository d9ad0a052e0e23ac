"""The workflow service as the application mounts it."""

import importlib
from typing import Any

from starlette.routing import BaseRoute

from localcloud.core.cloud import Cloud, Service
from localcloud.web.http import fixed, public_paths, route
from localcloud.workflow import PREFIX
from localcloud.workflow.errors import mistral_error

_TRIGGERS = ("cron_trigger", "event_trigger")
_RUNS = ("execution", "action_execution")
_GO_ON = ("RUNNING", "PAUSED")


def service(cloud: Cloud) -> Service:
    """Return the workflow API, version 2. A cloud with executions or triggers has them go on."""
    begun = list[Any]()
    url = f"{cloud.settings.url}{PREFIX}/v2"
    links = [{"rel": "self", "target": "v2", "href": url}]
    version = {"id": "v2.0", "status": "CURRENT", "links": links}

    def has_something_to_do() -> bool:
        triggers = [cloud.store.collection(f"workflow.{kind}") for kind in _TRIGGERS]
        runs = [cloud.store.collection(f"workflow.{kind}") for kind in _RUNS]
        return any(len(each) for each in triggers) or any(
            run["state"] in _GO_ON for each in runs for run in each.values()
        )

    def begin() -> Any:
        if not begun:
            module: Any = importlib.import_module("localcloud.workflow.service")
            begun.append(cloud.one(module.WorkflowService))
            begun[0].begin()
        return begun[0]

    def routes() -> list[BaseRoute]:
        endpoints = importlib.import_module("localcloud.workflow.api.endpoints")
        return [
            route("GET", "/", fixed({"versions": [version]})),
            route("GET", "/v2", fixed({"uri": url})),
            *endpoints.routes(begin()),
        ]

    async def start() -> None:
        if has_something_to_do():
            begin()

    async def stop() -> None:
        if begun:
            await begun[0].stop()

    return Service(
        type="workflowv2",
        name="mistral",
        prefix=PREFIX,
        endpoint=f"{PREFIX}/v2",
        render=mistral_error,
        public=public_paths("/", "/v2"),
        versions=(version,),
        routes=routes,
        other_types=("workflow",),
        start=start,
        stop=stop,
    )
