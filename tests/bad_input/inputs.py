"""Every input of every API with odd values: found in the descriptions that the APIs have."""

from __future__ import annotations

import itertools
import json
import math
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import botocore.session
import cbor2
import httpx

from stoker.api.cfn.actions import ACTIONS as CFN_ACTIONS
from stoker.api.cfn.handlers.unavailable import UNAVAILABLE
from stoker.api.cloudwatch.actions import ACTIONS as CLOUDWATCH_ACTIONS
from stoker.api.cloudwatch.protocols import nested
from stoker.cli.arguments.data_dir import running_in
from stoker.kernel.values import replace
from tests.bad_input.named_texts import STACKS, with_texts
from tests.recovery.service import until
from tests.rest.contract import ROWS, Row
from tests.rest.scene import Scene, described

ODD: Mapping[str, Any] = {
    "300 characters": "x" * 300,
    "70,000 characters": "x" * 70_000,
    "NUL": "a\0b",
    "half a surrogate": "a\ud800b",
    "beyond 64 bits": 2**64,
}
_HALF = "a\ud800b".encode("utf-8", "surrogatepass")
# Values for members of a typed protocol.
TYPED: Mapping[str, Any] = {
    **ODD,
    "a number": 7,
    "below nought": -1,
    "not a number": math.nan,
    "more than a double": math.inf,
    "more than a time": 1e300,
    "all that a double holds": sys.float_info.max,
    "bytes": b"\xff\x00",
    "yes": True,
    "nothing": None,
    "an empty text": "",
    "an empty list": [],
    "a list of lists": [[[]], None],
    "an empty map": {},
    "a map": {"member": {"1": {"Name": {}}}},
}
# Actions that the CloudFormation API answers, although botocore has them in another service.
OF_STS = {"GetCallerIdentity"}
UNMADE = ("DeleteAlarms", "PutMetricAlarm")  # actions of CloudWatch that are refused with any input
REFUSALS = (400, 409, 413, 501)
# Further inputs of an action; each uses those that it knows.
ACTION_INPUT: Mapping[str, str] = {
    "LogicalResourceId": "handle",
    "Status": "SUCCESS",
    "UniqueId": "1",
    "ChangeSetName": "changes",
    "EnableTerminationProtection": "false",
    "ExportName": "none",
    "TemplateBody": '{"AWSTemplateFormatVersion": "2010-09-09", "Resources": {}}',
    "StackPolicyBody": '{"Statement": []}',
    "AlarmName": "none",
    "StateValue": "OK",
    "Namespace": "space",
    "MetricName": "metric",
    "Period": "60",
    "StartTime": "2026-01-01T00:00:00Z",
    "EndTime": "2026-01-01T01:00:00Z",
    "Statistics.member.1": "Sum",
    "AlarmNames.member.1": "none",
    "MetricData.member.1.MetricName": "metric",
    "MetricData.member.1.Value": "1",
}
# The same where members have types.
TYPED_INPUT: Mapping[str, Any] = {
    "Period": 60,
    "StartTime": 1_767_225_600,
    "EndTime": 1_767_229_200.0,
    "MetricData.member.1.Value": 1.0,
}


@dataclass(frozen=True)
class Asked:
    """An input that got an odd value, and how it was answered."""

    where: str
    name: str  # value of the input
    odd: str
    answer: httpx.Response
    words: Collection[str] = ()  # words for the input in a refusal; none where it need not be named
    shown: str | None = None  # the shown form of a created object, if one was created
    given: Collection[Any] = ()  # value that it must contain

    def __str__(self) -> str:
        told = self.answer.text[:300]
        return f"{self.where}: {self.name} with {self.odd}: {self.answer.status_code} {told}"

    @property
    def fault(self) -> str | None:
        """Return the fault of the answer, if any."""
        if self.answer.status_code >= 500:
            return "a fault of the service"
        if self.answer.status_code in REFUSALS and self.words and not self._is_named:
            return "the refusal does not name the input"
        if self.shown is None:
            return None
        if "\N{REPLACEMENT CHARACTER}" in self.shown:
            return "something else is shown than was given"
        if not all(json.dumps(each).strip('"') in self.shown for each in self.given):
            return "what was given is not shown"
        return None

    @property
    def _is_named(self) -> bool:
        told = self.answer.text.lower()
        return any(each in told for each in self.words)


