"""The functions that Mistral adds to the expression languages."""

import json
from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

import yaml

Ask = Callable[..., Any]  # queries the service


def functions(ask: Ask) -> dict[str, Callable[..., Any]]:
    """Return the functions by their names in expressions."""

    # Functions rather than methods: YAQL reads their signatures, and sets attributes on them.
    def executions(id: Any = None, root_execution_id: Any = None, state: Any = None) -> Any:  # noqa: A002
        return ask("executions", id, root_execution_id, state)

    def tasks(
        workflow_execution_id: Any = None,
        recursive: Any = False,
        state: Any = None,
        flat: Any = False,
    ) -> Any:
        return ask("tasks", workflow_execution_id, recursive, state, flat)

    def task(name: Any = None) -> Any:
        return ask("task", name)

    return {
        "env": lambda: ask("env"),
        "execution": lambda: ask("execution"),
        "executions": executions,
        "task": task,
        "tasks": tasks,
        "global": lambda name: ask("globals").get(name),
        "uuid": lambda: str(uuid4()),
        "json_parse": lambda text: json.loads(text),
        "json_dump": lambda value: _json(value),
        "json_pp": lambda value: _json(value),
        "yaml_parse": lambda text: yaml.safe_load(text),
        "yaml_dump": lambda value: _yaml(value),
    }


def _json(value: Any) -> str:
    return json.dumps(value, indent=4, default=_plain)


def _yaml(value: Any) -> str:
    return str(yaml.safe_dump(json.loads(_json(value)), allow_unicode=True))


def _plain(value: Any) -> Any:
    """Return the JSON form of a value of an expression language. Raises TypeError."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset | tuple):
        return list(value)
    raise TypeError(f"a value of the type {type(value).__name__} has no form in JSON")
