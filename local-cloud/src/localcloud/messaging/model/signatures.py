"""Signatures that permit some paths of a project for a time, without a token."""

import hmac
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.requests import Request

from localcloud.core.cloud import Cloud
from localcloud.identity.tokens.tokens import token_key
from localcloud.messaging.errors import not_found

_DATE = "%Y-%m-%dT%H:%M:%S"
_DAY = timedelta(days=1)


class Signatures:
    """Signs and checks, with a key that only this service has."""

    def __init__(self, cloud: Cloud) -> None:
        self._clock = cloud.clock
        self._key = token_key(cloud.settings.cloud_dir / "messages.key")

    def signed(
        self, project: str, paths: Sequence[str], methods: Sequence[str], expires: str | None
    ) -> dict[str, Any]:
        """Return a permission; raises ValueError for an end that is none, or is past."""
        now = self._clock.now()
        end = now + _DAY
        if expires is not None:
            end = datetime.fromisoformat(expires)
            end = end.astimezone(UTC) if end.tzinfo else end.replace(tzinfo=UTC)
        if end <= now:
            raise ValueError("`expires` is lower than the current time")
        given = sorted(paths), sorted(methods), project, end.strftime(_DATE)
        names = ("paths", "methods", "project", "expires")
        signature = self._signature(*given)
        return {**dict(zip(names, given, strict=True)), "signature": signature}

    def project(self, request: Request) -> str:
        """Return the project for which the headers of a request have a permission.

        Raises MessagingError (404) without a permission.
        """
        headers = request.headers
        paths = headers.get("url-paths", "").split(",")
        methods = headers.get("url-methods", "").split(",")
        project, expires = headers.get("x-project-id", ""), headers.get("url-expires", "")
        expected = self._signature(sorted(paths), sorted(methods), project, expires)
        given = headers["url-signature"]
        path = request.url.path
        # what lies below a path that was signed may be used as well
        if (
            not hmac.compare_digest(expected.encode(), given.encode())
            or request.method not in methods
            or not any(path == each or path.startswith(f"{each}/") for each in paths)
            or expires <= self._clock.now().strftime(_DATE)
        ):
            raise not_found("")
        return project

    def _signature(
        self, paths: Sequence[str], methods: Sequence[str], project: str, expires: str
    ) -> str:
        # the two characters \n between the parts, as Zaqar has them
        text = rf"{','.join(paths)}\n{','.join(methods)}\n{project}\n{expires}"
        return hmac.digest(self._key, text.encode(), "sha256").hex()
