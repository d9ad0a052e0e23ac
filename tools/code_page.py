"""The page of error codes: each code with the messages that the sources give it, and a remedy.

The codes and messages are read from the calls in the sources, the remedies from ``codes.toml``.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

_SOURCES = Path(__file__).parents[1] / "src/stoker"
_CODE = re.compile(r"[a-z]+(-[a-z]+)+")
_REPORTING = frozenset(
    ("Diagnostic", "refusal", "refuse", "failed", "report", "_error", "_refuse", "_report")
)
_REMEDIES = tomllib.loads(Path(__file__).with_name("codes.toml").read_text())
_HEAD = """# Error codes

Written by `python -m tools.reference`. Every diagnostic about a template, an environment or a
request has a code. `stoker validate --format json` and `--format sarif` show it, and the API in the
answers to requests with wrong documents. Codes are stable: scripts may compare them. Words in
capital letters stand for names and values.
"""


def codes() -> Mapping[str, Mapping[str, None]]:
    """Return each code with its messages, in the order of the sources."""
    found: dict[str, dict[str, None]] = {}
    for path in sorted(_SOURCES.rglob("*.py")):
        tree = ast.parse(path.read_text())
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        for scope in (tree, *functions):
            for node in ast.walk(scope):
                if isinstance(node, ast.Call) and _name(node.func) in _REPORTING:
                    code, messages = _reported(node, _texts_of(scope))
                    if code is not None:
                        found.setdefault(code, {}).update(dict.fromkeys(messages))
    return found


def _texts_of(scope: ast.AST) -> Mapping[str, list[ast.expr]]:
    """Return the values that a function gives its variables, by name."""
    found: dict[str, list[ast.expr]] = {}
    if isinstance(scope, ast.FunctionDef):
        for node in ast.walk(scope):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                found.setdefault(node.targets[0].id, []).append(node.value)
    return found


def codes_page() -> str:
    """Return the page: each code with its messages and the remedy."""
    lines = [_HEAD]
    for code, messages in sorted(codes().items()):
        lines += [f"## {code}", ""]
        lines += [f"- {message}" for message in messages]
        lines += ["", f"**Remedy:** {remedy(code)}", ""]
    return "\n".join(lines)


def remedy(code: str) -> str:
    """Return the remedy for a code. Raise KeyError if codes.toml has nothing for it."""
    single: Mapping[str, str] = _REMEDIES["codes"]
    families: Mapping[str, str] = _REMEDIES["families"]
    return single[code] if code in single else families[code.partition("-")[0]]


def _reported(
    call: ast.Call, variables: Mapping[str, list[ast.expr]]
) -> tuple[str | None, list[str]]:
    """Return the code and the messages of a call that reports a diagnostic."""
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    code = named.get("code")
    candidates = [code] if code is not None else call.args
    for value in candidates:
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            if not _CODE.fullmatch(value.value):
                return None, []
            texts = [named.get("message"), *call.args]
            return value.value, [*_messages(texts, value, variables)]
    return None, []


def _messages(
    values: list[ast.expr | None], code: ast.expr, variables: Mapping[str, list[ast.expr]]
) -> Iterator[str]:
    """Yield the texts of the first argument beside the code that has one."""
    for value in values:
        if value is None or value is code:
            continue
        found = [" ".join(text.split()) for text in _texts(value, variables)]
        sentences = [text for text in found if " " in text]
        if sentences:
            for text in sentences:
                yield text.replace("<", "&lt;").replace("*", r"\*").replace("`", "'")
            return


def _texts(value: ast.expr, variables: Mapping[str, list[ast.expr]]) -> Iterator[str]:
    """Yield the texts that an expression can be, with capital letters for values in them."""
    match value:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=parts):
            yield "".join(map(_part, parts))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            for before in _texts(left, variables):
                yield from (f"{before}{after}" for after in _texts(right, variables))
        case ast.IfExp(body=one, orelse=other):
            yield from _texts(one, variables)
            yield from _texts(other, variables)
        case ast.Name(id=name):
            for assigned in variables.get(name, ()):
                yield from _texts(assigned, {})


def _part(value: ast.expr) -> str:
    match value:
        case ast.Constant(value=str(text)):
            return text
        case ast.FormattedValue(value=inner):
            return _placeholder(inner)
        case _:
            return ""


def _placeholder(value: ast.expr) -> str:
    """Return a word for a value: the last name of its expression."""
    names = [_name(node) for node in ast.walk(value) if isinstance(node, ast.Name | ast.Attribute)]
    word = next((name for name in names if name and not name.startswith("join")), "VALUE")
    return word.strip("_").upper().replace("_", " ")


def _name(value: ast.expr) -> str:
    match value:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""
