"""Times the evaluation of a large template. Prints the seconds of each part, as JSON.

Run: ``python -m bench.evaluate COUNT``. With ``check`` in place of the number, only the template in
the standard input is parsed and checked.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stoker.kernel.freeing import loading

# With the garbage collector of the service.
with loading():
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


class Times(dict[str, float]):
    """CPU seconds by part."""

    def measure(self, name: str, work: Callable[[], Any]) -> Any:
        begin = time.process_time()
        result = work()
        self[name] = time.process_time() - begin
        return result


def check(text: str) -> dict[str, float]:
    """Return the CPU seconds to parse and check a template, and the peak MiB of this process."""
    times, types = Times(), Registry()
    times.measure("load the type", lambda: types.find("OS::Heat::Value"))
    template = times.measure("parse YAML", lambda: parse(text))
    evaluation = Evaluation(template, Inputs(), types)
    times.measure("names, needs", lambda: evaluation.dependencies)
    times.measure("validate", lambda: evaluation.validate().raise_errors())
    # getrusage has the peak of the parent process, too.
    status = Path("/proc/self/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return {**times, "memory": int(peak.split()[1]) / 1024}


def measure(count: int) -> dict[str, float]:
    """Return the CPU seconds of each part of an evaluation."""
    data = layered(count)
    as_yaml = yaml.dump(data, Dumper=yaml.CSafeDumper, sort_keys=False)
    as_json = json.dumps(data)
    del data
    # The peak of a process never falls, so that this one has that of YAML's writer.
    command = [sys.executable, "-m", "bench.evaluate", "check"]
    done = subprocess.run(command, input=as_yaml, stdout=subprocess.PIPE, text=True, check=True)
    times, types = Times(json.loads(done.stdout)), Registry()
    timed = times.measure
    types.find("OS::Heat::Value")
    timed("parse JSON", lambda: parse(as_json))
    data = json.loads(as_json)
    template: Template = timed("accept data", lambda: parse(data))
    evaluation = Evaluation(template, Inputs(), types)
    evaluation.validate().raise_errors()
    facts = Known()
    timed("definitions", lambda: [evaluation.definition(name, facts) for name in evaluation.names])
    timed("outputs", lambda: evaluation.outputs(facts))
    timed("attributes used", lambda: evaluation.attributes_used)
    data["resources"][f"r{count - 1}"]["type"] = "OS::Heat::Vlaue"
    broken = yaml.dump(data, Dumper=yaml.CSafeDumper, sort_keys=False)
    timed("one mistake, with its line", lambda: _refused(broken, types))
    return times


def _refused(text: str, types: Registry) -> None:
    try:
        Evaluation(parse(text), Inputs(), types).validate().raise_errors()
    except DiagnosticError as error:
        if error.first.position is not None:
            return
    raise RuntimeError("the mistake was not found with its line")


def main(what: str) -> None:
    """Measure, and print the figures."""
    print_json(check(sys.stdin.read()) if what == "check" else measure(int(what)))


if __name__ == "__main__":
    main(sys.argv[1])
