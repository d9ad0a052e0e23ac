"""Several configurations in one MIME message, as cloud-init takes them."""

from __future__ import annotations

from email import message_from_string
from email.message import Message
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from typing import Any

from stoker.resources import declare
from stoker.resources.heat.configs import StoredConfig, config_group
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call
from stoker.schema.support import since


class MultipartMime(StoredConfig):
    """Parts, each a text or another configuration, in one message."""

    type_name = "OS::Heat::MultipartMime"
    description = "Several configurations in one MIME message, as cloud-init takes them."
    support = since("2014.1")
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
        text = call.configs.get(part["config"], part["config"])
        if part["type"] == "multipart":
            _attach_parts(message, text, part["filename"])
        else:
            message.attach(_text_part(text, part["subtype"] or "plain", part["filename"]))
    return message.as_string()


def _text_part(text: str, subtype: str, filename: str | None) -> Message:
    charset = "us-ascii" if text.isascii() else "utf-8"
    part = MIMEText(text, _subtype=subtype, _charset=charset)
    if filename:
        part.add_header("Content-Disposition", "attachment", filename=filename)
    return part


def _attach_parts(message: MIMEMultipart, text: str, filename: str | None) -> None:
    """The parts of another message, or the text itself if it is not one."""
    inner = message_from_string(text)
    if not inner.is_multipart():
        message.attach(_text_part(text, "plain", filename))
        return
    for part in inner.get_payload():
        if isinstance(part, Message):
            message.attach(part)
