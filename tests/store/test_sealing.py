"""Sealed texts open to what was sealed, also when they are opened again."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from cryptography.fernet import Fernet, InvalidToken

from stoker.store.sealing import MOST_KEPT, FernetSeal


def test_who_opens_a_text_again_does_not_see_what_others_did_to_the_value() -> None:
    seal = FernetSeal(Fernet.generate_key())
    text = seal.close({"a": [1]})
    seal.open(text)["a"].append(2)
    assert seal.open(text) == {"a": [1]}


def test_the_same_value_is_sealed_to_another_text_each_time() -> None:
    seal = FernetSeal(Fernet.generate_key())
    assert seal.close({"a": 1}) != seal.close({"a": 1})


def test_texts_are_opened_however_many_there_are() -> None:
    seal = FernetSeal(Fernet.generate_key())
    large = "x" * (MOST_KEPT // 4)
    texts = [seal.close([number, large]) for number in range(4)]
    for _ in range(2):
        assert [seal.open(text)[0] for text in texts] == [0, 1, 2, 3]


def test_what_was_opened_is_kept_within_bounds() -> None:
    seal = FernetSeal(Fernet.generate_key())
    large = "x" * (MOST_KEPT // 8)
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for number in range(16):
        seal.open(seal.close([number, large]))
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before < 2 * MOST_KEPT


@pytest.mark.parametrize("value", ["é\n" * 200_000, {"a": [[]] * 100_000, "b": float("inf")}])
def test_what_is_long_is_sealed_in_pieces_and_opened_again(value: Any) -> None:
    key = Fernet.generate_key()
    assert FernetSeal(key).open(FernetSeal(key).close(value)) == value


def test_a_long_text_that_was_sealed_in_one_piece_is_opened() -> None:
    key, value = Fernet.generate_key(), ["x" * 500_000]
    sealed = Fernet(key).encrypt(json.dumps(value).encode()).decode()
    assert FernetSeal(key).open(sealed) == value


def test_another_key_opens_nothing() -> None:
    text = FernetSeal(Fernet.generate_key()).close("secret")
    with pytest.raises(InvalidToken):
        FernetSeal(Fernet.generate_key()).open(text)
