"""Rules about the text of documents: spaces, line breaks, anchors, order and comments."""

from __future__ import annotations

import re

from stoker.cli.authoring.lint.rule import Group, Level, Problem, Problems, Severity, Subject, rule
from stoker.cli.authoring.lint.views import DocumentView, TemplateView

_TEXT = """
        resources:
          text: {type: OS::Heat::RandomString}"""
_LONGEST_LINE = 120


@rule(
    Group.STYLE,
    "A line ends with spaces.",
    level=Level.ALL,
    severity=Severity.INFO,
    subject=Subject.BOTH,
    why="Differences between versions show lines that did not change.",
    remedy="Remove the spaces; stoker fmt does.",
    bad=_TEXT + "  # here   ",
    good=_TEXT,
)
def trailing_space(view: DocumentView) -> Problems:
    """Yield lines with spaces or tabs at their end."""
    for number, line in enumerate(view.lines, 1):
        text = line.rstrip("\r\n")
        if text != text.rstrip(" \t"):
            column = len(text.rstrip(" \t")) + 1
            yield Problem("the line ends with spaces", place=(number, column))


@rule(
    Group.STYLE,
    "A line is long.",
    level=Level.ALL,
    severity=Severity.INFO,
    subject=Subject.BOTH,
    why="Readers have to scroll, and reviews break the line at any place.",
    remedy="Use block style for maps and lists, and > or | for texts.",
    bad=_TEXT + f"\n          # here{'-' * _LONGEST_LINE}",
    good=_TEXT,
)
def long_line(view: DocumentView, *, characters: int = _LONGEST_LINE) -> Problems:
    """Yield lines above a length, except those of one long word."""
    for number, line in enumerate(view.lines, 1):
        length = len(line.rstrip("\r\n"))
        is_address = "://" in line
        if length > characters and not is_address:
            message = f"the line has {length} characters"
            yield Problem(message, place=(number, characters + 1))


@rule(
    Group.STYLE,
    "A text has tabs.",
    level=Level.STRICT,
    severity=Severity.INFO,
    subject=Subject.BOTH,
    why="Editors show tabs with different widths, and YAML does not accept them as indentation.",
    remedy="Replace tabs by spaces.",
    bad=_TEXT + "\t# here",
    good=_TEXT,
)
def tab_character(view: DocumentView) -> Problems:
    """Yield lines with a tab outside of block texts of scripts."""
    scripts = {each.line for each in view.scan.scalars if each.is_block}
    first = min(scripts, default=0)
    for number, line in enumerate(view.lines, 1):
        is_before_scripts = not first or number <= first
        if "\t" in line.rstrip() and is_before_scripts and view.is_yaml:
            yield Problem("the line has a tab", place=(number, line.index("\t") + 1))


@rule(
    Group.STYLE,
    "A document does not end with a line break.",
    level=Level.ALL,
    severity=Severity.INFO,
    subject=Subject.BOTH,
    why="Tools that join files put the first line of the next one behind the last line.",
    remedy="Add a line break at the end; stoker fmt does.",
    bad=_TEXT + "\n          # here\\",
    good=_TEXT,
)
def no_final_line_break(view: DocumentView) -> Problems:
    """Yield a document whose last line has no line break."""
    if view.lines and not view.lines[-1].endswith(("\n", "\r")):
        line = view.lines[-1]
        yield Problem(
            "the line break at the end is missing", place=(len(view.lines), len(line) + 1)
        )


@rule(
    Group.STYLE,
    "A document has line breaks of two systems.",
    level=Level.STRICT,
    severity=Severity.INFO,
    subject=Subject.BOTH,
    why="Editors show a document with mixed line breaks in different ways, and change all of it.",
    remedy="Convert the file to one kind of line breaks.",
    bad=_TEXT + "\n        # here\r",
    good=_TEXT,
)
def mixed_line_breaks(view: DocumentView) -> Problems:
    """Yield the first line whose break differs from those of most lines."""
    windows = [number for number, line in enumerate(view.lines, 1) if line.endswith("\r\n")]
    if windows and len(windows) < sum(line.endswith("\n") for line in view.lines):
        yield Problem("the line break is that of another system", place=(windows[0], 1))


@rule(
    Group.PORTABILITY,
    "A document uses anchors and aliases.",
    level=Level.ALL,
    severity=Severity.INFO,
    subject=Subject.BOTH,
    why="""The service stores the document with the repeated values, so that its answers differ from
        the file. Some tools do not accept aliases.""",
    remedy="Use a parameter, a OS::Heat::Value resource, or a nested template.",
    bad="""
        resources:
          one:
            type: OS::Heat::RandomString
            properties: &both {length: 8}
          other:
            type: OS::Heat::RandomString
            properties: *both  # here
        """,
    good="""
        parameters:
          length: {type: number, default: 8}
        resources:
          one:
            type: OS::Heat::RandomString
            properties: {length: {get_param: length}}
          other:
            type: OS::Heat::RandomString
            properties: {length: {get_param: length}}
        """,
)
def yaml_alias(view: DocumentView) -> Problems:
    """Yield aliases."""
    for anchor in view.scan.anchors:
        if anchor.is_alias:
            yield Problem(f'the alias "{anchor.name}"', place=(anchor.line, anchor.column))


