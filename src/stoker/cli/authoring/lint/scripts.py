"""Scripts and user data in templates, as rules of lint need them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from stoker.cli.authoring.lint.views import TemplateView, Text

_KEYS = frozenset(("user_data", "UserData"))
_SCRIPT_KEYS = frozenset((*_KEYS, "config", "cloud_config"))
_COMMENT = re.compile(r"\s*#(?!!)")
_LONGEST_LINE = 1000  # characters
_WHOLE = (
    ("str_replace", "template"), ("str_replace_strict", "template"),
    ("str_replace_vstrict", "template"), ("Fn::Base64",), ("Fn::Sub",), ("Fn::Base64", "Fn::Sub"),
)  # fmt: skip
_SERVER = """
        resources:
          server:
            type: OS::Nova::Server
            properties:
              image: debian
              flavor: small
              networks: [{port: web}]
              user_data: """


def scripts(view: TemplateView) -> Iterator[Text]:
    """Yield the texts of user data and configurations, also as templates of str_replace."""
    for text in view.texts:
        is_own = any(part in _SCRIPT_KEYS for part in text.path if isinstance(part, str))
        if is_own and ("\n" in text.value or " " in text.value):
            yield text


def user_data(view: TemplateView) -> Iterator[Text]:
    """Yield whole texts of user data: literals, and templates of str_replace."""
    for text in view.texts:
        position = next((i for i, part in enumerate(text.path) if part in _KEYS), None)
        if position is None:
            continue
        below = text.path[position + 1 :]
        if not below or below in _WHOLE or (len(below) == 2 and below[0] == "if"):
            yield text


def placeholders(view: TemplateView) -> set[str]:
    """Return the placeholders of all texts that are filled."""
    written = (
        call.arguments.get("params")
        for call in view.calls_of("str_replace", "str_replace_strict", "str_replace_vstrict")
        if isinstance(call.arguments, Mapping)
    )
    return {str(name) for params in written if isinstance(params, Mapping) for name in params}


def commands(text: str) -> Iterator[str]:
    """Yield the lines of a script, with continued ones joined and without comments.

    Very long lines are cut, because they are data, and patterns take long for them.
    """
    for line in text.replace("\\\n", " ").replace("|\n", "| ").split("\n"):
        if not _COMMENT.match(line):
            yield line[:_LONGEST_LINE]


def server_with(user_data: str) -> str:
    """Return an example of a server with user data, for the documentation of a rule."""
    return f"{_SERVER}{user_data}"
