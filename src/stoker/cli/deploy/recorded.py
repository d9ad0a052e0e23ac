"""Deployments of the template that a stack has, with a change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from stoker.cli.arguments.files import Bundle
from stoker.cli.client.client import Client, parsed
from stoker.cli.client.stacks import ORCHESTRATION, Stack


def recorded_template(client: Client, stack: Stack) -> dict[str, Any]:
    """Return the template of the last deployment."""
    answer = client.call(ORCHESTRATION, "GET", f"{stack.path}/template")
    return parsed(dict, answer)


def bundle_of(stack: Stack, template: Mapping[str, Any]) -> Bundle:
    """Return a template to be sent for a stack that keeps its files."""
    return Bundle(json.dumps(template, indent=2), f"<template of {stack.name}>")
