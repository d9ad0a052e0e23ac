"""What scaling policies share, whatever words they declare their properties in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.shared.alarm_urls import ActsOnSignals
from stoker.resources.shared.capacity import PERCENT
from stoker.schema.resource_type import Adjustment, Call


class ScalesGroup(ActsOnSignals):
    """A type that changes the size of a group when it is signalled.

    The class variables name its properties.
    """

    kinds: ClassVar[Mapping[str, str]]
    """Kinds of adjustments: the words of the type, and those of :class:`Adjustment`."""
    group: ClassVar[str]
    amount: ClassVar[str]
    kind: ClassVar[str]
    cooldown: ClassVar[str]
    least: ClassVar[str]

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """A smallest step applies to percentages only."""
        kind = properties.get(self.kind)
        known = isinstance(kind, str) and self.kinds.get(kind, PERCENT) != PERCENT
        if properties.get(self.least) is None or not known:
            return []
        [percent] = [word for word, meaning in self.kinds.items() if meaning == PERCENT]
        message = f'{self.least} applies to {self.kind} "{percent}" only'
        return [Diagnostic("bad-adjustment", message, (self.least,))]

    def adjustment(self, call: Call) -> Adjustment:
        """The adjustment that the properties describe."""
        wanted = call.properties
        return Adjustment(
            policy=call.name,
            group=wanted[self.group],
            kind=self.kinds[wanted[self.kind]],
            amount=wanted[self.amount],
            least=wanted[self.least] or 0,
            cooldown=wanted[self.cooldown] or 0,
        )
