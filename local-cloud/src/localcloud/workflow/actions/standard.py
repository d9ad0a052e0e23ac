"""The standard actions of Mistral."""

from typing import Any

from localcloud.workflow.actions import http
from localcloud.workflow.actions.action import Action, ActionError, Input, Taken, declared

_LONGEST_SLEEP = 86_400
_MOST_ENTRIES = 10_000


async def _noop(taken: Taken, given: Input) -> Any:
    return None


async def _echo(taken: Taken, given: Input) -> Any:
    await _sleep(taken, {"seconds": given["delay"]})
    return given["output"]


async def _fail(taken: Taken, given: Input) -> Any:
    if given["error_data"]:
        raise ActionError(given["error_data"])
    raise ValueError("Fail action expected exception.")


async def _sleep(taken: Taken, given: Input) -> Any:
    seconds = given["seconds"]
    if not isinstance(seconds, int | float) or not 0 <= seconds <= _LONGEST_SLEEP:
        raise ValueError(f"a number of seconds from 0 to {_LONGEST_SLEEP} is expected: {seconds}")
    if seconds:
        await taken.sleep(seconds)


async def _test_dict(taken: Taken, given: Input) -> Any:
    size = given["size"]
    if not isinstance(size, int) or not 0 <= size <= _MOST_ENTRIES:
        raise ValueError(f"a size from 0 to {_MOST_ENTRIES} is expected: {size}")
    return {f"{given['key_prefix']}{number}": given["val"] for number in range(size)}


async def _http(taken: Taken, given: Input) -> Any:
    return await taken.blocking(http.ask, given, {})


async def _mistral_http(taken: Taken, given: Input) -> Any:
    run, within = taken.action_execution, taken.execution
    url = f"{taken.endpoint('workflowv2')}/action_executions/{run['id']}"
    headers = {
        "Mistral-Workflow-Name": None if within is None else within["workflow_name"],
        "Mistral-Workflow-Execution-Id": None if within is None else within["id"],
        "Mistral-Task-Id": run["task_execution_id"],
        "Mistral-Action-Execution-Id": run["id"],
        "Mistral-Callback-URL": url,
    }
    return await taken.blocking(http.ask, given, {k: str(v) for k, v in headers.items()})


def _refusing(name: str, inputs: str, why: str) -> Action:
    async def refuse(taken: Taken, given: Input) -> Any:
        raise ValueError(f"{name} does not exist in the local cloud: {why}")

    return Action(name, declared(inputs), f"Refused: {why}", refuse)


_NO_MAIL = "it has no mail server, and sends nothing. std.http reaches a service that sends mail"
_NO_JAVASCRIPT = "it runs no JavaScript. Expressions in YAQL and Jinja compute values"
_NO_SSH = "it does not log in to servers. User data and software deployments run commands there"
_HTTP = (
    'url, method="GET", params=null, body=null, json=null, headers=null, cookies=null, auth=null,'
    " timeout=null, allow_redirects=null, proxies=null, verify=null"
)
ACTIONS = (
    Action("std.noop", {}, "Does nothing.", _noop),
    Action("std.async_noop", {}, "Waits for who says that it is done.", _noop, waits=True),
    Action("std.echo", declared("output, delay=0"), "Returns what it is given.", _echo),
    Action("std.fail", declared("error_data=null"), "Fails.", _fail),
    Action("std.sleep", declared("seconds=1"), "Waits for so many seconds.", _sleep),
    Action("std.test_dict", declared('size=0, key_prefix="", val=""'), "Makes a map.", _test_dict),
    Action("std.http", declared(_HTTP), "Sends a request; fails for 4xx and 5xx.", _http),
    Action(
        "std.mistral_http",
        declared(_HTTP),
        "Sends a request, and waits for who says at Mistral-Callback-URL what came of it.",
        _mistral_http,
        waits=True,
    ),
    _refusing(
        "std.email",
        "from_addr, to_addrs, smtp_server, reply_to=null, cc_addrs=null, bcc_addrs=null,"
        " smtp_password=null, subject=null, body=null, html_body=null",
        _NO_MAIL,
    ),
    _refusing("std.javascript", "script, context=null", _NO_JAVASCRIPT),
    _refusing("std.js", "script, context=null", _NO_JAVASCRIPT),
    _refusing(
        "std.ssh",
        'cmd, host, username, password="", private_key_filename=null, private_key=null,'
        " return_result_on_error=false",
        _NO_SSH,
    ),
)
