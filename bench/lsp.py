"""Measures the language server: from a change to its findings, and the time of requests.

    python -m bench.lsp
    python -m bench.lsp --lines 10000

A client talks to ``stoker lsp`` over the standard streams, and changes one character at a time.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

CHANGES = 30
TARGET_MS = 100.0

_HEAD = """\
heat_template_version: 2021-04-16
parameters:
  image: {type: string, default: cirros}
  flavor: {type: string, default: m1.small}
  network: {type: string, default: private}
resources:
"""
_SERVER = """\
  port_{n}:
    type: OS::Neutron::Port
    properties:
      network: {{get_param: network}}
      security_groups: [default]
  server_{n}:
    type: OS::Nova::Server
    properties:
      image: {{get_param: image}}
      flavor: {{get_param: flavor}}
      networks:
      - port: {{get_resource: port_{n}}}
      user_data_format: RAW
      user_data:
        str_replace:
          template: |
            #!/bin/sh
            echo $ip
          params:
            $ip: {{get_attr: [port_{n}, fixed_ips, 0, ip_address]}}
"""


def template(lines: int) -> str:
    """Return a template of about this length."""
    count = lines // (_SERVER.count("\n") + 2)
    outputs = "".join(
        f"  ip_{n}:\n    value: {{get_attr: [server_{n}, first_address]}}\n" for n in range(count)
    )
    return _HEAD + "".join(_SERVER.format(n=n) for n in range(count)) + f"outputs:\n{outputs}"


class Editor:
    """One open document."""

    def __init__(self, client: LanguageClient, uri: str, text: str) -> None:
        self.client = client
        self.uri = uri
        self.lines = text.split("\n")
        self.version = 1
        self._findings = asyncio.Event()
        self._shown = 0

        def published(params: types.PublishDiagnosticsParams) -> None:
            self._shown = params.version or 0
            self._findings.set()

        client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(published)

    async def shown(self) -> None:
        """Wait for the findings of the present text."""
        while self._shown < self.version:
            self._findings.clear()
            await self._findings.wait()

    def insert(self, line: int, column: int, text: str, end: int | None = None) -> None:
        """Replace a part of a line."""
        self.version += 1
        end = column if end is None else end
        where = types.Range(types.Position(line, column), types.Position(line, end))
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(self.version, self.uri),
                [types.TextDocumentContentChangePartial(where, text)],
            )
        )

    def place(self, line: int, column: int) -> dict[str, Any]:
        """Return the arguments of a request."""
        return {
            "text_document": types.TextDocumentIdentifier(self.uri),
            "position": types.Position(line, column),
        }


async def measured(action: Callable[[], Awaitable[Any]], count: int = CHANGES) -> list[float]:
    """Return the milliseconds of an action, repeated."""
    found = []
    for _ in range(count):
        start = time.perf_counter()
        await action()
        found.append((time.perf_counter() - start) * 1000)
    return found


def report(name: str, found: list[float], target: str = "") -> None:
    """Print median and maximum."""
    middle, most = statistics.median(found), max(found)
    print(f"{name:<42} median {middle:6.0f} ms   max {most:6.0f} ms   {target}")


async def run(lines: int) -> None:
    """Measure with a template of this length."""
    text = template(lines)
    with TemporaryDirectory() as folder:
        client = LanguageClient("bench", "1")
        await client.start_io(sys.executable, "-m", "stoker", "lsp", cwd=folder)
        start = time.perf_counter()
        await client.initialize_async(
            types.InitializeParams(
                capabilities=types.ClientCapabilities(),
                root_uri=Path(folder).as_uri(),
                initialization_options={"lint": False},
            )
        )
        print(f"ready after {(time.perf_counter() - start) * 1000:.0f} ms")
        uri = (Path(folder) / "main.yaml").as_uri()
        editor = Editor(client, uri, text)
        start = time.perf_counter()
        client.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "yaml", 1, text))
        )
        await editor.shown()
        print(f"{len(editor.lines)} lines; first findings after"
              f" {(time.perf_counter() - start) * 1000:.0f} ms")  # fmt: skip
        await _measure(editor)
        await client.shutdown_async(None)
        client.exit(None)
        await client.stop()  # type: ignore[no-untyped-call]


async def _measure(editor: Editor) -> None:
    line = next(n for n, each in enumerate(editor.lines) if "security_groups" in each)
    end = len(editor.lines[line])
    state = {"column": end}

    async def change() -> None:
        editor.insert(line, state["column"], "#" if state["column"] > end else " ")
        state["column"] += 1
        await editor.shown()

    async def mistake() -> None:
        editor.insert(line, 6, "x")
        await editor.shown()
        editor.insert(line, 6, "", 7)
        await editor.shown()

    report(
        "a change, until its findings are shown", await measured(change), f"target {TARGET_MS:.0f}"
    )
    pairs = await measured(mistake, CHANGES // 2)
    report("a mistake, until it is shown", [each / 2 for each in pairs], f"target {TARGET_MS:.0f}")
    client = editor.client

    async def completion() -> None:
        editor.insert(line, state["column"], "x")
        state["column"] += 1
        await client.text_document_completion_async(types.CompletionParams(**editor.place(line, 8)))

    async def hover() -> None:
        await client.text_document_hover_async(types.HoverParams(**editor.place(line, 8)))

    report("completion after a change", await measured(completion))
    await editor.shown()
    report("hover", await measured(hover))


def main() -> None:
    """Run the measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=2000)
    asyncio.run(run(parser.parse_args().lines))


if __name__ == "__main__":
    main()
