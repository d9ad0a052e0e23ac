"""The system calls of a server's programs: a filter that the kernel runs at each call.

Calls about things without namespaces are refused: keyrings, the kernel's log, tracing of the whole
machine. If a server has only one user id, calls that change users and owners succeed without
effect, so that packages and daemons that drop their rights work.
"""

import ctypes
import errno
import os
import struct
from collections.abc import Iterable

_PR_SET_SECCOMP = 22
_MODE_FILTER = 2
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_AT, _MACHINE_AT = 0, 4
_KILL, _ANSWER, _ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
_X32_CALLS = 0x40000000
_INSTRUCTION = struct.Struct("=HBBI")
_KEYCTL_JOIN_SESSION_KEYRING = 1

_MACHINES = {"x86_64": (0xC000003E, "x86_64"), "aarch64": (0xC00000B7, "generic")}
# By the kernel's name of the machine: its mark in filters, and the table of its calls.
_MACHINES["riscv64"] = (0xC00000F3, "generic")

_REFUSED = {
    "x86_64": {
        "add_key": 248, "request_key": 249, "keyctl": 250, "syslog": 103, "kexec_load": 246,
        "kexec_file_load": 320, "open_by_handle_at": 304, "perf_event_open": 298, "bpf": 321,
        "userfaultfd": 323, "io_uring_setup": 425, "io_uring_enter": 426,
        "io_uring_register": 427,
    },
    "generic": {
        "add_key": 217, "request_key": 218, "keyctl": 219, "syslog": 116, "kexec_load": 104,
        "kexec_file_load": 294, "open_by_handle_at": 265, "perf_event_open": 241, "bpf": 280,
        "userfaultfd": 282, "io_uring_setup": 425, "io_uring_enter": 426,
        "io_uring_register": 427,
    },
}  # fmt: skip
_CHANGING_IDS = {
    "x86_64": {
        "chown": 92, "fchown": 93, "lchown": 94, "fchownat": 260, "setuid": 105, "setgid": 106,
        "setreuid": 113, "setregid": 114, "setgroups": 116, "setresuid": 117, "setresgid": 119,
        "setfsuid": 122, "setfsgid": 123,
    },
    "generic": {
        "fchownat": 54, "fchown": 55, "setregid": 143, "setgid": 144, "setreuid": 145,
        "setuid": 146, "setresuid": 147, "setresgid": 149, "setfsuid": 151, "setfsgid": 152,
        "setgroups": 159,
    },
}  # fmt: skip

_libc = ctypes.CDLL(None, use_errno=True)


def is_known() -> bool:
    """Return whether this machine's system calls are known here."""
    return os.uname().machine in _MACHINES


def leave_keyring() -> None:
    """Have a session keyring of one's own, empty, in place of the host user's."""
    if not is_known():
        return
    _, table = _MACHINES[os.uname().machine]
    number = _REFUSED[table]["keyctl"]
    if _libc.syscall(number, _KEYCTL_JOIN_SESSION_KEYRING, None, 0, 0, 0) < 0:
        code = ctypes.get_errno()
        # Refused from outside, as in containers, there are no keyrings to be reached either.
        if code not in (errno.ENOSYS, errno.EPERM):
            raise OSError(code, f"keyctl: {os.strerror(code)}")


def filter_calls(many_users: bool) -> None:
    """Restrict this process, and all that it starts, for good."""
    if not is_known():
        return
    mark, table = _MACHINES[os.uname().machine]
    pretended = () if many_users else _CHANGING_IDS[table].values()
    code = b"".join(_program(mark, _REFUSED[table].values(), pretended))
    body = ctypes.create_string_buffer(code, len(code))
    # struct sock_fprog: the number of instructions, and where they lie
    form = struct.pack("@HP", len(code) // _INSTRUCTION.size, ctypes.addressof(body))
    program = ctypes.create_string_buffer(form, len(form))
    if _libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, program, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl(PR_SET_SECCOMP): {os.strerror(number)}")


def _program(mark: int, refused: Iterable[int], pretended: Iterable[int]) -> Iterable[bytes]:
    """Yield the filter: only calls of the machine's own architecture, with the given answers."""
    yield _INSTRUCTION.pack(_LOAD, 0, 0, _MACHINE_AT)
    yield _INSTRUCTION.pack(_EQUAL, 1, 0, mark)
    yield _INSTRUCTION.pack(_RETURN, 0, 0, _KILL)
    yield _INSTRUCTION.pack(_LOAD, 0, 0, _NUMBER_AT)
    yield _INSTRUCTION.pack(_AT_LEAST, 0, 1, _X32_CALLS)
    yield _INSTRUCTION.pack(_RETURN, 0, 0, _ANSWER | errno.ENOSYS)
    for numbers, answer in ((refused, errno.ENOSYS), (pretended, 0)):
        for number in numbers:
            yield _INSTRUCTION.pack(_EQUAL, 0, 1, number)
            yield _INSTRUCTION.pack(_RETURN, 0, 0, _ANSWER | answer)
    yield _INSTRUCTION.pack(_RETURN, 0, 0, _ALLOW)
