"""``Fn::ForEach`` of CloudFormation's language extensions: parts of a template, repeated.

A loop is written in the place of the map entries that it expands to::

    Fn::ForEach::Queues: [Name, [A, B], {"Queue${Name}": {Type: ...}}]

It is expanded before anything else reads the template, since it adds names. Its collection depends
only on parameters and mappings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from stoker.kernel.diagnostics import Diagnostic, DiagnosticError, Path, refusal
from stoker.schema.unknown import Unknown, unknown_in
from stoker.schema.words import kind_of
from stoker.template.document import LOOP, Template, take_apart
from stoker.template.evaluate.inputs import Inputs
from stoker.template.evaluate.resolved_inputs import ResolvedInputs
from stoker.template.evaluate.static_analysis import RecordedReferences
from stoker.template.functions.failure import FunctionError
from stoker.template.functions.registry import functions_of
from stoker.template.functions.scope import ParameterValues, Scope
from stoker.template.source.source import MAX_BYTES, Source

_MAX_VALUES = 250_000  # in the expanded template
_SECTIONS = ("Conditions", "Resources", "Outputs")
_NAME = re.compile(r"[A-Za-z0-9]{1,255}")
_PLACE = re.compile(r"([$&])\{([A-Za-z0-9]+)\}")
_OUTSIDE_NAMES = re.compile(r"[^A-Za-z0-9]")
_FORM = "[identifier, list, {key: value}]"
_BODY = 2  # index of the repeated part of a loop


def written_out(template: Template, inputs: Inputs) -> tuple[Template, ResolvedInputs]:
    """Return the template with expanded loops, and its resolved parameters and conditions.

    The resolved inputs have the diagnostics about loops. Entries of invalid loops are missing.
    """
    resolved = ResolvedInputs(template, inputs)
    if not template.has_loops:
        return template, resolved
    found, diagnostics = _written_out(template, inputs, resolved)
    resolved = ResolvedInputs(found, inputs)
    resolved.diagnostics.extend(diagnostics)
    return found, resolved


def _written_out(
    template: Template, inputs: Inputs, resolved: ResolvedInputs
) -> tuple[Template, list[Diagnostic]]:
    scope = Scope(
        template.version,
        functions_of(template.version),
        ParameterValues(resolved.parameters.values),
        RecordedReferences(),
        resolved,
        mappings=template.mappings,
        files=inputs.files,
        budget=inputs.budget,
        url=inputs.url,
    )
    loops = _Loops(scope)
    try:
        data = {
            key: loops.expanded(value, {}, (key,), (key,)) if key in _SECTIONS else value
            for key, value in template.data.items()
        }
        source = Source(data, template.source.text, template.source.file, origins=loops.origins)
        found, diagnostics = take_apart(source)
    except DiagnosticError as error:
        return template, template.source.all_located(error.diagnostics)
    return found, [*source.all_located(loops.found), *diagnostics]


class _Loops:
    """Expands loops.

    ``found`` has the diagnostics, ``origins`` the place in the template for paths of the result.
    """

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._values = self._characters = 0
        self.found: list[Diagnostic] = []
        self.origins: dict[Path, Path] = {}

    def expanded(self, value: Any, bound: Mapping[str, str], path: Path, target: Path) -> Any:
        """Return a value with the ``bound`` names replaced.

        It is at ``path`` in the template, and at ``target`` in the result.
        """
        if isinstance(value, str):
            value = _filled(value, bound)
            self._characters += len(value)
        self._values += 1
        if self._values > _MAX_VALUES or self._characters > MAX_BYTES:
            message = f"its loops make more than {_MAX_VALUES} values, or {MAX_BYTES} characters"
            raise refusal("too-large", message, path[:1])
        if isinstance(value, list):
            return [
                self.expanded(item, bound, (*path, i), (*target, i)) for i, item in enumerate(value)
            ]
        if not isinstance(value, Mapping):
            return value
        if len(value) == 1 and isinstance(name := value.get("Ref"), str) and name in bound:
            return bound[name]
        entries: dict[str, Any] = {}
        for key, inner in self._entries(value, bound, path, target):
            if key in entries:
                self._report("duplicate-name", f'a loop makes "{key[:80]}" twice', path)
            entries[key] = inner
        return entries

    def _entries(
        self, value: Mapping[str, Any], bound: Mapping[str, str], path: Path, target: Path
    ) -> Iterator[tuple[str, Any]]:
        for key, inner in value.items():
            place = (*path, key)
            if key.startswith(LOOP):
                yield from self._repeated(inner, bound, place, target)
                continue
            name = _filled(key, bound)
            here = (*target, name)
            if name != key or path[-1] == _BODY:
                self.origins[here] = place
            yield name, self.expanded(inner, bound, place, here)

    def _repeated(
        self, loop: Any, bound: Mapping[str, str], path: Path, target: Path
    ) -> Iterator[tuple[str, Any]]:
        if not (isinstance(loop, list) and len(loop) == 3 and isinstance(loop[2], Mapping)):
            self._report("bad-loop", f"a loop is {_FORM}", path)
            return
        name, collection, body = loop
        if not isinstance(name, str) or not _NAME.fullmatch(name) or name in bound:
            message = "a loop is identified by letters and digits, and by others than those around"
            if isinstance(name, list):
                message = "a loop has one identifier here, not a list of them"
            self._report("bad-loop", message, (*path, 0))
            return
        for item in self._items(collection, bound, (*path, 1)):
            yield from self._entries(body, {**bound, name: item}, (*path, _BODY), target)

    def _items(self, collection: Any, bound: Mapping[str, str], path: Path) -> list[str]:
        """Return the texts of a loop's collection; none if it is unknown."""
        try:
            items = self._scope.resolve(self.expanded(collection, bound, path, path))
        except FunctionError as failure:
            self.found.extend(failure.inside(*path).diagnostics)
            return []
        if isinstance(items, Unknown):
            if items.sources:
                message = "a loop goes through what parameters and mappings say, not resources"
                self._report("bad-loop", message, path)
            return []
        if not isinstance(items, list):
            self._report("bad-loop", f"a loop goes through a list, not {kind_of(items)}", path)
            return []
        if unknown_in(items) is not None:
            return []
        texts = [str(item) for item in items if isinstance(item, str | int | float)]
        if len(texts) < len(items):
            self._report("bad-loop", "a loop goes through texts and numbers alone", path)
            return []
        return texts

    def _report(self, code: str, message: str, path: Path) -> None:
        self.found.append(Diagnostic(code, message, path))


def _filled(text: str, bound: Mapping[str, str]) -> str:
    """Return a text with the values of bound names; ``&{Name}`` uses only letters and digits."""
    if not bound or "{" not in text:
        return text

    def value(match: re.Match[str]) -> str:
        sign, name = match.groups()
        if name not in bound:
            return match[0]
        return bound[name] if sign == "$" else _OUTSIDE_NAMES.sub("", bound[name])

    return _PLACE.sub(value, text)
