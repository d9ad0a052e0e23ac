"""AWS::CloudFormation::WaitConditionHandle: a signed URL for signals."""

from __future__ import annotations

from stoker.resources.shared.signals.signed_handle import SignedHandle
from stoker.schema.support import since


class WaitConditionHandle(SignedHandle):
    """A signed URL for the signals of a wait condition."""

    type_name = "AWS::CloudFormation::WaitConditionHandle"
    description = "A signed URL for the signals of a wait condition."
    support = since("2014.1")
