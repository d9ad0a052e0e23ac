"""Rules about templates that were written for AWS."""

from __future__ import annotations

import re

from stoker.cli.authoring.lint.rule import Group, Level, Problem, Problems, Severity, rule
from stoker.cli.authoring.lint.views import TemplateView

_ARN = re.compile(r"\barn:aws[\w-]*:[a-z0-9-]+:")
_AWS_IDS = re.compile(r"(?:ami|subnet|vpc|sg|eni|vol|snap|i|igw|rtb)-[0-9a-f]{8}(?:[0-9a-f]{9})?")


@rule(
    Group.PORTABILITY,
    "A text names an object of AWS.",
    why="There are no ARNs in OpenStack, so the text leads nowhere.",
    remedy="Use the name or reference of an object in OpenStack.",
    bad="""
        AWSTemplateFormatVersion: 2010-09-09
        Resources:
          Alarm:
            Type: OS::Heat::Value
            Properties: {value: "arn:aws:sns:us-east-1:123456789012:alarms"}  # here
        """,
    good="""
        AWSTemplateFormatVersion: 2010-09-09
        Resources:
          Alarm:
            Type: OS::Heat::Value
            Properties: {value: "https://hooks.example.org/alarms"}
        """,
)
def arn_of_aws(view: TemplateView) -> Problems:
    """Yield texts with an ARN."""
    for text in view.texts:
        if _ARN.search(text.value):
            yield Problem("there are no ARNs of AWS here", text.path)


@rule(
    Group.PORTABILITY,
    "The id of an object of AWS is written into a template.",
    severity=Severity.ERROR,
    why="OpenStack has other ids, so the object cannot be found.",
    remedy="Make it a parameter, or use the name of an object in OpenStack.",
    bad="""
        AWSTemplateFormatVersion: 2010-09-09
        Resources:
          Server:
            Type: AWS::EC2::Instance
            Properties: {ImageId: ami-0abcdef1, InstanceType: m1.small}  # here
        """,
    good="""
        AWSTemplateFormatVersion: 2010-09-09
        Parameters:
          Image: {Type: String}
        Resources:
          Server:
            Type: AWS::EC2::Instance
            Properties: {ImageId: {Ref: Image}, InstanceType: m1.small}
        """,
)
def id_of_aws(view: TemplateView) -> Problems:
    """Yield texts that are an id in the form of AWS."""
    for text in view.texts:
        if _AWS_IDS.fullmatch(text.value):
            yield Problem(f'"{text.value}" is an id of AWS', text.path)


@rule(
    Group.PORTABILITY,
    "An export has a fixed name.",
    level=Level.STRICT,
    why="Names of exports are unique in a project, so the template can have only one stack.",
    remedy="Include the name of the stack, as with Fn::Sub and ${AWS::StackName}.",
    bad="""
        AWSTemplateFormatVersion: 2010-09-09
        Description: A text
        Resources:
          Text: {Type: OS::Heat::RandomString}
        Outputs:
          Text:
            Description: A text
            Value: {Ref: Text}
            Export: {Name: text}  # here
        """,
    good="""
        AWSTemplateFormatVersion: 2010-09-09
        Description: A text
        Resources:
          Text: {Type: OS::Heat::RandomString}
        Outputs:
          Text:
            Description: A text
            Value: {Ref: Text}
            Export: {Name: {Fn::Sub: "${AWS::StackName}-text"}}
        """,
)
def fixed_export(view: TemplateView) -> Problems:
    """Yield literal names of exports."""
    for name, body in view.outputs.items():
        export = body.get("Export")
        if isinstance(export, dict) and isinstance(export.get("Name"), str):
            path = (view.dialect.outputs, name, "Export", "Name")
            yield Problem(f'the name "{export["Name"]}" is fixed', path)
