"""The CloudWatch API in its three protocols, written and read by botocore, on a real engine."""

from __future__ import annotations

import gzip
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import botocore.session
import cbor2
import pytest
from botocore.parsers import create_parser
from botocore.serialize import create_serializer

from stoker.api.cloudwatch.app import MOST_BYTES, Api, application
from stoker.api.cloudwatch.protocols import nested
from stoker.api.next_tokens import token_of
from stoker.api.signed import Senders
from stoker.engine.model.requests import Caller
from stoker.engine.service.service import make_service
from stoker.kernel.errors import ValidationError
from tests.engine_world import Lab, in_lab
from tests.scaling.test_watches import watched
from tests.simulation.world import CALLER

from .conftest import FakePolicy, FakeVerifier

PROTOCOLS = ("query", "json", "smithy-rpc-v2-cbor")
MODEL = botocore.session.get_session().get_service_model("cloudwatch")
SIGNED = {"Authorization": "AWS4-HMAC-SHA256 Credential=k/0/127/aws4_request, Signature=good"}
DATUM = {"MetricName": "Load", "Value": 90.0, "Unit": "Count"}


@dataclass
class Answer:
    """The response to a client."""

    status: int
    headers: dict[str, str]
    body: bytes
    parsed: dict[str, Any]

    @property
    def code(self) -> str:
        found: str = self.parsed.get("Error", {}).get("Code", "")
        return found


class Client:
    """Speaks to the API as a client of one protocol."""

    def __init__(self, lab: Lab, protocol: str = "json", caller: Caller = CALLER) -> None:
        self.lab = lab
        self.protocol = protocol
        self.policy = FakePolicy()
        self.verifier = FakeVerifier(caller)
        service = make_service(lab.engine.ports, lab.engine.dispatch)

        async def nobody(headers: Mapping[str, str], project_id: str | None) -> None:
            return None

        async def compute(call: Callable[[], Any]) -> Any:
            return call()

        self._app = application(Api(service, Senders(self.verifier, nobody), self.policy, compute))

    async def ask(self, action: str, **given: Any) -> Answer:
        """The answer to an action, as botocore sends it and reads it."""
        operation = MODEL.operation_model(action)
        sent = create_serializer(self.protocol).serialize_to_request(given, operation)
        body = sent["body"]
        content = urlencode(body).encode() if isinstance(body, dict) else body
        path = "/v1" + sent["url_path"]
        answer = await self.send(path, content, {**sent["headers"], **SIGNED})
        response = {"body": answer.body, "headers": answer.headers, "status_code": answer.status}
        parser = create_parser(self.protocol)
        answer.parsed = parser.parse(response, operation.output_shape)
        return answer

    async def done(self, action: str, **given: Any) -> dict[str, Any]:
        """Return the result of an action that is not refused."""
        answer = await self.ask(action, **given)
        assert answer.status == 200, answer.body
        return answer.parsed

    async def send(
        self, path: str, body: bytes, headers: Mapping[str, str], query: bytes = b""
    ) -> Answer:
        """The answer to a request."""
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        pairs = [(k.lower().encode(), v.encode()) for k, v in headers.items()]
        scope = {"type": "http", "method": "POST", "path": path, "root_path": "", "headers": pairs,
                 "query_string": query, "scheme": "http", "server": ("cw", 8003)}  # fmt: skip
        await self._app(scope, receive, send)
        answered = {k.decode(): v.decode() for k, v in sent[0]["headers"]}
        return Answer(sent[0]["status"], answered, b"".join(m.get("body", b"") for m in sent), {})

    async def alarm(self) -> dict[str, Any]:
        """The only alarm."""
        [found] = (await self.done("DescribeAlarms"))["MetricAlarms"]
        return dict(found)


Story = Callable[[Client], Awaitable[None]]


