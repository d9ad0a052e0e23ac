"""OS::Heat::MultipartMime: several configurations for cloud-init in one message."""

from __future__ import annotations

from email.mime.multipart import MIMEMultipart
from typing import Any

from stoker.resources.base import declare
from stoker.resources.heat.configs import StoredConfig, config_group
from stoker.resources.shared.mime import parts_of, text_part
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import VALUES, Call
from stoker.schema.support import since


class MultipartMime(StoredConfig):
    """A MIME message of texts and other configurations."""

    type_name = "OS::Heat::MultipartMime"
    uses_early = frozenset({VALUES})
    description = "Several configurations for cloud-init in one MIME message."
    support = since("2014.1")
    names_software = frozenset({"parts"})
    properties = {
        "parts": declare.records(
            "The parts of the message.",
            default=[],
            entries={
                "config": declare.string(
                    "Text, or a reference to a configuration resource.", required=True
                ),
                "filename": declare.string("File name of the part."),
                "type": declare.choice(
                    ["text", "multipart"],
                    "Whether the part is text, or a MIME message with parts of its own.",
                    default="text",
                ),
                "subtype": declare.string(
                    "MIME subtype of a text part, such as x-shellscript or cloud-config."
                ),
            },
        ),
        "group": config_group(since("14.0.0")),
    }
    attributes = {"config": Attribute("The message.", Type.STRING)}

    def content(self, call: Call) -> Any:
        """Return the message."""
        return _message(call)


def _message(call: Call) -> str:
    """Return the message.

    Its boundary comes from the resource's token, so it is always the same.
    """
    message = MIMEMultipart(boundary=f"==============={call.token}==")
    for part in call.properties["parts"] or ():
        text_or_id, filename = part["config"], part["filename"]
        text = call.configs[text_or_id].text if text_or_id in call.configs else text_or_id
        if part["type"] == "multipart":
            # A text that is not a multipart message becomes a part itself.
            attached = parts_of(text) or [text_part(text, "plain", filename)]
        else:
            attached = [text_part(text, part["subtype"] or "plain", filename)]
        for each in attached:
            message.attach(each)
    return message.as_string()
