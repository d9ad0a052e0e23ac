"""Decrypts the values in Heat's database, by any method that Heat has used.

The key is ``auth_encryption_key`` of ``heat.conf``. The method is stored beside each value:

- ``cryptography_decrypt_v1``: a Fernet token, with the first 32 bytes of the key;
- ``oslo_decrypt_v1``: AES-CBC, base64, the initialization vector first; the last byte is the number
  of padding bytes before it;
- ``heat_decrypt``: AES-CFB with segments of eight bits, base64, the initialization vector first.

The two older methods do not authenticate the text. A value that does not decrypt to printable text
is rejected, because the key is wrong then.
"""

from __future__ import annotations

from base64 import b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections.abc import Callable
from typing import Any

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from stoker.kernel.json.text import loads
from stoker.takeover.errors import UnreadableValueError

_KEY_BYTES = 32
_BLOCK = 16
_REMEDY = "is auth_encryption_key that of this Heat?"


class Decryption:
    """Decrypts values with the first of some keys that fits."""

    def __init__(self, *keys: str) -> None:
        self._keys = [_Key(key) for key in keys]

    def text(self, method: str, value: str, place: str) -> str:
        """Return the plain text of a value; ``place`` names it in the error."""
        fault: UnreadableValueError | None = None
        for key in self._keys:
            try:
                return key.text(method, value, place)
            except UnreadableValueError as error:
                fault = fault or error
        raise fault or UnreadableValueError(
            f"{place}: the value is encrypted; name the heat.conf with its auth_encryption_key with"
            " --config-file"
        )

    def pair(self, value: Any, place: str) -> Any:
        """Return the value in a pair of method and encrypted JSON text."""
        if not isinstance(value, list) or len(value) != 2:
            raise UnreadableValueError(f"{place}: the value is not a pair of method and text")
        method, text = value
        plain = self.text(str(method), str(text), place)
        try:
            return loads(plain)
        except ValueError:
            return plain  # parameters are stored without quotation marks


class _Key:
    def __init__(self, key: str) -> None:
        raw = key.encode()[:_KEY_BYTES]
        if len(raw) not in (16, 24, _KEY_BYTES):
            raise UnreadableValueError(
                f"auth_encryption_key has {len(raw)} characters; Heat's has 16, 24 or 32: name its"
                " heat.conf with --config-file"
            )
        self._raw = raw
        self._methods: dict[str, Callable[[str], bytes]] = {
            "oslo_decrypt_v1": self._oslo,
            "heat_decrypt": self._heat,
        }
        if len(raw) == _KEY_BYTES:
            self._fernet = Fernet(urlsafe_b64encode(raw))
            self._methods["cryptography_decrypt_v1"] = self._with_fernet

    def text(self, method: str, value: str, place: str) -> str:
        """Return the plain text of a value; ``place`` names it in the error."""
        decrypt = self._methods.get(method)
        if decrypt is None:
            raise UnreadableValueError(f"{place}: the encryption method {method} is not known")
        try:
            plain = decrypt(value).decode()
        except (InvalidToken, Base64Error, ValueError):
            raise UnreadableValueError(
                f"{place}: the value cannot be decrypted by {method}; {_REMEDY}"
            ) from None
        if method != "cryptography_decrypt_v1" and not _is_text(plain):
            raise UnreadableValueError(
                f"{place}: the value does not decrypt to text by {method}; {_REMEDY}"
            )
        return plain

    def _with_fernet(self, value: str) -> bytes:
        return self._fernet.decrypt(value.encode())

    def _oslo(self, value: str) -> bytes:
        data = b64decode(value, validate=True)
        padded = self._decrypted(data, modes.CBC(data[:_BLOCK]))
        if not padded or padded[-1] >= _BLOCK:
            raise ValueError("the padding is longer than a block")
        return padded[: -1 - padded[-1]]

    def _heat(self, value: str) -> bytes:
        data = b64decode(value, validate=True)
        # Written out, because libraries remove this mode.
        encryptor = Cipher(algorithms.AES(self._raw), modes.ECB()).encryptor()  # noqa: S305
        register, plain = data[:_BLOCK], bytearray()
        for octet in data[_BLOCK:]:
            plain.append(octet ^ encryptor.update(register)[0])
            register = register[1:] + bytes([octet])
        return bytes(plain)

    def _decrypted(self, data: bytes, mode: Any) -> bytes:
        decryptor = Cipher(algorithms.AES(self._raw), mode).decryptor()
        return decryptor.update(data[_BLOCK:]) + decryptor.finalize()


def _is_text(plain: str) -> bool:
    return all(character.isprintable() or character in "\r\n\t" for character in plain)