def played(protocol: str, story: Story, **rule: Any) -> None:
    """Play a story in a world with one alarm."""

    async def in_world(lab: Lab) -> None:
        await lab.create(watched(**rule))
        await story(Client(lab, protocol))

    in_lab(in_world)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_measurement_raises_alarm_that_scales(protocol: str) -> None:
    async def story(client: Client) -> None:
        alarm = await client.alarm()
        assert alarm["StateValue"] == "INSUFFICIENT_DATA"
        await client.done("PutMetricData", Namespace="system/linux", MetricData=[DATUM])
        await client.lab.pass_time(61)
        service = make_service(client.lab.engine.ports, client.lab.engine.dispatch)
        await service.monitoring.watches.evaluate_due()
        await client.lab.engine.dispatch.idle()
        assert len(client.lab.cloud.objects) == 3
        shown = await client.alarm()
        stack = await client.lab.stack()
        up = (await client.lab.rows())["up"]
        assert {name: shown[name] for name in expected} == {
            **expected,
            "AlarmName": alarm["AlarmName"],
            "AlarmArn": f"{stack.address.arn}/resources/alarm",
            "AlarmActions": [up.physical_id],
            "Dimensions": [{"Name": "StackId", "Value": stack.address.arn}],
        }
        assert shown["StateUpdatedTimestamp"] > alarm["StateUpdatedTimestamp"]
        [by_metric] = (
            await client.done(
                "DescribeAlarmsForMetric", Namespace="system/linux", MetricName="Load"
            )
        )["MetricAlarms"]
        assert by_metric == shown

    expected = {
        "AlarmName": "",
        "AlarmArn": "",
        "AlarmActions": [],
        "Dimensions": [],
        "AlarmDescription": "",
        "ActionsEnabled": True,
        "StateValue": "ALARM",
        "StateReason": "Average of Load (90) is GreaterThanThreshold 50",
        "MetricName": "Load",
        "Namespace": "system/linux",
        "Statistic": "Average",
        "Period": 60,
        "EvaluationPeriods": 1,
        "Threshold": 50.0,
        "ComparisonOperator": "GreaterThanThreshold",
    }
    played(protocol, story)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_statistics_are_those_of_all_that_was_measured(protocol: str) -> None:
    async def story(client: Client) -> None:
        now = datetime.fromtimestamp(client.lab.engine.ports.clock.now(), UTC)
        known = {"SampleCount": 2.0, "Sum": 10.0, "Minimum": 1.0, "Maximum": 9.0}
        data = [
            DATUM,
            {"MetricName": "Load", "Unit": "Count", "StatisticValues": known},
            {"MetricName": "Load", "Unit": "Count", "Values": [2.0, 4.0], "Counts": [1.0, 3.0]},
            {"MetricName": "Load", "Value": 5.0, "Timestamp": now - timedelta(seconds=400)},
            {"MetricName": "Other", "Value": 5.0},
        ]
        await client.done("PutMetricData", Namespace="system/linux", MetricData=data)
        [metric] = (await client.done("ListMetrics"))["Metrics"]
        assert metric["Dimensions"] == [
            {"Name": "AlarmName", "Value": (await client.alarm())["AlarmName"]}
        ]
        names = ["Average", "Maximum", "Minimum", "SampleCount", "Sum"]
        found = await client.done(
            "GetMetricStatistics",
            **metric,
            StartTime=now - timedelta(seconds=650),
            EndTime=now + timedelta(seconds=250),
            Period=300,
            Statistics=names,
        )
        older, newer = found["Datapoints"]
        assert (older["Sum"], older["Unit"]) == (5.0, "None")
        assert newer["Timestamp"] - older["Timestamp"] == timedelta(seconds=600)
        counted = {"SampleCount": 7.0, "Sum": 114.0, "Minimum": 1.0, "Maximum": 90.0}
        assert {**{n: newer[n] for n in counted}, "Unit": newer["Unit"]} == {
            **counted,
            "Unit": "Count",
        }
        assert newer["Average"] == pytest.approx(114 / 7)

    played(protocol, story)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_alarm_state_can_be_set_and_has_history(protocol: str) -> None:
    async def story(client: Client) -> None:
        name = (await client.alarm())["AlarmName"]
        await client.done("DisableAlarmActions", AlarmNames=[name])
        assert (await client.alarm())["ActionsEnabled"] is False
        await client.done("SetAlarmState", AlarmName=name, StateValue="ALARM", StateReason="try <&")
        await client.lab.engine.dispatch.idle()
        assert len(client.lab.cloud.objects) == 2
        await client.done("EnableAlarmActions", AlarmNames=[name])
        await client.done("SetAlarmState", AlarmName=name, StateValue="OK", StateReason="again")
        await client.lab.engine.dispatch.idle()
        assert len(client.lab.cloud.objects) == 1
        told = (await client.done("DescribeAlarmHistory", AlarmName=name))["AlarmHistoryItems"]
        assert [(each["HistoryItemType"], each["HistorySummary"]) for each in told] == [
            ("StateUpdate", "ALARM -> NORMAL: again"),
            ("StateUpdate", "NODATA -> ALARM: try <&"),
            ("ConfigurationUpdate", "state changed"),
        ]
        assert [each["Timestamp"] for each in told] == sorted(
            (each["Timestamp"] for each in told), reverse=True
        )
        parts, token = [], None
        while True:
            given = {
                "MaxRecords": 1,
                "ScanBy": "TimestampAscending",
                "HistoryItemType": "StateUpdate",
            }
            part = await client.done(
                "DescribeAlarmHistory", **given, **({"NextToken": token} if token else {})
            )
            parts += part["AlarmHistoryItems"]
            token = part.get("NextToken")
            if token is None:
                break
        assert parts == told[1::-1]

    played(protocol, story)


