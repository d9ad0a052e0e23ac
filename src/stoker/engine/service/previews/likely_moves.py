"""Finds resources that an update deletes and adds again under another name.

Users rename resources and forget to say that the object should stay. Previews show the likely
moves; they are never made unless the template or the request names them.
Tested by tests/moves/test_likely_moves.py.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from stoker.engine.model.records import Resource
from stoker.schema.unknown import unknown_in

_MOST_COMPARED = 1_000  # pairs; a plan that replaces a whole stack is no rename


def likely_moves(gone: Iterable[Resource], added: Iterable[Resource]) -> dict[str, str]:
    """Return names of deleted resources by the names of added ones that look the same.

    They look the same if they have the same type and at most one property differs. Of several
    candidates on either side, none is returned.
    """
    by_type: dict[str, list[Resource]] = defaultdict(list)
    for row in gone:
        if row.physical_id is not None and not row.external:
            by_type[row.type_name].append(row)
    candidates = [(new, by_type.get(new.type_name, ())) for new in added]
    if sum(len(olds) for _, olds in candidates) > _MOST_COMPARED:
        return {}
    pairs = [(new, old) for new, olds in candidates for old in olds]
    alike = [(new, old) for new, old in pairs if _look_alike(old.properties, new.properties)]
    exact = [(new, old) for new, old in alike if _differing(old.properties, new.properties) == 0]
    return _unambiguous(exact) | _unambiguous(alike)


def _unambiguous(pairs: Iterable[tuple[Resource, Resource]]) -> dict[str, str]:
    """Return the pairs in which each resource occurs once."""
    olds, news = defaultdict(list), defaultdict(list)
    for new, old in pairs:
        olds[new.name].append(old.name)
        news[old.name].append(new.name)
    return {
        new: names[0] for new, names in olds.items() if len(names) == 1 and len(news[names[0]]) == 1
    }


def _look_alike(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    specified = {name for each in (old, new) for name, value in each.items() if value is not None}
    return _differing(old, new) <= (1 if len(specified) > 1 else 0)


def _differing(old: Mapping[str, Any], new: Mapping[str, Any]) -> int:
    """Return how many properties differ. A value that is not known yet counts as equal."""
    return sum(
        1
        for name in old.keys() | new.keys()
        if old.get(name) != new.get(name) and unknown_in(new.get(name)) is None
    )
