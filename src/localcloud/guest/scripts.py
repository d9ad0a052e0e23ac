"""Programs that user data asks for: started, awaited, their exit codes said aloud."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from localcloud.guest.instance import Instance

SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def say(message: str) -> None:
    """Write a line to the console."""
    os.write(1, f"{message}\n".encode())


def environment(instance: Instance) -> dict[str, str]:
    """The environment of what user data starts."""
    base = {
        "PATH": SEARCH_PATH,
        "HOME": "/root",
        "USER": "root",
        "LOGNAME": "root",
        "SHELL": "/bin/sh",
    }
    return {**base, "LANG": "C.UTF-8", "INSTANCE_ID": instance.id, **instance.environment}


def run_program(
    arguments: Sequence[str], instance: Instance, stdin: bytes = b"", **extra: str
) -> int:
    """Run a program to its end. Returns its exit code, 128 + n after signal n, 127 if not found."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.dup2(read, 0)
            os.close(read)
            os.close(write)
            os.execvpe(arguments[0], list(arguments), {**environment(instance), **extra})
        except OSError as error:
            os.write(2, f"{arguments[0]}: {error.strerror}\n".encode())
        finally:
            os._exit(126 if Path(arguments[0]).exists() else 127)
    os.close(read)
    _feed(write, stdin)
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _feed(pipe: int, data: bytes) -> None:
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(pipe, view) :]
    except BrokenPipeError:
        sys.stderr.flush()
    finally:
        os.close(pipe)


def run_script(path: Path, instance: Instance) -> int:
    """Run an executable part of user data and say how it ended when it failed."""
    code = run_program([str(path)], instance)
    if code != 0:
        say(f"user data: {path} ended with exit code {code}")
    return code
