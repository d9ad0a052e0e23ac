"""Errors of requests, each with the error type that clients of the API know; and shortages.

Only a RequestError is shown to clients as it is. Any other exception that reaches an interface is
reported as a fault of the service. The exceptions that cross modules::

    RequestError                  a request that is refused
      ValidationError             400
      LimitExceededError          400
      NotSupportedError           400, 405
        ExportInUseError
      ForbiddenError              403
      NotFoundError               404
        LookupFailedError         a name without an object in the cloud
          NoSuchObjectError
        NoSuchCloudError          another region or cloud
      ActionInProgressError       409
      AlreadyExistsError          409
      PlanOutdatedError           409
      DamagedRecordError          500
      UnavailableError            503
    DiagnosticError               findings in a template or an environment
      MissingTemplateError
    FencedError                   another engine has acquired the stack
    StoreError                    the database failed
      DatabaseTimeoutError
      ReadAbandonedError
    MachineError                  a shortage of memory, threads or descriptors
    CloudError                    the answer of a cloud to a call
      UnreadableAnswerError
    ActionFailedError             an action on a resource failed; its row says so
    NestedFailedError             the operation on a nested stack failed
    StoppedError                  an operation no longer wants its waits
    ComputationError              an expression or pattern has no result
      MalformedExpressionError
    JobError                      a helper process has no result
    SinkUnavailableError          a messaging service cannot be reached
    CommandError                  a command ends with a message and an exit code
      InputError
        DocumentError
      RefusedError                the service refused a request of the command
      UnreachableError
        NoServiceError
      WrongServiceError
"""

from __future__ import annotations

import errno
import os

from msgspec import Struct


class ErrorType(Struct, frozen=True):
    """A kind of error: the name that clients match on, and its HTTP status."""

    name: str
    status: int


# Names and statuses are those of Heat, except that of plans, which Heat does not have. Some are the
# names of its Python exceptions.
ATTRIBUTE_ERROR = ErrorType("AttributeError", 400)
CIRCULAR_DEPENDENCY = ErrorType("CircularDependencyException", 400)
CONFLICTING_MERGE_STRATEGY = ErrorType("ConflictingMergeStrategyForParam", 400)
BAD_REQUEST = ErrorType("HTTPBadRequest", 400)
IMMUTABLE_PARAMETER_MODIFIED = ErrorType("ImmutableParameterModified", 400)
INVALID = ErrorType("Invalid", 400)
INVALID_HOOK = ErrorType("InvalidBreakPointHook", 400)
INVALID_RESTRICTED_ACTION = ErrorType("InvalidRestrictedAction", 400)
INVALID_SCHEMA = ErrorType("InvalidSchemaError", 400)
INVALID_REFERENCE = ErrorType("InvalidTemplateReference", 400)
INVALID_VERSION = ErrorType("InvalidTemplateVersion", 400)
KEY_ERROR = ErrorType("KeyError", 400)
MISSING_CREDENTIAL = ErrorType("MissingCredentialError", 400)
NOT_SUPPORTED = ErrorType("NotSupported", 400)
PHYSICAL_ID_AMBIGUITY = ErrorType("PhysicalResourceIDAmbiguity", 400)
LIMIT_EXCEEDED = ErrorType("RequestLimitExceeded", 400)
ACTION_NOT_SUPPORTED = ErrorType("ResourceActionNotSupported", 400)
TYPE_UNAVAILABLE = ErrorType("ResourceTypeUnavailable", 400)
VALIDATION_FAILED = ErrorType("StackValidationFailed", 400)
UNKNOWN_PARAMETER = ErrorType("UnknownUserParameter", 400)
PARAMETER_MISSING = ErrorType("UserParameterMissing", 400)
VALUE_ERROR = ErrorType("ValueError", 400)
FORBIDDEN = ErrorType("Forbidden", 403)
HTTP_FORBIDDEN = ErrorType("HTTPForbidden", 403)
ENTITY_NOT_FOUND = ErrorType("EntityNotFound", 404)
HTTP_NOT_FOUND = ErrorType("HTTPNotFound", 404)
NOT_FOUND = ErrorType("NotFound", 404)
RESOURCE_NOT_FOUND = ErrorType("ResourceNotFound", 404)
WATCH_NOT_FOUND = ErrorType("WatchRuleNotFound", 404)
METHOD_NOT_ALLOWED = ErrorType("HTTPMethodNotAllowed", 405)
ACTION_IN_PROGRESS = ErrorType("ActionInProgress", 409)
PLAN_OUTDATED = ErrorType("PlanOutdated", 409)
STACK_EXISTS = ErrorType("StackExists", 409)
DAMAGED_RECORD = ErrorType("DamagedRecord", 500)
HTTP_UNAVAILABLE = ErrorType("HTTPServiceUnavailable", 503)
UNAVAILABLE = ErrorType("ServiceUnavailable", 503)

# Codes of AWS, for its interfaces.
ACCESS_DENIED = ErrorType("AccessDenied", 403)
INCOMPLETE_SIGNATURE = ErrorType("IncompleteSignature", 400)
INVALID_ACTION = ErrorType("InvalidAction", 400)
INVALID_COMBINATION = ErrorType("InvalidParameterCombination", 400)
INVALID_NEXT_TOKEN = ErrorType("InvalidNextToken", 400)
MISSING_PARAMETER = ErrorType("MissingParameter", 400)
INVALID_OPERATION = ErrorType("InvalidOperationException", 400)
NOT_IMPLEMENTED = ErrorType("APINotImplemented", 501)
UNKNOWN_ACCESS_KEY = ErrorType("InvalidClientTokenId", 403)
CHANGE_SET_NOT_FOUND = ErrorType("ChangeSetNotFound", 404)
REFACTOR_NOT_FOUND = ErrorType("StackRefactorNotFoundException", 404)
TOKEN_EXISTS = ErrorType("TokenAlreadyExistsException", 400)
STACK_SET_NOT_FOUND = ErrorType("StackSetNotFoundException", 404)
NOT_SIGNED = ErrorType("MissingAuthenticationToken", 403)
WRONG_SIGNATURE = ErrorType("SignatureDoesNotMatch", 403)


