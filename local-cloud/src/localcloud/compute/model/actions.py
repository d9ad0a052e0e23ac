"""The record of the actions on each server, with the events of their work."""

from localcloud.compute.model.state import State
from localcloud.core.store import Document
from localcloud.web.http import RequestContext

_KEPT = 200  # actions remembered for one server


def record(state: State, context: RequestContext, server_id: str, action: str) -> str:
    """Note that an action was asked for; returns the id of the record."""
    number = state.next_number("instance_action")
    request_id = context.request_id or f"req-{number}"
    document: Document = {
        "id": str(number),
        "instance_uuid": server_id,
        "action": action,
        "request_id": request_id,
        "project_id": context.project_id,
        "user_id": context.user_id,
        "start_time": state.now(),
        "updated_at": state.now(),
        "message": None,
        "events": [],
    }
    state.actions.put(document)
    known = list(state.actions.find(instance_uuid=server_id))
    for old in known[: max(len(known) - _KEPT, 0)]:
        state.actions.delete(old["id"])
    return str(number)


def begin(state: State, action_id: str | None, event: str, host: str) -> None:
    """Record that the work on an action starts."""
    action = state.actions.get(action_id) if action_id else None
    if action is not None:
        started: Document = {
            "event": event,
            "start_time": state.now(),
            "finish_time": None,
            "result": None,
            "traceback": None,
            "host": host,
        }
        others = [e for e in action["events"] if e["event"] != event]
        state.actions.put({**action, "updated_at": state.now(), "events": [started, *others]})


def finish(state: State, action_id: str | None, event: str, error: str | None = None) -> None:
    """Note that the work on an action has ended, with an error or well."""
    action = state.actions.get(action_id) if action_id else None
    if action is not None:
        done = {
            "finish_time": state.now(),
            "result": "Success" if error is None else "Error",
            "traceback": error,
        }
        events = [{**e, **done} if e["event"] == event else e for e in action["events"]]
        message = action["message"] if error is None else "Error"
        state.actions.put(
            {**action, "message": message, "updated_at": state.now(), "events": events}
        )
