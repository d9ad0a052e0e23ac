"""All rules of lint, by name. Importing them takes time, so only lint does."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache

from stoker.cli.authoring.lint.rule import RULES, Rule

# Rules import this module, so it imports them by name.
_PACKAGE = "stoker.cli.authoring.lint.rules"


@cache
def all_rules() -> Mapping[str, Rule]:
    """Return all rules: by group, then by name."""
    rules = importlib.import_module(_PACKAGE)
    for module in pkgutil.iter_modules(rules.__path__, f"{_PACKAGE}."):
        importlib.import_module(module.name)
    order = sorted(RULES.values(), key=lambda rule: (str(rule.group), rule.name))
    return {rule.name: rule for rule in order}
