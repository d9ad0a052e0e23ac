"""The workflow API, version 2."""

from functools import cached_property

from localcloud.core.cloud import LazyService
from localcloud.core.store import Document
from localcloud.workflow import PREFIX
from localcloud.workflow.errors import mistral_error

_TRIGGERS = ("cron_trigger", "event_trigger")
_RUNS = ("execution", "action_execution")
_UNFINISHED = ("RUNNING", "PAUSED")


class WorkflowService(LazyService):
    """Mistral. Unfinished executions and triggers resume at the start of the cloud."""

    type = "workflowv2"
    name = "mistral"
    prefix = PREFIX
    endpoint = f"{PREFIX}/v2"
    other_types = ("workflow",)
    api_module = "localcloud.workflow.api.endpoints"
    instance_module = "localcloud.workflow.instance"
    render = staticmethod(mistral_error)

    @cached_property
    def version(self) -> Document:
        links = [{"rel": "self", "target": "v2", "href": f"{self.url}/v2"}]
        return {"id": "v2.0", "status": "CURRENT", "links": links}

    @cached_property
    def documents(self) -> Document:
        return {"/": {"versions": [self.version]}, "/v2": {"uri": f"{self.url}/v2"}}

    def has_unfinished_work(self) -> bool:
        triggers = [self.cloud.store.collection(f"workflow.{kind}") for kind in _TRIGGERS]
        runs = [self.cloud.store.collection(f"workflow.{kind}") for kind in _RUNS]
        return any(len(each) for each in triggers) or any(
            run["state"] in _UNFINISHED for each in runs for run in each.values()
        )
