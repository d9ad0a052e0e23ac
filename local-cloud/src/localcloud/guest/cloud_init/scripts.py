"""Programs that user data asks for: started, awaited, their exit codes said aloud."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from localcloud.guest.cloud_init.instance import Instance

SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def say(message: str) -> None:
    """Write a line to the console."""
    os.write(1, f"{message}\n".encode())


def environment(instance: Instance) -> dict[str, str]:
    """The environment of programs that user data starts."""
    return {
        "PATH": SEARCH_PATH,
        "HOME": "/root",
        "USER": "root",
        "LOGNAME": "root",
        "SHELL": "/bin/sh",
        "LANG": "C.UTF-8",
        "INSTANCE_ID": instance.id,
        **instance.environment,
    }


def run_program(
    arguments: Sequence[str], instance: Instance, stdin: bytes = b"", **extra: str
) -> int:
    """Run a program to its end. Returns its exit code, 128 + n after signal n, 127 if not found."""
    try:
        code = subprocess.run(  # noqa: S603 - as asked
            arguments, input=stdin, env={**environment(instance), **extra}, check=False
        ).returncode
    except OSError as error:
        os.write(2, f"{arguments[0]}: {error.strerror}\n".encode())
        # These are the shell's codes for a file that cannot be executed, and for one that is
        # missing.
        return 126 if Path(arguments[0]).exists() else 127
    return code if code >= 0 else 128 - code


def run_script(path: Path, instance: Instance, *arguments: str) -> int:
    """Run an executable part of user data and say how it ended when it failed."""
    code = run_program([str(path), *arguments], instance)
    if code != 0:
        say(f"user data: {path} ended with exit code {code}")
    return code


def run_directory(directory: Path, instance: Instance) -> list[str]:
    """Run the executables of a directory by name. Returns a sentence for each that failed."""
    failures = []
    for path in sorted(directory.iterdir()) if directory.is_dir() else []:
        if path.is_file() and os.access(path, os.X_OK):
            code = run_script(path, instance)
            if code != 0:
                failures.append(f"{path} ended with exit code {code}")
    return failures
