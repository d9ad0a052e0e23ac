"""Addresses that the service connects to when it fetches a template."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from ipaddress import ip_address

import httpx
import pytest

from stoker.clouds.allowed_hosts import AllowedHosts, is_public
from stoker.clouds.web.templates import WebLimits, WebTemplates, resolve
from stoker.clouds.web.temporary_urls import is_temporary
from stoker.kernel.errors import ValidationError

PUBLIC = "93.184.216.34"
INSIDE = [
    "0.0.0.0",
    "127.0.0.1",
    "127.9.9.9",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "192.0.0.8",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "fe80::1",
    "fc00::1",
    "ff02::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",
    "2002:7f00:1::",
    "2001:0:7f00:1::",
    "2001:db8::1",
]


class Web:
    """Hosts with addresses and answers; ``asked`` records the connections."""

    def __init__(self, hosts: Mapping[str, list[str]], answers: Mapping[str, httpx.Response]):
        self.hosts, self.answers = hosts, answers
        self.asked: list[httpx.Request] = []

    async def resolve(self, host: str, port: int) -> list[str]:
        if host not in self.hosts:
            raise socket.gaierror("no such host")
        return self.hosts[host]

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        found = self.answers.get(str(request.headers["Host"]) + request.url.path)
        if found is None:
            raise httpx.ConnectError("connection refused")
        return found

    def templates(self, *allowed: str, size: int = 1000) -> WebTemplates:
        limits = WebLimits(size=size, hosts=AllowedHosts(allowed))
        return WebTemplates(limits, httpx.MockTransport(self.answer), self.resolve)


def page(text: str | bytes = "a template") -> httpx.Response:
    return httpx.Response(200, content=text)


def moved(location: str) -> httpx.Response:
    return httpx.Response(302, headers={"Location": location})


@pytest.mark.parametrize("address", INSIDE)
async def test_private_addresses_are_never_connected_to(address: str) -> None:
    web = Web({"inside": [address]}, {"inside/t": page()})
    with pytest.raises(ValidationError, match="cannot be fetched"):
        await web.templates()("http://inside/t")
    assert not web.asked


@pytest.mark.parametrize("address", [PUBLIC, "2606:2800:220:1::1", "64:ff9b::5db8:d822"])
def test_public_addresses_are_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize("host", ["2130706433", "0x7f.1", "127.1", "localhost", "[::1]", "0"])
async def test_other_spellings_of_loopback_are_loopback(host: str) -> None:
    """Resolved as the system does."""
    limits = WebLimits()
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return page()

    with pytest.raises(ValidationError, match="cannot be fetched"):
        await WebTemplates(limits, httpx.MockTransport(answer), resolve)(f"http://{host}/t")
    assert not asked


async def test_connection_goes_to_checked_address() -> None:
    web = Web({"web": ["10.0.0.1", PUBLIC]}, {"web:8080/t": page()})
    assert await web.templates()("https://web:8080/t?x=1") == "a template"
    request = web.asked[0]
    assert str(request.url) == f"https://{PUBLIC}:8080/t?x=1"
    assert request.headers["Host"] == "web:8080"
    assert request.extensions["sni_hostname"] == "web"


@pytest.mark.parametrize("inside", ["http://inside/t", "//inside/t", "file:///etc/passwd"])
async def test_redirects_lead_to_no_other_place(inside: str) -> None:
    hosts = {"web": [PUBLIC], "inside": ["169.254.169.254"]}
    web = Web(hosts, {"web/t": moved(inside), "inside/t": page()})
    with pytest.raises(ValidationError, match="cannot be fetched"):
        await web.templates()("http://web/t")
    assert len(web.asked) == 1


async def test_redirects_are_followed_a_few_times() -> None:
    answers = {f"web/{number}": moved(f"/{number + 1}") for number in range(5)}
    web = Web({"web": [PUBLIC]}, {**answers, "web/3": page()})
    assert await web.templates()("http://web/0") == "a template"
    assert len(web.asked) == 4
    web = Web({"web": [PUBLIC]}, answers)
    with pytest.raises(ValidationError, match="cannot be fetched"):
        await web.templates()("http://web/0")


@pytest.mark.parametrize("entry", ["10.0.0.0/8", "10.0.0.1", "inside.corp", ".corp", "INSIDE.corp"])
async def test_an_operator_can_allow_more(entry: str) -> None:
    web = Web({"inside.corp": ["10.0.0.1"]}, {"inside.corp/t": page()})
    assert await web.templates(entry)("http://inside.corp/t") == "a template"


@pytest.mark.parametrize("entry", ["10.1.0.0/16", "corp", ".inside.corp", "nside.corp"])
async def test_what_is_allowed_allows_nothing_else(entry: str) -> None:
    web = Web({"inside.corp": ["10.0.0.1"]}, {"inside.corp/t": page()})
    with pytest.raises(ValidationError, match="cannot be fetched"):
        await web.templates(entry)("http://inside.corp/t")


async def test_all_refusals_read_alike() -> None:
    answers = {
        "web/large": page("x" * 2000),
        "web/binary": page(b"\xff\xfe\x00"),
        "web/403": httpx.Response(403, text="secret"),
        "web/loop": moved("/loop"),
    }
    web = Web({"web": [PUBLIC], "inside": ["127.0.0.1"]}, answers)
    urls = [
        "http://inside:22/",
        "http://inside:1/",
        "http://nosuch/",
        "http://web/refused",
        *(f"http://{path}" for path in answers),
        "ftp://web/t",
        "http://[",
        "http://",
    ]
    said = set()
    for url in urls:
        with pytest.raises(ValidationError) as refusal:
            await web.templates()(url)
        said.add(refusal.value.message.replace(url, "URL"))
    assert len(said) == 1


async def test_temporary_url_of_own_store_may_be_private() -> None:
    web = Web({"store": ["10.0.0.1"]}, {"store/v1/AUTH_a/c/t": page(), "store/x": page()})

    async def is_own(url: str) -> bool:
        return is_temporary(url, ["http://store/v1/AUTH_a"])

    fetch = WebTemplates(WebLimits(), httpx.MockTransport(web.answer), web.resolve, is_own)
    assert await fetch("http://store/v1/AUTH_a/c/t?temp_url_sig=1") == "a template"
    for url in ("http://store/v1/AUTH_a/c/t", "http://store/x?temp_url_sig=1"):
        with pytest.raises(ValidationError, match="temporary URL of this cloud's object store"):
            await fetch(url)
    assert len(web.asked) == 1


async def test_redirect_from_own_store_must_be_public() -> None:
    hosts = {"store": ["10.0.0.1"], "inside": ["10.0.0.2"]}
    moves = {"store/v1/AUTH_a/c/t": moved("http://inside/v1/a/b/c?temp_url_sig=1")}
    web = Web(hosts, {**moves, "inside/v1/a/b/c": page()})

    async def is_own(url: str) -> bool:
        return is_temporary(url, ["http://store/v1/AUTH_a"])

    fetch = WebTemplates(WebLimits(), httpx.MockTransport(web.answer), web.resolve, is_own)
    with pytest.raises(ValidationError):
        await fetch("http://store/v1/AUTH_a/c/t?temp_url_sig=1")
    assert len(web.asked) == 1


@pytest.mark.parametrize("url", ["http://xn--a/t?key=s3cret", "http://[::1", "http://", "s3cret"])
async def test_log_names_no_more_than_the_host(url: str, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(ValidationError, match="cannot be fetched"):
        await Web({}, {}).templates()(url)
    assert "a template was not fetched" in caplog.text
    assert "s3cret" not in caplog.text