WRONG: list[tuple[str, dict[str, Any], int, str]] = [
    ("SetAlarmState", {"AlarmName": "x", "StateValue": "OK", "StateReason": ""}, 404,
     "ResourceNotFound"),
    ("EnableAlarmActions", {"AlarmNames": ["x"]}, 404, "ResourceNotFound"),
    ("SetAlarmState", {"AlarmName": "x", "StateValue": "NORMAL", "StateReason": ""}, 400,
     "InvalidParameterValue"),
    ("PutMetricData", {"Namespace": "n", "MetricData": [{"MetricName": "m"}]}, 400,
     "MissingParameter"),
    ("PutMetricData", {"Namespace": "n", "MetricData": [{"MetricName": "m", "Value": 1.0,
     "Values": [1.0]}]}, 400, "InvalidParameterCombination"),
    ("PutMetricData", {"Namespace": "n", "MetricData": [{"MetricName": "m", "Value": 1.0,
     "Timestamp": datetime(2001, 1, 1, tzinfo=UTC)}]}, 400, "InvalidParameterValue"),
    ("PutMetricData", {"Namespace": "n", "MetricData": [{"MetricName": "m", "Value": 1.0,
     "Dimensions": [{"Name": "AlarmName", "Value": "x"}]}]}, 404, "ResourceNotFound"),
    ("PutMetricData", {"Namespace": "n", "MetricData": [{"MetricName": "m", "Value": 1e200}]}, 400,
     "InvalidParameterValue"),
    *(("PutMetricData", {"Namespace": "n", "MetricData": [{"MetricName": "m", "Values": values,
     "Counts": [1.7e308] * 2}]}, 400, "InvalidParameterValue") for values in ([1.7, 9], [9, -9])),
    ("PutMetricData", {"Namespace": "n", "MetricData": [{"MetricName": "m", "Value": 1.0}] * 1001},
     400, None),
    ("DescribeAlarms", {"NextToken": "z"}, 400, "InvalidNextToken"),
    ("DescribeAlarms", {"NextToken": "1"}, 400, "InvalidNextToken"),
    ("DescribeAlarms", {"NextToken": token_of("1", "other", "DescribeAlarms")}, 400,
     "InvalidNextToken"),
    ("ListMetrics", {"NextToken": token_of("0", CALLER.project_id, "DescribeAlarms")}, 400,
     "InvalidNextToken"),
    ("DescribeAlarms", {"MaxRecords": 101}, 400, "InvalidParameterValue"),
    ("DeleteAlarms", {"AlarmNames": ["x"]}, 501, "APINotImplemented"),
    ("GetDashboard", {"DashboardName": "x"}, 400, "InvalidAction"),
]  # fmt: skip


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_refusals_have_the_codes_of_cloudwatch(protocol: str) -> None:
    async def story(client: Client) -> None:
        for action, given, status, code in WRONG:
            answer = await client.ask(action, **given)
            assert answer.status == status, (action, given, answer.body)
            assert code in (None, answer.code), (action, given)
            assert answer.parsed["Error"]["Message"]

    played(protocol, story)


