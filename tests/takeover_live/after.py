"""The story after the switch: servers, alarms and clients use the addresses and stacks of Heat."""

from __future__ import annotations

import httpx
from keystoneauth1.session import Session

from tests.takeover_live import lab, switched
from tests.takeover_live.stacks import Stacks, wait_until
from tests.takeover_live.steps import Steps


def play(steps: Steps, stacks: Stacks, session: Session) -> None:
    """Use the stacks, and delete all of them."""
    with steps.step("no stack has changed since the pass"):
        assert switched.changed_stacks() == set()
    with steps.step("a server signals its wait conditions"):
        _signal(stacks, "after-the-switch")
    with steps.step("servers poll deployments, and report them"):
        _deploy(stacks)
    with steps.step("policies of old addresses scale their groups"):
        _scale(stacks)
    with steps.step("an update changes resources in place"):
        _update(stacks)
    with steps.step("an update replaces resources"):
        _replace(stacks)
    with steps.step("a failed update rolls back to Heat's template"):
        _roll_back(stacks)
    with steps.step("an update completes stacks that failed or stopped in Heat"):
        _repair(stacks)
    with steps.step("stacks are suspended and resumed"):
        _suspend(stacks)
    with steps.step("a server signals after the stack was resumed"):
        _signal(stacks, "after-the-resume")
    with steps.step("a snapshot of Heat is restored"):
        _restore(stacks, session)
    with steps.step("an update of every type changes nothing"):
        for name in ("misc", "sealed"):
            ids = _ids(stacks, name)
            stacks.update(name, "misc", **({} if name == "misc" else {"key_name": "sealed"}))
            stacks.reaches(name, "UPDATE_COMPLETE")
            assert _ids(stacks, name) == ids
    with steps.step("a stack whose delete failed in Heat is deleted"):
        _unblock(stacks, session)
    for name in stacks.names():
        with steps.step(f"{name} is deleted"):
            stacks.delete(name)
            wait_until(lambda name=name: _is_deleted(stacks, name), f"{name} is deleted")  # type: ignore[misc]


def _is_deleted(stacks: Stacks, name: str) -> bool:
    status = stacks.status(name)
    assert status != "DELETE_FAILED", stacks.reason(name)
    return status == "DELETE_COMPLETE"


def _signal(stacks: Stacks, text: str) -> None:
    lab.run_in_server(stacks.physical_id("web", "server"), "/srv/signal", text, text)
    outputs = stacks.outputs("web")
    assert all(text in str(outputs[name]) for name in ("data", "signed_data")), outputs


def _deploy(stacks: Stacks) -> None:
    before = _ids(stacks, "soft")
    stacks.update("soft", "soft", greeting="Again")
    stacks.reaches("soft", "UPDATE_COMPLETE")
    outputs = stacks.outputs("soft")
    texts = [outputs[name] for name in ("cfn", "heat", "url")] + list(outputs["both"].values())
    assert texts == ["Again from a server"] * 5, outputs
    for name in ("cfn_server", "heat_server", "url_server", "cfn_deployment"):
        assert before[name] == _ids(stacks, "soft")[name]


def _scale(stacks: Stacks) -> None:
    old = stacks.outputs("scale")
    httpx.post(old["up"]).raise_for_status()
    wait_until(lambda: stacks.outputs("scale")["size"] == 3, "the group has three members")
    assert set(old["texts"]) < set(stacks.outputs("scale")["texts"])
    wait_until(lambda: stacks.status("scale").endswith("COMPLETE"), "it rests")

    def shrinks() -> bool:
        # A signal during the cooldown of a second is ignored.
        httpx.post(old["down"]).raise_for_status()
        return bool(stacks.outputs("scale")["size"] < 3)

    wait_until(shrinks, "the group has shrunk")
    servers = stacks.outputs("instances")["Servers"]
    httpx.post(stacks.outputs("instances")["Up"]).raise_for_status()
    wait_until(
        lambda: len((stacks.outputs("instances")["Servers"] or "").split(",")) == 2,
        "the instance group has two servers",
    )
    assert servers in stacks.outputs("instances")["Servers"]


