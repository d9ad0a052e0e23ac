"""The object store of a running cloud, as the clients of OpenStack use it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import openstack
import pytest
from swiftclient.utils import generate_temp_url

from cloud_testing.ports import free_port

# The libraries warn of their own code; that is none of the cloud's business.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
]
_BIN = Path(sys.executable).parent
_MIB = 1 << 20


class Running:
    """``localcloud serve`` without servers."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.port = free_port()
        self._start()

    def _start(self) -> None:
        options = ["--data-dir", str(self.data_dir), "--port", str(self.port)]
        command = [sys.executable, "-m", "localcloud", "serve", "--no-servers", *options]
        self.process = subprocess.Popen(
            [*command, "--parent", str(os.getpid())], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline().startswith("ready ")

    def end(self, number: int) -> None:
        self.process.send_signal(number)
        self.process.wait(30)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def kill_and_start(self) -> None:
        self.end(signal.SIGKILL)
        self._start()

    def peak_bytes(self) -> int:
        """The most memory that the process has had."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) << 10

    def environment(self) -> dict[str, str]:
        settings = str(self.data_dir / "cloud" / "clouds.yaml")
        return {"OS_CLIENT_CONFIG_FILE": settings, "OS_CLOUD": "demo"}

    def variables(self) -> dict[str, str]:
        """The same, for clients that do not know the file."""
        clouds = json.loads((self.data_dir / "cloud" / "clouds.yaml").read_text())["clouds"]
        auth = {f"OS_{name.upper()}": str(value) for name, value in clouds["demo"]["auth"].items()}
        return {**auth, "OS_IDENTITY_API_VERSION": "3"}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    found = Running(tmp_path_factory.mktemp("cloud"))
    yield found
    found.end(signal.SIGTERM)


@pytest.fixture
def demo(running: Running, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name, value in running.environment().items():
        monkeypatch.setenv(name, value)
    connection = openstack.connect()
    yield connection
    connection.close()


def test_the_openstack_command_makes_saves_and_deletes(running: Running, tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("first")
    (tmp_path / "two.txt").write_text("second")
    commands = [
        "container create box",
        "object create box one.txt two.txt",
        "object list box -f json",
        "container set --property color=blue box",
        "container show box -f json",
        "object set --property size=small box one.txt",
        "object show box one.txt -f json",
        "object save --file saved.txt box one.txt",
        "object store account set --property owner=me",
        "object store account show -f json",
        "container delete box",
        "object delete box one.txt",
        "container delete --recursive box",
        "container list -f value",
    ]
    done = subprocess.run(
        [_BIN / "openstack"],
        input="\n".join(commands) + "\n",
        cwd=tmp_path,
        env={**os.environ, **running.environment(), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    assert (tmp_path / "saved.txt").read_text() == "first"
    shown = [json.loads(part) for part in _json_in(done.stdout)]
    assert shown[0] == [{"Name": "one.txt"}, {"Name": "two.txt"}], done.stdout
    assert (shown[1]["object_count"], shown[1]["properties"]) == ("2", {"color": "blue"})
    assert (shown[2]["content-length"], shown[2]["properties"]) == ("5", {"size": "small"})
    assert (shown[3]["Containers"], shown[3]["properties"]) == ("1", {"owner": "me"})
    assert "409" in done.stdout
    assert "box" not in done.stdout.splitlines()[-1]


def _json_in(text: str) -> Iterator[str]:
    """Return the JSON documents in an output. Each starts and ends at the start of a line."""
    document = ""
    for line in text.splitlines():
        if document or line in ("[", "{"):
            document += line
        if line in ("]", "}"):
            yield document
            document = ""


# openstacksdk leaves the file open that it reads the segments from.
@pytest.mark.filterwarnings("ignore:Exception ignored in. <_io.FileIO")
@pytest.mark.parametrize("use_slo", [True, False])
def test_openstacksdk_puts_large_objects_together(demo: Any, tmp_path: Path, use_slo: bool) -> None:
    data = os.urandom(3 * _MIB + 17)
    source, target = tmp_path / "data", tmp_path / "back"
    source.write_bytes(data)
    demo.object_store.create_container("big")
    demo.create_object("big", "o", filename=str(source), segment_size=_MIB, use_slo=use_slo)
    demo.get_object("big", "o", outfile=str(target))
    assert target.read_bytes() == data
    assert demo.is_object_stale("big", "o", str(source)) is False
    kind = "x-static-large-object" if use_slo else "x-object-manifest"
    assert kind in demo.object_store.head("/big/o").headers
    assert demo.delete_object("big", "o")
    for item in demo.list_objects("big"):
        demo.delete_object("big", item["name"])
    assert demo.delete_container("big")


def test_signed_addresses_of_the_clients_are_good(demo: Any) -> None:
    store = demo.object_store
    store.create_container("signed")
    store.set_account_temp_url_key("secret")
    store.upload_object("signed", "o", data=b"data")
    endpoint = urlsplit(store.get_endpoint())
    path = f"{endpoint.path}/signed/o"
    root = f"http://{endpoint.netloc}"
    for signed in (
        store.generate_temp_url(path, 60, "GET", temp_url_key="secret"),
        generate_temp_url(path, 60, "secret", "GET"),
        generate_temp_url(path, 60, "secret", "GET", iso8601=True, digest="sha512"),
        generate_temp_url(f"{endpoint.path}/signed/", 60, "secret", "GET", prefix=True)
        .replace("/signed/?", "/signed/o?"),
    ):  # fmt: skip
        assert httpx.get(root + signed).text == "data", signed
    put = generate_temp_url(path, 60, "secret", "PUT")
    assert httpx.put(root + put, content=b"new").status_code == 201
    assert httpx.get(root + put).status_code == 401
    assert store.download_object("o", "signed") == b"new"


def test_the_swift_command_uploads_and_downloads(running: Running, tmp_path: Path) -> None:
    (tmp_path / "tree" / "deep").mkdir(parents=True)
    (tmp_path / "tree" / "deep" / "ünicode name").write_bytes(b"x" * 3000)

    def swift(*words: str) -> str:
        return subprocess.run(
            [_BIN / "swift", *words],
            cwd=tmp_path,
            env={**os.environ, **running.variables()},
            stdout=subprocess.PIPE,
            text=True,
            timeout=60,
            check=True,
        ).stdout

    swift("upload", "--segment-size", "1000", "--use-slo", "files", "tree")
    assert "tree/deep/ünicode name" in swift("list", "files")
    swift("download", "--output-dir", "back", "files")
    assert (tmp_path / "back/tree/deep/ünicode name").read_bytes() == b"x" * 3000
    assert "Bytes: 3000" in swift("stat", "files")
    swift("delete", "files")
    assert "files\n" not in swift("list")


def test_acknowledged_objects_survive_kill_with_bounded_memory(running: Running, demo: Any) -> None:
    store = demo.object_store
    url, token = store.get_endpoint() + "/kept", {"X-Auth-Token": demo.auth_token}
    assert httpx.put(url, headers=token).status_code == 201
    assert httpx.put(f"{url}/small", content=b"data", headers=token).status_code == 201
    before = running.peak_bytes()

    def much() -> Iterator[bytes]:
        yield from (bytes([number]) * _MIB for number in range(96))

    assert httpx.put(f"{url}/large", content=much(), headers=token, timeout=60).status_code == 201
    running.kill_and_start()
    assert httpx.get(f"{url}/small", headers=token).text == "data"
    with httpx.stream("GET", f"{url}/large", headers=token) as answer:
        for expected, found in zip(much(), answer.iter_bytes(_MIB), strict=True):
            assert found == expected
    assert running.peak_bytes() < before + 40 * _MIB