# Further fields that a field of a body needs.
_ALSO: Mapping[str, Any] = {"resource_status_reason": {"mark_unhealthy": True}}


class Asker:
    """Asks a service everything."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        member = scene.member
        self.project = f"{scene.service.url}/v1/{member.project}"
        headers = {"X-Auth-Token": member.token}
        self.client = httpx.Client(headers=headers, timeout=60, verify=False)
        self.document = described(scene.service)
        self._good: dict[tuple[int, str], list[str]] = {}

    def close(self) -> None:
        """Close all connections."""
        self.client.close()

    # -- REST

    def paths(self) -> Iterator[Asked]:
        """The variable parts of addresses."""
        for row in ROWS:
            for name in re.findall(r"\{(\w+)\}", row.path):
                for odd, value in ODD.items():
                    path = _filled(row.path, {**self.scene.names, name: value})
                    answer = self._rest(row.method, path, None)
                    yield Asked(f"{row.method} {row.path}", name, odd, answer)

    def queries(self) -> Iterator[Asked]:
        """The parameters of queries."""
        for row in ROWS:
            if row.method == "DELETE" and not row.path.endswith("/preview"):
                continue
            for parameter in self._described(row).get("parameters", ()):
                name = parameter["name"]
                for odd, value in ODD.items():
                    path = f"{_filled(row.path, self.scene.names)}?{name}={_short(value)}"
                    answer = self._rest(row.method, path, self._body(row))
                    yield Asked(f"{row.method} {row.path}", name, odd, answer, _words(name))

    def bodies(self) -> Iterator[Asked]:
        """The fields of bodies."""
        for row in ROWS:
            schema = self._described(row).get("requestBody")
            if schema is None or row.path.endswith("/actions"):
                continue
            reference = schema["content"]["application/json"]["schema"]["$ref"]
            kind = self.document["components"]["schemas"][reference.rpartition("/")[2]]
            for name in kind["properties"]:
                for odd, value in ODD.items():
                    if row.before is not None:
                        self.scene.settled()
                    answer = self._rest(
                        row.method,
                        _filled(row.path, self.scene.names),
                        {**(self._body(row) or {}), **_ALSO.get(name, {}), name: value},
                    )
                    shown = self._shown(row, name, answer)
                    yield Asked(f"{row.method} {row.path}", name, odd, answer, _words(name), shown)

    def _shown(self, row: Row, name: str, answer: httpx.Response) -> str | None:
        """Return the stored form of a field of a config, a deployment, a snapshot or a mark."""
        if answer.status_code >= 300 or name in ("stack_user_project_id", "mark_unhealthy"):
            return None
        if name == "output_values" and row.method == "POST":
            return None  # no row exists yet
        if name == "resource_status_reason":
            self.scene.settled()
            return self._rest("GET", _filled(row.path, self.scene.names), None).text
        return answer.text if "software" in row.path or "snapshots" in row.path else None

    def _described(self, row: Row) -> Mapping[str, Any]:
        item: Mapping[str, Any] = self.document["paths"]["/{project_id}" + row.path]
        found: Mapping[str, Any] = item[row.method.lower()]
        return found

    def _body(self, row: Row) -> Any:
        if row.body is None:
            return None
        self.scene.made += 1
        names = {**self.scene.names, "new_name": f"odd{self.scene.made}"}
        return json.loads(_named(json.dumps(row.body), names))

    def _rest(self, method: str, path: str, body: Any) -> httpx.Response:
        content = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        return self.client.request(method, self.project + path, content=content, headers=headers)

    # -- what stacks are made of

    def _texts(self) -> Iterator[Asked]:
        """The texts in templates, environments, files and parameters, each in a preview."""
        for body, names in STACKS:
            for name, words in names.items():
                for odd in ODD:
                    wanted = {"stack_name": "unmade", **with_texts(body, {name: _odd(odd, name)})}
                    answer = self._rest("POST", "/stacks/preview", wanted)
                    if answer.status_code == 200:
                        self._good.setdefault((id(body), odd), []).append(name)
                    told = [word.lower() for word in words]
                    yield Asked("POST /stacks/preview", name, odd, answer, told)

    def stacks(self) -> Iterator[Asked]:
        """The same, and stacks with several texts that previews have taken."""
        yield from self._texts()
        begun: list[tuple[str, httpx.Response, dict[str, Any]]] = []
        for body, _ in STACKS:
            for odd in ODD:
                names = self._good.get((id(body), odd), [])
                for some in (names[place : place + 5] for place in range(0, len(names), 5)):
                    values = {name: _odd(odd, name) for name in some}
                    export = {"$export": f"export{len(begun)}"}  # a project has one of a name
                    wanted = {"stack_name": f"made{len(begun)}"}
                    wanted |= with_texts(body, export | values)
                    begun.append((odd, self._rest("POST", "/stacks", wanted), values))
        for odd, answer, values in begun:
            assert answer.status_code == 201, f"{list(values)} with {odd}: {answer.text:.300}"
            shown, given = self._made(answer), list(values.values())
            yield Asked("POST /stacks", ", ".join(values), odd, answer, (), shown, given)

    def _made(self, answer: httpx.Response) -> str:
        """All that is shown of a stack, once it is made; it is deleted then."""
        path = answer.headers["Location"].partition(self.scene.member.project)[2]
        until(lambda: self._status(path) != "CREATE_IN_PROGRESS", "the stack is made")
        below = ("", "/template", "/environment", "/files", "/resources", "/events", "/outputs")
        shown = [self._rest("GET", path + each, None) for each in below]
        resources = self._rest("GET", f"{path}/resources", None).json()["resources"]
        shown += [self.client.get(each["links"][0]["href"]) for each in resources]
        assert {each.status_code for each in shown} == {200}, path
        assert '"CREATE_COMPLETE"' in shown[0].text, shown[0].text[-600:]
        self._rest("DELETE", path, None)
        return "".join(each.text for each in shown)

    def _status(self, path: str) -> str:
        return str(self._rest("GET", path, None).json()["stack"]["stack_status"])

    # -- query APIs

    def actions(self) -> Iterator[Asked]:
        """The parameters of actions of CloudFormation and of CloudWatch, as botocore has them."""
        running = running_in(self.scene.service.data_dir)
        assert running is not None
        for service, port, actions in (
            ("cloudformation", running.cfn_port, CFN_ACTIONS.keys() - UNAVAILABLE.keys() - OF_STS),
            ("cloudwatch", running.cloudwatch_port, CLOUDWATCH_ACTIONS.keys() - set(UNMADE)),
        ):
            model = botocore.session.get_session().get_service_model(service)
            url = f"http://127.0.0.1:{port}/v1/"
            for action in sorted(actions):
                shape = model.operation_model(action).input_shape
                names = list(_flat(shape)) if shape is not None else []
                for name in names:
                    for odd, value in ODD.items():
                        yield self._query(url, action, name, odd, value, names)

    def _query(
        self, url: str, action: str, name: str, odd: str, value: Any, known: list[str]
    ) -> Asked:
        given = {"StackName": "everything", **ACTION_INPUT}
        if action in ("CreateStack", "CreateChangeSet"):
            self.scene.made += 1
            given["StackName"] = f"odd{self.scene.made}"
            given["ChangeSetType"] = "CREATE"
        if action == "DeleteStack":
            given["StackName"] = "none"
        query = {n: given[n] for n in known if n in given} | _besides(name) | {"Action": action}
        if name.endswith("URL"):
            query.pop(f"{name.removesuffix('URL')}Body", None)
        answer = self._form(url, {**query, name: value})
        asked = Asked(action, name, odd, answer, [*_words(name), str(value)[:40]])
        if asked.fault and self._form(url, query).text == answer.text:
            return replace(asked, words=())  # it is not about this input
        return asked

    def _form(self, url: str, query: Mapping[str, Any]) -> httpx.Response:
        form = "&".join(f"{key}={_quoted(each)}" for key, each in query.items())
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        return self.client.post(url, content=form, headers=headers)

    def some_typed_actions(self) -> Iterator[Asked]:
        """One in seven of the next ones, which are many."""
        return self.typed_actions(7)

    def typed_actions(self, every: int = 1) -> Iterator[Asked]:
        """The members of CloudWatch's actions in the protocols that have types."""
        running = running_in(self.scene.service.data_dir)
        assert running is not None
        url = f"http://127.0.0.1:{running.cloudwatch_port}"
        given = {**ACTION_INPUT, **TYPED_INPUT, "AlarmName": self._alarm()}
        model = botocore.session.get_session().get_service_model("cloudwatch")
        asked = itertools.count()
        for action in sorted(CLOUDWATCH_ACTIONS.keys() - set(UNMADE)):
            names = list(_flat(model.operation_model(action).input_shape))
            good = {n: given[n] for n in names if n in given}
            for ask in (self._in_json, self._in_cbor):
                usual = ask(url, action, good)
                for name in names:
                    for odd, value in TYPED.items():
                        if next(asked) % every:
                            continue
                        beside = {**_measured(good, name), **_besides(name)}
                        answer = ask(url, action, {**beside, name: value})
                        words = [*_words(name), "cbor", "json"] if answer.text != usual.text else []
                        yield Asked(f"{action} {ask.__name__}", name, odd, answer, words)

    def _alarm(self) -> str:
        """The name of an alarm, which is made for it."""
        rule = {
            "MetricName": "metric", "Namespace": "space", "Statistic": "Sum", "Period": "60",
            "EvaluationPeriods": "1", "Threshold": "0",
            "ComparisonOperator": "GreaterThanThreshold",
        }  # fmt: skip
        alarm = {"type": "OS::Heat::CWLiteAlarm", "properties": rule}
        template = {"heat_template_version": "2018-08-31", "resources": {"alarm": alarm}}
        self.scene.made += 1
        body = {"stack_name": f"odd{self.scene.made}", "template": template}
        answer = self._rest("POST", "/stacks", body)
        path = answer.headers["Location"].partition(self.scene.member.project)[2]
        until(lambda: self._status(path) == "CREATE_COMPLETE", "the alarm is made")
        resource = self._rest("GET", f"{path}/resources/alarm", None).json()["resource"]
        return str(resource["physical_resource_id"])

    def _in_json(self, url: str, action: str, given: Mapping[str, Any]) -> httpx.Response:
        def spelt(value: Any) -> str:
            assert isinstance(value, bytes)
            return value.decode("latin-1")

        headers = {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": f"GraniteServiceVersion20100801.{action}",
        }
        content = json.dumps(nested(given), default=spelt).encode()
        return self.client.post(url, content=content, headers=headers)

    def _in_cbor(self, url: str, action: str, given: Mapping[str, Any]) -> httpx.Response:
        headers = {"Content-Type": "application/cbor", "smithy-protocol": "rpc-v2-cbor"}
        same_length = {"a\ud800b": "a~~~b"}  # as a text that can be encoded
        writable = {n: same_length.get(v, v) if isinstance(v, str) else v for n, v in given.items()}
        content = cbor2.dumps(nested(writable)).replace(b"a~~~b", _HALF)
        where = f"{url}/service/GraniteServiceVersion20100801/operation/{action}"
        answer = self.client.post(where, content=content, headers=headers)
        told = json.dumps(cbor2.loads(answer.content), default=str)
        return httpx.Response(answer.status_code, text=told)

    # -- signals

    def signals(self) -> Iterator[Asked]:
        """The parts of signals, at both kinds of addresses."""
        scene = self.scene
        running = running_in(scene.service.data_dir)
        assert running is not None
        arn = (
            f"arn:openstack:heat::{scene.member.project}:stacks/{scene.stack_name}/{scene.stack_id}"
            "/resources/handle"
        )
        below = f"/stacks/{scene.stack_name}/{scene.stack_id}/resources/handle"
        endpoint = f"http://127.0.0.1:{running.cfn_port}/v1/signal/{quote(arn)}"
        for where in (f"{self.project}{below}/signal", endpoint):
            for name in ("id", "data", "reason", "status"):
                for odd, value in ODD.items():
                    content = json.dumps({"id": odd, name: value}).encode()
                    headers = {"Content-Type": "application/json"}
                    answer = self.client.post(where, content=content, headers=headers)
                    shown = None
                    if answer.status_code == 200 and name != "status":
                        found = self._rest("GET", f"{below}/metadata", None)
                        shown = found.text if name in ("data", "reason") else None
                    yield Asked("signal", name, odd, answer, _words(name), shown, [value])


