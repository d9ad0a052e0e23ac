"""Plans that a user has accepted: the change of each resource, down the tree.

They are recorded with the operation. The plan that is made when the operation starts must be equal;
open decisions of the accepted plan may turn out either way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from stoker.engine.model.plans import Change, Plan, Reason, Step

_STAYS = "left unchanged"
_BECOMES: Mapping[Change | None, str] = {
    None: _STAYS,
    Change.CREATE: "created",
    Change.CONTINUE: "created",
    Change.UPDATE: "updated",
    Change.REPLACE: "replaced",
    Change.REINSTATE: "replaced by its previous object",
    Change.LATER: "possibly changed",
    Change.REMOVE: "deleted",
}


class Accepted(Struct, frozen=True):
    """Changes of the resources of one stack, and of those of its nested stacks."""

    # By resource; without unchanged ones.
    changes: Mapping[str, Change] = field(default_factory=dict)
    # Known plans of nested stacks, by resource.
    nested: Mapping[str, Accepted] = field(default_factory=dict)

    def as_data(self) -> dict[str, Any]:
        """Return the stored form. It is equal for equal plans, as fingerprints need."""
        return {
            "changes": {name: str(self.changes[name]) for name in sorted(self.changes)},
            "nested": {name: self.nested[name].as_data() for name in sorted(self.nested)},
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Accepted:
        """Return the accepted plan from its stored form."""
        changes = {name: Change(change) for name, change in data["changes"].items()}
        nested = {name: cls.from_data(below) for name, below in data["nested"].items()}
        return cls(changes, nested)

    def departures(self, now: Accepted, *above: str) -> Iterator[str]:
        """Yield the differences of the present plan, one sentence for each resource."""
        for name in sorted(self.changes.keys() | now.changes.keys()):
            accepted, present = self.changes.get(name), now.changes.get(name)
            # The plan said that this depends on a value, so the user has accepted either outcome.
            if accepted in (present, Change.LATER):
                continue
            path = "/".join((*above, name))
            yield f"{path} would be {_BECOMES[present]}, but the plan says {_BECOMES[accepted]}"
        for name in sorted(self.nested.keys() & now.nested.keys()):
            yield from self.nested[name].departures(now.nested[name], *above, name)


def changes_in(plan: Plan) -> dict[str, Change]:
    """Return the changes in a plan by resource; without unchanged ones."""
    changes = {
        node.name: node.change
        for node in plan.nodes(Step.APPLY)
        if node.change not in (Change.KEEP, Change.PAUSE)
    }
    gone = (node for node in plan.nodes(Step.REMOVE) if node.reason is Reason.NOT_WANTED)
    return {**changes, **{node.name: node.change for node in gone}}