def test_each_action_has_a_policy_of_its_name() -> None:
    async def story(client: Client) -> None:
        client.policy.forbidden.add("cloudwatch:PutMetricData")
        refused = await client.ask("PutMetricData", Namespace="n", MetricData=[DATUM])
        assert (refused.status, refused.code) == (403, "AccessDenied")
        await client.done("ListMetrics")

    played("json", story)


def test_other_project_sees_no_alarms() -> None:
    async def story(client: Client) -> None:
        stranger = Client(client.lab, caller=Caller("elsewhere", "u"))
        assert (await stranger.done("DescribeAlarms"))["MetricAlarms"] == []
        assert (await stranger.done("ListMetrics"))["Metrics"] == []
        headers = {"X-Amz-Target": "GraniteServiceVersion20100801.ListMetrics"}
        unsigned = await client.send("/", b"{}", headers)
        assert unsigned.status == 403
        assert json.loads(unsigned.body)["__type"] == "SignatureDoesNotMatch"

    played("json", story)


def test_alarms_are_chosen_by_name_state_and_action() -> None:
    async def story(client: Client) -> None:
        alarm = await client.alarm()
        name, action = alarm["AlarmName"], alarm["AlarmActions"][0]
        for given, count in (
            ({"AlarmNames": [name]}, 1),
            ({"AlarmNames": ["x"]}, 0),
            ({"AlarmNamePrefix": name[:8]}, 1),
            ({"AlarmNamePrefix": "x"}, 0),
            ({"StateValue": "INSUFFICIENT_DATA"}, 1),
            ({"StateValue": "OK"}, 0),
            ({"ActionPrefix": action[:8]}, 1),
            ({"ActionPrefix": "x"}, 0),
            ({"AlarmTypes": ["CompositeAlarm"]}, 0),
        ):
            found = await client.done("DescribeAlarms", **given)
            assert len(found["MetricAlarms"]) == count, given
        for given, count in (
            ({"Period": 60, "Statistic": "Average"}, 1),
            ({"Period": 61}, 0),
            ({"Statistic": "Sum"}, 0),
            ({"Dimensions": [{"Name": "Zone", "Value": "a"}]}, 1),
            ({"Dimensions": [{"Name": "Zone", "Value": "b"}]}, 0),
        ):
            metric = {"Namespace": "system/linux", "MetricName": "Load"}
            found = await client.done("DescribeAlarmsForMetric", **metric, **given)
            assert len(found["MetricAlarms"]) == count, given
        for given, count in (
            ({"Namespace": "system/linux"}, 1),
            ({"MetricName": "x"}, 0),
            ({"Dimensions": [{"Name": "Zone"}]}, 1),
            ({"Dimensions": [{"Name": "Zone", "Value": "b"}]}, 0),
        ):
            found = await client.done("ListMetrics", **given)
            assert len(found["Metrics"]) == count, given

    played("json", story, Dimensions=[{"Name": "Zone", "Value": "a"}])


