"""Tasks in the properties of a workflow."""

from __future__ import annotations

from stoker.kernel.values import replace
from stoker.resources.base import declare
from stoker.schema.properties import Property
from stoker.schema.support import Support, SupportStatus, since

_RETRY = declare.mapping("How often, and after which pauses, it is tried again.")
_PAUSE = declare.boolean("Whether the workflow pauses before it.")
_WAIT_BEFORE = declare.integer("Seconds before it begins.")
_WAIT_AFTER = declare.integer("Seconds after its end.")
_TIMEOUT = declare.integer("Seconds after which it has failed.")
_LATER: dict[str, Property] = {
    "on_complete": declare.sequence("Tasks that follow in any case."),
    "on_error": declare.sequence("Tasks that follow a failure."),
    "on_success": declare.sequence("Tasks that follow a success."),
    "requires": declare.sequence("Tasks that come first, in a reverse workflow."),
}
_V5 = since("5.0.0")


TASK: dict[str, Property] = {
    **_LATER,
    "action": declare.string("The action, perhaps with its input, as std.echo output=hello."),
    "concurrency": declare.integer("How many items are worked on at once.", support=since("8.0.0")),
    "description": declare.string("Description of the task."),
    "input": declare.mapping("Input of the action or workflow."),
    "join": declare.string("Which of the tasks before it must be done.", support=since("6.0.0")),
    "keep_result": declare.boolean("Whether the result is kept.", support=_V5),
    "name": declare.string("Name of the task.", required=True),
    "pause_before": replace(_PAUSE, support=_V5),
    "policies": declare.mapping(
        "Old name of what are properties of the task now.",
        support=SupportStatus(
            Support.HIDDEN,
            "8.0.0",
            previous=SupportStatus(Support.DEPRECATED, "5.0.0", previous=since("2015.1")),
        ),
    ),
    "publish": declare.mapping("What later tasks are told of the result."),
    "retry": replace(_RETRY, support=_V5),
    "target": declare.string("The executor that does it.", support=_V5),
    "timeout": replace(_TIMEOUT, support=_V5),
    "wait_after": replace(_WAIT_AFTER, support=_V5),
    "wait_before": replace(_WAIT_BEFORE, support=_V5),
    "with_items": declare.string("A list; the task is done for each entry.", support=_V5),
    "workflow": declare.checked("mistral.workflow", "A workflow to run in place of an action."),
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
