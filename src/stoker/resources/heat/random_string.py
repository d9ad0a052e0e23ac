"""OS::Heat::RandomString: a random string, generated once."""

from __future__ import annotations

import secrets
import string
from collections.abc import Mapping, Sequence
from typing import Any

from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.base import declare
from stoker.schema.constraints import Range
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call, Done, ManagedType, Outcome
from stoker.schema.support import deprecated, hidden, since
from stoker.schema.unknown import unknown_in

CLASSES = {
    "lettersdigits": string.ascii_letters + string.digits,
    "letters": string.ascii_letters,
    "lowercase": string.ascii_lowercase,
    "uppercase": string.ascii_uppercase,
    "digits": string.digits,
    "hexdigits": string.digits + "ABCDEF",
    "octdigits": string.octdigits,
}
_LIMIT = Range(1, 512)
_MINIMUM = declare.integer("Minimum number of characters.", default=1, constraints=(_LIMIT,))


class RandomString(ManagedType):
    """A string from the system's random number generator. Only a replacement changes it."""

    type_name = "OS::Heat::RandomString"
    description = "A random string, such as a password, generated once and stored."
    support = since("2014.1")
    properties = {
        "length": declare.integer("Length of the string.", default=32, constraints=(_LIMIT,)),
        "sequence": declare.choice(
            list(CLASSES),
            "Class of all characters.",
            support=hidden(
                "5.0.0", deprecated("2014.2", use="character_classes"), "Use character_classes."
            ),
        ),
        "character_classes": declare.records(
            "Classes of characters to choose from.",
            default=[{"class": "lettersdigits", "min": 1}],
            entries={
                "class": declare.choice(
                    list(CLASSES), "A class of characters.", default="lettersdigits"
                ),
                "min": _MINIMUM,
            },
        ),
        "character_sequences": declare.records(
            "Additional characters to choose from.",
            entries={
                "sequence": declare.string("Characters to choose from.", required=True),
                "min": _MINIMUM,
            },
        ),
        "salt": declare.string("Any value; changing it generates a new string."),
    }
    attributes = {"value": Attribute("The string.", Type.STRING)}
    secrets = frozenset({"value"})

    def create(self, call: Call) -> Outcome:
        """Generate the string, unless an earlier call already did."""
        value = call.data.get("value") or _draw(call.properties)
        return Done(
            physical_id=call.physical_name, attributes={"value": value}, data={"value": value}
        )

    def delete(self, call: Call) -> Outcome:
        """Return immediately: there is nothing to delete."""
        return Done()

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return the stored string."""
        return {"value": call.data.get("value")}

    def reference(self, call: Call) -> Any:
        """Return the string itself."""
        return call.data.get("value", call.name)

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Check that the length is at least the sum of the minimums."""
        if unknown_in(properties):
            return ()
        least = sum(minimum for _, minimum in _sources(properties))
        if least <= properties["length"]:
            return ()
        message = (
            f"the string has {properties['length']} characters, but its classes and sequences "
            f"need at least {least}"
        )
        return (Diagnostic("too-short", message, ("length",)),)


def _sources(properties: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Return the sets of characters, each with its minimum number."""
    classes = properties["character_classes"] or ()
    if properties["sequence"]:
        classes = [{"class": properties["sequence"], "min": 1}]
    found = [(CLASSES[entry["class"]], entry["min"]) for entry in classes]
    sequences = properties["character_sequences"] or ()
    return found + [(entry["sequence"], entry["min"]) for entry in sequences if entry["sequence"]]


def _draw(properties: Mapping[str, Any]) -> str:
    sources = _sources(properties) or [(CLASSES["lettersdigits"], 1)]
    drawn = [secrets.choice(characters) for characters, least in sources for _ in range(least)]
    while len(drawn) < properties["length"]:
        characters, _ = secrets.choice(sources)
        drawn.append(secrets.choice(characters))
    secrets.SystemRandom().shuffle(drawn)
    return "".join(drawn)
