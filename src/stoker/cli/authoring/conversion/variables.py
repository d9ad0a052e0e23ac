"""Variables of Compose files: as parameters of a template, and in a script of a shell.

A parameter may have any text. So a script assigns it to a variable of the shell, within single
quotes and with its own quotes escaped, and uses that variable within double quotes. The operators
of Compose, such as ``${TAG:-1.27}``, are those of the shell.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

_VARIABLE = re.compile(
    r"\$\$|\$\{([A-Za-z_]\w*)(?::?([-?+])((?:[^{}]|\{[^{}]*\})*))?\}|\$([A-Za-z_]\w*)"
)
_SECRET = re.compile(r"PASS|SECRET|TOKEN|CREDENTIAL|_KEY|KEY$|(^|_)PWD?$", re.IGNORECASE)
_SPECIAL = re.compile(r'[\\"`$]')  # within double quotes
_SPECIAL_IN_WORD = re.compile(r'[\\"`$}]')  # within an expansion there


class Variable(Struct, frozen=True):
    """A use of a variable."""

    name: str
    operator: str = ""  # "-" for a default, "?" for an error, "+" for an alternative
    word: str = ""  # behind the operator


def parts_of(text: str) -> Iterator[str | Variable]:
    """Yield the plain parts of a text and its variables, in order."""
    end = 0
    for match in _VARIABLE.finditer(text):
        if match.start() > end:
            yield text[end : match.start()]
        end = match.end()
        braced, operator, word, plain = match.groups()
        name = braced or plain
        yield Variable(name, operator or "", word or "") if name else "$"
    if end < len(text):
        yield text[end:]


def words_of(text: str) -> list[str]:
    """Split a command as a shell does; variables stay whole. Raises ValueError for open quotes."""
    found: list[str] = []

    def hide(match: re.Match[str]) -> str:
        found.append(match.group())
        return chr(0xF0000 + len(found) - 1)

    words = shlex.split(_VARIABLE.sub(hide, text))
    for number, each in enumerate(found):
        words = [word.replace(chr(0xF0000 + number), each) for word in words]
    return words


class Variables:
    """The variables of a Compose file, which become parameters."""

    def __init__(self, parameter_of: Callable[[str], str]) -> None:
        """``parameter_of`` returns the name of the parameter for a variable."""
        self._parameter_of = parameter_of
        self._uses: dict[str, list[Variable]] = {}

    def shell_word(self, text: str, used: set[str]) -> str:
        """Return a text as one word of a shell; add the names of its variables to ``used``."""
        parts = list(parts_of(text))
        if not any(isinstance(each, Variable) for each in parts):
            return shlex.quote("".join(map(str, parts)))
        return f'"{self._in_quotes(text, used, _SPECIAL)}"'

    def _in_quotes(self, text: str, used: set[str], special: re.Pattern[str]) -> str:
        made = ""
        for part in parts_of(text):
            if isinstance(part, str):
                made += special.sub(r"\\\g<0>", part)
                continue
            self._add(part)
            used.add(part.name)
            word = self._in_quotes(part.word, used, _SPECIAL_IN_WORD)
            is_optional = part.operator in ("-", "+")
            made += f"${{v_{part.name}" + (f":{part.operator}{word}}}" if is_optional else "}")
        return made

    def assignments(self, used: set[str]) -> tuple[list[str], dict[str, Any]]:
        """Return lines that assign variables of a shell, and values of the texts in them."""
        lines, values = [], {}
        for name in sorted(used):
            lines.append(f"v_{name}='@PARAMETER_{name}@'")
            # a quote in the value ends the quoted text, and starts it again behind the quote
            escaped = {"template": self.value(name), "params": {"'": "'\\''"}}
            values[f"@PARAMETER_{name}@"] = {"str_replace": escaped}
        return lines, values

    def value(self, name: str) -> Any:
        """Return the value of a variable in a template."""
        return {"get_param": self._parameter_of(name)}

    def in_template(self, text: str) -> Any:
        """Return a text as a value in a template."""
        parts = list(parts_of(text))
        made, values = "", {}
        for part in parts:
            if isinstance(part, Variable):
                self._add(part)
                values[f"@PARAMETER_{part.name}@"] = self.value(part.name)
                if len(parts) == 1:
                    return self.value(part.name)
            made += f"@PARAMETER_{part.name}@" if isinstance(part, Variable) else part
        return {"str_replace": {"template": made, "params": values}} if values else made

    def _add(self, variable: Variable) -> None:
        self._uses.setdefault(variable.name, []).append(variable)

    def parameters(self) -> dict[str, Any]:
        """Return the declarations of all variables that were used."""
        return {
            self._parameter_of(name): _declared(name, uses) for name, uses in self._uses.items()
        }


def _declared(name: str, uses: list[Variable]) -> dict[str, Any]:
    declared: dict[str, Any] = {"type": "string", "description": f"The variable {name}."}
    defaults = {use.word for use in uses if use.operator == "-"}
    is_plain = all(isinstance(part, str) for word in defaults for part in parts_of(word))
    if len(defaults) == 1 and is_plain:
        declared["default"] = "".join(map(str, parts_of(defaults.pop())))
    elif all(use.operator in ("-", "+") for use in uses):
        declared["default"] = ""  # the script has the defaults
    if _SECRET.search(name):
        declared["hidden"] = True
    return declared
