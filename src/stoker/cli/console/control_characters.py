"""Makes control characters in texts from outside visible.

Names, reasons and outputs may come from other users, from clouds and from guests. A terminal
interprets escape sequences: they could set its title, write to the clipboard, or show lines that
were never printed. Every response of a service, and every document from the web, has them replaced
before anything is printed. Characters that change the direction of text are replaced, too.
"""

from __future__ import annotations

import re
from typing import Any

from stoker.kernel.json.tree import replaced

# all except tabs and line feeds
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


# In JSON: these characters themselves, and escapes other than of quotes, tabs and line feeds.
_CONTROL_IN_JSON = re.compile(r"[\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\\[bfru]")


def is_all_visible(json_text: str) -> bool:
    """Return whether the values of a JSON text certainly have no control characters.

    The search takes a hundredth of the time of :func:`all_visible`.
    """
    return _CONTROL_IN_JSON.search(json_text) is None


def visible(text: str) -> str:
    r"""Return the text with control characters written as ``\x1b`` or ``\u202e``."""
    return _CONTROL.sub(_written, text)


def all_visible(tree: Any) -> Any:
    """Return a JSON tree with control characters replaced in all texts and keys."""
    return replaced(tree, lambda leaf: visible(leaf) if isinstance(leaf, str) else leaf, keys=True)


def _written(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}"
