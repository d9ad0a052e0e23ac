"""CloudFormation's handle of a wait condition."""

from __future__ import annotations

from stoker.resources.shared.signed_handle import SignedHandle
from stoker.schema.support import since


class WaitConditionHandle(SignedHandle):
    """A signed address to which signals are sent."""

    type_name = "AWS::CloudFormation::WaitConditionHandle"
    description = "A signed address to which signals for a wait condition are sent."
    support = since("2014.1")
