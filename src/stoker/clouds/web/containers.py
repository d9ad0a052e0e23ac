"""Reads files for templates from a container, with the rights of the caller."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from functools import partial
from typing import Any, Protocol
from urllib.parse import quote

from stoker.clouds.credentials import Token
from stoker.clouds.faults import NOT_FOUND, describe, fault_from, is_cloud_fault, status_of
from stoker.clouds.sessions import Sessions
from stoker.clouds.workers import Workers
from stoker.kernel.errors import (
    BAD_REQUEST,
    HTTP_UNAVAILABLE,
    NotFoundError,
    RequestError,
    ValidationError,
)

MOST_FILES = 500
_SERVICE = "object-store"
_ERRORS = 400
_DENIED = (401, 403)
_NO_SERVICE = frozenset(
    {"EmptyCatalog", "EndpointNotFound", "EndpointNotFoundError", "ServiceNotFound"}
)


class HasToken(Protocol):
    """A caller, as far as this package needs it."""

    @property
    def token(self) -> str | None:
        """Return the token of the request."""

    @property
    def project_id(self) -> str:
        """Return the project of the token."""


class ContainerFiles:
    """Reads all objects of a container, within limits on number and size."""

    def __init__(self, sessions: Sessions, workers: Workers, most_bytes: int) -> None:
        self._sessions = sessions
        self._workers = workers
        self._most_bytes = most_bytes

    async def __call__(
        self, caller: HasToken, container: str, without: Collection[str]
    ) -> Mapping[str, str]:
        """Return the texts of the objects by name, except those in ``without``.

        Raise RequestError (400) with the error of the object store, or RequestError (503) if it
        does not respond.
        """
        if not container or "/" in container:
            raise _refused(f'files_container: "{container[:100]}" is not the name of a container.')
        try:
            sizes = await self._run(partial(self._sizes, caller, container))
            to_fetch = {name: size for name, size in sizes.items() if name not in without}
            if sum(to_fetch.values()) > self._most_bytes:
                raise _refused(
                    f'The files of the container "{container}" have {sum(to_fetch.values())} bytes;'
                    f" {self._most_bytes} may be read for one request."
                )
            texts = await asyncio.gather(
                *(
                    self._run(partial(self._text, caller, container, name, size))
                    for name, size in to_fetch.items()
                )
            )
        except Exception as error:
            if not is_cloud_fault(error):
                raise
            raise _request_error(container, error) from error
        return dict(zip(to_fetch, texts, strict=True))

    async def text(self, caller: HasToken, container: str, name: str) -> str:
        """Return the text of one object.

        Raise NotFoundError for a missing object or object store, otherwise RequestError as above.
        """
        try:
            return str(await self._run(partial(self._named, caller, container, name)))
        except Exception as error:
            if not is_cloud_fault(error):
                raise
            raise _object_error(container, name, error) from error

    async def _run(self, call: Any) -> Any:
        return await self._workers.run(_SERVICE, call)

    def _sizes(self, caller: HasToken, container: str) -> dict[str, int]:
        """Return the sizes of the objects in bytes, by name. Blocks."""
        query = f"?format=json&limit={MOST_FILES + 1}"
        with self._answer(caller, f"/{quote(container)}{query}") as answer:
            rows = answer.json() if answer.content else []
        if len(rows) > MOST_FILES:
            raise _refused(f'The container "{container}" has more than {MOST_FILES} files.')
        return {row["name"]: row["bytes"] for row in rows}

    def _text(self, caller: HasToken, container: str, name: str, size: int) -> str:
        """Return the content of an object of ``size`` bytes. Blocks."""
        content = self._content(caller, container, name, size + 1)
        if len(content) > size:
            raise _refused(f'The file "{name}" of the container "{container}" is being changed.')
        return _decoded(container, name, content)

    def _named(self, caller: HasToken, container: str, name: str) -> str:
        """Return the content of an object of unknown size. Blocks."""
        content = self._content(caller, container, name, self._most_bytes + 1)
        if len(content) > self._most_bytes:
            raise _refused(
                f'The file "{name:.200}" of the container "{container}" has more than'
                f" {self._most_bytes} bytes, as many as may be read."
            )
        return _decoded(container, name, content)

    def _content(self, caller: HasToken, container: str, name: str, most: int) -> bytes:
        with self._answer(caller, f"/{quote(container)}/{quote(name)}") as answer:
            return bytes(answer.raw.read(most))

    def _answer(self, caller: HasToken, path: str) -> Any:
        cloud = self._sessions.connection(Token(caller.token or ""))
        answer = cloud.service(_SERVICE).request(path, "GET", stream=True)
        if answer.status_code >= _ERRORS:
            with answer:
                raise fault_from(answer)
        return answer


def _request_error(container: str, error: Exception) -> RequestError:
    """Return the error for the caller after an error of a container."""
    status = status_of(error)
    if status == NOT_FOUND:
        return _refused(f'files_container: there is no container "{container}" in this project.')
    if status in _DENIED:
        return _refused(f'files_container: the container "{container}" may not be read.')
    if type(error).__name__ in _NO_SERVICE:
        return _refused("files_container: this cloud has no object store.")
    return RequestError(f"The object store does not answer: {describe(error)}", HTTP_UNAVAILABLE)


def _decoded(container: str, name: str, content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise _refused(f'The file "{name}" of the container "{container}" is not text.') from None


def _object_error(container: str, name: str, error: Exception) -> RequestError:
    """Return the error for the caller after an error of one object."""
    what = f'the object "{name:.200}" of the container "{container:.100}"'
    if status_of(error) == NOT_FOUND:
        return NotFoundError(f"The object store of this cloud has not {what} in this project.")
    if status_of(error) in _DENIED:
        return _refused(f"You may not read {what}.")
    if type(error).__name__ in _NO_SERVICE:
        return NotFoundError(f"This cloud has no object store, where {what} would be.")
    return RequestError(f"The object store does not answer: {describe(error)}", HTTP_UNAVAILABLE)


def _refused(message: str) -> RequestError:
    return ValidationError(message, BAD_REQUEST)
