"""HTTP requests of ``std.http`` and of the actions that call services."""

import base64
import json
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from http.cookiejar import CookieJar
from typing import Any
from urllib.parse import urlencode, urlsplit

from localcloud.workflow.actions.action import ActionError

_SECONDS, _MOST_SECONDS = 30, 300
_MOST_BYTES = 1 << 20  # of a response
_GOOD = range(200, 400)


def ask(given: Mapping[str, Any], more_headers: Mapping[str, str]) -> Any:
    """Send a request and return the response.

    Raises :class:`ActionError` with the response if its status is an error, and OSError or
    ValueError if there is none.
    """
    request = _request(given, more_headers)
    seconds = given["timeout"]
    if not isinstance(seconds, int | float) or not 0 < seconds <= _MOST_SECONDS:
        seconds = _SECONDS
    jar = CookieJar()
    started = time.monotonic()
    try:
        with _opener(given, jar).open(request, timeout=seconds) as answer:
            return _result(answer, answer.status, jar, time.monotonic() - started)
    except urllib.error.HTTPError as error:
        with error:
            result = _result(error, error.code, jar, time.monotonic() - started)
        if error.code in _GOOD:
            return result
        raise ActionError(result) from error


def _request(given: Mapping[str, Any], more_headers: Mapping[str, str]) -> urllib.request.Request:
    url = str(given["url"])
    if urlsplit(url).scheme not in ("http", "https"):
        raise ValueError(f"Only http and https are supported: {url}")
    if given["params"]:
        url += ("&" if "?" in url else "?") + urlencode(given["params"], doseq=True)
    headers = {str(k): str(v) for k, v in (given["headers"] or {}).items()} | dict(more_headers)
    body = given["body"]
    if given["json"] is not None:
        body = json.dumps(given["json"])
        headers.setdefault("Content-Type", "application/json")
    elif isinstance(body, dict | list):
        body = json.dumps(body)
    if isinstance(given["cookies"], dict):
        headers["Cookie"] = "; ".join(f"{k}={v}" for k, v in given["cookies"].items())
    if given["auth"]:
        pair = given["auth"] if isinstance(given["auth"], str) else ":".join(given["auth"])
        headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
    content = None if body is None else str(body).encode()
    method = str(given["method"] or "GET").upper()
    return urllib.request.Request(url, content, headers, method=method)  # noqa: S310


def _opener(given: Mapping[str, Any], jar: CookieJar) -> urllib.request.OpenerDirector:
    """Return an opener that supports only HTTP, and follows redirects unless that is forbidden."""
    context = ssl.create_default_context()
    if given["verify"] is False:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    handlers: list[urllib.request.BaseHandler] = [
        urllib.request.ProxyHandler(given["proxies"] if isinstance(given["proxies"], dict) else {}),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(context=context),
        urllib.request.HTTPCookieProcessor(jar),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.HTTPDefaultErrorHandler(),
    ]
    if given["allow_redirects"] is not False:
        handlers.append(urllib.request.HTTPRedirectHandler())
    made = urllib.request.OpenerDirector()
    for handler in handlers:
        made.add_handler(handler)
    return made


def _result(answer: Any, status: int, jar: CookieJar, seconds: float) -> dict[str, Any]:
    content = answer.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise ValueError(f"The answer has more than {_MOST_BYTES} bytes.")
    encoding = answer.headers.get_content_charset()
    text: Any = content.decode(encoding or "utf-8", errors="replace")
    with suppress(ValueError, RecursionError):
        text = json.loads(text)
    return {
        "content": text,
        "status": status,
        "reason": answer.reason,
        "headers": dict(answer.headers.items()),
        "url": answer.url,
        "encoding": encoding,
        "cookies": {cookie.name: cookie.value for cookie in jar},
        "elapsed": round(seconds, 6),
    }
