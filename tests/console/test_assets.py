"""The files of the page, as a client gets them."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import Response

from stoker.api.console import assets


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    built = tmp_path / "built"
    (built / "assets").mkdir(parents=True)
    (built / "index.html").write_text("<page>")
    (built / "favicon.svg").write_text("<svg>")
    (built / "assets/app-1a2b.js").write_text("script")
    (built / "assets/app-1a2b.js.gz").write_bytes(gzip.compress(b"script"))
    (built / "assets/app-1a2b.js.br").write_bytes(b"brotli")
    (tmp_path / "secret.key").write_text("secret")
    (built / "assets/link.js").symlink_to(tmp_path / "secret.key")
    return built


async def get(directory: Path, path: str, **headers: str) -> Response:
    sent = [(name.replace("_", "-").encode(), text.encode()) for name, text in headers.items()]
    scope = {"type": "http", "method": "GET", "path": path, "headers": sent}
    return await assets.respond(path, Request(scope), directory)


@pytest.mark.parametrize("path", ["/", "/stacks/web.app/1", "/sign-in", "/assets-of-mine"])
async def test_views_are_the_page(directory: Path, path: str) -> None:
    answer = await get(directory, path)
    assert (answer.status_code, answer.body) == (200, b"<page>")
    assert answer.headers["cache-control"] == "no-cache"


async def test_view_with_dot_is_the_page(directory: Path) -> None:
    path = "/stacks/a/1/resources/web.server"
    assert (await get(directory, path, accept="text/html,*/*;q=0.8")).body == b"<page>"
    assert (await get(directory, path, accept="*/*")).status_code == 404


@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [
        ("gzip, br;q=0.9", "br"),
        ("gzip", "gzip"),
        ("br;q=0, gzip", "gzip"),
        ("", None),
        ("identity", None),
    ],
)
async def test_compressed_files_are_preferred(
    directory: Path, accepted: str, encoding: str | None
) -> None:
    answer = await get(directory, "/assets/app-1a2b.js", accept_encoding=accepted)
    assert answer.headers.get("content-encoding") == encoding
    assert answer.headers["content-type"].startswith("text/javascript")
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["vary"] == "Accept-Encoding"


@pytest.mark.parametrize(
    "path",
    [
        "/assets/missing.js",
        "/assets/../../secret.key",
        "/../secret.key",
        "//etc/passwd.txt",
        "/assets/link.js",
        "/assets/",
        "/assets/app-1a2b.js/x.js",
        "/assets/a\0.js",
        "/.hidden.js",
    ],
)
async def test_other_paths_are_no_files(directory: Path, path: str) -> None:
    answer = await get(directory, path)
    assert answer.status_code == 404
    assert b"secret" not in answer.body


async def test_missing_build_is_explained(tmp_path: Path) -> None:
    answer = await get(tmp_path, "/stacks")
    assert answer.status_code == 503
    assert b"python tools/console.py" in answer.body
    assert (await get(tmp_path, "/assets/app.js")).status_code == 404
