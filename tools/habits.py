"""Finds habits of language that this project avoids, in the texts of one file.

Texts are the docstrings, comments, messages and test names of a Python file, or the paragraphs of
a Markdown page; quoted text and code in them are skipped. :mod:`tools.prose` counts the findings.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from markdown_it import MarkdownIt

MAX_SENTENCE_WORDS = 30
MAX_TEST_NAME_WORDS = 8
GENERATED = "Written by `python -m"
OPENINGS = "What|How|Who|Whose|Whether|Which|Where|When|Why|That|Of|As|If"

HINTS = {
    "opening": "start with a verb (Return, Raise, Check), or for a class or module with a noun",
    "what": 'name the thing in place of "what"',
    "attribute": "put the unit into the name; keep the rest as a trailing comment",
    "exception": "let the name end in Error",
    "test-name": f"subject, verb, result, at most {MAX_TEST_NAME_WORDS} words",
    "sentence": f"split it: at most {MAX_SENTENCE_WORDS} words",
}
WORDS = {
    r"whoever|nobody|somebody|someone": "name the component: the client, another engine",
    r"he|his|him|himself": "it for a component, they for people",
    r"tells?|told|telling": "report, notify, say",
    r"looks? at|looked at|looking at": "check, read, poll",
    r"takes? up|took up|taken up|taking up": "acquire, resume, adopt",
    r"stands?(?! for)|stood": "be",
    r"begins?|began|begun": "start",
    r"goes on|go on|went on|going on": "continue",
    r"lets? go|letting go": "release",
    r"bears?": "have, tolerate",
    r"holds? on": "wait, keep",
    r"comes? to|came to": "arrive, reach; or name the event",
    r"(?:is|are|be) well(?![- ]\w+ed)": "be healthy",
    r"anew|once more": "again",
    r"at once": "immediately; or together",
    r"by itself|by themselves": "on its own, automatically",
    r"(?<!leave )(?<!left )(?<!-)alone": "only",
    r"likewise|all the same|as ever|in vain|so many": "as well, anyway, as before, failed, N",
    r"of which|by which|with which": "make it two sentences",
}
_WORD_HINTS = list(WORDS.values())
_WORD = re.compile("|".join(rf"(\b(?:{words})\b)" for words in WORDS), re.IGNORECASE)
_OPENING = re.compile(rf"\s*(?:{OPENINGS})\b")
_WHAT = re.compile(r"\bwhat\b", re.IGNORECASE)
_CODE = re.compile(r"``.+?``|`[^`\n]+`|\"[^\"\n]*\"|https?://\S+|\x08\n(?:.+\n?)+")
# The paragraph that ends in two colons, and the lines below it that are indented further.
_LITERAL = re.compile(r"^([ \t]*)(\S.*::)[ \t]*\n(?:[ \t]*\n|\1[ \t]+\S.*\n?)+", re.MULTILINE)
_END = re.compile(r"(?<=[.!?:;])\s+|\n[ \t]*\n|\n[ \t]*[-*|] ")
_ANY_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")
_MAYBE_COMMENT = re.compile(r"(?:^|\s)#", re.MULTILINE)
_MESSAGE_CALLS = frozenset(
    ("debug", "info", "warning", "error", "exception", "critical", "say", "report", "echo")
)
_DIRECTIVES = ("# noqa", "# type:", "# fmt:", "#!")
_DEFINITIONS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class Text(NamedTuple):
    """A piece of prose and the line where it starts."""

    kind: str
    line: int
    text: str


class Finding(NamedTuple):
    """One use of a habit."""

    file: str
    line: int
    habit: str
    excerpt: str
    hint: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.habit}: {self.excerpt} -> {self.hint}"


def python_texts(tree: ast.Module, source: str) -> Iterator[Text]:
    """Yield the prose of a Python file, with its attribute docstrings and test names."""
    for node in ast.walk(tree):
        if isinstance(node, _DEFINITIONS):
            yield from _of_definition(node)
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            yield from _messages(node.exc)
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in _MESSAGE_CALLS:
            yield from _messages(node)
    if _MAYBE_COMMENT.search(source):
        yield from _comments(source)


def _of_definition(node: Any) -> Iterator[Text]:
    for index, entry in enumerate(node.body):
        value = getattr(entry, "value", None)
        if not (isinstance(entry, ast.Expr) and isinstance(value, ast.Constant)):
            continue
        if isinstance(value.value, str) and index == 0:
            yield Text("docstring", value.lineno, value.value)
        elif isinstance(value.value, str):
            yield Text("attribute", value.lineno, value.value)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
        yield Text("test-name", node.lineno, node.name.removeprefix("test_").replace("_", " "))


def _messages(call: ast.Call) -> Iterator[Text]:
    for part in (*call.args, *(keyword.value for keyword in call.keywords)):
        pieces = part.values if isinstance(part, ast.JoinedStr) else [part]
        for piece in pieces:
            if isinstance(piece, ast.Constant) and isinstance(piece.value, str):
                yield Text("message", piece.lineno, piece.value)


def _comments(source: str) -> Iterator[Text]:
    """Yield comments; those on adjacent lines of their own are one."""
    first, lines, is_trailing = 0, list[str](), False
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT or token.string.startswith(_DIRECTIVES):
            continue
        was_trailing, is_trailing = is_trailing, bool(token.line[: token.start[1]].strip())
        if lines and (was_trailing or is_trailing or token.start[0] != first + len(lines)):
            yield Text("comment", first, "\n".join(lines))
            lines = []
        first = token.start[0] - len(lines)
        lines.append(token.string.lstrip("# "))
    if lines:
        yield Text("comment", first, "\n".join(lines))


def markdown_texts(source: str) -> Iterator[Text]:
    """Yield the paragraphs of a page without code and addresses; none for a generated page."""
    if GENERATED in source[:2000]:
        return
    for token in MarkdownIt().enable("table").parse(source):
        if token.type == "inline" and token.map is not None:
            parts = (
                "\n" if child.type in ("softbreak", "hardbreak") else
                child.content if child.type == "text" else
                "`x`" if child.type == "code_inline" else ""
                for child in token.children or ()
            )  # fmt: skip
            yield Text("page", token.map[0] + 1, "".join(parts))


def findings_in(file: str, texts: Iterable[Text]) -> Iterator[Finding]:
    """Yield the habits in texts of a file."""
    for kind, first, text in texts:
        clean = _LITERAL.sub(lambda match: match[2] + "\n" * match[0].count("\n"), text)
        clean = _CODE.sub(lambda match: "`" + "\n" * match[0].count("\n") + "`", clean)
        if kind == "docstring" and _OPENING.match(clean):
            yield _finding(file, first, "opening", text)
        if kind == "attribute":
            yield _finding(file, first, "attribute", text)
        if kind == "test-name" and len(text.split()) > MAX_TEST_NAME_WORDS:
            yield _finding(file, first, "test-name", text)
        if kind == "docstring":
            for match in _WHAT.finditer(clean):
                yield _finding(file, first + clean[: match.start()].count("\n"), "what", text)
        for match in _WORD.finditer(clean):
            line = first + clean[: match.start()].count("\n")
            hint = _WORD_HINTS[(match.lastindex or 1) - 1]
            yield Finding(file, line, "word", f'"{match[0]}"', hint)
        if kind not in ("test-name", "message"):
            yield from _long_sentences(file, first, clean)


def _long_sentences(file: str, first: int, text: str) -> Iterator[Finding]:
    start = 0
    for end in [*(match.start() for match in _END.finditer(text)), len(text)]:
        sentence = text[start:end]
        if len(_ANY_WORD.findall(sentence)) > MAX_SENTENCE_WORDS:
            begins = len(sentence) - len(sentence.lstrip())
            line = first + text[: start + begins].count("\n")
            yield _finding(file, line, "sentence", sentence.strip())
        start = end


def _finding(file: str, line: int, habit: str, text: str) -> Finding:
    return Finding(file, line, habit, " ".join(text.split())[:60], HINTS[habit])


def classes_in(file: str, tree: ast.Module) -> dict[str, tuple[int, list[str]]]:
    """Return the classes of a file by dotted name, each with its line and its bases."""
    parts = Path(file).with_suffix("").parts
    module = ".".join(parts[parts.index("src") + 1 :] if "src" in parts else parts)
    imported, found = dict[str, str](), dict[str, tuple[int, list[str]]]()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            imported |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
        elif isinstance(node, ast.ClassDef):
            bases = [ast.unparse(base) for base in node.bases]
            local = [imported.get(base, f"{module}.{base}") for base in bases]
            found[f"{module}.{node.name}"] = node.lineno, [*bases, *local]
    return found


def unnamed_exceptions(
    classes: Mapping[str, tuple[str, int, Sequence[str]]],
) -> Iterator[Finding]:
    """Yield the exceptions whose name does not end in Error."""
    known = {"Exception", "BaseException"}
    size = 0
    while size != len(known):
        size = len(known)
        known |= {
            name
            for name, (_, _, bases) in classes.items()
            if not known.isdisjoint(bases) or any(base.endswith("Error") for base in bases)
        }
    for name in sorted(known & classes.keys()):
        file, line, _ = classes[name]
        if not name.endswith("Error"):
            yield _finding(file, line, "exception", name.rpartition(".")[2])


def figures_in(source: str, texts: Sequence[Text]) -> dict[str, int]:
    """Return the figures of a Python file that ``make metrics`` shows."""
    docstrings = [text for kind, _, text in texts if kind == "docstring"]
    return {
        "lines": source.count("\n"),
        "docstrings": len(docstrings),
        "openings": sum(bool(_OPENING.match(text)) for text in docstrings),
        "words": sum(len(_ANY_WORD.findall(text)) for text in docstrings),
        "whats": sum(len(_WHAT.findall(text)) for text in docstrings),
        "comments": sum(text.count("\n") + 1 for kind, _, text in texts if kind == "comment"),
    }
