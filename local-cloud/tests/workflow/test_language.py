"""Workflows behave as in Mistral 23 with the same documents."""

import json
from textwrap import dedent
from typing import Any

import pytest

pytestmark = pytest.mark.asyncio(loop_scope="module")

S, E, C = "SUCCESS", "ERROR", "CANCELLED"
FAILED = "Fail action expected exception."

CASES: dict[str, tuple[str, dict[str, Any], str, Any, dict[str, str]]] = {
    "what is published goes to later tasks and is the output": (
        """
        published:
          input: [a]
          vars: {v: <% $.a + 1 %>}
          tasks:
            t1:
              action: std.echo output=<% $.a %>
              publish: {x: <% task(t1).result %>, y: <% task().result %>}
              on-success: [t2]
            t2:
              action: std.echo output='b <% $.x %> <% $.v %>'
              publish: {z: <% task(t2).result %>}
        """,
        {"input": {"a": 5}},
        S,
        {"x": 5, "y": 5, "z": "b 5 6"},
        {"t1": S, "t2": S},
    ),
    "jinja has the same data": (
        """
        jinja:
          input: [a]
          output: {r: '{{ _.x }}', s: 'v={{ _.x }}', n: '{{ true }}', nn: '{{ none }}',
                   m: '{% for i in [1, 2] %}{{ i }}{% endfor %}', e: '{{ env().k }}',
                   t: '{{ task("t1").state }}', sp: ' {{ 1 }} ', lit: "{{ 'a' ~ 'b' }}"}
          tasks:
            t1:
              action: std.echo
              input: {output: '{{ _.a }}'}
              publish: {x: '{{ task("t1").result }}'}
        """,
        {"input": {"a": {"k": [1]}}, "params": {"env": {"k": 9}}},
        S,
        {"r": {"k": [1]}, "s": "v={'k': [1]}", "n": True, "nn": None, "m": "12", "e": 9,
         "t": S, "sp": " 1 ", "lit": "ab"},
        {"t1": S},
    ),
    "functions tell of what is going on": (
        """
        functions:
          output:
            uuid: <% uuid().len() %>
            json: <% json_dump(dict(a=>1)) %>
            yaml: <% yaml_dump(dict(a=>1)) %>
            parsed: <% json_parse('{"a":1}') %>
            tasks: <% tasks(execution().id).select([$.name, $.state, $.result]) %>
            missing: <% $.get(foo) %>
            text: a <% [1,2] %> <% dict(a=>true) %> <% null %> <% true %>
            token: <% $.openstack.auth_token %>
            project: <% $.openstack.project_id %>
            input: <% execution().input %>
            states: <% executions(id => execution().id).select($.state) %>
          tasks:
            t1: {action: std.noop}
        """,
        {},
        S,
        {"uuid": 36, "json": '{\n    "a": 1\n}', "yaml": "a: 1\n", "parsed": {"a": 1},
         "tasks": [["t1", S, None]], "missing": None, "text": "a [1, 2] {'a': True} None True",
         "token": "***", "project": "demo-project", "input": {}, "states": ["RUNNING"]},
        {"t1": S},
    ),
    "an error that is followed is none of the workflow": (
        """
        handled:
          tasks:
            t1: {action: std.fail error_data='why', on-error: [t2],
                 publish-on-error: {e: <% task(t1).result %>}}
            t2: {action: std.echo output=<% $.e %>, publish: {told: <% task(t2).result %>}}
        """,
        {},
        S,
        {"e": "why", "told": "why"},
        {"t1": E, "t2": S},
    ),
    "what follows in any case does not make an error good": (
        """
        complete:
          tasks:
            t1: {action: std.fail, on-complete: [t2]}
            t2: {action: std.noop}
        """,
        {},
        E,
        None,
        {"t1": E, "t2": S},
    ),
    "a workflow can fail by a command, with a message": (
        """
        by_command:
          output: {a: b}
          tasks:
            t1: {action: std.noop, on-success: ["fail msg='why <% 1 + 1 %>'"]}
        """,
        {},
        E,
        {"result": "why 2"},
        {"t1": S},
    ),
    "what is named before a command begins, and what is named after it does not": (
        """
        around_command:
          tasks:
            a: {action: std.noop, on-success: [b, fail, c]}
            b: {action: std.noop}
            c: {action: std.noop}
        """,
        {},
        E,
        {"result": None},
        {"a": S, "b": S},
    ),
    "conditions choose, as truth goes in python": (
        """
        conditions:
          tasks:
            a: {action: std.noop, on-success: [{b: <% true %>}, {c: '{{ false }}'}, {d: <% 0 %>},
                {e: '<% "" %>'}, {f: '{{ "false" }}'}, noop]}
            b: {action: std.noop}
            c: {action: std.noop}
            d: {action: std.noop}
            e: {action: std.noop}
            f: {action: std.noop}
        """,
        {},
        S,
        {},
        {"a": S, "b": S, "f": S},
    ),
    "a join of all waits for all and knows what each has published": (
        """
        join_all:
          tasks:
            a: {action: std.noop, publish: {x: 1}, on-success: [c]}
            b: {action: std.sleep seconds=1, publish: {y: 2}, on-success: [c]}
            c: {join: all, action: std.echo output=<% $.x + $.y %>,
                publish: {z: <% task().result %>}}
        """,
        {},
        S,
        {"x": 1, "y": 2, "z": 3},
        {"a": S, "b": S, "c": S},
    ),
    "a join of all fails when one never leads to it": (
        """
        join_lacking:
          tasks:
            a: {action: std.noop, on-success: [c]}
            b: {action: std.fail, on-success: [c], on-error: [d]}
            c: {join: all, action: std.noop}
            d: {action: std.noop}
        """,
        {},
        E,
        None,
        {"a": S, "b": E, "c": E, "d": S},
    ),
    "a join of one begins with the first": (
        """
        join_one:
          tasks:
            a: {action: std.noop, on-success: [c]}
            b: {action: std.fail, on-success: [c], on-error: [d]}
            c: {join: one, action: std.noop}
            d: {action: std.noop}
        """,
        {},
        S,
        {},
        {"a": S, "b": E, "c": S, "d": S},
    ),
    "a variable that was set again on one way counts after a join": (
        """
        versions:
          tasks:
            a: {action: std.noop, publish: {x: 1}, on-success: [b, c]}
            b: {action: std.noop, publish: {x: 2}, on-success: [d]}
            c: {action: std.noop, on-success: [d]}
            d: {join: all, action: std.noop}
        """,
        {},
        S,
        {"x": 2},
        {"a": S, "b": S, "c": S, "d": S},
    ),
    "a task goes round until its condition fails": (
        """
        loop:
          tasks:
            s: {action: std.noop, publish: {n: 0}, on-success: [a]}
            a: {action: std.noop, publish: {n: <% $.n + 1 %>}, on-success: [{a: <% $.n < 3 %>}]}
        """,
        {},
        S,
        {"n": 3},
        {"s": S, "a": S},
    ),
    "a task is done for each item, in the order of the items": (
        """
        items:
          input: [xs]
          tasks:
            a:
              with-items: ['i in <% $.xs %>', 'j in <% $.xs %>']
              concurrency: 2
              action: std.echo output=<% $.i * $.j %>
              publish: {r: <% task(a).result %>}
        """,
        {"input": {"xs": [1, 2, 3]}},
        S,
        {"r": [1, 4, 9]},
        {"a": S},
    ),
    "no items are done at once": (
        """
        no_items:
          tasks:
            a: {with-items: 'i in <% [] %>', action: std.fail, publish: {r: <% task(a).result %>}}
        """,
        {},
        S,
        {"r": []},
        {"a": S},
    ),
    "items must be lists": (
        """
        odd_items:
          tasks:
            a: {with-items: i in <% 5 %>, action: std.noop, on-error: [b]}
            b: {action: std.noop}
        """,
        {},
        E,
        None,
        {"a": E},
    ),
    "a workflow runs another one, whose output is the result": (
        """
        parent:
          output: {got: <% $.got %>}
          tasks:
            s: {workflow: child q=5, publish: {got: <% task(s).result %>}}
        child:
          input: [q]
          output: {r: <% $.q %>, e: <% env() %>}
          tasks:
            a: {action: std.noop}
        """,
        {"params": {"env": {"k": 9}}},
        S,
        {"got": {"r": 5, "e": {"k": 9}}},
        {"s": S},
    ),
    "a workflow is run for each item": (
        """
        many_children:
          tasks:
            s: {with-items: 'i in <% [1, 2] %>', workflow: echoing q=<% $.i %>,
                publish: {r: <% task(s).result %>}}
        echoing:
          input: [q]
          output: {z: <% $.q %>}
          tasks:
            a: {action: std.noop}
        """,
        {},
        S,
        {"r": [{"z": 1}, {"z": 2}]},
        {"s": S},
    ),
    "a workflow that fails within a task says what it shows then": (
        """
        sorry_parent:
          tasks:
            s: {workflow: sorry, on-error: [t], publish-on-error: {r: <% task(s).result.why %>}}
            t: {action: std.noop}
        sorry:
          output-on-error: {why: boo}
          tasks:
            a: {action: std.fail}
        """,
        {},
        S,
        {"r": "boo"},
        {"s": E, "t": S},
    ),
    "a workflow that is not there fails its task": (
        """
        lonely:
          tasks:
            s: {workflow: nowhere, on-error: [t]}
            t: {action: std.noop}
        """,
        {},
        S,
        {},
        {"s": E, "t": S},
    ),
    "an action that is not there fails the workflow": (
        """
        no_action:
          tasks:
            s: {action: nada.x, on-error: [t]}
            t: {action: std.noop}
        """,
        {},
        E,
        None,
        {"s": E},
    ),
    "an expression without a value fails the workflow whatever follows errors": (
        """
        no_value:
          tasks:
            a: {action: std.noop, publish: {x: <% $.nope %>}, on-error: [b]}
            b: {action: std.noop}
        """,
        {},
        E,
        None,
        {"a": E},
    ),
    "in a reverse workflow what is required comes first and the rest not at all": (
        """
        reverse:
          type: reverse
          output: {r: <% $.x %>}
          tasks:
            a: {action: std.echo output=1, publish: {x: <% task(a).result %>}}
            b: {action: std.echo output=<% $.x %>, requires: [a]}
            c: {action: std.fail}
        """,
        {"params": {"task_name": "b"}},
        S,
        {"r": 1},
        {"a": S, "b": S},
    ),
    "a reverse workflow fails with what it requires": (
        """
        reverse_failing:
          type: reverse
          tasks:
            a: {action: std.fail}
            b: {action: std.noop, requires: [a]}
        """,
        {"params": {"task_name": "b"}},
        E,
        None,
        {"a": E},
    ),
    "defaults hold for tasks that say nothing": (
        """
        defaults:
          task-defaults: {on-error: [z]}
          tasks:
            a: {action: std.fail}
            z: {action: std.noop}
        """,
        {},
        S,
        {},
        {"a": E, "z": S},
    ),
    "what is published for all is known everywhere": (
        """
        shared:
          output: {g: <% global(g) %>, b: <% $.b %>}
          tasks:
            a:
              action: std.noop
              on-success:
                publish: {branch: {b: 1}, global: {g: 2}}
                next: [z]
            z: {action: std.echo output=<% $.b + $.g %>}
        """,
        {},
        S,
        {"g": 2, "b": 1},
        {"a": S, "z": S},
    ),
    "parameters of an action stand behind its name": (
        """
        shorthand:
          input: [n]
          tasks:
            a: {action: 'std.echo output=<% $.n %>', publish: {a: <% task().result %>},
                on-success: b}
            b: {action: 'std.echo output="some text" delay=0', publish: {b: <% task().result %>},
                on-success: c}
            c: {action: 'std.echo output=[1, 2]', publish: {c: <% task().result %>}, on-success: d}
            d: {action: "std.echo output='{{ _.n }} x' delay=<% 0 %>",
                publish: {d: <% task().result %>}}
        """,
        {"input": {"n": 3}},
        S,
        {"a": 3, "b": "some text", "c": [1, 2], "d": "3 x"},
        {"a": S, "b": S, "c": S, "d": S},
    ),
    "the action and its input can be expressions": (
        """
        computed:
          tasks:
            a: {action: '<% "std.echo" %>', input: '<% dict(output => 5) %>',
                publish: {r: <% task().result %>}}
        """,
        {},
        S,
        {"r": 5},
        {"a": S},
    ),
    "the environment has defaults for actions": (
        """
        env_defaults:
          tasks:
            a: {action: std.echo, publish: {r: <% task().result %>}}
        """,
        {"params": {"env": {"__actions": {"std.echo": {"output": "from env"}}}}},
        S,
        {"r": "from env"},
        {"a": S},
    ),
    "a default of an input is no expression": (
        """
        plain_default:
          input: [n, {m: '<% 1 + 1 %>'}]
          output: {m: <% $.m %>}
          tasks:
            a: {action: std.noop}
        """,
        {"input": {"n": 1}},
        S,
        {"m": "<% 1 + 1 %>"},
        {"a": S},
    ),
}  # fmt: skip

