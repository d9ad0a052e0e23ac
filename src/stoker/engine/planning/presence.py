"""Resources of a request whose objects exist already.

A resource exists if the stack had it before, also under another name, or if it is imported. Checks
of a request treat it leniently: the cloud has accepted its object once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

from msgspec import Struct

from stoker.template.evaluate.evaluation import Evaluation

_NO_MOVES: Mapping[str, str] = MappingProxyType({})


class Presence(Struct, frozen=True):
    """The existing resources of one stack of a tree."""

    earlier: Evaluation | None = None  # that the request changes
    moves: Mapping[str, str] = _NO_MOVES  # new names of resources by old name, of the request
    imported: Collection[str] = ()

    def names(self, evaluation: Evaluation) -> set[str]:
        """Return the names of existing resources in the new evaluation of the stack."""
        had = frozenset() if self.earlier is None else self.earlier.type_names.keys()
        former = self._former_names(evaluation)
        moved = {new for new, old in former.items() if old in had}
        return {*had, *moved, *self.imported, *evaluation.imports}

    def below(self, evaluation: Evaluation, name: str) -> Presence:
        """Return the existing resources of the nested stack of a resource."""
        if self.earlier is None:
            return _ABSENT
        former = self._former_names(evaluation).get(name, name)
        children = self.earlier.children
        return Presence(children.get(name) or children.get(former))

    def _former_names(self, evaluation: Evaluation) -> Mapping[str, str]:
        return {**evaluation.moves, **{new: old for old, new in self.moves.items()}}


_ABSENT = Presence()
