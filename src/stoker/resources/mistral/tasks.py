"""Tasks in the properties of workflows."""

from __future__ import annotations

from stoker.kernel.values import replace
from stoker.resources.base import declare
from stoker.schema.properties import Property
from stoker.schema.support import Support, SupportStatus, since

_RETRY = declare.mapping("Number of attempts, and pauses between them.")
_PAUSE = declare.boolean("Whether the workflow pauses before the task.")
_WAIT_BEFORE = declare.integer("Seconds to wait before the task.")
_WAIT_AFTER = declare.integer("Seconds to wait after the task.")
_TIMEOUT = declare.integer("Timeout in seconds.")
_LATER: dict[str, Property] = {
    "on_complete": declare.sequence("Tasks that always follow."),
    "on_error": declare.sequence("Tasks that follow after a failure."),
    "on_success": declare.sequence("Tasks that follow after a success."),
    "requires": declare.sequence("Tasks that must run before, in a reverse workflow."),
}
_V5 = since("5.0.0")


TASK: dict[str, Property] = {
    **_LATER,
    "action": declare.string("Action, optionally with its input, such as std.echo output=hello."),
    "concurrency": declare.integer(
        "Maximum number of items that are processed concurrently.", support=since("8.0.0")
    ),
    "description": declare.string("Description of the task."),
    "input": declare.mapping("Input of the action or workflow."),
    "join": declare.string(
        "Number of preceding tasks that must be complete.", support=since("6.0.0")
    ),
    "keep_result": declare.boolean("Whether the result is stored.", support=_V5),
    "name": declare.string("Name of the task.", required=True),
    "pause_before": replace(_PAUSE, support=_V5),
    "policies": declare.mapping(
        "Old form of the policies, which are properties of the task now.",
        support=SupportStatus(
            Support.HIDDEN,
            "8.0.0",
            previous=SupportStatus(Support.DEPRECATED, "5.0.0", previous=since("2015.1")),
        ),
    ),
    "publish": declare.mapping("Values of the result that later tasks can use."),
    "retry": replace(_RETRY, support=_V5),
    "target": declare.string("Executor that runs the action.", support=_V5),
    "timeout": replace(_TIMEOUT, support=_V5),
    "wait_after": replace(_WAIT_AFTER, support=_V5),
    "wait_before": replace(_WAIT_BEFORE, support=_V5),
    "with_items": declare.string("List of items; the task runs for each item.", support=_V5),
    "workflow": declare.checked("mistral.workflow", "Workflow to run instead of an action."),
}
DEFAULTS: dict[str, Property] = {
    **_LATER,
    "concurrency": TASK["concurrency"],
    "pause_before": _PAUSE,
    "retry": _RETRY,
    "timeout": _TIMEOUT,
    "wait_after": _WAIT_AFTER,
    "wait_before": _WAIT_BEFORE,
}