def _update(stacks: Stacks) -> None:
    ids = _ids(stacks, "change")
    stacks.update("change", "change", name="after")
    stacks.reaches("change", "UPDATE_COMPLETE")
    assert _ids(stacks, "change") == ids
    texts = stacks.outputs("deep")["texts"]
    stacks.update("deep", "deep", count=3)
    stacks.reaches("deep", "UPDATE_COMPLETE")
    assert stacks.outputs("deep")["texts"][:2] == texts
    server = stacks.physical_id("web", "server")
    stacks.update("web", "web", title="second")
    stacks.reaches("web", "UPDATE_COMPLETE")
    assert stacks.physical_id("web", "server") == server


def _replace(stacks: Stacks) -> None:
    ids, text = _ids(stacks, "change"), stacks.outputs("change")["text"]
    stacks.update("change", "change", name="after", length=12, network="public")
    stacks.reaches("change", "UPDATE_COMPLETE")
    now = _ids(stacks, "change")
    assert (now["port"] != ids["port"], now["volume"]) == (True, ids["volume"])
    assert (len(stacks.outputs("change")["text"]), len(text)) == (12, 8)


def _roll_back(stacks: Stacks) -> None:
    ids, outputs = _ids(stacks, "undo"), stacks.outputs("undo")
    stacks.update(
        "undo", "change", name="doomed", network="public", fail=True, DISABLE_ROLLBACK=False
    )
    stacks.reaches("undo", "ROLLBACK_COMPLETE")
    now = _ids(stacks, "undo")
    assert (now["text"], now["volume"]) == (ids["text"], ids["volume"])
    assert stacks.outputs("undo")["text"] == outputs["text"]
    assert stacks.api.stacks.get("undo").parameters["name"] == "before"


def _repair(stacks: Stacks) -> None:
    stacks.update("half", "change", length=9, name="half", network="public")
    stacks.reaches("half", "UPDATE_COMPLETE")
    assert len(stacks.outputs("half")["text"]) == 9
    assert stacks.status("halted") == "CREATE_FAILED"
    stacks.update("halted", "halted")
    stacks.reaches("halted", "UPDATE_COMPLETE")
    stacks.update("broken", "change")
    stacks.reaches("broken", "UPDATE_COMPLETE")


def _suspend(stacks: Stacks) -> None:
    stacks.api.actions.resume("asleep")
    stacks.reaches("asleep", "RESUME_COMPLETE")
    stacks.api.actions.suspend("web")
    stacks.reaches("web", "SUSPEND_COMPLETE")
    stacks.api.actions.resume("web")
    stacks.reaches("web", "RESUME_COMPLETE")


def _restore(stacks: Stacks, session: Session) -> None:
    text = stacks.outputs("snap")["text"]
    [snapshot] = stacks.api.stacks.snapshot_list("snap")["snapshots"]
    stacks.api.stacks.restore("snap", snapshot["id"])
    stacks.reaches("snap", "RESTORE_COMPLETE")
    assert stacks.outputs("snap")["text"] == text
    url = f"{lab.CLOUD_URL}/compute/v2.1/servers/{stacks.physical_id('snap', 'server')}"
    assert session.get(url).json()["server"]["metadata"]["title"] == "before"


def _unblock(stacks: Stacks, session: Session) -> None:
    network = stacks.physical_id("stuck", "net")
    url = f"{lab.CLOUD_URL}/network/v2.0/ports"
    for port in session.get(f"{url}?network_id={network}").json()["ports"]:
        session.delete(f"{url}/{port['id']}")
    stacks.delete("stuck")
    wait_until(lambda: _is_deleted(stacks, "stuck"), "it is deleted")


def _ids(stacks: Stacks, name: str) -> dict[str, str]:
    """Return the physical ids of the resources of a stack by name."""
    return {
        each.resource_name: each.physical_resource_id for each in stacks.api.resources.list(name)
    }
