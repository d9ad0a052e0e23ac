"""The report of a check as an HTML page without scripts, for those who decide about the switch."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from stoker.takeover.proof.differences import NAMED
from stoker.takeover.proof.report import Finding, ProofReport, StackReport, State

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse;width:100%}td,th{text-align:left;vertical-align:top;"
    "padding:.4rem .8rem;border-bottom:1px solid #ddd}.bad{color:#a11}.good{color:#171}"
    "small{color:#555}"
)
_ORDER = (State.NOT_READY, State.REMARKS, State.READY)


def page_of(report: ProofReport) -> str:
    """Return the page."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: ProofReport) -> Iterator[str]:
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8"><title>Take-over of Heat</title>'
    yield f"<style>{_STYLE}</style></head><body>"
    verdict = "Ready" if report.is_ready else "Not ready"
    yield f'<h1 class="{"good" if report.is_ready else "bad"}">{verdict}</h1>'
    counts = ", ".join(f"{report.count(state)} {state.value}" for state in _ORDER)
    yield f"<p>{len(report.stacks)} stacks: {counts}.</p>"
    yield (
        f"<p>{report.equal} of {report.answers} answers are equal, {report.plans} updates were"
        f" planned, {report.objects} objects were looked for in the cloud.</p>"
    )
    yield from _general(report)
    yield "<table><thead><tr><th>Stack</th><th>Result</th><th>Reason and remedy</th></tr></thead>"
    yield "<tbody>"
    for state in _ORDER:
        for stack in report.stacks:
            if stack.state is state:
                yield _row(stack)
    yield "</tbody></table>"
    yield from _named(report)
    yield "</body></html>"


def _general(report: ProofReport) -> Iterator[str]:
    if report.general:
        yield f"<p>{'<br>'.join(map(_finding, report.general))}</p>"


def _row(stack: StackReport) -> str:
    findings = "<br>".join(map(_finding, stack.findings))
    name = f"{escape(stack.name)}<br><small>{escape(stack.stack_id)}</small>"
    kind = "bad" if stack.state is State.NOT_READY else "good"
    state = f'<td class="{kind}">{stack.state.value}</td>'
    return f"<tr><td>{name}</td>{state}<td>{findings}</td></tr>"


def _finding(finding: Finding) -> str:
    remedy = f" <small>{escape(finding.remedy)}</small>" if finding.remedy else ""
    return f"{escape(finding.reason)}{remedy}"


def _named(report: ProofReport) -> Iterator[str]:
    if not report.named:
        return
    yield "<h2>Named differences</h2><ul>"
    for name, count in sorted(report.named.items()):
        yield f"<li><b>{escape(name)}</b> ({count}): {escape(NAMED[name])}</li>"
    yield "</ul>"
