"""Times the evaluation of a large template. Prints the seconds of each part, as JSON.

Run: ``python -m bench.evaluate COUNT``.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import yaml

from bench.report import print_json
from stoker.kernel.diagnostics import DiagnosticError
from stoker.resources.base.registry import Registry
from stoker.template.document import Template, parse
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.inputs import Inputs

WIDTH = 100  # resources in a layer; each refers to one in the layer before


def layered(count: int) -> dict[str, Any]:
    """Return a template in layers, with references, attributes, text functions and a condition."""
    resources = {}
    for number in range(count):
        value: Any = {
            "str_replace": {
                "template": "host-NUMBER.ZONE",
                "params": {"NUMBER": number, "ZONE": {"get_param": "zone"}},
            }
        }
        if number >= WIDTH:
            before = f"r{number - WIDTH}"
            value = {
                "list_join": [
                    "-",
                    [value, {"get_attr": [before, "value"]}, {"get_resource": before}],
                ]
            }
        resources[f"r{number}"] = {
            "type": "OS::Heat::Value",
            "condition": "wanted",
            "metadata": {"number": number},
            "properties": {"type": "string", "value": value},
        }
    return {
        "heat_template_version": "2021-04-16",
        "parameters": {"zone": {"type": "string", "default": "example.org"}},
        "conditions": {"wanted": {"not": {"equals": [{"get_param": "zone"}, ""]}}},
        "resources": resources,
        "outputs": {
            f"o{number}": {"value": {"get_attr": [f"r{number}", "value"]}}
            for number in range(0, count, 10)
        },
    }


class Known:
    """Facts of resources that all exist."""

    def reference(self, name: str) -> Any:
        return f"id-of-{name}"

    def attribute(self, name: str, attribute: str) -> Any:
        return f"{attribute}-of-{name}"


def measure(count: int) -> dict[str, float]:
    """Return the CPU seconds of each part of an evaluation."""
    data = layered(count)
    as_yaml = yaml.dump(data, Dumper=yaml.CSafeDumper, sort_keys=False)
    as_json = json.dumps(data)
    del data
    times: dict[str, float] = {}

    def timed(name: str, work: Callable[[], Any]) -> Any:
        begin = time.process_time()
        result = work()
        times[name] = time.process_time() - begin
        return result

    types = Registry()
    timed("load the type", lambda: types.find("OS::Heat::Value"))
    times["memory of parse and validate of YAML"] = _memory(as_yaml, types)
    timed("parse YAML", lambda: parse(as_yaml))
    timed("parse JSON", lambda: parse(as_json))
    data = json.loads(as_json)
    template: Template = timed("accept data", lambda: parse(data))
    evaluation = Evaluation(template, Inputs(), types)
    timed("names, needs", lambda: evaluation.dependencies)
    timed("validate", lambda: evaluation.validate().raise_errors())
    facts = Known()
    timed("definitions", lambda: [evaluation.definition(name, facts) for name in evaluation.names])
    timed("outputs", lambda: evaluation.outputs(facts))
    timed("attributes used", lambda: evaluation.attributes_used)
    data["resources"][f"r{count - 1}"]["type"] = "OS::Heat::Vlaue"
    broken = yaml.dump(data, Dumper=yaml.CSafeDumper, sort_keys=False)
    timed("one mistake, with its line", lambda: _refused(broken, types))
    return times


def _memory(text: str, types: Registry) -> float:
    """Return the additional MiB at the peak while a text is parsed and validated."""
    gc.collect()
    # The peak of a process never falls, so measure in a child.
    reader, writer = os.pipe()
    if not os.fork():
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        Evaluation(parse(text), Inputs(), types).validate().raise_errors()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        os.write(writer, str(peak - before).encode())
        os._exit(0)
    os.close(writer)
    grown = int(os.read(reader, 64))
    os.wait()
    return grown / 1024


def _refused(text: str, types: Registry) -> None:
    try:
        Evaluation(parse(text), Inputs(), types).validate().raise_errors()
    except DiagnosticError as error:
        if error.first.position is not None:
            return
    raise RuntimeError("the mistake was not found with its line")


def main(count: int) -> None:
    """Measure, and print the figures."""
    times = measure(count)
    print_json({**times, "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024})


if __name__ == "__main__":
    main(int(sys.argv[1]))
