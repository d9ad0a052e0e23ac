"""MIME messages, which pass several configurations to cloud-init."""

from __future__ import annotations

from email import message_from_string
from email.message import Message
from email.mime.text import MIMEText


def text_part(text: str, subtype: str, filename: str | None) -> Message:
    """Return a text as part of a message."""
    charset = "us-ascii" if text.isascii() else "utf-8"
    part = MIMEText(text, subtype, charset)
    if filename:
        part.add_header("Content-Disposition", "attachment", filename=filename)
    return part


def parts_of(text: str) -> list[Message] | None:
    """Return the parts of a multipart message, or None for other texts."""
    message = message_from_string(text)
    if not message.is_multipart():
        return None
    return [part for part in message.get_payload() if isinstance(part, Message)]
