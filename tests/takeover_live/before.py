"""The story until the switch: stacks of Heat in many states, two passes, and a check."""

from __future__ import annotations

from typing import Any

from keystoneauth1.session import Session

from tests.takeover_live import lab, switched
from tests.takeover_live.stacks import Stacks, wait_until
from tests.takeover_live.steps import Steps

COMPLETE = (
    "deep", "web", "soft", "scale", "instances", "change", "undo", "half", "snap", "asleep",
    "stuck",
)  # fmt: skip
_TEMPLATES = {"undo": "change", "half": "change", "asleep": "snap"}


def play(steps: Steps, stacks: Stacks, session: Session) -> None:
    """Create the stacks, and take them over."""
    switched.prepare()
    with steps.step("Heat creates a stack with encrypted properties"):
        stacks.create("sealed", "misc", key_name="sealed")
        stacks.reaches("sealed", "CREATE_COMPLETE")
        lab.run("stop-heat")
        lab.run("start-heat")
        stacks.wait_for_answer()
    with steps.step("Heat creates stacks"):
        for name in COMPLETE:
            stacks.create(name, _TEMPLATES.get(name, name))
        stacks.create("misc", TAGS="lab,grün")
        stacks.create("broken")
        for name in (*COMPLETE, "misc"):
            stacks.reaches(name, "CREATE_COMPLETE")
        stacks.reaches("broken", "CREATE_FAILED")
        stacks.create("elastic", **_ends(stacks))
        stacks.reaches("elastic", "CREATE_COMPLETE")
    if steps.failed:
        return
    with steps.step("Heat fails to update a stack after a replacement"):
        stacks.update("half", "change", length=9, name="half", network="public", fail=True)
        stacks.reaches("half", "UPDATE_FAILED")
    with steps.step("Heat fails to delete a stack"):
        _block_delete(stacks, session)
    with steps.step("Heat stops at a hook"):
        hooks = {"resources": {"port": {"hooks": "pre-create"}}}
        stacks.create("halted", ENVIRONMENT={"resource_registry": hooks})
        wait_until(lambda: _is_paused(stacks, "halted"), "the create stops at the hook")
    with steps.step("Heat suspends a stack"):
        stacks.api.actions.suspend("asleep")
        stacks.reaches("asleep", "SUSPEND_COMPLETE")
    with steps.step("Heat snapshots a stack, and updates it"):
        snapshot_of(stacks, "snap", "from-heat")
        stacks.update("snap", "snap", title="changed in Heat")
        stacks.reaches("snap", "UPDATE_COMPLETE")
    with steps.step("a pass copies all stacks"):
        done = switched.transfer()
        assert done["written"] == len(stacks.names()), done
    with steps.step("the check requests all views of Heat"):
        # Heat makes signed URLs, and stores attributes, when they are requested.
        switched.check(str(session.get_token()), str(session.get_project_id()))
        switched.transfer()
    with steps.step("the check against Heat finds no difference"):
        _check(session)
    with steps.step("a third pass copies what Heat has changed"):
        stacks.update("change", "change", name="changed in Heat")
        stacks.reaches("change", "UPDATE_COMPLETE")
        lab.run("stop-api")
        done = switched.transfer()  # --wait would wait for the hook
        # Heat also writes when it answers, so other stacks may be copied again.
        assert done["written"] >= 1, done
        assert done["changed_here"] == [], done
    with steps.step("Heat ends"):
        lab.run("stop-heat")


def _ends(stacks: Stacks) -> dict[str, str]:
    """Return the objects that the associations of addresses join."""
    outputs = stacks.outputs("web")
    return {name: outputs[name] for name in ("elastic", "interface", "third_address", "third")}


def snapshot_of(stacks: Stacks, name: str, called: str) -> None:
    """Make a snapshot, and wait for it."""
    made = stacks.api.stacks.snapshot(name, name=called)
    stacks.reaches(name, "SNAPSHOT_COMPLETE")
    found = stacks.api.stacks.snapshot_show(name, made["id"])["snapshot"]
    assert found["status"] == "COMPLETE", found


def port_in(session: Session, network_id: str) -> str:
    """Create a port that belongs to no stack; return its URL."""
    url = f"{lab.CLOUD_URL}/network/v2.0/ports"
    made = session.post(url, json={"port": {"network_id": network_id}}).json()["port"]
    return f"{url}/{made['id']}"


def _block_delete(stacks: Stacks, session: Session) -> None:
    port_in(session, stacks.physical_id("stuck", "net"))
    stacks.delete("stuck")
    wait_until(lambda: stacks.status("stuck") == "DELETE_FAILED", "the delete fails")


def _is_paused(stacks: Stacks, name: str) -> bool:
    events = stacks.api.events.list(name)
    return any("paused until Hook" in event.resource_status_reason for event in events)


def _check(session: Session) -> None:
    token, project = session.get_token(), session.get_project_id()
    report: dict[str, Any] = switched.check(str(token), str(project))
    texts = [
        f"{stack['name']}: {finding['reason']}"
        for stack in report["stacks"]
        for finding in stack["findings"]
        if stack["state"] == "not ready"
    ]
    texts += [finding["reason"] for finding in report["general"]]
    assert report["ready"], "\n".join(texts)