def test_measurement_for_named_alarm_has_its_metric() -> None:
    async def story(client: Client) -> None:
        name = (await client.alarm())["AlarmName"]
        other = {"MetricName": "Other", "Value": 1.0}
        named = {"Dimensions": [{"Name": "AlarmName", "Value": name}]}
        both = [{**DATUM, **named}, {**other, **named}]
        refused = await client.ask("PutMetricData", Namespace="n", MetricData=both)
        assert (refused.status, refused.code) == (400, "InvalidParameterValue")
        measured = client.lab.engine.ports.store.measurements
        row = (await client.lab.rows())["alarm"]
        assert await measured(row.id, 0) == []
        await client.done("PutMetricData", Namespace="n", MetricData=both[:1])
        assert len(await measured(row.id, 0)) == 1

    played("json", story, Dimensions=[{"Name": "Zone", "Value": "a"}])


def test_compressed_body_is_accepted_within_limit() -> None:
    headers = {"X-Amz-Target": "GraniteServiceVersion20100801.PutMetricData", **SIGNED}

    async def story(client: Client) -> None:
        body = json.dumps({"Namespace": "system/linux", "MetricData": [DATUM] * 900}).encode()
        packed = gzip.compress(body)
        gzipped = {**headers, "Content-Encoding": "gzip"}
        assert (await client.send("/", packed, gzipped)).status == 200
        assert client.verifier.shown == ("POST", "", "/", packed)
        bomb = gzip.compress(b" " * (MOST_BYTES + 1))
        bad = [bomb, packed[:40] + b"x", packed[:-5], packed[:5], b"{"]
        for content, encoding in (*((each, "gzip") for each in bad), (b"{", "zstd")):
            refused = await client.send("/", content, {**headers, "Content-Encoding": encoding})
            assert refused.status == 400, (content[:20], encoding)

    played("json", story)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff",
        b"\x81\x01",
        cbor2.dumps([1]),
        cbor2.dumps({"Namespace": 1}),
        cbor2.dumps({"Namespace": "n", "MetricData": {"a": 1}}),
        cbor2.dumps({"Namespace": "n", "MetricData": [1]}),
        cbor2.dumps({"Namespace": "n", "MetricData": [{"MetricName": "m", "Value": 1 << 5000}]}),
        cbor2.dumps({"Namespace": "n", "MetricData": [{"MetricName": "m", "Value": True}]}),
        b"\x81" * 5000 + b"\x01",
        b"\xd8\x23\x63(a)",
        b"\xa1\x80\x01",
        cbor2.dumps({"Namespace": "n", "MetricData": [DATUM]}) + b"\xa0",
    ],
)
def test_a_body_that_makes_no_sense_is_refused(body: bytes) -> None:
    headers = {"smithy-protocol": "rpc-v2-cbor", "Content-Type": "application/cbor", **SIGNED}
    path = "/service/GraniteServiceVersion20100801/operation/PutMetricData"

    async def story(client: Client) -> None:
        answer = await client.send(path, body, headers)
        assert answer.status == 400
        assert answer.headers["smithy-protocol"] == "rpc-v2-cbor"
        assert cbor2.loads(answer.body)["__type"]
        assert (await client.send("/elsewhere", body, headers)).status == 404
        assert (await client.send("/elsewhere", body, SIGNED)).status == 404

    in_lab(lambda lab: story(Client(lab)))


def test_query_parameters_become_nested_structure() -> None:
    parameters = {
        "Namespace": "n",
        "MetricData.member.2.MetricName": "b",
        "MetricData.member.10.MetricName": "c",
        "MetricData.member.1.MetricName": "a",
        "MetricData.member.1.Dimensions.member.1.Name": "d",
        "AlarmNames.member.1": "x",
    }
    assert nested(parameters) == {
        "Namespace": "n",
        "MetricData": [
            {"MetricName": "a", "Dimensions": [{"Name": "d"}]},
            {"MetricName": "b"},
            {"MetricName": "c"},
        ],
        "AlarmNames": ["x"],
    }
    for contradiction in ({"a": "1", "a.b": "2"}, {"a.b": "2", "a": "1"}, {".".join("a" * 99): ""}):
        with pytest.raises(ValidationError):
            nested(contradiction)
