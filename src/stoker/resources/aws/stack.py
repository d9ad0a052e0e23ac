"""CloudFormation's nested stack: a template at an address."""

from __future__ import annotations

from stoker.resources.base import declare
from stoker.schema.resource_type import Nested, NestingCall, NestingType

_OUTPUTS = "Outputs."


class NestedStack(NestingType):
    """A nested stack whose template is fetched, unless it came with the request."""

    type_name = "AWS::CloudFormation::Stack"
    description = "A nested stack, made from the template at an address."
    properties = {
        "TemplateURL": declare.string(
            "Address of the template.", required=True, update_allowed=True
        ),
        "TimeoutInMinutes": declare.integer(
            "Time limit of each operation on the stack.", update_allowed=True
        ),
        "Parameters": declare.mapping(
            "Values for the parameters of the template.", update_allowed=True
        ),
    }

    def has_attribute(self, name: str) -> bool:
        """Outputs of the template are named ``Outputs.NAME``."""
        return name.startswith(_OUTPUTS)

    def attribute_of(self, output: str) -> str:
        """Return the attribute that shows an output."""
        return _OUTPUTS + output

    def nested(self, call: NestingCall) -> Nested:
        """Return the template at the address, with the parameters."""
        return Nested(
            None,
            call.properties["Parameters"] or {},
            url=call.properties["TemplateURL"],
            timeout_mins=call.properties["TimeoutInMinutes"],
        )
