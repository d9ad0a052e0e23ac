"""``python -m bench.takeover``: rows per second and memory of a take-over.

Generates a Heat database in SQLite, and takes it over into an empty database of Stoker. Each root
stack has eight resources of its own and a nested stack with two, and thirty events. A tenth of the
stacks is in one project.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sqlite3
import tempfile
import time
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cryptography.fernet import Fernet

from stoker.config.database import database_settings
from stoker.config.loading import load
from stoker.takeover.heat.schema import TABLES
from stoker.takeover.heat.trees import Selection
from stoker.takeover.takeover import Takeover

KEY = "k" * 32
OWN, INSIDE = 8, 2  # resources of a root stack, and of the stack nested in it
PER_STACK = OWN + INSIDE
EVENTS = 3  # of each resource
_TIME = "2026-11-28 11:34:00"
_INDEXED = {
    "stack": ("owner_id",),
    "resource": ("stack_id", "nova_instance"),
    "resource_data": ("resource_id",),
    "event": ("stack_id",),
    "stack_tag": ("stack_id",),
    "snapshot": ("stack_id",),
    "resource_snapshot": ("snapshot_id",),
}
_MEMBER = {
    "heat_template_version": "2018-08-31",
    "parameters": {"n": {"type": "string"}},
    "resources": {
        "text": {"type": "OS::Heat::RandomString", "properties": {"salt": {"get_param": "n"}}},
        "port": {"type": "OS::Neutron::Port", "properties": {"network": "private"}},
    },
    "outputs": {"v": {"value": {"get_attr": ["text", "value"]}}},
}
_FILE = "file:///home/ops/member.yaml"
_ROOT = {
    "heat_template_version": "2018-08-31",
    "resources": {
        **{
            f"port{n}": {
                "type": "OS::Neutron::Port",
                "properties": {"network": "private", "name": f"p{n}"},
            }
            for n in range(5)
        },
        "text": {"type": "OS::Heat::RandomString", "properties": {"length": 12}},
        "value": {
            "type": "OS::Heat::Value",
            "properties": {"value": {"get_attr": ["text", "value"]}},
        },
        "nested": {"type": _FILE, "properties": {"n": "a"}},
    },
    "outputs": {"v": {"value": {"get_attr": ["nested", "v"]}}},
}


class HeatWriter:
    """Writes rows of Heat into a file."""

    def __init__(self, file: Path) -> None:
        self._connection = sqlite3.connect(file)
        self._connection.execute("PRAGMA synchronous = OFF")
        for table, columns in TABLES.items():
            if table in ("migrate_version", "watch_rule", "watch_data"):
                continue
            kinds = (f'"{n}" PRIMARY KEY' if n == "id" else f'"{n}"' for n in columns)
            self._connection.execute(f'CREATE TABLE "{table}" ({", ".join(kinds)})')
        self._ids = dict.fromkeys(TABLES, 0)
        self.rows = 0
        self._random = random.Random(17)
        fernet = Fernet(urlsafe_b64encode(KEY.encode()))
        self._secret = fernet.encrypt(b"a secret value").decode()

    def close(self) -> None:
        """Make the indexes, and close the file."""
        for table, names in _INDEXED.items():
            for name in names:
                self._connection.execute(f'CREATE INDEX "{table}_{name}" ON "{table}" ("{name}")')
        self._connection.commit()
        self._connection.close()

    def put(self, table: str, **values: Any) -> int:
        """Insert a row; return its number."""
        self._ids[table] += 1
        self.rows += 1
        if "id" in TABLES[table]:
            values.setdefault("id", self._ids[table])
        names = ", ".join(f'"{name}"' for name in values)
        marks = ", ".join("?" * len(values))
        statement = f'INSERT INTO "{table}" ({names}) VALUES ({marks})'
        self._connection.execute(statement, list(values.values()))
        return self._ids[table]

    def tree(self, number: int) -> None:
        """Write a root stack with its nested one."""
        project = "p" * 32 if number % 10 == 0 else f"{number % 500:032x}"
        creds = self.put(
            "user_creds",
            trust_id=self._secret,
            decrypt_method="cryptography_decrypt_v1",
            tenant_id=project,
            trustor_user_id=f"{number:032x}",
        )
        files = self.put("raw_template_files", files=json.dumps({_FILE: json.dumps(_MEMBER)}))
        root, inner = self._uuid(), self._uuid()
        stack: dict[str, Any] = {"tenant": project, "user_creds_id": creds, "files": files}
        self._stack(root, f"stack-{number}", _ROOT, None, {"nested": inner}, **stack)
        self._stack(inner, f"stack-{number}-nested", _MEMBER, root, {}, **stack)

    def _stack(
        self,
        stack_id: str,
        name: str,
        template: dict[str, Any],
        owner: str | None,
        nested: dict[str, str],
        *,
        files: int,
        **columns: Any,
    ) -> None:
        template_id = self.put(
            "raw_template",
            template=json.dumps(template),
            environment=json.dumps(
                {"parameters": {"n": "a"} if owner else {}, "resource_registry": {"resources": {}}}
            ),
            files_id=files,
        )
        self.put(
            "stack",
            id=stack_id,
            name=name,
            created_at=_TIME,
            raw_template_id=template_id,
            owner_id=owner,
            action="CREATE",
            status="COMPLETE",
            disable_rollback=1,
            backup=0,
            username="demo",
            parent_resource_name="nested" if owner else None,
            **columns,
        )
        for resource_name, body in template["resources"].items():
            self._resource(stack_id, template_id, resource_name, body, nested.get(resource_name))

    def _resource(
        self,
        stack_id: str,
        template_id: int,
        name: str,
        body: dict[str, Any],
        nested: str | None,
    ) -> None:
        kind = body["type"]
        applied = {
            key: "a" if isinstance(value, dict) else value
            for key, value in body["properties"].items()
        }
        data_id = self.put("resource_properties_data", data=json.dumps(applied), encrypted=0)
        physical = nested or self._uuid()
        row = self.put(
            "resource",
            uuid=self._uuid(),
            nova_instance=physical,
            name=name,
            created_at=_TIME,
            action="CREATE",
            status="COMPLETE",
            status_reason="state changed",
            stack_id=stack_id,
            rsrc_metadata="{}",
            requires="[]",
            needed_by="[]",
            current_template_id=template_id,
            rsrc_prop_data_id=data_id,
        )
        if kind == "OS::Heat::RandomString":
            secret = {"redact": 1, "decrypt_method": "cryptography_decrypt_v1"}
            self.put("resource_data", key="value", value=self._secret, resource_id=row, **secret)
        for status in ("IN_PROGRESS", "COMPLETE", "COMPLETE")[:EVENTS]:
            self.put(
                "event",
                uuid=self._uuid(),
                stack_id=stack_id,
                created_at=_TIME,
                resource_action="CREATE",
                resource_status=status,
                resource_name=name,
                physical_resource_id=physical,
                resource_status_reason="state changed",
                resource_type=kind,
                rsrc_prop_data_id=data_id,
            )

    def _uuid(self) -> str:
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))


def generate(file: Path, resources: int) -> str:
    """Write a database with this number of resources; return its URL."""
    fill(file, resources)
    return f"sqlite:///{file}"


def fill(file: Path, resources: int) -> int:
    """Write a database with this number of resources; return the number of its rows."""
    writer = HeatWriter(file)
    for number in range(max(resources // PER_STACK, 1)):
        writer.tree(number)
    writer.close()
    return writer.rows


def takeover_into(data_dir: Path) -> Takeover:
    """Return the take-over into a data directory."""
    options = load()
    options.set_override("auth_encryption_key", KEY)
    options.set_override("data_dir", str(data_dir))
    return Takeover(options, database_settings(options))


def _report(lines: Iterator[str]) -> None:
    for line in lines:
        print(line, flush=True)


def _measured(resources: int, directory: Path) -> Iterator[str]:
    started = time.perf_counter()
    rows = fill(directory / "heat.db", resources)
    url = f"sqlite:///{directory / 'heat.db'}"
    yield f"generated {resources} resources, {rows} rows, in {time.perf_counter() - started:.0f} s"
    started, computed = time.perf_counter(), time.process_time()
    done = takeover_into(directory / "data").transfer(url, Selection(), lambda progress: None)
    seconds, computed = time.perf_counter() - started, time.process_time() - computed
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    yield (
        f"{done.resources} resources in {done.stacks} root stacks: {seconds:.0f} s,"
        f" {rows / seconds:.0f} rows/s; {computed:.0f} s of one core,"
        f" {rows / computed:.0f} rows/s; {peak} MiB"
    )
    started, computed = time.perf_counter(), time.process_time()
    takeover_into(directory / "data").transfer(url, Selection(), lambda progress: None)
    seconds, computed = time.perf_counter() - started, time.process_time() - computed
    yield f"second pass without changes: {seconds:.0f} s, {computed:.0f} s of one core"


def main() -> None:
    """Generate, take over, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--resources", type=int, default=100_000)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        _report(_measured(chosen.resources, Path(directory)))


if __name__ == "__main__":
    main()
