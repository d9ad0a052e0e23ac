"""Refusals of a request. Each carries the error type that clients of the API know.

``Refused`` and its children are the only exceptions that an interface shows to a user as they
are; anything else is a fault of ours. (Findings about documents are
:class:`stoker.kernel.diagnostics.DiagnosticError`.)
"""


class Refused(Exception):
    """A request that cannot be done. ``error_type`` is the name that clients match on."""

    error_type = "Error"

    def __init__(self, message: str, error_type: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if error_type is not None:
            self.error_type = error_type


class NotFound(Refused):
    """A stack, resource, event or other entity that does not exist for this caller."""

    error_type = "EntityNotFound"


class Invalid(Refused):
    """A request that is malformed or contradicts itself."""

    error_type = "ValueError"


class Forbidden(Refused):
    """The caller may not do this."""

    error_type = "Forbidden"


class Exists(Refused):
    """The name is taken."""

    error_type = "StackExists"


class InProgress(Refused):
    """An operation under way excludes this one."""

    error_type = "ActionInProgress"


class LimitExceeded(Refused):
    """A limit of the service would be exceeded."""

    error_type = "RequestLimitExceeded"


class NotSupported(Refused):
    """The service or the resource type cannot do this."""

    error_type = "NotSupported"


def fault_reason(fault: BaseException) -> str:
    """A fault of ours as users see it: its kind and its first line. The log has the rest."""
    first = str(fault).partition("\n")[0][:300]
    return f"fault in the service: {type(fault).__name__}: {first}"
