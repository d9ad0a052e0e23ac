"""Texts decrypt to what was encrypted, also when they are decrypted again."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from cryptography.fernet import Fernet, InvalidToken

from stoker.store.encryption import MOST_KEPT, FernetCipher


def test_who_decrypts_a_text_again_does_not_see_what_others_did_to_the_value() -> None:
    cipher = FernetCipher(Fernet.generate_key())
    text = cipher.encrypt({"a": [1]})
    cipher.decrypt(text)["a"].append(2)
    assert cipher.decrypt(text) == {"a": [1]}


def test_the_same_value_is_encrypted_to_another_text_each_time() -> None:
    cipher = FernetCipher(Fernet.generate_key())
    assert cipher.encrypt({"a": 1}) != cipher.encrypt({"a": 1})


def test_texts_are_decrypted_however_many_there_are() -> None:
    cipher = FernetCipher(Fernet.generate_key())
    large = "x" * (MOST_KEPT // 4)
    texts = [cipher.encrypt([number, large]) for number in range(4)]
    for _ in range(2):
        assert [cipher.decrypt(text)[0] for text in texts] == [0, 1, 2, 3]


def test_what_was_decrypted_is_kept_within_bounds() -> None:
    cipher = FernetCipher(Fernet.generate_key())
    large = "x" * (MOST_KEPT // 8)
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for number in range(16):
        cipher.decrypt(cipher.encrypt([number, large]))
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before < 2 * MOST_KEPT


@pytest.mark.parametrize("value", ["é\n" * 200_000, {"a": [[]] * 100_000, "b": float("inf")}])
def test_what_is_long_is_encrypted_in_pieces_and_decrypted_again(value: Any) -> None:
    key = Fernet.generate_key()
    assert FernetCipher(key).decrypt(FernetCipher(key).encrypt(value)) == value


def test_a_long_text_that_was_encrypted_in_one_piece_is_decrypted() -> None:
    key, value = Fernet.generate_key(), ["x" * 500_000]
    encrypted = Fernet(key).encrypt(json.dumps(value).encode()).decode()
    assert FernetCipher(key).decrypt(encrypted) == value


def test_another_key_decrypts_nothing() -> None:
    text = FernetCipher(Fernet.generate_key()).encrypt("secret")
    with pytest.raises(InvalidToken):
        FernetCipher(Fernet.generate_key()).decrypt(text)
