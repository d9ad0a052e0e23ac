"""A copy of an existing stack: its template, files, environment and parameters, from the API."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from stoker.cli.arguments.naming import the_stack
from stoker.cli.client.client import Client, parsed
from stoker.cli.client.stacks import ORCHESTRATION
from stoker.cli.console.failures import InputError
from stoker.kernel.logs.masking import MASK

_SECTIONS = ("parameters", "parameter_defaults")


class StackCopy(Struct, frozen=True):
    """The input of a stack."""

    name: str
    body: Mapping[str, Any]  # of the request
    secrets: tuple[str, ...]  # parameters whose values the API masks


def copy_of(client: Client, name: str, values: Mapping[str, str]) -> StackCopy:
    """Read a stack. ``values`` are parameters of the command line.

    Raise :class:`InputError` if there is no such stack, or values of hidden parameters are missing.
    """
    stack = the_stack(client, name, outputs=False)
    environment = dict(client.get_exact(ORCHESTRATION, f"{stack.path}/environment"))
    secrets = parsed(_masked, environment)
    missing = [each for each in secrets if each not in values]
    if missing:
        options = " ".join(f"-P {each}=VALUE" for each in missing)
        raise InputError(
            f"{stack.name} cannot be copied: its service does not show the values of hidden"
            f" parameters. Give them, or others that fit: {options}"
        )
    for section in _SECTIONS:
        shown = environment.get(section) or {}
        environment[section] = {
            key: values[key] if key in secrets else value for key, value in shown.items()
        }
    environment["resource_registry"] = _without_hooks(environment.get("resource_registry") or {})
    sections = (*_SECTIONS, "resource_registry")
    body = {
        "stack_name": stack.name,
        "template": client.get_exact(ORCHESTRATION, f"{stack.path}/template"),
        "files": client.get_exact(ORCHESTRATION, f"{stack.path}/files"),
        "environment": {key: environment[key] for key in sections},
    }
    return StackCopy(stack.name, body, tuple(secrets))


def _masked(environment: Mapping[str, Any]) -> list[str]:
    found: Iterable[tuple[str, Any]] = (
        item for section in _SECTIONS for item in (environment.get(section) or {}).items()
    )
    return list(dict.fromkeys(name for name, value in found if value == MASK))


def _without_hooks(registry: Any) -> Any:
    """Return a registry without the hooks at which an operation waits for a person."""
    if not isinstance(registry, Mapping):
        return registry
    return {key: _without_hooks(value) for key, value in registry.items() if key != "hooks"}