BOMB = "version: '2.0'\n" + "".join(
    f"{one}: &{one} [{', '.join([other] * 10)}]\n"
    for one, other in (("a", "1"), ("b", "*a"), ("c", "*b"), ("d", "*c"), ("e", "*d"))
)

REFUSED = {
    "no yaml": ("a: [", "Definition could not be parsed"),
    "no version": ("wf: {tasks: {t: {action: std.noop}}}", "'version' is a required property"),
    "no tasks": ("version: '2.0'\nw: {type: direct}", "'tasks' is a required property (in w)"),
    "another type": ("version: '2.0'\nw: {type: x, tasks: {t: {}}}", "'x' is not one of"),
    "an unknown word": (
        "version: '2.0'\nw: {tasks: {t: {action: std.noop, foo: 1}}}",
        "('foo' was unexpected) (in w.tasks.t)",
    ),
    "two things to do": (
        "version: '2.0'\nw: {tasks: {t: {action: std.noop, workflow: u}}}",
        "a task has an action or a workflow, not both (in t)",
    ),
    "a task that is not there": (
        "version: '2.0'\nw: {tasks: {t: {action: std.noop, on-success: [u]}}}",
        "Task 'u' not found.",
    ),
    "a circle": (
        "version: '2.0'\nw: {tasks: {t: {action: std.noop, on-success: [t]}}}",
        "Failed to find start tasks in direct workflow.",
    ),
    "a circle of what is required": (
        "version: '2.0'\nw: {type: reverse, tasks: {a: {requires: [b]}, b: {requires: [a]}}}",
        "task a requires itself",
    ),
    "yaql that cannot be read": (
        "version: '2.0'\nw: {tasks: {t: {action: std.echo output=<% $. %>}}}",
        "Parse error: unexpected end of statement",
    ),
    "jinja that cannot be read": (
        "version: '2.0'\nw: {tasks: {t: {action: std.echo, input: {output: '{{ 1 + }}'}}}}",
        "Syntax error 'unexpected 'end of print statement''",
    ),
    "two languages in a text": (
        "version: '2.0'\nw: {output: {a: '{{ 1 }} <% 2 %>'}, tasks: {t: {action: std.noop}}}",
        "not both",
    ),
    "a join of nothing": (
        "version: '2.0'\nw: {tasks: {b: {action: std.noop}, a: {join: all, action: std.noop}}}",
        "No inbound tasks for task with 'join: all' [task_name=a]",
    ),
    "a join of more than there are": (
        "version: '2.0'\nw: {tasks: {b: {on-success: a, action: std.noop}, a: {join: 3}}}",
        "[task_name=a, join=3, inbound_tasks=1]",
    ),
    "items of no form": (
        "version: '2.0'\nw: {tasks: {b: {with-items: x, action: std.noop}}}",
        "Wrong format of 'with-items' property.",
    ),
    "a name that is an id": (
        "version: '2.0'\n22222222-2222-2222-2222-222222222222: {tasks: {a: {action: std.noop}}}",
        "Workflow name cannot be in the format of UUID.",
    ),
    "a name with a space": ("version: '2.0'\na b: {tasks: {a: {action: std.noop}}}", "has spaces"),
    "a bomb": (BOMB, "A document has at most"),
    "a map by numbers": ("version: '2.0'\nw: {1: 2}", "the key 1 is no text"),
}


@pytest.mark.parametrize("claim", CASES)
async def test_a_workflow_does_what_mistral_does(workflows: Any, claim: str) -> None:
    text, given, state, output, tasks = CASES[claim]
    run = await workflows.run("version: '2.0'\n" + dedent(text), **given)
    assert run["state"] == state, run
    shown = json.loads(run["output"])
    assert shown == ({"result": run["state_info"]} if output is None else output)
    assert await workflows.states(run, tasks) == tasks


@pytest.mark.parametrize("claim", REFUSED)
async def test_what_is_no_workflow_is_refused(workflows: Any, claim: str) -> None:
    text, reason = REFUSED[claim]
    answer = await workflows.define(text, 400)
    assert reason in answer["faultstring"]
    validated = await workflows.caller.call("POST", "/workflows/validate", text)
    assert validated["valid"] is False
    assert reason in validated["error"]
