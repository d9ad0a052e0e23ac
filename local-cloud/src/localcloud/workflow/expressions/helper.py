"""A helper process that evaluates users' expressions, one job after another.

``python -I -m localcloud.workflow.expressions.helper PARENT``. Jobs and answers are lines of JSON.
Before the first job it drops all rights that it does not need: files, sockets, processes, memory.
The kernel kills it if a job computes for too long.
"""

import ctypes
import json
import os
import resource
import signal
import sys
from contextlib import suppress
from typing import Any, BinaryIO

from localcloud.workflow.expressions.jinja_texts import JinjaTexts
from localcloud.workflow.expressions.recognition import JINJA, YAQL
from localcloud.workflow.expressions.yaql_texts import YaqlTexts

_MEMORY = 256 << 20  # bytes that the helper may reserve after its start
SECONDS = 2.0  # CPU time of one job
_MOST_BYTES = 4 << 20  # of an answer
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38


class Helper:
    """Processes jobs until the input ends."""

    def __init__(self, jobs: BinaryIO, answers: BinaryIO) -> None:
        self._jobs = jobs
        self._answers = answers
        self._data: Any = {}
        self._yaql = YaqlTexts(self._ask)
        self._jinja = JinjaTexts(self._ask)
        # Load everything that is imported on first use now: later no file can be opened.
        self._yaql.evaluate("<% $.a.select(str($)).join('') + json_dump($) %>", {"a": ["b"]})
        self._jinja.evaluate(
            "{{ _.a | join('\\n') }}{% for i in _.a %}{{ i }}{% endfor %}", {"a": []}
        )
        with suppress(ValueError):
            self._jinja.evaluate("{{ _.a.b.c }} ", {"a": {}})

    def run(self) -> None:
        """Process jobs."""
        while line := self._jobs.readline():
            answer = self._answered(json.loads(line))
            self._send(answer)
            if answer.get("last"):
                return

    def _answered(self, job: dict[str, Any]) -> dict[str, Any]:
        # Virtual time does not pass while the job waits for answers of the service.
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        try:
            if "check" in job:
                for text in job["check"]:
                    self._check(text)
                return {"value": None}
            tree, data = job["tree"], job["data"]
            found = [
                self._evaluated(tree, {**data, **more} if more else data)
                for more in job["variations"]
            ]
            if len(json.dumps(found)) > _MOST_BYTES:
                return {"error": f"The values take more than {_MOST_BYTES >> 20} MiB."}
            return {"value": found}
        except RecursionError:
            return {"error": "The values are nested too deeply."}
        except (ValueError, TypeError) as error:
            return {"error": str(error)[:2000]}
        except MemoryError:
            return {"error": f"It takes more than {_MEMORY >> 20} MiB of memory.", "last": True}
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    def _check(self, text: str) -> None:
        if YAQL.search(text) and JINJA.search(text):
            raise ValueError(
                "A text has expressions of one language: YAQL (<% %>) or Jinja ({{ }}), not both."
            )
        (self._yaql if YAQL.search(text) else self._jinja).check(text)

    def _evaluated(self, tree: Any, data: Any) -> Any:
        self._data = data
        if isinstance(tree, dict):
            pairs = ((self._evaluated(k, data), self._evaluated(v, data)) for k, v in tree.items())
            return dict(pairs)
        if isinstance(tree, list):
            return [self._evaluated(each, data) for each in tree]
        if not isinstance(tree, str):
            return tree
        if YAQL.search(tree):
            return self._yaql.evaluate(tree, data)
        return self._jinja.evaluate(tree, data) if JINJA.search(tree) else tree

    def _ask(self, *words: Any) -> Any:
        if words == ("env",):
            return self._data.get("__env") if isinstance(self._data, dict) else {}
        self._send({"ask": words})
        return json.loads(self._jobs.readline())

    def _send(self, answer: dict[str, Any]) -> None:
        self._answers.write(json.dumps(answer).encode() + b"\n")
        self._answers.flush()


def _die_with(parent: int) -> None:
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)  # the parent ended before the kernel was asked to report it


def _confine() -> None:
    """Drop all other rights: the needed files are open, and the modules imported."""
    with open("/proc/self/statm", encoding="ascii") as statm:  # noqa: PTH123
        reserved = int(statm.read().split()[0]) * resource.getpagesize()
    for limit, value in (
        (resource.RLIMIT_AS, reserved + _MEMORY),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, 3),  # the standard streams
        (resource.RLIMIT_NPROC, 0),
    ):
        _, hard = resource.getrlimit(limit)
        least = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(limit, (least, least))
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)  # kills the process: no code can catch it
    os.nice(5)


def main() -> None:
    """Process the jobs of one parent."""
    _die_with(int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    helper = Helper(sys.stdin.buffer, sys.stdout.buffer)
    _confine()
    helper.run()


if __name__ == "__main__":
    main()
