"""Decides whether a stack, or a stack nested in it, uses certain files or defaults of parameters.

All stacks of a tree get the same files and the same defaults of parameters, but most of them use
few. A default is used by the templates that declare a parameter of that name. A file is used by the
templates that mention its name, and by the template in it.

The answer is yes for everything that cannot be known in advance, such as the template of a group
without members. The engine calls this to find stacks that an update need not touch.
Tested by tests/operations/test_settled.py.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from msgspec import Struct

from stoker.kernel.json.text import dumps
from stoker.kernel.json.tree import levels
from stoker.schema.resource_type import MakesStack, NestingType, can
from stoker.template.document import Template
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.type_resolver import TemplateType

_FUNCTION = "get_file"
# Last parts of names that are the same in every notation of YAML and JSON.
_PLAIN = re.compile(r"[A-Za-z0-9_.-]+")


def nested_uses_any(
    evaluation: Evaluation, name: str, defaults: Collection[str], files: Collection[str]
) -> bool:
    """Return whether the nested stack of a resource, or one below it, may use one of these.

    ``defaults`` are names of parameters, ``evaluation`` is that of the stack with the resource.
    """
    names = {file.rpartition("/")[2] for file in files}
    if not all(map(_PLAIN.fullmatch, names)):
        return True
    registry = evaluation.inputs.environment.resource_registry
    if names and _mentions(dumps(dict(registry)), names):
        return True
    return _Changes(frozenset(defaults), frozenset(files), names).concern(evaluation, name)


class _Changes(Struct, frozen=True):
    """Changed defaults and files, with the last parts of the names of files."""

    defaults: frozenset[str]
    files: frozenset[str]
    names: Collection[str]

    def concern(self, above: Evaluation, name: str) -> bool:
        """Return whether the nested stack of a resource, or one below it, may use a change."""
        evaluation = above.children.get(name)
        # The first member of a group may need a template that nothing mentions so far.
        if evaluation is None or not (
            evaluation.names or isinstance(above.types[name], TemplateType)
        ):
            return True
        template = evaluation.template
        declared = template.parameters
        if isinstance(declared, Mapping) and not declared.keys().isdisjoint(self.defaults):
            return True
        if self.files and (evaluation.inputs.url in self.files or _may_read(template, self.names)):
            return True
        types = evaluation.types
        return len(types) < len(evaluation.names) or any(
            can(type_, MakesStack)
            or (isinstance(type_, NestingType) and self.concern(evaluation, name))
            for name, type_ in types.items()
        )


def _may_read(template: Template, names: Collection[str]) -> bool:
    """Return whether a template may read a file whose name ends with one of these."""
    text = template.source.text
    # Escapes may write a name in another way.
    if text is None or "\\" in text:
        text = dumps(template.source.data)
    return _mentions(text, names) or (_FUNCTION in text and _computes_names(template))


def _mentions(text: str, names: Collection[str]) -> bool:
    return any(name in text for name in names)


def _computes_names(template: Template) -> bool:
    """Return whether a template reads a file whose name it computes."""
    return any(
        not isinstance(item.get(_FUNCTION, ""), str)
        for level in levels(template.source.data)
        for item in level
        if isinstance(item, dict)
    )
