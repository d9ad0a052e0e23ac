"""Base of the scaling policy types, OpenStack's and AWS's.

A signal at the URL of the policy changes the size of its group. The policy only describes the
adjustment; the engine applies it to the group
(:mod:`stoker.resources.shared.groups.group_members`).

Tested by tests/scaling.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.shared.groups.capacity import PERCENT
from stoker.resources.shared.signals.alarm_urls import ActsOnSignals
from stoker.schema.resource_type import Adjustment, Call


class ScalesGroup(ActsOnSignals):
    """A type that changes the size of a group when it is signalled.

    The class variables are names of its properties.
    """

    # The type's words for kinds of adjustments -> kind in :class:`Adjustment`.
    kinds: ClassVar[Mapping[str, str]]
    group: ClassVar[str]
    amount: ClassVar[str]
    kind: ClassVar[str]
    cooldown: ClassVar[str]
    least: ClassVar[str]

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Check that a minimum step is given only for percentages."""
        kind = properties.get(self.kind)
        known = isinstance(kind, str) and self.kinds.get(kind, PERCENT) != PERCENT
        if properties.get(self.least) is None or not known:
            return []
        [percent] = [word for word, meaning in self.kinds.items() if meaning == PERCENT]
        message = f'{self.least} applies to {self.kind} "{percent}" only'
        return [Diagnostic("bad-adjustment", message, (self.least,))]

    def adjustment(self, call: Call) -> Adjustment:
        """Return the adjustment that the properties describe."""
        desired = call.properties
        return Adjustment(
            policy=call.name,
            group=desired[self.group],
            kind=self.kinds[desired[self.kind]],
            amount=desired[self.amount],
            least=desired[self.least] or 0,
            cooldown=desired[self.cooldown] or 0,
        )
