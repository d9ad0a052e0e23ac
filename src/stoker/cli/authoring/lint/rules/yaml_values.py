"""Rules about values that YAML reads in another way than their authors."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from stoker.cli.authoring.lint.rule import Group, Level, Problem, Problems, Severity, Subject, rule
from stoker.cli.authoring.lint.scalars import Scalar
from stoker.cli.authoring.lint.views import DocumentView

_VALUE = """
        resources:
          text:
            type: OS::Heat::Value
            properties: {value: """


def _with_value(value: str, *, mark: bool) -> str:
    return f"{_VALUE}{value}}}{'  # here' if mark else ''}\n"


def _plain_values(view: DocumentView) -> Iterator[Scalar]:
    """Yield the values without quotes, except those of the version."""
    for scalar in view.scan.scalars:
        if scalar.is_plain and not scalar.is_key and len(scalar.path) > 1:
            yield scalar


def _is_for_text(view: DocumentView, scalar: Scalar) -> bool:
    """Return whether a value is a version, or the default of a parameter of text."""
    keys = [str(part) for part in scalar.path]
    if re.search(r"(?i)version|release|tag$", keys[-1]):
        return True
    if keys[0] not in ("parameters", "Parameters") or keys[-1] not in ("default", "Default"):
        return False
    declared = view.section(keys[0]).get(keys[1])
    kinds = (declared.get("type"), declared.get("Type")) if isinstance(declared, dict) else ()
    return any(kind in ("string", "String") for kind in kinds)


def _problem(scalar: Scalar, message: str, suggestion: str | None = None) -> Problem:
    return Problem(message, place=(scalar.line, scalar.column), suggestion=suggestion)


def _unquoted(scalar: Scalar, message: str) -> Problem:
    """Return a problem that quotes correct."""
    correction = (scalar.value, f'"{scalar.value}"')
    place = (scalar.line, scalar.column)
    return Problem(message, place=place, suggestion="use quotes", correction=correction)


@rule(
    Group.CORRECTNESS,
    "A number with a leading zero is read as octal.",
    subject=Subject.BOTH,
    why="YAML reads 0644 as the number 420. Modes of files and phone numbers change their value.",
    remedy="Put the value into quotes.",
    bad=_with_value("0644", mark=True),
    good=_with_value('"0644"', mark=False),
)
def octal_number(view: DocumentView) -> Problems:
    """Yield plain values that are octal numbers."""
    for scalar in _plain_values(view):
        if re.fullmatch(r"[-+]?0[0-7_]+", scalar.value) and scalar.value.strip("0"):
            number = int(scalar.value.replace("_", ""), 8)
            yield _unquoted(scalar, f"{scalar.value} is read as the number {number}")


@rule(
    Group.CORRECTNESS,
    "A version or a number loses its last zero.",
    subject=Subject.BOTH,
    why="YAML reads 1.10 as the number 1.1, which is another version.",
    remedy="Put the value into quotes.",
    bad="""
        parameters:
          release:
            type: string
            default: 1.10  # here
        resources:
          text: {type: OS::Heat::Value, properties: {value: {get_param: release}}}
        """,
    good="""
        parameters:
          release:
            type: string
            default: "1.10"
        resources:
          text: {type: OS::Heat::Value, properties: {value: {get_param: release}}}
        """,
)
def trailing_zero(view: DocumentView) -> Problems:
    """Yield plain decimal numbers that end in a zero, in places for text."""
    for scalar in _plain_values(view):
        if _is_for_text(view, scalar) and re.fullmatch(r"[0-9]+\.[0-9]*[1-9]0+", scalar.value):
            yield _unquoted(scalar, f"{scalar.value} is read as {float(scalar.value)}")


@rule(
    Group.CORRECTNESS,
    "A text that looks like a number with an exponent is read as one.",
    subject=Subject.BOTH,
    why="Hashes and ids such as 1234.5e6 or 1.e7 become other numbers.",
    remedy="Put the value into quotes.",
    bad="""
        parameters:
          commit_tag: {type: string, default: 1234.5e+6}  # here
        resources:
          text: {type: OS::Heat::Value, properties: {value: {get_param: commit_tag}}}
        """,
    good="""
        parameters:
          commit_tag: {type: string, default: "1234.5e+6"}
        resources:
          text: {type: OS::Heat::Value, properties: {value: {get_param: commit_tag}}}
        """,
)
def exponent_number(view: DocumentView) -> Problems:
    """Yield plain numbers with an exponent, in places for text."""
    for scalar in _plain_values(view):
        if _is_for_text(view, scalar) and re.fullmatch(
            r"[-+]?[0-9][0-9_]*\.[0-9_]*[eE][-+]?[0-9]+", scalar.value
        ):
            yield _unquoted(scalar, f"{scalar.value} is read as {float(scalar.value)}")


@rule(
    Group.CORRECTNESS,
    "A word is read as a boolean.",
    level=Level.STRICT,
    subject=Subject.BOTH,
    why="""YAML reads yes, no, on and off as booleans. Readers see a word, and services get true or
        false.""",
    remedy="Write true or false for a boolean, and quotes for a word.",
    bad=_with_value("on", mark=True),
    good=_with_value("true", mark=False),
)
def boolean_word(view: DocumentView) -> Problems:
    """Yield plain values that are yes, no, on or off."""
    for scalar in _plain_values(view):
        if scalar.value.lower() in ("yes", "no", "on", "off"):
            yield _problem(
                scalar, f"{scalar.value} is read as a boolean", "use true, false or quotes"
            )


@rule(
    Group.CORRECTNESS,
    "A value is empty.",
    level=Level.STRICT,
    subject=Subject.BOTH,
    why="""An empty value is null. Often its line was forgotten, or is indented too little to belong
        to the key.""",
    remedy='Give the value, write "" for empty text, or remove the key.',
    bad="""
        resources:
          text:
            type: OS::Heat::RandomString
            properties:
              length: 8
              salt:  # here
        """,
    good="""
        resources:
          text:
            type: OS::Heat::RandomString
            properties:
              length: 8
              salt: ""
        """,
)
def empty_value(view: DocumentView) -> Problems:
    """Yield plain values that are empty, except those of whole resources."""
    for scalar in view.scan.scalars:
        if not scalar.value and scalar.is_plain and not scalar.is_key and len(scalar.path) > 2:
            name = scalar.path[-1]
            yield _problem(scalar, f'"{name}" is empty')


@rule(
    Group.MAINTAINABILITY,
    "A section is empty.",
    level=Level.STRICT,
    subject=Subject.BOTH,
    why="It has no effect. Often its content was removed, or is indented wrongly.",
    remedy="Remove the section.",
    bad="""
        parameters: {}  # here
        resources:
          text: {type: OS::Heat::RandomString}
        """,
    good="""
        resources:
          text: {type: OS::Heat::RandomString}
        """,
)
def empty_section(view: DocumentView) -> Problems:
    """Yield sections and parts of resources without content."""
    for section, content in view.data.items():
        if content in (None, {}, []):
            yield Problem(f'the section "{section}" is empty', (section,))
        if section not in ("resources", "Resources") or not isinstance(content, dict):
            continue
        for name, body in content.items():
            for part, value in body.items() if isinstance(body, dict) else ():
                if value in ({}, []):
                    yield Problem(f'"{part}" is empty', (section, name, part))


@rule(
    Group.CORRECTNESS,
    "A text has typographic quotes or invisible characters.",
    subject=Subject.BOTH,
    why="""Text editors and web pages replace quotes and spaces. Shells and parsers do not know the
        replacements, and scripts fail at places that look correct.""",
    remedy="Write straight quotes, hyphens and ordinary spaces.",
    bad="""
        resources:
          server:
            type: OS::Nova::Server
            properties:
              image: debian
              flavor: small
              networks: [{port: web}]
              user_data: |  # here
                #!/bin/sh
                echo \u201cready\u201d
        """,
    good="""
        resources:
          server:
            type: OS::Nova::Server
            properties:
              image: debian
              flavor: small
              networks: [{port: web}]
              user_data: |
                #!/bin/sh
                echo "ready"
        """,
)
def typographic_characters(view: DocumentView) -> Problems:
    """Yield scripts and names with such characters, but not descriptions."""
    for scalar in view.scan.scalars:
        if scalar.path and scalar.path[-1] in _PROSE:
            continue
        is_script = scalar.is_block and (scalar.value.startswith("#") or "echo " in scalar.value)
        found = _INVISIBLE.search(scalar.value)
        if found is None and is_script:
            found = _QUOTES.search(_ECHOED.sub("", scalar.value))
        if found is not None:
            code = f"U+{ord(found[0]):04X}"
            yield _problem(scalar, f"the text has the character {code}, which shells do not know")


_PROSE = frozenset(("description", "Description", "label", "Label", "final_message"))
_INVISIBLE = re.compile(r"[\u00a0\u200b\u200c\u200d\u2060\ufeff]")
_QUOTES = re.compile(r"[\u201c\u201d\u2018\u2019]")
_ECHOED = re.compile(r"(?m)^\s*#(?!!).*$")


@rule(
    Group.CORRECTNESS,
    "A value is a placeholder.",
    subject=Subject.BOTH,
    why="The author wanted to replace it before use.",
    remedy="Give the value, or make it a parameter without a default.",
    bad=_with_value("CHANGEME", mark=True),
    good=_with_value("ready", mark=False),
)
def placeholder_value(view: DocumentView) -> Problems:
    """Yield values that ask to be replaced."""
    for scalar in view.scan.scalars:
        if scalar.is_key or (scalar.path and scalar.path[-1] in _PROSE):
            continue
        if _PLACEHOLDERS.fullmatch(scalar.value.strip()):
            yield _problem(scalar, f"{scalar.value.strip()} is a placeholder")


_PLACEHOLDERS = re.compile(
    r"(?i)change[-_ ]?(?:me|this)|replace[-_ ]?(?:me|this)|fill[-_ ]?(?:me|this)[-_ ]?in|fixme|todo"
    r"|tbd|<(?:your|my|insert|the|enter|replace)[-_ \w]*>|your[-_](?:\w+[-_])?(?:here|name|id|key)"
)


@rule(
    Group.CORRECTNESS,
    "A name or an id has spaces around it.",
    level=Level.STRICT,
    subject=Subject.BOTH,
    why="Services compare names exactly, so that nothing is found under the name.",
    remedy="Remove the spaces.",
    bad=_with_value('"web "', mark=True),
    good=_with_value('"web"', mark=False),
)
def padded_text(view: DocumentView) -> Problems:
    """Yield quoted texts of one line that start or end with a space."""
    for scalar in view.scan.scalars:
        value = scalar.value
        is_quoted = not scalar.is_plain and not scalar.is_block
        is_word = len(value) > 1 and "\n" not in value and value != value.strip(" ")
        if (
            is_quoted
            and is_word
            and value.strip()
            and scalar.path
            and "join" not in str(scalar.path)
        ):
            yield _problem(scalar, "the text starts or ends with a space")


@rule(
    Group.CORRECTNESS,
    "JSON in a text is not valid.",
    severity=Severity.ERROR,
    subject=Subject.BOTH,
    why="Services that read the text as JSON refuse it.",
    remedy="Correct the JSON, or write it as YAML where a map is accepted.",
    bad="""
        resources:
          busy:
            type: OS::Aodh::GnocchiAggregationByResourcesAlarm
            properties:
              metric: cpu
              resource_type: instance
              query: '{"=": {"server_group": "web"}'  # here
              aggregation_method: mean
              threshold: 80
              alarm_actions: ["https://hooks.example.org/busy"]
        """,
    good="""
        resources:
          busy:
            type: OS::Aodh::GnocchiAggregationByResourcesAlarm
            properties:
              metric: cpu
              resource_type: instance
              query: '{"=": {"server_group": "web"}}'
              aggregation_method: mean
              threshold: 80
              alarm_actions: ["https://hooks.example.org/busy"]
        """,
)
def invalid_json(view: DocumentView) -> Problems:
    """Yield texts of queries that look like JSON and cannot be read."""
    for scalar in view.scan.scalars:
        if not scalar.path or scalar.path[-1] not in ("query", "Query") or scalar.is_key:
            continue
        value = scalar.value.strip()
        if value.startswith("{") and not _is_json(value):
            yield _problem(scalar, "the query is not valid JSON")


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
