"""Renders the user data of servers.

``RAW`` passes the text unchanged. ``HEAT_CFNTOOLS`` wraps it for heat-cfntools: script, metadata
and the URL of the metadata service are written to ``/var/lib/heat-cfntools``. ``SOFTWARE_CONFIG``
adds the initial metadata for os-collect-config to the text or its parts.

The same input always gives the same text, so that a repeated create sends the same request.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from stoker.resources.shared.mime import parts_of, text_part

_PART_HANDLER = """\
#part-handler
import os

DIRECTORY = "/var/lib/heat-cfntools"


def list_types():
    return ["text/x-cfninitdata"]


def handle_part(data, ctype, filename, payload):
    if ctype in ("__begin__", "__end__"):
        return
    if not os.path.isdir(DIRECTORY):
        os.makedirs(DIRECTORY, 0o700)
    path = os.path.join(DIRECTORY, os.path.basename(filename))
    mode = "wb" if isinstance(payload, bytes) else "w"
    with open(path, mode) as target:
        target.write(payload)
    os.chmod(path, 0o700 if filename == "cfn-userdata" else 0o600)
"""

_RUNNER = """\
#!/bin/sh
# Runs the script of the template and keeps what it prints.
directory=/var/lib/heat-cfntools
script="$directory/cfn-userdata"
log=/var/log/heat-provision.log
umask 077
status=0
echo "started $(date -u)" >> "$log"
# where boto, with which the tools ask for metadata, looks for the address
[ -e /etc/boto.cfg ] || ln -s "$directory/cfn-boto-cfg" /etc/boto.cfg
if [ -s "$script" ] && [ "$(head -c 2 "$script")" = "#!" ]; then
    chmod 700 "$script"
    "$script" >> "$log" 2>&1
    status=$?
fi
ended=$(date -u)
echo "ended with status $status $ended" >> "$log"
echo "$ended" > "$directory/provision-finished"
exit "$status"
"""

_KNOWN_PARTS = 16
_KINDS = (
    ("#cloud-config", "cloud-config"),
    ("#cloud-boothook", "cloud-boothook"),
    ("#include", "x-include-url"),
    ("#part-handler", "part-handler"),
)


class Addresses(Struct, frozen=True):
    """URLs of this service for the tools inside a server."""

    metadata: str  # CloudFormation API, such as ``http://host:8000/v1/``
    watch: str  # CloudWatch API


def render(
    form: str, text: str, metadata: Mapping[str, Any], addresses: Addresses | None = None
) -> str:
    """Render user data; ``form`` is the property ``user_data_format``."""
    if form == "RAW":
        return text
    parts = [_part(_PART_HANDLER, "part-handler", "part-handler.py")]
    if form == "SOFTWARE_CONFIG":
        parts += _parts_of(text)
    else:
        parts.append(_part(text, "x-cfninitdata", "cfn-userdata"))
        parts.append(_part(_RUNNER, "x-shellscript", "run-cfn-userdata.sh"))
    if metadata:
        parts.append(_part(json.dumps(dict(metadata)), "x-cfninitdata", "cfn-init-data"))
    if form == "HEAT_CFNTOOLS" and addresses is not None:
        # The tools append the version to this URL themselves, and read the port from its end.
        root = addresses.metadata.removesuffix("/v1/")
        parts.append(_part(root, "x-cfninitdata", "cfn-metadata-server"))
        parts.append(_part(_boto_config(addresses), "x-cfninitdata", "cfn-boto-cfg"))
    return _joined(parts)


def _boto_config(addresses: Addresses) -> str:
    """Return the configuration for boto. The tools assume port 8003 for the CloudWatch API."""
    url = urlsplit(addresses.metadata)
    is_secure = int(url.scheme == "https")
    return (
        "[Boto]\n"
        "debug = 0\n"
        f"is_secure = {is_secure}\n"
        "https_validate_certificates = 1\n"
        "cfn_region_name = heat\n"
        f"cfn_region_endpoint = {url.hostname}\n"
        "cloudwatch_region_name = heat\n"
        f"cloudwatch_region_endpoint = {urlsplit(addresses.watch).hostname}\n"
    )


@lru_cache(_KNOWN_PARTS)
def _part(text: str, kind: str, name: str) -> str:
    """Return a part as text. Most parts are the same for all servers, and take long to write."""
    return text_part(text, kind, name).as_string()


def _parts_of(text: str) -> list[str]:
    """Return the parts of a multipart text. Another text is one part, typed by its first line."""
    if not text:
        return []
    parts = parts_of(text) if "Content-Type: multipart/" in text[:4000] else None
    if parts is not None:
        return [part.as_string() for part in parts]
    kind = next((kind for start, kind in _KINDS if text.startswith(start)), "x-shellscript")
    return [_part(text, kind, "userdata")]


def _joined(parts: Sequence[str]) -> str:
    """Join the parts. The boundary is a digest, so the same parts give the same text."""
    digest = hashlib.sha256("".join(parts).encode()).hexdigest()[:32]
    boundary = f"==============={digest}=="
    head = f'Content-Type: multipart/mixed; boundary="{boundary}"\nMIME-Version: 1.0\n'
    pieces = "".join(f"\n--{boundary}\n{part}" for part in parts)
    return f"{head}{pieces}\n--{boundary}--\n"
