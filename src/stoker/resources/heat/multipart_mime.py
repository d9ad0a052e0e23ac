"""Several configurations in one MIME message, as cloud-init takes them."""

from __future__ import annotations

from email.mime.multipart import MIMEMultipart
from typing import Any

from stoker.resources.base import declare
from stoker.resources.heat.configs import StoredConfig, config_group
from stoker.resources.shared.mime import parts_of, text_part
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call
from stoker.schema.support import since


class MultipartMime(StoredConfig):
    """Parts, each a text or another configuration, in one message."""

    type_name = "OS::Heat::MultipartMime"
    description = "Several configurations in one MIME message, as cloud-init takes them."
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
                "filename": declare.string("Name of the part as an attached file."),
                "type": declare.choice(
                    ["text", "multipart"],
                    "Whether the part is text or itself a message of several parts.",
                    default="text",
                ),
                "subtype": declare.string(
                    "MIME subtype of a text, as x-shellscript or cloud-config."
                ),
            },
        ),
        "group": config_group(since("14.0.0")),
    }
    attributes = {"config": Attribute("The message.", Type.STRING)}

    def content(self, call: Call) -> Any:
        """The message."""
        return _message(call)


def _message(call: Call) -> str:
    """The same message each time: its boundary comes from the resource's token."""
    message = MIMEMultipart(boundary=f"==============={call.token}==")
    for part in call.properties["parts"] or ():
        given, filename = part["config"], part["filename"]
        text = call.configs[given].text if given in call.configs else given
        if part["type"] == "multipart":
            # a text that is no message of several parts is a part itself
            attached = parts_of(text) or [text_part(text, "plain", filename)]
        else:
            attached = [text_part(text, part["subtype"] or "plain", filename)]
        for each in attached:
            message.attach(each)
    return message.as_string()
