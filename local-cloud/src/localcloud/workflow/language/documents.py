"""Parser of users' documents: YAML of bounded size that yields only data."""

from typing import Any

import yaml

from localcloud.web.http import BadRequestError
from localcloud.workflow.errors import invalid_language

_MOST_NODES = 20_000  # values in a document; a repeated alias counts again
_MOST_LEVELS = 50
VERSIONS = ("2.0", 2.0, 2)


class _Loader(yaml.CSafeLoader):
    """Leaves times as text: neither the language nor JSON has them."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, regexp) for tag, regexp in found if tag != "tag:yaml.org,2002:timestamp"]
    for first, found in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def read(text: str) -> dict[str, Any]:
    """Return the map of a document; raises BadRequestError."""
    try:
        document = yaml.load(text, _Loader)  # noqa: S506 - a safe loader
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadRequestError(f"Definition could not be parsed: {error}") from error
    if not isinstance(document, dict):
        raise invalid_language("'version' is a required property: a map is expected")
    _measure([document], 0, [0])
    if "version" not in document:
        raise invalid_language("'version' is a required property")
    if document["version"] not in VERSIONS:
        raise invalid_language(f"version {document['version']!r} is none of ['2.0', 2.0]")
    return document


def _measure(values: list[Any], level: int, counted: list[int]) -> None:
    counted[0] += len(values)
    if counted[0] > _MOST_NODES or level > _MOST_LEVELS:
        detail = f"A document has at most {_MOST_NODES} values on {_MOST_LEVELS} levels."
        raise BadRequestError(f"Definition could not be parsed: {detail}")
    for value in values:
        if isinstance(value, dict):
            if not all(isinstance(key, str) for key in value):
                odd = next(key for key in value if not isinstance(key, str))
                raise invalid_language(f"the key {odd!r} is no text")
            _measure(list(value.values()), level + 1, counted)
        elif isinstance(value, list):
            _measure(value, level + 1, counted)
        elif value is not None and not isinstance(value, str | int | float):
            raise invalid_language(f"a value is {type(value).__name__}, which JSON does not have")