@rule(
    Group.MAINTAINABILITY,
    "An anchor is never used.",
    level=Level.STRICT,
    severity=Severity.INFO,
    subject=Subject.BOTH,
    why="Readers search for the places that share the value.",
    remedy="Remove the anchor.",
    bad="""
        resources:
          one:
            type: OS::Heat::RandomString
            properties: &both {length: 8}  # here
        """,
    good="""
        resources:
          one:
            type: OS::Heat::RandomString
            properties: {length: 8}
        """,
)
def unused_anchor(view: DocumentView) -> Problems:
    """Yield anchors without aliases."""
    used = {each.name for each in view.scan.anchors if each.is_alias}
    for anchor in view.scan.anchors:
        if anchor.name not in used:
            message = f'nothing uses the anchor "{anchor.name}"'
            yield Problem(message, place=(anchor.line, anchor.column))


@rule(
    Group.MAINTAINABILITY,
    "A comment says that work is left.",
    level=Level.ALL,
    severity=Severity.INFO,
    subject=Subject.BOTH,
    why="Work that is only in comments is not planned, and is forgotten.",
    remedy="Do the work, or move it to the list of tasks.",
    bad=_TEXT + "  # TODO: make it longer # here",
    good=_TEXT,
)
def todo_comment(view: DocumentView) -> Problems:
    """Yield comments with TODO, FIXME or XXX."""
    for number, line in enumerate(view.lines, 1):
        comment = re.search(r"(?:^|\s)#", line)
        found = None if comment is None else _TODO.search(line, comment.end())
        if found is not None:
            yield Problem(f"the comment has {found[1]}", place=(number, found.start(1) + 1))


@rule(
    Group.STYLE,
    "The version is not the first key of a template.",
    level=Level.STRICT,
    severity=Severity.INFO,
    why="The version decides how to read everything else. Readers and tools search it at the top.",
    remedy="Move the version to the top.",
    bad="""
        description: A text
        heat_template_version: 2021-04-16  # here
        resources:
          text: {type: OS::Heat::RandomString}
        """,
    good="""
        heat_template_version: 2021-04-16
        description: A text
        resources:
          text: {type: OS::Heat::RandomString}
        """,
)
def version_not_first(view: TemplateView) -> Problems:
    """Yield a version that is not the first key."""
    key = view.version.key
    if key in view.data and next(iter(view.data)) != key:
        yield Problem("the version is not at the top", (key,))


_TODO = re.compile(r"\b(TODO|FIXME|XXX)\b")
_ORDER = (
    "heat_template_version", "HeatTemplateFormatVersion", "AWSTemplateFormatVersion", "description",
    "Description", "Metadata", "parameter_groups", "parameters", "Parameters", "Rules", "Mappings",
    "conditions", "Conditions", "Transform", "resources", "Resources", "outputs", "Outputs",
)  # fmt: skip


@rule(
    Group.STYLE,
    "The sections of a template have an unusual order.",
    level=Level.ALL,
    severity=Severity.INFO,
    why="Readers expect parameters before resources, and outputs at the end.",
    remedy="Order them: version, description, parameters, conditions, resources, outputs.",
    bad="""
        outputs:
          text: {value: {get_resource: text}}
        resources:  # here
          text: {type: OS::Heat::RandomString}
        """,
    good="""
        resources:
          text: {type: OS::Heat::RandomString}
        outputs:
          text: {value: {get_resource: text}}
        """,
)
def section_order(view: TemplateView) -> Problems:
    """Yield the first section that is behind one that belongs after it."""
    known = [name for name in view.data if name in _ORDER]
    highest, before = -1, ""
    for name in known:
        position = _ORDER.index(name)
        if position < highest:
            yield Problem(f'"{name}" is usually before "{before}"', (name,))
            return
        highest, before = position, name


@rule(
    Group.STYLE,
    "A resource does not start with its type.",
    level=Level.ALL,
    severity=Severity.INFO,
    why="The type explains all other keys of a resource.",
    remedy="Move the type to the top of the resource.",
    bad="""
        resources:
          text:
            properties: {length: 8}
            type: OS::Heat::RandomString  # here
        """,
    good="""
        resources:
          text:
            type: OS::Heat::RandomString
            properties: {length: 8}
        """,
)
def type_not_first(view: TemplateView) -> Problems:
    """Yield resources whose first key is not their type."""
    for resource in view.resources:
        key = next((each for each in ("type", "Type") if each in resource.body), None)
        if key is not None and next(iter(resource.body)) != key:
            yield Problem("the type is not at the top", (*resource.path, key))