def _besides(name: str) -> dict[str, str]:
    """Return the partner of a member of a structure."""
    begin, _, last = name.rpartition(".")
    partner = {
        "ParameterKey": "ParameterValue", "ParameterValue": "ParameterKey", "Key": "Value",
        "Value": "Key", "Name": "Value",
    }.get(last)  # fmt: skip
    return {f"{begin}.{partner}": "1"} if begin and partner else {}


def _measured(given: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the further input for a member of a datum:

    one of its forms, with the largest values.
    """
    begin, found, _ = name.partition("MetricData.member.1.")
    forms = {
        "Values": {f"{kind}.member.{n}": 1.0 for kind in ("Values", "Counts") for n in (1, 2)},
        "StatisticValues": dict.fromkeys(
            [f"StatisticValues.{kind}" for kind in ("Sum", "SampleCount", "Minimum", "Maximum")], 1
        ),
    }
    form = "Values" if ".Counts" in name else name.removeprefix(begin + found).partition(".")[0]
    if not found or form not in forms:
        return dict(given)
    rest = {n: value for n, value in given.items() if n != "MetricData.member.1.Value"}
    whole = forms[form] | ({"Values.member.2": sys.float_info.max} if form == "Values" else {})
    more = {f"{begin}{found}{n}": value for n, value in whole.items()}
    return {**rest, **more, f"{begin}{found}MetricName": "metric"}


def _words(name: str) -> list[str]:
    """Return words that a refusal may use for an input: any word of its name."""
    found = re.findall(r"[A-Z]?[a-z]{2,}", re.sub(r"[_.]|member", " ", name))
    return [word.lower().removesuffix("s") for word in found]


def _flat(shape: Any, before: str = "", depth: int = 0) -> Iterator[str]:
    """The parameters of a shape in the notation of the query protocol."""
    for name, inner in shape.members.items():
        if inner.type_name == "list":
            element = inner.member
            if element.type_name == "structure" and depth < 2:
                yield from _flat(element, f"{before}{name}.member.1.", depth + 1)
            else:
                yield f"{before}{name}.member.1"
        elif inner.type_name == "structure":
            yield from _flat(inner, f"{before}{name}.", depth + 1)
        else:
            yield f"{before}{name}"


def _filled(path: str, names: Mapping[str, Any]) -> str:
    return re.sub(r"\{(\w+)\}", lambda found: _short(names[found[1]]), path)


def _odd(odd: str, name: str) -> Any:
    """A value of a kind that no other name has."""
    value = ODD[odd]
    return value + name.removeprefix("$") if isinstance(value, str) else value + sum(map(ord, name))


def _short(value: Any) -> str:
    """A value in an address, which a client sends up to 64 KiB of."""
    return _quoted(value)[:60_000]


def _named(text: str, names: Mapping[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda found: names[found[1]], text)


def _quoted(value: Any) -> str:
    return quote(str(value).encode("utf-8", "surrogatepass"), safe="")
