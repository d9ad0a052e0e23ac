"""The fabric that this machine allows."""

import os
from collections.abc import Sequence
from pathlib import Path

from localcloud.fabric import identities
from localcloud.fabric.interface import Fabric
from localcloud.fabric.kernel import Clone
from localcloud.fabric.namespaces import NamespaceFabric
from localcloud.fabric.plain import PlainFabric
from localcloud.fabric.probe import Findings, probe_links

_LONGEST_ANSWER = 4096


def refusal() -> str | None:
    """Why this machine cannot have servers in namespaces, found by trying; None when it can.

    Forks for some 10 ms; to be called before the process has threads.
    """
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            identities.enter_user_namespace(Clone.NEWNS | Clone.NEWNET | Clone.NEWPID)
            lacks: list[str] = []
            probe_links(lacks)
            os.write(write, " ".join(lacks).encode())
        except OSError as error:
            os.write(write, Findings.without_namespaces(str(error)).capabilities.lacks[0].encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as answer:
        said = answer.read(_LONGEST_ANSWER).decode()
    os.waitpid(pid, 0)
    return said or None


def fabric_for(
    state: Path,
    services: Sequence[tuple[str, int]],
    floating: Sequence[str] = ("127.24.4.0/24",),
) -> Fabric:
    """Return the fabric on namespaces, or that of plain processes where those are refused.

    Why it is the latter is the first sentence of its ``capabilities.lacks``. The parameters are
    those of :class:`NamespaceFabric`; neither fabric is started.
    """
    cause = refusal()
    if cause is None:
        return NamespaceFabric(state, services, floating)
    return PlainFabric([cause])
