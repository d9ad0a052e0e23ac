"""Sections with as many entries as fit, and the references between them."""

from __future__ import annotations

from typing import Any

from tests.language.attacks.request import (
    RESOURCES,
    TEXT,
    Request,
    cfn,
    fill,
    hot,
    many,
    nest,
    outputs,
    pairs,
    value,
)


def small_resources() -> Request:
    return Request(hot(resources=pairs(lambda n: (f"r{n}", {"type": "OS::Heat::None"}))))


def chained_resources() -> Request:
    def link(n: int) -> tuple[str, Any]:
        return f"r{n}", value({"get_resource": f"r{n - 1}"}) if n else value(1)

    return Request(hot(resources=pairs(link)))


def circle_of_resources() -> Request:
    found = pairs(lambda n: (f"r{n}", {"type": "OS::Heat::None", "depends_on": f"r{n + 1}"}))
    found[f"r{len(found)}"] = {"type": "OS::Heat::None", "depends_on": "r0"}
    return Request(hot(resources=found))


def everything_needs_everything() -> Request:
    names = [f"r{n}" for n in range(250)]
    return Request(
        hot(resources={n: {"type": "OS::Heat::None", "depends_on": names} for n in names})
    )


def references_in_one_list() -> Request:
    list_ = list(fill(lambda n: {"get_resource": f"r{n % 900}"}, size=TEXT - 60_000))
    deep = nest("list_concat", list_, 40, lambda inner: [inner])
    return Request(hot(resources=many(1, 900), outputs={"o": {"value": deep}}))


def references_in_one_text() -> Request:
    names = "".join(f"${{r{n % 900}}}" for n in range(60_000))
    resources = {f"r{n}": {"Type": "OS::Heat::None"} for n in range(900)}
    return Request(cfn(Resources=resources, Outputs={"o": {"Value": {"Fn::Sub": names}}}))


def network_resources() -> Request:
    def one(n: int) -> tuple[str, Any]:
        kinds: list[dict[str, Any]] = [
            {"type": "OS::Neutron::Port", "properties": {"network": {"get_resource": "net"}}},
            {
                "type": "OS::Neutron::RouterInterface",
                "properties": {"router": {"get_resource": "router"}, "subnet": "s"},
            },
            {"type": "OS::Neutron::FloatingIP", "properties": {"floating_network": "net"}},
            {
                "type": "OS::Neutron::Subnet",
                "properties": {"network": {"get_resource": "net"}, "cidr": "10.0.0.0/24"},
            },
        ]
        return f"r{n}", kinds[n % 4]

    found = pairs(one, most=RESOURCES - 2)
    found |= {"net": {"type": "OS::Neutron::Net"}, "router": {"type": "OS::Neutron::Router"}}
    return Request(hot(resources=found))


def many_parameters() -> Request:
    return Request(hot(parameters=pairs(lambda n: (f"p{n}", {"type": "string", "default": ""}))))


def many_outputs() -> Request:
    return Request(hot(outputs=outputs(1)))


def many_conditions() -> Request:
    def one(n: int) -> tuple[str, Any]:
        return f"c{n}", {"not": f"c{n + 1}"}

    return Request(hot(conditions=pairs(one) | {"c": True}))


def circle_of_conditions() -> Request:
    long = "c" * 6000
    names = [f"{long}{n}" for n in range(36)]
    found = {name: names[(n + 1) % 36] for n, name in enumerate(names)}
    return Request(hot(conditions={name: {"not": need} for name, need in found.items()}))


def conditions_of_many() -> Request:
    return Request(
        hot(
            conditions={"c": True, "d": {"and": list(fill(lambda n: "c"))}},
            outputs={"o": {"value": 1, "condition": "d"}},
        )
    )


def deep_conditions() -> Request:
    def one(n: int) -> tuple[str, Any]:
        return f"c{n}", nest("and", f"c{n + 1}", 20, lambda inner: [inner, True])

    return Request(
        hot(conditions=pairs(one) | {"c": True}, outputs={"o": {"value": 1, "condition": "c0"}})
    )


def parameter_groups() -> Request:
    groups = list(fill(lambda n: {"label": "l", "parameters": [f"p{n}"]}))
    return Request(hot(parameter_groups=groups))


ATTACKS = (
    small_resources,
    chained_resources,
    circle_of_resources,
    everything_needs_everything,
    references_in_one_list,
    references_in_one_text,
    network_resources,
    many_parameters,
    many_outputs,
    many_conditions,
    circle_of_conditions,
    conditions_of_many,
    deep_conditions,
    parameter_groups,
)
