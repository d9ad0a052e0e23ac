"""Reads a new version of a known template: resources that are the same are not read again.

Takes the template of a stack, and a document that was sent for the same stack, as data or as text.
Returns the template of that document. Its unchanged resources are the objects of the known
template, so that later steps find the changed ones by identity.

Invariant: the result equals that of :func:`stoker.template.document.parse`.
Tested by tests/operations/test_known_templates.py.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import islice
from typing import Any

from stoker.kernel.json.content import Content
from stoker.kernel.json.tree import same, same_by_marshal, weigh
from stoker.kernel.values import replace
from stoker.template.document import Template, parse
from stoker.template.source.revised_text import read_revised
from stoker.template.source.source import Source, accept

# Values of a document in which each resource is compared in one step, within 20 ms. The bounds of
# the readers are far above.
_MOST_VALUES = 200_000
_TOGETHER = 100  # resources that are compared in one step


def revised(
    known: Template, document: str | Mapping[str, Any], file: str | None = None
) -> Template | None:
    """Return the template of a document; None if it has to be read as a whole.

    Raises :class:`stoker.kernel.diagnostics.DiagnosticError` for an invalid document.
    """
    if known.source.file != file or known.transforms:
        return None
    if isinstance(document, str) and document == known.source.text:
        return known
    if known.size > _MOST_VALUES:
        return None
    if isinstance(document, str):
        return _of_text(known, document, known.version.dialect.resources)
    return _of_data(known, document, known.version.dialect.resources)


def _of_text(known: Template, text: str, section: str) -> Template | None:
    source = known.source
    if source.text is None or source.warnings:
        return None
    found = read_revised(source.data, source.text, text, section)
    if found is None:
        return None
    kept = found.kept & known.resources.keys()
    now = Source(found.data, text, source.file)
    rest = replace(now, data=_without(found.data, section, kept))
    return _merged(known, now, rest, section, kept)


def _of_data(known: Template, data: Any, section: str) -> Template | None:
    source = known.source
    before, now = _resources(source.data, section), _resources(data, section)
    if source.text is not None or before is None or now is None:
        return None
    kept = _unchanged(now, before) & known.resources.keys()
    rest = _without(data, section, kept)
    are_same = len(kept) == len(now) == len(before) and same(list(now), list(before))
    if are_same and same(rest, _without(source.data, section, kept)):
        return known
    return _merged(known, Source(data), accept(rest, source.file), section, kept)


def _merged(
    known: Template, source: Source, rest: Source, section: str, kept: Collection[str]
) -> Template | None:
    """Return the template of a document with the resources to keep.

    ``rest`` is the document without these, which is all that is read.
    """
    data = source.data
    parameters = data.get(known.version.dialect.parameters)
    if isinstance(parameters, Mapping) and not parameters.keys().isdisjoint(kept):
        return None  # Names that a parameter and a resource share are reported.
    read = parse(rest)
    replaced_size, _, replaced_octets = weigh(_without(known.source.data, section, kept))
    size = known.size - replaced_size + read.size
    if read.version != known.version or read.transforms or size > 2 * _MOST_VALUES:
        return None
    before = known.source.data[section]
    written = {name: before[name] if name in kept else body for name, body in data[section].items()}
    every = {**read.resources, **{name: known.resources[name] for name in kept}}
    # The document may have a loop that is not run, which is no resource.
    resources = {name: every[name] for name in written if name in every}
    content = Content({**read.source.data, section: written})
    if isinstance(known.source.data, Content) and known.source.data.weight is not None:
        values, octets = known.source.data.weight
        octets += weigh(read.source.data)[2] - replaced_octets
        content.weight = values + read.size - replaced_size, octets
    found = replace(read, source=replace(read.source, data=content), resources=resources)
    vars(found)["size"] = size  # It takes long to count the values of all resources again.
    return found


def _resources(data: Any, section: str) -> dict[str, Any] | None:
    """Return the resources as written; None if something is unusual about them."""
    written = data.get(section) if isinstance(data, Mapping) else None
    if not isinstance(written, dict) or not all(type(name) is str for name in written):
        return None
    return written


def _without(data: Mapping[str, Any], section: str, kept: Collection[str]) -> dict[str, Any]:
    """Return a document without the resources to keep."""
    resources = {name: body for name, body in data[section].items() if name not in kept}
    return {**data, section: resources}


def _unchanged(now: Mapping[str, Any], before: Mapping[str, Any]) -> set[str]:
    """Return the names of the resources that are the same in both."""
    found, common = set[str](), iter([name for name in now if name in before])
    while some := list(islice(common, _TOGETHER)):
        if same_by_marshal([now[name] for name in some], [before[name] for name in some]):
            found.update(some)
        else:
            found.update(name for name in some if same_by_marshal(now[name], before[name]))
    return found
