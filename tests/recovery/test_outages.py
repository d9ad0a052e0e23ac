"""Database outages: requests are refused within seconds, and work continues afterwards."""

from __future__ import annotations

import json
import os
import resource
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

import boto3
import httpx
import pytest
import sqlalchemy as sa
from botocore.config import Config
from botocore.exceptions import ClientError

from stoker.store.sql.postgresql import SPACE, Lock
from tests.postgresql import PostgreSQL, server
from tests.recovery.service import NO_CERTIFICATES, Process, Service, processes, until

LONGEST = 10.0  # longest response time in seconds on a busy machine; the service waits half as long
SETTINGS = ("fsync=off", "max_connections=20")
TEMPLATE = """
heat_template_version: 2018-08-31
resources:
  handle: {type: AWS::CloudFormation::WaitConditionHandle}
  told:
    type: AWS::CloudFormation::WaitCondition
    properties: {Handle: {get_resource: handle}, Count: 1, Timeout: 300}
  after: {type: OS::Heat::RandomString, depends_on: told}
outputs:
  address: {value: {get_resource: handle}}
"""
SMALL = {
    "heat_template_version": "2018-08-31",
    "resources": {"a": {"type": "OS::Heat::RandomString"}},
}


@dataclass(frozen=True)
class Answer:
    """The answer to one request."""

    status: int
    retry_after: str | None
    text: str
    seconds: float