MAX_REFUSAL = 10_000  # characters of the message of a refusal, which may quote values of any length


class RequestError(Exception):
    """A request that is rejected."""

    error_type = ErrorType("Error", 400)

    def __init__(self, message: str, error_type: ErrorType | None = None) -> None:
        if len(message) > MAX_REFUSAL:  # keep both ends, as either may name the value
            message = f"{message[: MAX_REFUSAL // 2]}…{message[-MAX_REFUSAL // 2 :]}"
        super().__init__(message)
        self.message = message
        if error_type is not None:
            self.error_type = error_type


class NotFoundError(RequestError):
    """A stack, resource, event or other entity that does not exist for this caller."""

    error_type = ENTITY_NOT_FOUND


class ValidationError(RequestError):
    """A request that is malformed or contradicts itself."""

    error_type = VALUE_ERROR


class ForbiddenError(RequestError):
    """The caller may not do this."""

    error_type = FORBIDDEN


class AlreadyExistsError(RequestError):
    """The name is taken."""

    error_type = STACK_EXISTS


def name_taken(name: str) -> AlreadyExistsError:
    """Return the error for a stack whose name is in use."""
    return AlreadyExistsError(
        f"The Stack ({name}) already exists. Choose another name, or update or delete that one"
    )


class ActionInProgressError(RequestError):
    """An operation in progress excludes this request."""

    error_type = ACTION_IN_PROGRESS


class PlanOutdatedError(RequestError):
    """The stack or its resources have changed since the accepted plan was made."""

    error_type = PLAN_OUTDATED


class LimitExceededError(RequestError):
    """A limit of the service would be exceeded."""

    error_type = LIMIT_EXCEEDED


class DamagedRecordError(RequestError):
    """A record of the database cannot be read: it is damaged, or encrypted with another key."""

    error_type = DAMAGED_RECORD

    def __init__(self, subject: str) -> None:
        super().__init__(
            f"{subject} cannot be read: bring back the database and the key that belong together,"
            " or delete the stack"
        )


class UnavailableError(RequestError):
    """A required service does not respond now; the same request may succeed later."""

    error_type = UNAVAILABLE


class NotSupportedError(RequestError):
    """The service or the resource type cannot do this."""

    error_type = NOT_SUPPORTED


class ExportInUseError(NotSupportedError):
    """Other stacks import the export that would be removed."""


def is_final(error: Exception) -> bool:
    """Return whether a request was rejected for a reason that a retry does not change."""
    return isinstance(error, RequestError) and not isinstance(error, UnavailableError)


def fault_reason(fault: BaseException) -> str:
    """Return an internal error for users: its kind and first line. The log has the rest."""
    first = str(fault).partition("\n")[0][:300]
    return f"fault in the service: {type(fault).__name__}: {first}"


_DESCRIPTORS = "file descriptors (raise the limit of open files: LimitNOFILE, or ulimit -n)"
_MEMORY = "memory"
_THREADS = "threads (raise the limit of processes: TasksMax, ulimit -u or pids.max)"
_BY_NUMBER = {
    errno.EMFILE: _DESCRIPTORS,
    errno.ENFILE: _DESCRIPTORS,
    errno.ENOMEM: _MEMORY,
}
# Errors without a number: those of threads, and of modules that cannot be loaded.
_BY_WORDS = {
    "can't start new thread": _THREADS,
    "can't allocate lock": _MEMORY,
    **{os.strerror(number): lack for number, lack in _BY_NUMBER.items()},
}


class MachineError(Exception):
    """This machine is short of descriptors, threads or memory; the same work may succeed later.

    Libraries report that as OSError, RuntimeError, MemoryError or ImportError, often wrapped in
    errors of their own. It does not concern the subject of a call. ``in_flight`` is True if a
    request may still take effect, because its response was not read.
    """

    def __init__(self, lack: str, error: BaseException) -> None:
        super().__init__(f"this machine is short of {lack}: {error or type(error).__name__}")
        self.in_flight = lack == _MEMORY


class machine_errors:  # noqa: N801 - used as a function, as contextlib.suppress is
    """Raise a shortage of the machine as :class:`MachineError`, whatever error reports it."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, where: object) -> None:
        if isinstance(error, Exception):
            require_machine(error)


def require_machine(error: BaseException) -> None:
    """Raise :class:`MachineError` if an error that was caught reports a shortage."""
    if not isinstance(error, MachineError):
        lack = lack_of(error)
        if lack is not None:
            raise MachineError(lack, error) from error


def lack_of(error: BaseException) -> str | None:
    """Return the shortage of the machine that an error or one of its causes reports, or None."""
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        lack = _lack_in(cause)
        if lack is not None:
            return lack
        cause = cause.__cause__ or cause.__context__
    return None


def _lack_in(error: BaseException) -> str | None:
    if isinstance(error, MemoryError):
        return _MEMORY
    if isinstance(error, OSError) and error.errno in _BY_NUMBER:
        return _BY_NUMBER[error.errno]
    if isinstance(error, RuntimeError | ImportError | OSError):
        words = str(error)
        return next((lack for text, lack in _BY_WORDS.items() if text in words), None)
    return None
