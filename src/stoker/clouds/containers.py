"""Files for templates, read from a container of the object store with the rights of who asks."""

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
from stoker.kernel.errors import BAD_REQUEST, HTTP_UNAVAILABLE, Invalid, Refused

MOST_FILES = 500
_SERVICE = "object-store"
_ERRORS = 400
_DENIED = (401, 403)
_NO_SERVICE = frozenset({"EndpointNotFound", "EmptyCatalog", "ServiceNotFound"})


class HasToken(Protocol):
    """Who asks, as far as this package is concerned."""

    @property
    def token(self) -> str | None:
        """The token of the request."""

    @property
    def project_id(self) -> str:
        """The project of the token."""


class ContainerFiles:
    """Reads all objects of a container, within bounds."""

    def __init__(self, sessions: Sessions, workers: Workers, most_bytes: int) -> None:
        self._sessions = sessions
        self._workers = workers
        self._most_bytes = most_bytes

    async def __call__(
        self, caller: HasToken, container: str, without: Collection[str]
    ) -> Mapping[str, str]:
        """The texts of the objects by name, but for those that are there already.

        Raises Refused (400), which says what is wrong with the container, and Refused (503) where
        the object store does not answer.
        """
        if not container or "/" in container:
            raise _refused(f'files_container: "{container[:100]}" is not the name of a container.')
        try:
            sizes = await self._run(partial(self._sizes, caller, container))
            wanted = {name: size for name, size in sizes.items() if name not in without}
            if sum(wanted.values()) > self._most_bytes:
                raise _refused(
                    f'The files of the container "{container}" have {sum(wanted.values())} bytes;'
                    f" {self._most_bytes} may be read for one request."
                )
            texts = await asyncio.gather(
                *(
                    self._run(partial(self._text, caller, container, name, size))
                    for name, size in wanted.items()
                )
            )
        except Exception as error:
            if not is_cloud_fault(error):
                raise
            raise _told(container, error) from error
        return dict(zip(wanted, texts, strict=True))

    async def _run(self, call: Any) -> Any:
        return await self._workers.run(_SERVICE, call)

    def _sizes(self, caller: HasToken, container: str) -> dict[str, int]:
        """How many bytes the objects have, by name. Blocks."""
        query = f"?format=json&limit={MOST_FILES + 1}"
        with self._answer(caller, f"/{quote(container)}{query}") as answer:
            rows = answer.json() if answer.content else []
        if len(rows) > MOST_FILES:
            raise _refused(f'The container "{container}" has more than {MOST_FILES} files.')
        return {row["name"]: row["bytes"] for row in rows}

    def _text(self, caller: HasToken, container: str, name: str, size: int) -> str:
        """The content of an object, which has so many bytes. Blocks."""
        with self._answer(caller, f"/{quote(container)}/{quote(name)}") as answer:
            content = answer.raw.read(size + 1)
        if len(content) > size:
            raise _refused(f'The file "{name}" of the container "{container}" is being changed.')
        try:
            return str(content.decode())
        except UnicodeDecodeError:
            raise _refused(
                f'The file "{name}" of the container "{container}" is no text.'
            ) from None

    def _answer(self, caller: HasToken, path: str) -> Any:
        cloud = self._sessions.connection(Token(caller.token or ""))
        where = {
            "service_type": _SERVICE,
            "interface": cloud.config.get_interface(_SERVICE),
            "region_name": cloud.config.get_region_name(_SERVICE),
        }
        # The SDK's proxy would look for the service once, and remember that it is not there.
        answer = cloud.session.request(
            path, "GET", endpoint_filter=where, raise_exc=False, stream=True
        )
        if answer.status_code >= _ERRORS:
            with answer:
                raise fault_from(answer)
        return answer


def _told(container: str, error: Exception) -> Refused:
    """What a fault of the cloud is for whoever sent the request."""
    status = status_of(error)
    if status == NOT_FOUND:
        return _refused(f'files_container: there is no container "{container}" in this project.')
    if status in _DENIED:
        return _refused(f'files_container: the container "{container}" may not be read.')
    if type(error).__name__ in _NO_SERVICE:
        return _refused("files_container: this cloud has no object store.")
    return Refused(f"The object store does not answer: {describe(error)}", HTTP_UNAVAILABLE)


def _refused(message: str) -> Refused:
    return Invalid(message, BAD_REQUEST)
