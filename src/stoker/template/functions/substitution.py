"""Fn::Sub and Fn::Cidr, which CloudFormation has and Heat's dialect of it lacks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import ip_network
from typing import Any

from stoker.kernel.diagnostics import Diagnostic
from stoker.kernel.values import replace
from stoker.schema.unknown import unknown_in
from stoker.template.functions.budget import check_text
from stoker.template.functions.cfn import ref
from stoker.template.functions.failure import (
    LEFT_OUT,
    FunctionError,
    bad_arguments,
    bad_value,
    check_form,
    check_kind,
    known,
)
from stoker.template.functions.references import attribute, resource_name
from stoker.template.functions.scope import MAX_FAULTS, Scope
from stoker.template.functions.strings import as_number, as_text, bounded

_VARIABLE = re.compile(r"\$\{(!?)([^{}]+)\}")
_MAX_BLOCKS = 256


def sub(arguments: Any, scope: Scope) -> Any:
    """Return a text in which ``${Name}`` and ``${Resource.Attribute}`` are replaced."""
    text, values = arguments, {}
    if isinstance(arguments, list):
        if len(arguments) != 2 or not isinstance(arguments[1], dict):
            bad_arguments("the arguments are a text, or [text, {name: value}]")
        text, values = arguments[0], scope.entry(arguments, 1)
    check_form(str, text, "the text to fill in is text")
    check_kind(Mapping, values, "the values are a map", (1,))
    place = (0,) if isinstance(arguments, list) else ()
    parts: list[str] = []
    unknown: list[Any] = []
    faults: list[Diagnostic] = []
    size = end = 0
    for match in _VARIABLE.finditer(text):
        parts.append(text[end : match.start()])
        end = match.end()
        literal, name = match[1], match[2].strip()
        try:
            value = f"${{{name}}}" if literal else _variable(name, values, scope)
        except FunctionError as failure:
            # The name is inside the text, so the whole text is the place of the fault.
            faults += (replace(each, path=place) for each in failure.diagnostics)
            if len(faults) >= MAX_FAULTS:
                break
            continue
        found = unknown_in(value)
        if found is not None:
            unknown.append(found)
            continue
        parts.append(as_text(value))
        size += len(parts[-1])
        check_text(size)
    if faults:
        raise FunctionError(dict.fromkeys(faults))  # a repeated name is reported once
    parts.append(text[end:])
    return unknown_in(unknown) if unknown else bounded("", parts)


def _variable(name: str, values: Mapping[str, Any], scope: Scope) -> Any:
    if name in values:
        return values[name]
    resource, dot, rest = name.partition(".")
    if dot and name not in scope.parameters:
        return attribute(resource_name(resource, scope), [rest], scope)
    return ref(name, scope)


def cidr(arguments: Any, scope: Scope) -> Any:
    """Return networks within a network, each with the given number of host bits."""
    if not isinstance(arguments, list) or len(arguments) not in (2, 3):
        bad_arguments("the arguments are [network, count, host bits]")
    values = known(scope.resolve(arguments))
    if len(values) < 2:
        bad_arguments(f"the arguments are [network, count, host bits], {LEFT_OUT}")
    block, count = values[:2]
    try:
        network = ip_network(block)
    except ValueError as error:
        bad_value(f"this is not a network: {error}", (0,))
    number = _number(count, 1, 1, _MAX_BLOCKS)
    bits = _number(values[2] if len(values) == 3 else 8, 2, 1, network.max_prefixlen)
    prefix = network.max_prefixlen - bits
    if prefix < network.prefixlen or number > 2 ** (prefix - network.prefixlen):
        bad_value(f"{number} networks with {bits} host bits do not fit into {network}")
    scope.budget.spend(16 * number)  # Writing an address takes as long as several values.
    first, size = int(network.network_address), 1 << bits
    address = type(network.network_address)
    return [f"{address(first + place * size)}/{prefix}" for place in range(number)]


def _number(value: Any, position: int, low: int, high: int) -> int:
    number = as_number(value, "this", (position,))
    if not low <= number <= high:
        bad_value(f"this is a number between {low} and {high}", (position,))
    return number
