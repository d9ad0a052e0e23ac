"""Results of a deployment, from the report of its server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.kernel.values import replace
from stoker.schema.software import Deployment, Entry

IN_PROGRESS, COMPLETE, FAILED = "IN_PROGRESS", "COMPLETE", "FAILED"
STATUS_CODE = "deploy_status_code"
OUTPUTS = ("deploy_stdout", "deploy_stderr", STATUS_CODE)  # Outputs of every deployment.


def with_outputs(
    deployment: Deployment, declared: Sequence[Entry], details: Mapping[str, Any], now: float
) -> Deployment:
    """Return the deployment with the reported outputs, complete or failed.

    It failed if the status code is not zero, or if an output that is declared as an error has a
    value.
    """
    values = dict(deployment.output_values or {})
    errors: dict[str, Any] = {}
    code = details.get(STATUS_CODE)
    if code and str(code) != "0":
        errors[STATUS_CODE] = f"Deployment exited with non-zero status code: {code}"
    for entry in declared:
        name = entry["name"]
        if name in details:
            values[name] = details[name]
            if entry.get("error_output"):
                errors[name] = details[name]
    values |= {name: details.get(name) for name in OUTPUTS}
    return replace(
        deployment,
        output_values=values,
        status=FAILED if errors else COMPLETE,
        reason=", ".join(f"{name} : {error}" for name, error in errors.items())
        or "Outputs received",
        updated_at=now,
    )


def attributes_of(deployment: Deployment | None) -> dict[str, Any]:
    """Return the attributes of the resource."""
    values = deployment.output_values if deployment is not None else None
    found = values if isinstance(values, Mapping) else {}
    return {**dict.fromkeys(OUTPUTS), **found}
