"""Constraints of names, metadata and bodies: the limits of Swift, and those of this cloud."""

from collections.abc import Mapping

from localcloud.object_store.errors import ObjectStoreError

CONTAINER_NAME_BYTES = 256
OBJECT_NAME_BYTES = 1024
META_NAME_BYTES = 128
META_VALUE_BYTES = 256
META_COUNT = 90
META_BYTES = 4096
HEADER_BYTES = 8192
SECRETS = ("temp-url-key", "temp-url-key-2")  # metadata that only owners see
LISTING_LIMIT = 10_000
MANIFEST = "x-object-manifest"  # the header of objects that stand for others
CONTAINERS = 10_000  # containers of one account
OBJECTS = 100_000  # objects of one account: their records are held in memory


def check_names(container: str, name: str) -> None:
    """Raise :class:`ObjectStoreError` for a name that is too long."""
    for kind, text, most in (
        ("Container", container, CONTAINER_NAME_BYTES),
        ("Object", name, OBJECT_NAME_BYTES),
    ):
        if (size := len(text.encode())) > most:
            raise ObjectStoreError(400, f"{kind} name length of {size} longer than {most}")


def metadata_changes(headers: Mapping[str, str], kind: str) -> dict[str, str]:
    """Return the metadata that the headers set, by name; an empty value removes it.

    Names and values are as HTTP carries them: a character stands for one byte.
    """
    changes = {}
    for header, value in headers.items():
        if header.startswith(f"x-remove-{kind}-meta-"):
            changes[header.removeprefix(f"x-remove-{kind}-meta-")] = ""
        elif header.startswith(f"x-{kind}-meta-"):
            changes[header.removeprefix(f"x-{kind}-meta-")] = value
    for name, value in changes.items():
        _check_one(name, value)
    check_metadata(changes)
    return changes


def _check_one(name: str, value: str) -> None:
    if not name:
        raise ObjectStoreError(400, "Metadata name cannot be empty")
    if len(name) > META_NAME_BYTES:
        raise ObjectStoreError(400, f"Metadata name too long: {name}")
    if len(value) > META_VALUE_BYTES:
        raise ObjectStoreError(400, f"Metadata value longer than {META_VALUE_BYTES}: {name}")
    try:
        f"{name}{value}".encode("latin-1").decode()
    except UnicodeError:
        raise ObjectStoreError(400, "Metadata must be valid UTF-8") from None


def check_metadata(metadata: Mapping[str, str]) -> None:
    """Raise :class:`ObjectStoreError` for more metadata than one thing may have."""
    if len(metadata) > META_COUNT:
        raise ObjectStoreError(400, f"Too many metadata items; max {META_COUNT}")
    if sum(len(name) + len(value) for name, value in metadata.items()) > META_BYTES:
        raise ObjectStoreError(400, f"Total metadata too large; max {META_BYTES}")


def merged(metadata: Mapping[str, str], changes: Mapping[str, str]) -> dict[str, str]:
    """Return the metadata after these changes; raises :class:`ObjectStoreError` for too much of
    it.
    """
    result = {name: value for name, value in {**metadata, **changes}.items() if value}
    check_metadata(result)
    return result


def shown_metadata(metadata: Mapping[str, str], kind: str, *, secrets: bool) -> dict[str, str]:
    """Return the metadata of an account or a container as headers."""
    return {
        f"x-{kind}-meta-{name}": value
        for name, value in metadata.items()
        if secrets or name not in SECRETS
    }
