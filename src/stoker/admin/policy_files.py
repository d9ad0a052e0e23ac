"""Tools for authors of policies: a sample, and findings about a file."""

from __future__ import annotations

import inspect
import logging
import re
import textwrap
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path

import yaml

from stoker.api.cfn.actions import ACTIONS
from stoker.api.rest.routes import ROUTES
from stoker.config.loading import load
from stoker.engine.model.requests import Caller
from stoker.identity.policy import Policies
from stoker.identity.rules import ASKED, DEFAULTS, Rule
from stoker.kernel.lazy import LazyModule

oslo_policy = LazyModule("oslo_policy.policy")
oslo_policy_options = LazyModule("oslo_policy.opts")

_WIDTH = 79
_NAMES = tuple(rule.name for rule in DEFAULTS)
_ANY_TYPE = "resource_types:"
_REFERENCE = re.compile(r"rule:([\w:.-]+)")
_NOBODY = "!"


def sample() -> str:
    """Return a file with every rule as a comment, in the form of oslopolicy-sample-generator."""
    purposes = _purposes()
    return "\n".join(line for rule in DEFAULTS for line in _entry(rule, purposes))


def findings_in(path: Path) -> list[str]:
    """Return findings as lines of text. Raises ValueError for a file without rules.

    Findings are unused names, references to missing rules, and expressions that cannot be read,
    which permit no caller.
    """
    try:
        rules = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except (yaml.YAMLError, UnicodeError) as error:
        raise ValueError(f"{path} is not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(rules, dict):
        raise ValueError(f"{path} is not a map of rules")
    texts = {str(name): text for name, text in rules.items()}
    return list(_findings(texts))


def allowed_by(file: Path, roles: frozenset[str]) -> list[str]:
    """Return the rules that permit a caller with these roles in the own project."""
    conf = load()
    oslo_policy_options.set_defaults(conf)
    # Do not register defaults. oslo.policy keeps them for the whole process.
    conf.set_override("policy_file", str(file.absolute()), "oslo_policy")
    policies, caller = Policies(conf), Caller("project", "user", "user", roles)
    return [rule.name for rule in ASKED if policies.allows(rule.name, caller)]


def _purposes() -> dict[str, tuple[str, list[str]]]:
    """Return the purposes of rules, in words, and the requests that they decide."""
    found: dict[str, tuple[str, list[str]]] = {}
    for route in ROUTES:
        path = re.sub(r"\{(\w+):?\w*\}", r"{\1}", f"/v1/{{project_id}}{route.path}")
        request = f"{route.method}  {path}"
        for rule in route.rules:
            _, requests = found.setdefault(rule, (_first_line(route.handler), []))
            if request not in requests:
                requests.append(request)
    for name, handler in ACTIONS.items():
        words = _first_line(handler)
        found[f"cloudformation:{name}"] = (words, [f"POST  /v1/?Action={name}"])
    return found


def _first_line(handler: object) -> str:
    return " ".join((inspect.getdoc(handler) or "").partition("\n\n")[0].split())


def _entry(rule: Rule, purposes: dict[str, tuple[str, list[str]]]) -> Iterator[str]:
    words, requests = purposes.get(rule.name, ("", []))
    for line in textwrap.wrap(words, _WIDTH - 2):
        yield f"# {line}"
    for request in requests:
        yield f"# {request}"
    if rule.older is not None:
        yield f'# Also, unless [oslo_policy] enforce_new_defaults: "{rule.older}"'
    yield f'#"{rule.name}": "{rule.check}"'
    yield ""


def _findings(rules: Mapping[str, object]) -> Iterator[str]:
    logging.getLogger("oslo_policy").setLevel(logging.CRITICAL)  # The findings are returned.
    check = oslo_policy.Rules.from_dict
    referred = {name for text in rules.values() for name in _REFERENCE.findall(str(text))}
    for name, text in rules.items():
        known = name in _NAMES or name.startswith(_ANY_TYPE)
        if not known and name not in referred:
            near = get_close_matches(name, _NAMES, n=1)
            advice = f'; did you mean "{near[0]}"?' if near else ""
            yield f'"{name}": nothing asks for this rule{advice}'
        for other in _REFERENCE.findall(str(text)):
            if other not in rules and other not in _NAMES:
                yield f'"{name}": there is no rule "{other}"'
        if str(text).strip() != _NOBODY and str(check({name: text})[name]) == _NOBODY:
            yield f'"{name}": "{text}" cannot be read, and so lets nobody through'
