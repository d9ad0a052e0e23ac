"""Helpers that evaluate templates in tests as the service does."""

from __future__ import annotations

from typing import Any

from stoker.sandbox.sandbox import Sandbox
from stoker.template.evaluate.inputs import Inputs
from stoker.template.functions.budget import Budget

HELPERS = Sandbox()


def with_helpers(**inputs: Any) -> Inputs:
    """Inputs of an evaluation whose expressions and patterns are computed."""
    return Inputs(budget=Budget.of(1000, HELPERS), **inputs)