class Clients:
    """Clients of all interfaces of a service."""

    def __init__(self, service: Service) -> None:
        self.service = service
        token, self.project = service.authenticate()
        self._headers = {"X-Auth-Token": token}
        self._aws = {name: self._client(name) for name in ("cloudformation", "cloudwatch")}

    def _client(self, name: str) -> Any:
        user = self._identity("GET", "/auth/tokens")["token"]["user"]["id"]
        path = f"/users/{user}/credentials/OS-EC2"
        key = self._identity("POST", path, {"tenant_id": self.project})["credential"]
        catalog = self._identity("GET", "/auth/catalog")["catalog"]
        [url] = [
            endpoint["url"]
            for service in catalog
            if service["type"] == name
            for endpoint in service["endpoints"]
            if endpoint["interface"] == "public"
        ]
        return boto3.client(
            name,
            endpoint_url=url,
            aws_access_key_id=key["access"],
            aws_secret_access_key=key["secret"],
            region_name="RegionOne",
            config=Config(retries={"max_attempts": 0}, read_timeout=30),
        )

    def _identity(self, method: str, path: str, body: Any = None) -> Any:
        headers = {**self._headers, "X-Subject-Token": self._headers["X-Auth-Token"]}
        url = f"{self.service.credentials('stoker')['auth_url']}{path}"
        answer = httpx.request(method, url, json=body, headers=headers, timeout=20)
        answer.raise_for_status()
        return answer.json()

    def rest(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        begun = time.monotonic()
        url = f"{self.service.url}/v1/{self.project}{path}"
        sent = {**self._headers, **headers}
        with httpx.stream(
            method, url, json=body, headers=sent, timeout=60, verify=NO_CERTIFICATES
        ) as answer:
            is_stream = answer.headers.get("content-type", "").startswith("text/event-stream")
            text = "" if is_stream else answer.read().decode()
            retry_after = answer.headers.get("Retry-After")
            return Answer(answer.status_code, retry_after, text, time.monotonic() - begun)

    def aws(self, interface: str, method: str, **arguments: Any) -> Answer:
        begun = time.monotonic()
        try:
            found = getattr(self._aws[interface], method)(**arguments)["ResponseMetadata"]
            text = ""
        except ClientError as error:
            found, text = error.response["ResponseMetadata"], error.response["Error"]["Message"]
        retry_after = found["HTTPHeaders"].get("retry-after")
        return Answer(found["HTTPStatusCode"], retry_after, text, time.monotonic() - begun)


def signalled(address: str, told: str) -> Answer:
    """A signal as a server sends it."""
    begun = time.monotonic()
    body = {"Status": "SUCCESS", "Reason": "well", "UniqueId": told, "Data": "x"}
    answer = httpx.put(address, content=json.dumps(body), timeout=60)
    retry_after = answer.headers.get("Retry-After")
    return Answer(answer.status_code, retry_after, answer.text, time.monotonic() - begun)


@pytest.fixture(scope="module")
def postgresql() -> Iterator[PostgreSQL]:
    with server(SETTINGS) as running:
        yield running


@pytest.fixture(scope="module")
def service(postgresql: PostgreSQL, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    data = tmp_path_factory.mktemp("outages") / "data"
    running = Service(data, environment={"STOKER_DATABASE": postgresql.new()})
    running.start()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def clients(service: Service) -> Clients:
    return Clients(service)


# -- outages


def administered(postgresql: PostgreSQL) -> sa.Engine:
    """Sessions of a superuser, for whom connections are kept, and who may always write."""
    url = f"{postgresql.url()}&options=-c%20default_transaction_read_only%3Doff"
    return sa.create_engine(url, isolation_level="AUTOCOMMIT")


def end_all(connection: sa.Connection) -> None:
    connection.exec_driver_sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE pid != pg_backend_pid() AND backend_type = 'client backend'"
    )


@contextmanager
def stopped(postgresql: PostgreSQL) -> Iterator[None]:
    postgresql.stop()
    try:
        yield
    finally:
        postgresql.start()


@contextmanager
def hung(postgresql: PostgreSQL) -> Iterator[None]:
    first = (postgresql.place / "data/postmaster.pid").read_text().splitlines()[0]
    everything = processes()
    server: list[Process] = [everything[int(first)]]
    server += [each for each in everything.values() if each.parent == int(first)]
    for each in server:
        os.kill(each.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for each in server:
            os.kill(each.pid, signal.SIGCONT)


@contextmanager
def full(postgresql: PostgreSQL) -> Iterator[None]:
    """All connections are others'."""
    taken = administered(postgresql)
    with ExitStack() as ending:
        ending.callback(taken.dispose)
        first = ending.enter_context(taken.connect())

        def no_more() -> bool:
            others = (
                "FROM pg_stat_activity WHERE backend_type = 'client backend'"
                " AND query NOT LIKE '%%ours%%'"
            )
            first.exec_driver_sql(f"SELECT pg_terminate_backend(pid) {others}")
            try:
                for _ in range(20):
                    more = sa.create_engine(taken.url, poolclass=sa.NullPool)
                    ending.enter_context(more.connect()).exec_driver_sql("SELECT 'ours'")
            except sa.exc.OperationalError:
                # The service may have connected again before the last one was taken.
                return not first.exec_driver_sql(f"SELECT count(*) {others}").scalar_one()
            return False

        first.exec_driver_sql("SELECT 'ours'")
        until(no_more, "there are no connections left")
        yield


@contextmanager
def read_only(postgresql: PostgreSQL) -> Iterator[None]:
    """Let the server act like one that became a replica."""
    database = administered(postgresql)
    with ExitStack() as ending:
        ending.callback(database.dispose)
        connection = ending.enter_context(database.connect())
        connection.exec_driver_sql("ALTER SYSTEM SET default_transaction_read_only = on")
        connection.exec_driver_sql("SELECT pg_reload_conf()")
        end_all(connection)
        try:
            yield
        finally:
            connection.exec_driver_sql("ALTER SYSTEM RESET default_transaction_read_only")
            connection.exec_driver_sql("SELECT pg_reload_conf()")


OUTAGES: Mapping[str, Callable[[PostgreSQL], Any]] = {
    "stopped": stopped,
    "hung": hung,
    "full": full,
    "read only": read_only,
}


# -- what is asked meanwhile


def asked(clients: Clients, stack: Mapping[str, Any], address: str) -> dict[str, Answer]:
    """Return the answers of all interfaces, requested at the same time."""
    path = f"/stacks/{stack['stack_name']}/{stack['id']}"
    new = {"stack_name": "refused", "template": SMALL}
    data = [{"MetricName": "m", "Value": 1.0}]
    stream = {"Accept": "text/event-stream"}
    config = {"name": "c", "group": "script", "config": "x"}
    questions: dict[str, Callable[[], Answer]] = {
        "list": lambda: clients.rest("GET", "/stacks"),
        "count": lambda: clients.rest("GET", "/stacks?with_count=true"),
        "show": lambda: clients.rest("GET", path),
        "find": lambda: clients.rest("GET", f"/stacks/{stack['stack_name']}"),
        "resources": lambda: clients.rest("GET", f"{path}/resources"),
        "events": lambda: clients.rest("GET", f"{path}/events"),
        "stream": lambda: clients.rest("GET", f"{path}/events", **stream),
        "template": lambda: clients.rest("GET", f"{path}/template"),
        "create": lambda: clients.rest("POST", "/stacks", new),
        "update": lambda: clients.rest("PATCH", path, {"tags": "seen"}),
        "check": lambda: clients.rest("POST", f"{path}/actions", {"check": None}),
        "delete": lambda: clients.rest("DELETE", path),
        "signal": lambda: clients.rest("POST", f"{path}/resources/handle/signal", {}),
        "configs": lambda: clients.rest("GET", "/software_configs"),
        "config": lambda: clients.rest("POST", "/software_configs", config),
        "cfn list": lambda: clients.aws("cloudformation", "list_stacks"),
        "cfn show": lambda: clients.aws("cloudformation", "describe_stacks"),
        "cfn create": lambda: clients.aws(
            "cloudformation", "create_stack", StackName="refused", TemplateBody=json.dumps(SMALL)
        ),
        "cfn delete": lambda: clients.aws(
            "cloudformation", "delete_stack", StackName=stack["stack_name"]
        ),
        "alarms": lambda: clients.aws("cloudwatch", "describe_alarms"),
        "measure": lambda: clients.aws(
            "cloudwatch", "put_metric_data", Namespace="n", MetricData=data
        ),
        "signed signal": lambda: signalled(address, "early"),
    }
    with ThreadPoolExecutor(len(questions)) as threads:
        begun = {name: threads.submit(question) for name, question in questions.items()}
        return {name: future.result() for name, future in begun.items()}


class Listener:
    """A client that was listening before."""

    def __init__(self, clients: Clients, path: str) -> None:
        self.told = ""
        self.ended = False
        self._clients, self._path = clients, path
        Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        url = f"{self._clients.service.url}/v1/{self._clients.project}{self._path}/events"
        headers = {**self._clients._headers, "Accept": "text/event-stream"}
        query = {"until_end": "true"}
        with httpx.stream("GET", url, params=query, headers=headers, timeout=120) as answer:
            for line in answer.iter_lines():
                self.told += f"{line}\n"
        self.ended = True


def goes_through(clients: Clients, outage: Any, name: str, seconds: float = 0.0) -> None:
    """Check that requests during an outage are refused immediately, and accepted ones complete."""
    service = clients.service
    made = clients.rest("POST", "/stacks", {"stack_name": name, "template": TEMPLATE})
    assert made.status == 201, made
    [stack] = [s for s in service.get("/stacks")["stacks"] if s["stack_name"] == name]
    path = f"/stacks/{name}/{stack['id']}"

    def address() -> str:
        found = service.get(path)["stack"]["outputs"][0]["output_value"]
        return found or ""

    until(lambda: address().startswith("http"), "the stack waits for its signal")
    listener, told_at = Listener(clients, path), address()
    until(lambda: "CREATE_COMPLETE" in listener.told, "the listener hears")
    late = f"{name}-late"
    with outage:
        time.sleep(seconds)
        answers = asked(clients, stack, told_at)
        small = {"stack_name": late, "template": SMALL}
        again = clients.rest("POST", "/stacks", small)
        healthy = httpx.get(f"{service.url}/healthcheck", timeout=20)
        figures = httpx.get(f"{service.url}/metrics", timeout=20)
    for question, answer in {**answers, "again": again}.items():
        assert answer.status == 503, (question, answer)
        assert int(answer.retry_after or 0) > 0, (question, answer)
        assert "database of the service does not answer" in answer.text, (question, answer)
        assert answer.seconds < LONGEST, (question, answer)
    assert healthy.status_code == 200
    assert figures.status_code == 503, figures.text
    assert "Traceback" not in service.log()

    until(lambda: clients.rest("GET", path).status == 200, "the service answers again")
    until(lambda: signalled(told_at, "late").status == 200, "the signal is taken")
    until(lambda: service.get(path)["stack"]["stack_status"] == "CREATE_COMPLETE", "it is done")
    until(lambda: listener.ended, "the listener hears the end")
    assert "event: end" in listener.told
    assert listener.told.count("CREATE_COMPLETE") >= 4, listener.told
    until(
        lambda: clients.rest("POST", "/stacks", small).status in (201, 409),
        "what was refused is made now",
    )
    for each in (name, late):
        assert clients.rest("DELETE", f"/stacks/{each}").status in (204, 302)


@pytest.mark.parametrize("kind", OUTAGES)
def test_outage_is_reported_by_every_interface(
    clients: Clients, postgresql: PostgreSQL, kind: str
) -> None:
    goes_through(clients, OUTAGES[kind](postgresql), kind.replace(" ", "-"))


@pytest.mark.long
def test_stop_of_half_a_minute_fails_no_request(clients: Clients, postgresql: PostgreSQL) -> None:
    goes_through(clients, stopped(postgresql), "half-a-minute", 30.0)


def test_service_ends_when_another_has_its_stacks(postgresql: PostgreSQL, tmp_path: Path) -> None:
    url = postgresql.new()
    running = Service(tmp_path / "data", environment={"STOKER_DATABASE": url})
    running.start()
    assert running.process is not None
    database = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    with database.connect() as other, database.connect() as ending, ThreadPoolExecutor() as threads:
        own = other.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
        lock = sa.select(sa.func.pg_advisory_lock(SPACE, Lock.ENGINE.value))
        waiting = threads.submit(other.execute, lock)
        while not waiting.done():
            ending.exec_driver_sql(
                "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
                f" AND granted AND pid != {own} AND objid = {Lock.ENGINE.value} AND database ="
                " (SELECT oid FROM pg_database WHERE datname = current_database())"
            )
        assert running.process.wait(30) == 1
    database.dispose()
    assert "this service stops" in running.log()


# -- SQLite


@pytest.fixture(scope="module")
def small_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    running = Service(tmp_path_factory.mktemp("small") / "data")
    running.start()
    yield running
    running.stop()


@contextmanager
def locked(service: Service) -> Iterator[None]:
    """Another program writes, and takes its time."""
    with closing(sqlite3.connect(service.data_dir / "stoker.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


@contextmanager
def no_room(service: Service) -> Iterator[None]:
    """No file of the service may grow."""
    assert service.process is not None
    pid = service.process.pid
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (1, before[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("obstacle", [locked, no_room], ids=["locked", "no room"])
def test_read_only_database_serves_reads_and_refuses_writes(
    small_service: Service, obstacle: Callable[[Service], Any]
) -> None:
    clients = Clients(small_service)
    name = f"before-{obstacle.__name__}"
    assert clients.rest("POST", "/stacks", {"stack_name": name, "template": SMALL}).status == 201

    def is_made() -> bool:
        return (small_service.stack(name) or {})["stack_status"] == "CREATE_COMPLETE"

    until(is_made, "the first stack is made")
    path = f"/stacks/{name}/{(small_service.stack(name) or {})['id']}"
    new = {"stack_name": f"{name}-refused", "template": SMALL}
    with obstacle(small_service):
        refused = {
            "create": clients.rest("POST", "/stacks", new),
            "delete": clients.rest("DELETE", path),
            "cfn": clients.aws("cloudformation", "delete_stack", StackName=name),
        }
        read = clients.rest("GET", "/stacks"), clients.aws("cloudformation", "list_stacks")
    for question, answer in refused.items():
        assert answer.status == 503, (question, answer)
        assert int(answer.retry_after or 0) > 0
        assert answer.seconds < LONGEST, (question, answer)
    assert [answer.status for answer in read] == [200, 200]
    assert "Traceback" not in small_service.log()
    time.sleep(1.0)  # what was refused might be done late
    names = [stack["stack_name"] for stack in small_service.get("/stacks")["stacks"]]
    assert names.count(name) == 1
    assert new["stack_name"] not in names
    assert clients.rest("POST", "/stacks", new).status == 201
