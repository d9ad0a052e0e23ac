"""Explains common mistakes in YAML texts: fault, position, remedy.

YAML's parser names the place where it failed, in the words of its grammar. The mistake is often
some lines above, and looks different to its author.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import yaml


class Mistake(NamedTuple):
    """One mistake; line and column count from 0."""

    message: str
    line: int
    column: int
    remedy: str | None = None


class _Place(NamedTuple):
    """The place where the parser failed, and the start of the structure that it was reading."""

    lines: list[str]
    line: int
    column: int
    opened: tuple[int, int] | None

    @property
    def before(self) -> str:
        return self._written[: self.column]

    @property
    def after(self) -> str:
        return self._written[self.column :]

    @property
    def _written(self) -> str:
        return self.lines[self.line] if self.line < len(self.lines) else ""

    @property
    def beginning(self) -> _Place:
        """Return the start of the structure that the parser was reading."""
        return self._replace(line=self.opened[0], column=self.opened[1]) if self.opened else self

    def above(self) -> tuple[int, str]:
        """Return the last line above with more than blanks and a comment, and its number."""
        for number in range(self.line - 1, -1, -1):
            written = self.lines[number].strip()
            if written and not written.startswith("#"):
                return number, self.lines[number]
        return 0, ""

    def mistake(self, message: str, remedy: str) -> Mistake:
        return Mistake(message, self.line, self.column, remedy)


_QUOTES = "put the text into quotes"
_TABS = "indent with spaces: YAML takes no tabs"
_KEY = re.compile(r"[\s-]*([^\s#:][^:]*):(?:\s|$)")
_BLOCK = re.compile(r":\s+[|>][-+0-9]*\s*$")
_SHOWN = 30
_LONGEST_KEY = 1024
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_COMMENT = re.compile(r"(?:(?<=[\s,\[{])|^)(?://|/\*)")
# Longest line that is searched for comments, because odd quotes take quadratic time.
_LONGEST_LINE = 1000
_FOREIGN = re.compile(r"""(?<!["'])\{[{%]""")  # a tag of another template language outside quotes


def mistake_in(text: str, error: yaml.MarkedYAMLError) -> Mistake:
    """Return the mistake in the text that the parser refused with this error."""
    words = " ".join(part for part in (error.context, error.problem) if part)
    mark = error.problem_mark or error.context_mark
    if mark is None:
        return Mistake(words, 0, 0)
    context = error.context_mark
    opened = (context.line, context.column) if context else None
    place = _Place(text.splitlines(), mark.line, mark.column, opened)
    if place.after.startswith("\t"):
        if place.before.strip():
            return place.mistake("a tab stands where YAML takes spaces only", "write a space")
        return place.mistake("this line is indented with a tab", _TABS)
    comment = _foreign_comment(place)
    if comment is not None:
        return comment
    foreign = foreign_tag(place.lines, place.line) or foreign_tag(place.lines, place.beginning.line)
    if foreign is not None:
        return foreign
    for sign, explained in _EXPLAINED:
        if sign in words:
            mistake = explained(place)
            if mistake is not None:
                return mistake
    return Mistake(words, mark.line, mark.column)


def foreign_tag(lines: list[str], line: int) -> Mistake | None:
    """Return the mistake in a line with a tag of another template language."""
    found = _FOREIGN.search(lines[line]) if line < len(lines) else None
    if found is None:
        return None
    message = f'"{found[0]}" belongs to another template language, as Jinja'
    remedy = "render this file with it first; put what is plain text here into quotes"
    return Mistake(message, line, found.start(), remedy)


def forbidden_character(text: str) -> Mistake | None:
    """Return the first character that no YAML text may have."""
    found = _FORBIDDEN.search(text)
    if found is None:
        return None
    lines = text[: found.start()].split("\n")
    return Mistake(
        f"U+{ord(found[0]):04X} is a control character, which YAML does not take as it is",
        len(lines) - 1,
        len(lines[-1]),
        f'remove it, or write "\\x{ord(found[0]):02x}" between double quotes',
    )


def _foreign_comment(place: _Place) -> Mistake | None:
    """Return a JavaScript comment in a document in braces, which other parsers accept."""
    if place.lines[0].lstrip()[:1] not in ("{", "["):
        return None
    for number in (place.above()[0], place.line):
        line = place.lines[number] if number < len(place.lines) else ""
        if len(line) > _LONGEST_LINE:
            continue
        found = _COMMENT.search(_QUOTED.sub(lambda text: "_" * len(text[0]), line))
        if found is not None:
            message = f'"{found[0]}" does not begin a comment in YAML'
            remedy = 'begin the comment with "#", or remove it'
            return Mistake(message, number, found.start(), remedy)
    return None


def _second_colon(place: _Place) -> Mistake:
    """Explain a ``: `` where no key can be: in an unquoted text, or after a line without one."""
    number, above = place.above()
    if re.search(r":\s", place.before):
        curly = re.search(r":\s+([\u2018-\u201f])", place.before)
        if curly is not None:
            message = f"{curly[1]} is no quote of YAML, which takes this for a text without quotes"
            return place._replace(column=curly.start(1)).mistake(message, 'write " in its place')
        return place.mistake('a text without quotes has ": " inside', _QUOTES)
    key = place._replace(column=len(place.before) - len(place.before.lstrip()))
    if len(place.before.strip()) > _LONGEST_KEY:
        return key.mistake(
            f"this key has more than {_LONGEST_KEY:,} characters, the most that YAML allows",
            "shorten it, or write the template as JSON",
        )
    start = _Place(place.lines, number, len(above) - len(above.lstrip()), None)
    if re.match(r"[\s-]*[^\s:]+:\S", above):
        return start.mistake('there is no space after ":"', 'put a space after the first ":"')
    if not _KEY.match(above):
        return start.mistake('this line has no ":" after its key', f'write "{_short(above)}:"')
    return key.mistake(
        f"this line is indented below line {number + 1}, which has a value already",
        f"indent it as line {number + 1}, or remove that value",
    )


def _no_colon(place: _Place) -> Mistake:
    """Explain a line that is neither a key nor, by its indentation, text of the key above."""
    start = place.beginning
    words = start.after.strip()
    key = _KEY.match(start.above()[1])
    message = 'this line has no ":", and is not indented as a part of the text above'
    indent = f'indent the text of "{_short(key[1])}:" deeper than its key' if key else "indent it"
    if " " in words or _BLOCK.search(start.above()[1]):
        return start.mistake(message, indent)
    return start.mistake(message, f'write "{_short(words)}:" if it is a key; else {indent}')


def _no_key(place: _Place) -> Mistake | None:
    """Explain another token in a place where a map should continue."""
    if place.after[:1] in ("}", "]"):
        return place.mistake(f'this "{place.after[0]}" closes nothing', "remove it")
    quote = place.before.rstrip()[-1:]
    if quote in ("'", '"'):
        return place.mistake("the text in quotes ended before this", _quotes(place, quote))
    if place.before.strip(" -"):
        return None
    if place.after.startswith("- "):
        remedy = "indent it below the key whose list it belongs to"
        return place.mistake("a list entry stands where a key is expected", remedy)
    return place.mistake(
        f"this line is indented by {place.column} spaces, which matches no line above",
        "align it with the other keys of its map",
    )


def _quotes(place: _Place, quote: str) -> str:
    """Return the advice for a text that continues after its closing quote."""
    if place.before.count(quote) % 2:
        return f"it began on a line above: add the {quote} that is missing there"
    if quote == "'":
        return "write '' for an apostrophe between single quotes, or use double quotes"
    return 'write \\" for a quote between double quotes, or use single quotes'


def _open_bracket(place: _Place) -> Mistake:
    """Explain a list or map in brackets without a valid continuation."""
    start = place.beginning
    bracket = start.after[:1]
    closing = {"[": "]", "{": "}"}.get(bracket)
    if closing is None and place.after[:1] == ":":
        return place.mistake('a text without quotes cannot begin with ":" here', _QUOTES)
    if closing is None:
        return place.mistake("something is missing here", 'check that each "[" and "{" is closed')
    if bracket == "{" and place.after[:1] in ("{", "[") and place.before.rstrip()[-1:] == '"':
        return place.mistake('":" is missing before this', "add it after the key")
    unclosed = _unclosed_above(place)
    if unclosed is not None:
        return unclosed
    missing = f'"," or "{closing}" is missing before this'
    if place.line != start.line and not _goes_on(place, start):
        message = f'this "{bracket}" is still open where line {place.line + 1} begins'
        return start.mistake(message, f'close it with "{closing}"')
    if place.line != start.line and not place.before.strip():
        return place.mistake(missing, f"add it at the end of line {place.above()[0] + 1}")
    remedy = "add it, or put text that has one of , : [ ] { } inside into quotes"
    return place.mistake(missing, remedy)


def _unclosed_above(place: _Place) -> Mistake | None:
    """Find a quote between the brackets that only the opening quote of a text below closes."""
    quote = place.before.rstrip()[-1:]
    if quote not in ("'", '"') or len(_unescaped(quote, place.before)) % 2 == 0:
        return None
    for number in range(place.line - 1, place.beginning.line - 1, -1):
        quotes = _unescaped(quote, place.lines[number])
        if len(quotes) % 2:
            message = f"the quote that begins here is not closed before line {place.line + 1}"
            return Mistake(message, number, quotes[-1], f"add {quote} at the end of its text")
    return None


def _unescaped(quote: str, line: str) -> list[int]:
    """Return the positions of this quote in a line, without escaped ones."""
    return [found.start() for found in re.finditer(rf"(?<!\\){quote}", line)]


def _goes_on(place: _Place, start: _Place) -> bool:
    """Return whether a line looks like one more entry between brackets that were opened above."""
    if not place.after.strip():
        return False
    around, first, here = (
        len(line) - len(line.lstrip())
        for line in (start.before, place.lines[start.line + 1], place.lines[place.line])
    )
    return here > around or (here == first and not start.after[1:].strip())


def _open_quote(place: _Place) -> Mistake:
    start = place.beginning
    quote = start.after[:1]
    return start.mistake("the quote that begins here is not closed", f"add {quote} at its end")


def _escape(place: _Place) -> Mistake:
    remedy = "write \\\\ for a backslash, or put the text into single quotes"
    return place.mistake(f"{place.after[:2]} means nothing between double quotes", remedy)


def _special(place: _Place) -> Mistake | None:
    """Explain a text whose first character is reserved in YAML."""
    character = place.beginning.after[:1]
    if character in ("|", ">"):
        message = f'a text that begins with "{character}" cannot stand between brackets'
        return place.beginning.mistake(message, "put the text into quotes, or do without brackets")
    if character not in ("@", "`", "%", "*", "&", "!"):
        return None
    message = f'a text without quotes cannot begin with "{character}"'
    return place.beginning.mistake(message, _QUOTES)


def _short(text: str) -> str:
    text = text.strip()
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


_EXPLAINED: tuple[tuple[str, Callable[[_Place], Mistake | None]], ...] = (
    ("mapping values are not allowed", _second_colon),
    ("could not find expected ':'", _no_colon),
    ("while parsing a flow", _open_bracket),
    ("did not find expected key", _no_key),
    ("found unknown escape character", _escape),
    ("while scanning a quoted scalar", _open_quote),
    ("while scanning an alias", _special),
    ("while scanning an anchor", _special),
    ("while scanning a tag", _special),
    ("cannot start any token", _special),
)
