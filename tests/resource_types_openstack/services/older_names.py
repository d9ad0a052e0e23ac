"""Types of today under the names that they had in earlier Heats."""

from __future__ import annotations

from tests.resource_types_openstack.services import aodh, octavia

from stoker.kernel.values import replace
from stoker.resources.base.renamed_types import OLDER_NAMES

_TODAY = {case.type_name: case for case in (*aodh.CASES, *octavia.CASES)}
CASES = tuple(
    replace(_TODAY[successor], type_name=name)
    for name, successor in OLDER_NAMES.items()
    if not name.startswith("OS::Quantum::")
)
