"""The tour of ``make run``: a service with a local cloud, a stack with a web server, its page.

Needs an installed Stoker only. Uses the service in the directory ``var`` if one runs there;
otherwise starts one, and stops it at the end unless ``KEEP=1`` is set.

    python examples/run.py             a web application that works
    python examples/run.py --failing   one that fails, and what Stoker reports
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
DATA_DIR = HERE.parent / "var"
STOKER = (sys.executable, "-m", "stoker")
ADDRESS_SECONDS = 10


def main() -> int:
    """Run the tour; returns the exit code."""
    failing = "--failing" in sys.argv[1:]
    name = "failing-app" if failing else "web-app"
    was_running = stoker("status", quiet=True) == 0
    try:
        code = stoker("deploy", str(HERE / f"{name}.yaml"), "--name", name, "--yes")
        if failing:
            said = "It failed as expected, and says why." if code == 1 else "It did not fail!"
            print(f"\n{said}")
            return 0 if code == 1 else 1
        if code == 0:
            show_page(output(name, "url"))
            print("\n$ stoker status web-app")
            stoker("status", name, "--events", "100")
        return code
    finally:
        if stoker("status", name, quiet=True) == 0:
            say_how_to_go_on(name)
        if was_running:
            print(f"\nThe service in {DATA_DIR} keeps running, as before.")
        elif os.environ.get("KEEP") == "1":
            print(f'\nThe service keeps running; "stoker stop --data-dir {DATA_DIR}" stops it.')
        else:
            print("\nStopping everything; set KEEP=1 to leave it running.")
            stoker("stop")


def stoker(*arguments: str, quiet: bool = False) -> int:
    """Run a command of Stoker on our data directory; returns its exit code."""
    sys.stdout.flush()
    silence = subprocess.DEVNULL if quiet else None
    command = [*STOKER, *arguments, "--data-dir", str(DATA_DIR)]
    return subprocess.run(command, stdout=silence, stderr=silence, check=False).returncode


def output(stack: str, name: str) -> str:
    """An output of a stack."""
    command = [*STOKER, "status", stack, "--json", "--data-dir", str(DATA_DIR)]
    found = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return str(found["outputs"][name])


def show_page(url: str) -> None:
    """Fetch a page from the server, through its floating IP, and print its first lines."""
    print(f"\n$ curl {url}")
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + ADDRESS_SECONDS
    while True:
        try:
            with opener.open(url, timeout=5) as answer:
                page = answer.read(2000).decode()
            break
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
    for line in page.splitlines()[:6]:
        print(f"  {line}")


def say_how_to_go_on(name: str) -> None:
    """Lines to copy."""
    print(f"""
To explore (with KEEP=1, while the service runs):
  export STOKER_DATA_DIR={DATA_DIR}
  stoker status {name}
  stoker logs {name}
  stoker open {name}
  . {DATA_DIR}/openrc
  openstack stack resource list {name}
  openstack stack event list {name}
  openstack server list
  stoker destroy {name}""")


if __name__ == "__main__":
    sys.exit(main())
