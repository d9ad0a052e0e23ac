"""The pages of docs/reference/resource-types: a page for each type and each service."""

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
from stoker.schema.properties import Interruption, Property, Type
from stoker.schema.resource_type import Adopts, ResourceType, why_not_importable
from stoker.schema.support import Support, SupportStatus
from tools.type_examples import example

FOLDER = "docs/reference/resource-types"
_TRIED = Path(__file__).parents[1] / "tests" / "openstack" / "tried.json"
"""Written by `python -m tests.openstack --record`."""
# Types whose example tests/examples/test_type_examples.py deploys.
_DEPLOYED = Path(__file__).with_name("deployed_examples.txt")
_WRITTEN = "Written by `python -m tools.reference`."
_MOST_VALUES = 12
"""Allowed values that are all named."""


def pages() -> dict[str, Any]:
    """Each page with its function: an overview, one for each service, one for each type."""
    names = sorted({*built_in(), *declarations()}, key=lambda name: (_service(name), name))
    services = {key: [*group] for key, group in groupby(names, _service)}
    found: dict[str, Any] = {f"{FOLDER}/README.md": partial(_overview, services)}
    for service, types in services.items():
        found[f"{FOLDER}/{_folder(service)}/README.md"] = partial(_service_page, service, types)
        found |= {f"{FOLDER}/{path_of(name)}": partial(_page, name) for name in types}
    return found


def path_of(name: str) -> str:
    """Return the path of a type's page, below the folder of all pages."""
    return f"{_folder(_service(name))}/{_leaf(name)}"


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


def _folder(service: str) -> str:
    return service.lower().replace("::", "-")


def _leaf(name: str) -> str:
    return f"{name.rpartition('::')[2].lower()}.md"


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
    for names in services.values():
        for name in names:
            type_ = _type(name)
            needs = ", ".join(filter(None, (type_.service, type_.extension)))
            notes = "; ".join(_status(type_))
            link = f"[`{name}`]({path_of(name)})"
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


def _service_page(service: str, names: list[str]) -> str:
    lines = [
        f"# {service}",
        "",
        f"{_WRITTEN} [All types](../README.md)",
        "",
        "| type | |",
        "|---|---|",
    ]
    for name in names:
        type_ = _type(name)
        summary = " ".join([type_.description, *(f"({note})" for note in _status(type_))])
        lines.append(f"| [`{name}`]({_leaf(name)}) | {_cell(summary)} |")
    return "\n".join([*lines, ""])


def _page(name: str) -> str:
    type_ = _type(name)
    service = _service(name)
    lines = [
        f"# {name}",
        "",
        f"{_WRITTEN} [Types of {service}](README.md), [all types](../README.md)",
    ]
    for part in (_purpose, _example, _properties, _attributes, _updates, _recognition):
        lines += part(type_)
    return "\n".join([*lines, ""])


def _purpose(type_: ResourceType) -> Iterator[str]:
    if type_.description:
        yield from ("", type_.description)
    facts = [*_status(type_)]
    if type_.support.version and type_.support.status is Support.SUPPORTED:
        facts.append(f"since Heat {type_.support.version}")
    if type_.service:
        extension = f", extension `{type_.extension}`" if type_.extension else ""
        facts.append(f"service `{type_.service}`{extension}")
    if tried := _tried().get(type_.type_name):
        facts.append(f"tried on {tried}")
    if facts:
        yield from ("", " ".join(f"{fact[0].upper()}{fact[1:]}." for fact in facts))


def _example(type_: ResourceType) -> Iterator[str]:
    yield from ("", "## Example", "", "```yaml", *example(type_).splitlines(), "```")
    if type_.type_name in _DEPLOYED.read_text().split():
        yield from ("", "A test deploys it on the local cloud, as it is.")
    else:
        yield from ("", "A test validates it. Replace its names with objects of your cloud.")


def _properties(type_: ResourceType) -> Iterator[str]:
    yield from ("", "## Properties", "")
    rows = [*_rows(type_.properties, "")]
    titles = ("| property | type | on update | meaning |", "|---|---|---|---|")
    yield from (*titles, *rows) if rows else ["The type has no properties."]


def _attributes(type_: ResourceType) -> Iterator[str]:
    yield from ("", "## Attributes", "")
    rows = []
    for name, declared in sorted(type_.attributes.items()):
        if declared.support.status is not Support.HIDDEN:
            kind = declared.type.value if declared.type else ""
            words = [declared.description, *(f"({age})" for age in _age(declared.support))]
            if declared.of_members:
                words.append("The name of an attribute of the members follows.")
            rows.append(f"| `{name}` | {kind} | {_cell(' '.join(filter(None, words)))} |")
    yield from (
        ("| attribute | type | meaning |", "|---|---|---|", *rows)
        if rows
        else ["The type has no attributes."]
    )


def _updates(type_: ResourceType) -> Iterator[str]:
    yield from ("", "## Updates", "")
    if not type_.properties:
        yield "There is nothing to change."
        return
    replacing = [
        f"`{name}`"
        for name, declared in type_.properties.items()
        if not (declared.update_allowed or declared.immutable) and _is_shown(declared)
    ]
    if not replacing:
        yield "Every change is made in place."
    elif len(replacing) == sum(map(_is_shown, type_.properties.values())):
        yield "Every change replaces the resource."
    else:
        yield f"A change of {', '.join(replacing)} replaces the resource."
    for name, declared in type_.properties.items():
        if declared.interruption is not None:
            yield from ("", f"- `{name}`: {_interruption(declared.interruption)}")
    if replacing:
        order = (
            "The old object releases its name, address or place first."
            if type_.unique or type_.link
            else "The new object is created first, and the old one is deleted at the end."
        )
        yield from ("", order)


def _interruption(found: Interruption) -> str:
    avoided = f", unless `{found.unless[0]}` is `{found.unless[1]}`" if found.unless else ""
    lost = "; its data is lost" if found.overwrites_data else ""
    return f"{found.effect}{avoided}{lost}."


def _recognition(type_: ResourceType) -> Iterator[str]:
    yield from ("", "## Recognition", "")
    if isinstance(type_, Adopts):
        lost = "If the response of a create is [lost](../../lost-creates.md)"
        yield f"{lost}, the object is recognized by: {way(type_)}."
    else:
        yield "The cloud has no object of its own for this type that could be lost."
    if why_not_importable(type_) is None:
        form = f", as `{type_.id_form}`" if type_.id_form else ""
        yield from ("", f"An existing object is [imported](../../imports.md) by its id{form}.")


def _is_shown(declared: Property) -> bool:
    return declared.support.status is not Support.HIDDEN


def _rows(properties: Mapping[str, Property], before: str) -> Iterator[str]:
    for name, declared in properties.items():
        if not _is_shown(declared):
            continue
        path = f"{before}{name}"
        change = "" if before else _change(declared)
        kind = ", ".join(filter(None, (_kind(declared), _use(declared))))
        cells = (f"`{path}`", kind, change, _meaning(declared))
        yield f"| {' | '.join(cells)} |"
        items = declared.items
        inner = declared.entries or (None if items is None else items.entries)
        if inner is not None:
            yield from _rows(inner, f"{path}[]." if items is not None else f"{path}.")


def _change(declared: Property) -> str:
    if declared.immutable:
        return "refused"
    if not declared.update_allowed:
        return "replaces"
    return "in place, only grows" if declared.only_grows else "in place"


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
    if declared.sensitive:
        words.append("Hidden in every view, log and event.")
    return _cell(" ".join(words))


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


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
