"""Traces for OpenTelemetry. Its packages are an extra, imported only if an endpoint is set.

The trace of a request has the request's own id: work that continues after the answer, perhaps in
another process, belongs to the same trace.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from stoker import __version__
from stoker.kernel.extras import install_command
from stoker.kernel.lazy import LazyModule
from stoker.kernel.logs import tracing

api = LazyModule("opentelemetry.trace")
export = LazyModule("opentelemetry.sdk.trace.export")
otlp = LazyModule("opentelemetry.exporter.otlp.proto.http.trace_exporter")
propagation = LazyModule("opentelemetry.trace.propagation.tracecontext")
resources = LazyModule("opentelemetry.sdk.resources")
sdk = LazyModule("opentelemetry.sdk.trace")

_REQUEST = re.compile(r"req-([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{12})")
_SAMPLED = 1
_RANDOM_BITS = 48  # at the start of a UUID; not all bits after them are random


class Traces:
    """Sends spans to an exporter of OpenTelemetry's SDK."""

    def __init__(self, exporter: Any, service_name: str, ratio: float) -> None:
        """``ratio`` is the share of requests that are traced, if the client does not decide."""
        named = resources.Resource.create(
            {"service.name": service_name, "service.version": __version__}
        )
        self._provider = sdk.TracerProvider(resource=named, shutdown_on_exit=False)
        self._provider.add_span_processor(export.BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("stoker", __version__)
        self._propagator = propagation.TraceContextTextMapPropagator()
        self._ratio = ratio

    @contextmanager
    def span(
        self, name: str, trace: str | None, parent: str | None, attributes: Mapping[str, str]
    ) -> Iterator[None]:
        """A span around a block; see :func:`stoker.kernel.logs.tracing.span`."""
        context = None
        if parent is not None:
            context = self._propagator.extract({"traceparent": parent})
        elif trace is not None:
            context = self._beginning(trace)
        with self._tracer.start_as_current_span(
            name,
            context=context,
            attributes={f"stoker.{key}": value for key, value in attributes.items()},
            record_exception=False,
            set_status_on_exception=False,
        ) as current:
            try:
                yield
            except BaseException as error:  # what it says may hold secrets
                current.set_attribute("error.type", type(error).__name__)
                current.set_status(api.StatusCode.ERROR)
                raise

    def headers(self) -> Mapping[str, str]:
        """The header ``traceparent`` of the current span."""
        carrier: dict[str, str] = {}
        self._propagator.inject(carrier)
        return carrier

    def _beginning(self, request_id: str) -> Any:
        """Return the context of a request without a recorded span."""
        found = _REQUEST.fullmatch(request_id)
        if found is None:
            return None
        trace_id = int("".join(found.groups()), 16)
        sampled = trace_id >> (128 - _RANDOM_BITS) < self._ratio * 2**_RANDOM_BITS
        remote = api.SpanContext(
            trace_id=trace_id,
            span_id=(trace_id & (2**64 - 1)) or 1,
            is_remote=True,
            trace_flags=api.TraceFlags(_SAMPLED if sampled else 0),
        )
        return api.set_span_in_context(api.NonRecordingSpan(remote))

    def close(self) -> None:
        """Send the remaining spans."""
        self._provider.shutdown()


@contextmanager
def traced(options: Any) -> Iterator[None]:
    """Trace the work within the block, as the options of ``[opentelemetry]`` say.

    Raises ValueError if the packages for it are missing.
    """
    try:
        exporter = otlp.OTLPSpanExporter(endpoint=options.endpoint)
        traces = Traces(exporter, options.service_name, options.ratio)
    except ModuleNotFoundError as error:
        raise ValueError(
            f"[opentelemetry] endpoint needs the Python module {error.name}, which is not"
            f" installed; {install_command('otel')} adds it"
        ) from None
    tracing.install(traces)
    try:
        yield
    finally:
        tracing.install(None)
        traces.close()
