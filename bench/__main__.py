"""``python -m bench``: measures everything and prints one table with the targets.

``python -m bench --quick`` leaves out measurements that take minutes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from bench.report import Row, measured, table

CREATE_ELSEWHERE = {1_000: "Terraform: 19 s", 10_000: "Terraform: stopped at 5,000 after 240 s"}
PLAN_ELSEWHERE = {1_000: "Terraform 1.11: 1.7 s", 10_000: "Terraform 1.11: 18.4 s"}
PLAN_TARGETS = {10_000: 0.4}
CREATE_TARGETS = {10_000: 1.2}


def evaluations(counts: list[int]) -> Iterator[Row]:
    """Measure the template language without an engine."""
    for count in counts:
        found = measured(120, "evaluate", str(count))
        parts = ("parse YAML", "names, needs", "validate")
        large = count == 10_000
        yield Row(
            f"parse and check a template of {count:,} in YAML",
            sum(found[part] for part in parts) if found else None,
            0.8 if large else None,
            memory=found.get("memory"),
            memory_target=150 if large else None,
        )
        yield Row(f"evaluate {count:,} definitions", found.get("definitions"))


def pauses() -> Iterator[Row]:
    """Measure the event loop while large templates are read, and while large stacks change."""
    found = measured(120, "pauses")
    work = "longest pause of the event loop, templates of 512 KiB"
    yield Row(work, max(found.values(), default=None), 0.04, "ms")
    found = measured(120, "pauses", "changes")
    work = "longest pause of the event loop, changes of 10,000 resources"
    yield Row(work, max(found.values(), default=None), 0.04, "ms")


def operations(counts: list[int]) -> Iterator[Row]:
    """Measure operations on one stack, in this process."""
    for count in counts:
        found = measured(60 + count / 25, "engine", "layers", str(count))
        of = f"{count:,} layered resources"
        large = count == 10_000
        yield Row(
            f"plan {of}",
            found.get("plan"),
            PLAN_TARGETS.get(count),
            elsewhere=PLAN_ELSEWHERE.get(count, ""),
        )
        yield Row(
            f"create {of}",
            found.get("create"),
            CREATE_TARGETS.get(count),
            elsewhere=CREATE_ELSEWHERE.get(count, ""),
            memory=found.get("memory"),
        )
        yield Row(
            f"update of {count:,} that changes nothing",
            found.get("same"),
            0.1 if large else None,
            elsewhere="Terraform: 32 s at 5,000" if large else "",
        )
        yield Row("the same once more", found.get("same_again"), 0.1 if large else None)
        yield Row(
            f"plan of one change among {count:,}", found.get("plan_one"), 0.4 if large else None
        )
        yield Row(f"one change among {count:,} in all", found.get("one"), 0.1 if large else None)
        yield Row(f"delete {of}", found.get("delete"))


def shapes(quick: bool) -> Iterator[Row]:
    """Measure a chain of resources, and a tree of nested stacks."""
    found = measured(60, "engine", "chain", "100")
    each = found["create"] / 100 if found else None
    yield Row(
        "reaction to a finished resource (chain of 100)", each, 0.1, "ms", "Heat: one-second tick"
    )
    count = 100 if quick else 1_000
    found = measured(300, "engine", "tree", str(count))
    tree = f"a tree of {count:,} nested stacks, {count * 22:,} resources"
    yield Row(
        f"create {tree}",
        found.get("create"),
        None if quick else 3.0,
        elsewhere="" if quick else "Heat at CERN: about 10 min",
    )
    yield Row(f"peak of memory of {tree}", found.get("memory"), 250, "MiB")
    yield Row(
        f"update of {count:,} nested stacks that changes nothing",
        found.get("same"),
        None if quick else 3.0,
    )


def overcloud(quick: bool) -> Iterator[Row]:
    """Measure a tree of the shape of TripleO's overcloud."""
    updates = 3 if quick else 20
    found = measured(600, "tripleo", "--updates", str(updates))
    work = "TripleO's overcloud, 817 resources in 315 stacks"
    yield Row(f"create {work}", found.get("create"), 8.0, memory=found.get("create, memory"))
    taken = sorted(found[f"update {n + 1}"] for n in range(updates)) if found else []
    median = taken[updates // 2] if taken else None
    yield Row("update of it that changes nothing (median)", median, 3.0, elsewhere="Heat: minutes")
    after = found.get(f"update {updates}, memory")
    more = None if after is None else after - found["create, memory"]
    yield Row(f"memory that {updates} such updates add", more, 100, "MiB")
    yield Row("change one parameter of it", found.get("parameter"))
    yield Row("add one server to it", found.get("scale"))
    yield Row("delete it", found.get("delete"), memory=found.get("after delete, memory"))


def express() -> Iterator[Row]:
    """Measure express operations on a cloud whose servers take two seconds to settle."""
    layers = 5
    found = measured(120, "express", str(layers))
    for action in ("create", "delete"):
        for mode in ("standard", "express"):
            work = f"{action} {layers} layers of servers that take 2 s, {mode}"
            yield Row(work, found.get(f"{action}, {mode}"), 4.0 if mode == "express" else None)


def services(quick: bool) -> Iterator[Row]:
    """Measure a running service over HTTP."""
    found = measured(120, "service", "start", "5")
    yield Row("stoker serve: ready, the first time", found.get("first"), 1.5)
    yield Row("stoker serve: ready, again", found.get("again"), 1.5, memory=found.get("memory"))
    found = measured(120, "first_answer", "5")
    yield Row("first answer of a new process to a create", found.get("first"), 0.02, "ms")
    found = measured(120, "service", "slow-keystone", "20")
    work = "create answered, Keystone of 50 ms per call"
    yield Row(work, found.get("answered"), 0.03, "ms")
    found = measured(120, "service", "web-app")
    yield Row("deploy examples/web-app.yaml", found.get("deploy"))
    yield Row("destroy it", found.get("destroy"))
    found = measured(300, "service", "servers", "50")
    work, memory = "create 50 servers in one stack", found.get("memory")
    yield Row(work, found.get("create"), 2.5, memory=memory)
    yield Row("delete them", found.get("delete"))
    found = measured(400, "service", "fleet", "100")
    work = "create 100 servers with ports, volumes and floating IPs"
    yield Row(work, found.get("create"), 6.0)
    for service in ("compute", "network", "block-storage"):
        yield Row(f"its calls to {service}", found.get(f"calls to {service}"), unit="")
    yield Row("delete them", found.get("delete"))
    found = measured(120, "service", "crowd", "200")
    yield Row("200 clients create a stack each at once", found.get("create"))
    yield Row("one of them waits for its answer", found.get("answered"), unit="ms")
    yield Row("show one of the stacks", found.get("show"), 0.01, "ms")
    found = measured(300, "service", "stacks", "1000")
    yield Row("create 1,000 stacks", found.get("create"), memory=found.get("memory"))
    yield Row("list 1,000 stacks", found.get("list"), 0.1, "ms")
    count = 1_000 if quick else 10_000
    found = measured(400, "service", "big", str(count))
    yield Row(f"create a stack of {count:,} over HTTP", found.get("create"))
    yield Row("show it without outputs", found.get("show"), 0.1, "ms", memory=found.get("memory"))
    found = measured(200, "service", "kill", "100")
    yield Row(
        "work resumes after kill -9", found.get("resumed"), 10.0, elsewhere="Heat: not at all"
    )


def engines(quick: bool) -> Iterator[Row]:
    """Measure engines that share the work on a PostgreSQL."""
    tries = "3" if quick else "20"
    for kind, what, target in (("killed", "kill -9", 10.0), ("ended", "a graceful stop", 3.0)):
        found = measured(600, "engines", kind, tries)
        work = f"another engine goes on after {what} (median of {tries})"
        yield Row(work, found.get("resumed"), target)
    count = "100" if quick else "1000"
    for kind, what in (("stacks", "small stacks"), ("tree", "nested stacks of a tree")):
        limit: float | None = None
        for number in (0, 1, 2, 4):
            found = measured(400, "engines", kind, count, "--engines", str(number))
            took = found.get("create")
            by = "SQLite" if number == 0 else f"PostgreSQL, engines: {number}"
            if kind == "stacks" and number == 0 and not quick:
                limit = 0.8
            yield Row(f"create {int(count):,} {what}, {by}", took, limit)
            if took is not None and number < 2:
                # One engine takes at most 1.2 times as long as SQLite. More engines must not be
                # slower, apart from the spread of measurements.
                limit = took * (1.2 if number == 0 else 1.1)
    beside = f"beside {1_000 if quick else 10_000:,} resources of another project"
    for among, where in (("0", "one process"), ("2", "PostgreSQL, engines: 2")):
        nested = "48" if quick else "476"
        found = measured(400, "service", "fairness", nested, "--engines", among)
        alone = found.get("alone")
        yield Row(f"create a stack of five over HTTP, {where}", alone, unit="ms")
        yield Row(f"the same {beside}", found.get("beside"), alone and 1.3 * alone, "ms")


def main() -> int:
    """Measure everything and print the table. The exit code is 1 if a measurement failed."""
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("--quick", action="store_true", help="leave out what takes minutes")
    quick = parser.parse_args().quick
    counts = [100, 1_000] if quick else [100, 1_000, 10_000]
    rows = [
        *evaluations([count for count in counts if count >= 1_000]),
        *pauses(),
        *operations(counts),
        *shapes(quick),
        *overcloud(quick),
        *express(),
        *services(quick),
        *engines(quick),
    ]
    print(table(rows))
    return int(any(row.figure is None for row in rows))


if __name__ == "__main__":
    sys.exit(main())
