"""AWS::CloudFormation::Stack: a nested stack with a template at a URL."""

from __future__ import annotations

from stoker.resources.base import declare
from stoker.schema.resource_type import Nested, NestingCall, NestingType

_OUTPUTS = "Outputs."


class NestedStack(NestingType):
    """A nested stack. The template is fetched unless the request contained it."""

    type_name = "AWS::CloudFormation::Stack"
    description = "A nested stack from a template at a URL."
    properties = {
        "TemplateURL": declare.string("URL of the template.", required=True, update_allowed=True),
        "TimeoutInMinutes": declare.integer(
            "Timeout of each operation on the stack, in minutes.", update_allowed=True
        ),
        "Parameters": declare.mapping("Parameters of the template.", update_allowed=True),
    }

    def has_attribute(self, name: str) -> bool:
        """Return whether the name is that of an output, as ``Outputs.NAME``."""
        return name.startswith(_OUTPUTS)

    def attribute_of(self, output: str) -> str:
        """Return the attribute for an output."""
        return _OUTPUTS + output

    def nested(self, call: NestingCall) -> Nested:
        """Return the template at the URL, with the parameters."""
        return Nested(
            None,
            call.properties["Parameters"] or {},
            url=call.properties["TemplateURL"],
            timeout_mins=call.properties["TimeoutInMinutes"],
        )
