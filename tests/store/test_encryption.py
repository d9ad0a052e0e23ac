"""Encryption of columns: each text decrypts to its value, repeatedly."""

from __future__ import annotations

import json
import tracemalloc
from base64 import b64decode
from typing import Any

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.fernet import Fernet, InvalidToken

from stoker.store.sql.encryption import LONGEST_KEPT, MOST_KEPT, ColumnCipher


def test_decrypted_values_are_independent_copies() -> None:
    cipher = ColumnCipher(Fernet.generate_key())
    text = cipher.encrypt({"a": [1]})
    cipher.decrypt(text)["a"].append(2)
    assert cipher.decrypt(text) == {"a": [1]}


def test_equal_values_have_different_ciphertexts() -> None:
    cipher = ColumnCipher(Fernet.generate_key())
    assert cipher.encrypt({"a": 1}) != cipher.encrypt({"a": 1})


def test_texts_are_decrypted_however_many_there_are() -> None:
    cipher = ColumnCipher(Fernet.generate_key())
    numbers = [*range(3 * MOST_KEPT // LONGEST_KEPT // 2)]
    texts = [cipher.encrypt([number, "x" * (LONGEST_KEPT - 20)]) for number in numbers]
    for _ in range(2):
        assert [cipher.decrypt(text)[0] for text in texts] == numbers


@pytest.mark.parametrize(("size", "most"), [(LONGEST_KEPT - 20, 1.5), (LONGEST_KEPT, 0.1)])
def test_decryption_cache_is_bounded(size: int, most: float) -> None:
    cipher = ColumnCipher(Fernet.generate_key())
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for number in range(2 * MOST_KEPT // LONGEST_KEPT):
        cipher.decrypt(cipher.encrypt([number, "x" * size]))
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before < most * MOST_KEPT


@pytest.mark.parametrize("value", ["é\n" * 200_000, {"a": [[]] * 100_000, "b": float("inf")}])
def test_long_value_is_encrypted_in_pieces(value: Any) -> None:
    key = Fernet.generate_key()
    assert ColumnCipher(key).decrypt(ColumnCipher(key).encrypt(value)) == value


@pytest.mark.parametrize("size", [500_000, 10])
def test_texts_of_earlier_release_are_decrypted(size: int) -> None:
    key, value = Fernet.generate_key(), ["x" * 100_000, "y" * size]
    text = json.dumps(value).encode()
    pieces = [text] if size == 10 else [text[:200_000], text[200_000:]]
    encrypted = ".".join(Fernet(key).encrypt(piece).decode() for piece in pieces)
    assert ColumnCipher(key).decrypt(encrypted) == value
    with pytest.raises(InvalidToken):
        ColumnCipher(Fernet.generate_key()).decrypt(encrypted)


def test_wrong_key_or_changed_text_is_not_decrypted() -> None:
    key = Fernet.generate_key()
    text = ColumnCipher(key).encrypt("secret")
    with pytest.raises(InvalidTag):
        ColumnCipher(Fernet.generate_key()).decrypt(text)
    with pytest.raises(InvalidTag):
        ColumnCipher(key).decrypt(text[:-8] + ("A" if text[-8] != "A" else "B") + text[-7:])


def test_the_text_shows_nothing_of_the_value() -> None:
    text = ColumnCipher(Fernet.generate_key()).encrypt({"password": "hunter2"})
    _, encoded = text.split(":")
    assert b"hunter2" not in b64decode(encoded)
