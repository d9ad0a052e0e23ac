"""The pages of docs/reference/resource-types: every type with its declared properties."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Mapping
from functools import cache, partial
from itertools import groupby
from pathlib import Path
from typing import Any

from stoker.resources.base.builtin_types import WITHDRAWN, built_in
from stoker.resources.base.heat_catalog import WithDeclared, declarations
from stoker.resources.base.registry import Registry
from stoker.resources.base.renamed_types import OLDER_NAMES
from stoker.resources.base.rest import RestResource
from stoker.schema.constraints import (
    AllowedPattern,
    AllowedValues,
    Constraint,
    Custom,
    Length,
    Modulo,
    Range,
)
from stoker.schema.properties import Property, Type
from stoker.schema.resource_type import Adopts, ResourceType
from stoker.schema.support import Support, SupportStatus
from tools.type_examples import example

FOLDER = "docs/reference/resource-types"
_TRIED = Path(__file__).parents[1] / "tests" / "openstack" / "tried.json"
"""Written by `python -m tests.openstack --record`."""
_WRITTEN = "Written by `python -m tools.reference`."
_MOST_VALUES = 12
"""Allowed values that are all named."""


def pages() -> dict[str, Any]:
    """Each page and what makes its text: an overview, and one for each service."""
    names = sorted({*built_in(), *declarations()}, key=lambda name: (_service(name), name))
    services = {key: [*group] for key, group in groupby(names, _service)}
    found: dict[str, Any] = {f"{FOLDER}/README.md": partial(_overview, services)}
    for service, types in services.items():
        found[f"{FOLDER}/{_file(service)}"] = partial(_page, service, types)
    return found


def way(type_: Any) -> str:
    """How a type recognises the object of a lost create."""
    if isinstance(type_, RestResource) and type(type_).find is RestResource.find:
        return _way_of_rest(type_)
    words = (inspect.getdoc(type_.find) or "").partition("\n\n")[0].replace("\n", " ")
    return ("unique: " if type_.unique else "") + words.removeprefix("Return ").removesuffix(".")


def _way_of_rest(type_: RestResource) -> str:
    alike = " and ".join(type_.identity_fields) or "kind"
    if type_.has_name:
        return "name, which users cannot choose"
    if type_.unique:
        return f"unique: by {alike}"
    if "name" not in type_.properties:
        return f"{type_.marker_field} as marker" if type_.marker_field else f"namesakes, by {alike}"
    return f"name; {'marker' if type_.marker_field else 'namesakes'} if the user chose the name"


def _service(name: str) -> str:
    return name.rpartition("::")[0]


def _file(service: str) -> str:
    return f"{service.lower().replace('::', '-')}.md"


def _type(name: str) -> ResourceType:
    found = WithDeclared(Registry()).find(name)
    assert found is not None, name
    return found


def _overview(services: Mapping[str, list[str]]) -> str:
    count = sum(map(len, services.values()))
    lines = [
        "# Resource types",
        "",
        f"{_WRITTEN} There are {count} types. Those for which a cloud has no service are not",
        "listed by `openstack orchestration resource type list`, and are refused when a stack is",
        "created. The last column says on which release of its service a type was tried, or that",
        "the service's API reference was the judge; others were tested on the local cloud or on",
        "services in memory.",
        "",
        "| type | | service | tried on |",
        "|---|---|---|---|",
    ]
    for service, names in services.items():
        for name in names:
            type_ = _type(name)
            needs = ", ".join(filter(None, (type_.service, type_.extension)))
            anchor = name.lower().replace(":", "")
            notes = "; ".join(_status(type_))
            link = f"[`{name}`]({_file(service)}#{anchor})"
            lines.append(f"| {link} | {notes} | {needs} | {_tried().get(name, '')} |")
    lines += [
        "",
        "## Older names",
        "",
        "Earlier Heats had these. Their objects are made by the types of today; they are hidden.",
        "",
        "| type | use |",
        "|---|---|",
    ]
    lines += [f"| `{name}` | `{successor}` |" for name, successor in sorted(OLDER_NAMES.items())]
    lines += [
        "",
        "## Withdrawn types",
        "",
        "Heat had these once. Templates with them are refused.",
        "",
        "| type | what takes its place |",
        "|---|---|",
    ]
    for name, successor in sorted(WITHDRAWN.items()):
        lines.append(
            f"| `{name}` | {successor or 'nothing: its service does not exist any more'} |"
        )
    return "\n".join([*lines, ""])


@cache
def _tried() -> Mapping[str, str]:
    """On what each type was tried, by name."""
    found: Mapping[str, str] = json.loads(_TRIED.read_text())
    return found


def _status(type_: ResourceType) -> Iterator[str]:
    if type_.undeployable:
        yield "checked, but not deployed yet"
    if type_.support.status is not Support.SUPPORTED:
        yield type_.support.status.lower()


def _page(service: str, names: list[str]) -> str:
    lines = [f"# {service}", "", f"{_WRITTEN} [All types](README.md)"]
    for name in names:
        lines += ["", f"## {name}", "", *_described(_type(name))]
    return "\n".join([*lines, ""])


def _described(type_: ResourceType) -> Iterator[str]:
    if type_.description:
        yield type_.description
        yield ""
    facts = [*_status(type_)]
    if type_.support.version and type_.support.status is Support.SUPPORTED:
        facts.append(f"since Heat {type_.support.version}")
    if type_.service:
        extension = f", extension `{type_.extension}`" if type_.extension else ""
        facts.append(f"service `{type_.service}`{extension}")
    if isinstance(type_, Adopts):
        facts.append(f"recognition of a [lost create](../lost-creates.md): {way(type_)}")
    if facts:
        yield " ".join(f"{fact[0].upper()}{fact[1:]}." for fact in facts)
        yield ""
    rows = [*_rows(type_.properties, "")]
    if rows:
        yield from ("| property | type | | meaning |", "|---|---|---|---|", *rows)
    else:
        yield "No properties."
    attributes = [f"`{name}`" for name in sorted(type_.attributes) if name != "show"]
    if attributes:
        yield ""
        yield f"Attributes: {', '.join(attributes)}."
    yield from ("", "```yaml", *example(type_).splitlines(), "```")


def _rows(properties: Mapping[str, Property], before: str) -> Iterator[str]:
    for name, declared in properties.items():
        if declared.support.status is Support.HIDDEN:
            continue
        path = f"{before}{name}"
        yield f"| `{path}` | {_kind(declared)} | {_use(declared)} | {_meaning(declared)} |"
        items = declared.items
        inner = declared.entries or (None if items is None else items.entries)
        if inner is not None:
            yield from _rows(inner, f"{path}[]." if items is not None else f"{path}.")


def _kind(declared: Property) -> str:
    items = declared.items
    if declared.type is Type.LIST and items is not None and items.type is not Type.MAP:
        return f"list of {items.type}"
    return declared.type.value


def _use(declared: Property) -> str:
    notes = []
    if not declared.implemented:
        notes.append("not implemented")
    if declared.required:
        notes.append("required")
    if declared.update_allowed and not declared.immutable:
        notes.append("changes in place")
    if declared.immutable:
        notes.append("never changes")
    if declared.default not in (None, "", [], {}):
        notes.append(f"default `{_text(declared.default)}`")
    return ", ".join([*notes, *_age(declared.support)])


def _age(support: SupportStatus) -> Iterator[str]:
    if support.status is not Support.SUPPORTED:
        yield (
            f"{support.status.lower()} since {support.version}"
            if support.version
            else (support.status.lower())
        )


def _meaning(declared: Property) -> str:
    words = [declared.description] if declared.description else []
    constraints = declared.constraints if declared.finder is None else ()
    words += [_limits(each) for each in constraints]
    return " ".join(words).replace("|", "\\|").replace("\n", " ")


def _limits(constraint: Constraint) -> str:
    match constraint:
        case Range(min=low, max=high) | Length(min=low, max=high):
            kind = "characters or entries" if isinstance(constraint, Length) else ""
            bounds = " ".join(
                f"{word} {value:,}"
                for word, value in (("at least", low), ("at most", high))
                if value is not None
            )
            return f"{bounds} {kind}".strip().capitalize() + "."
        case AllowedValues(allowed=values):
            named = [f"`{_text(value)}`" for value in values[:_MOST_VALUES]]
            more = [f"{len(values) - _MOST_VALUES} more"] if len(values) > _MOST_VALUES else []
            return f"One of {', '.join([*named, *more])}."
        case AllowedPattern(pattern=pattern):
            return f"Matches `{pattern}`."
        case Modulo(step=step):
            return f"A multiple of {step}."
        case Custom(name=name):
            return f"Checked as `{name}`."


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
