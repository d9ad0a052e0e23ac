"""Values that Heat has encrypted by any of its methods."""

from __future__ import annotations

import os
from base64 import b64encode, urlsafe_b64encode

import pytest
from cryptography.fernet import Fernet
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from stoker.takeover.errors import UnreadableValueError
from stoker.takeover.heat.decryption import Decryption
from tests.takeover.estate import KEY

_OTHER = "b" * 32


def by_fernet(text: str) -> str:
    return Fernet(urlsafe_b64encode(KEY.encode())).encrypt(text.encode()).decode()


def by_oslo(text: str) -> str:
    data = text.encode()
    padding = 16 - len(data) % 16 - 1
    iv = os.urandom(16)
    encryptor = Cipher(algorithms.AES(KEY.encode()), modes.CBC(iv)).encryptor()
    padded = data + b"\0" * padding + bytes([padding])
    return b64encode(iv + encryptor.update(padded) + encryptor.finalize()).decode()


def by_heat(text: str) -> str:
    sent = os.urandom(16)
    for octet in text.encode():
        cipher = Cipher(algorithms.AES(KEY.encode()), modes.CBC(b"\0" * 16)).encryptor()
        sent += bytes([octet ^ cipher.update(sent[-16:])[0]])
    return b64encode(sent).decode()


METHODS = [
    ("cryptography_decrypt_v1", by_fernet),
    ("oslo_decrypt_v1", by_oslo),
    ("heat_decrypt", by_heat),
]


@pytest.mark.parametrize(("method", "encrypt"), METHODS)
@pytest.mark.parametrize("text", ["", "x", "a secret", "sixteen bytes ok", "Grüße", "a" * 1000])
def test_value_is_decrypted(method: str, encrypt: object, text: str) -> None:
    assert callable(encrypt)
    assert Decryption(KEY).text(method, encrypt(text), "here") == text


@pytest.mark.parametrize(("method", "encrypt"), METHODS)
def test_wrong_key_is_reported_with_its_place(method: str, encrypt: object) -> None:
    assert callable(encrypt)
    value = encrypt("a secret that is long enough to be noticed " * 4)
    with pytest.raises(UnreadableValueError, match="stack s, column c: the value"):
        Decryption(_OTHER).text(method, value, "stack s, column c")


def test_earlier_key_decrypts() -> None:
    value = by_fernet("a secret")
    assert Decryption(_OTHER, KEY).text("cryptography_decrypt_v1", value, "here") == "a secret"


def test_unknown_method_is_rejected() -> None:
    with pytest.raises(UnreadableValueError, match="here: the encryption method rot13"):
        Decryption(KEY).text("rot13", "x", "here")


def test_missing_key_is_reported() -> None:
    with pytest.raises(UnreadableValueError, match="--config-file"):
        Decryption().text("heat_decrypt", "x", "here")


def test_short_key_is_rejected() -> None:
    with pytest.raises(UnreadableValueError, match="has 5 characters"):
        Decryption("short")


def test_pair_is_parsed_as_json() -> None:
    pair = ["cryptography_decrypt_v1", by_fernet('{"a": [1]}')]
    assert Decryption(KEY).pair(pair, "here") == {"a": [1]}


def test_other_value_is_not_a_pair() -> None:
    with pytest.raises(UnreadableValueError, match="here: the value is not a pair"):
        Decryption(KEY).pair("plain", "here")
