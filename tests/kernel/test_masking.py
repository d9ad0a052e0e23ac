"""Values are masked in every form in which texts show them."""

import html
import json
import time
from urllib.parse import quote_plus

import pytest

from stoker.kernel.logs.masking import MASK, Masking


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("password s3cr/et is wrong", f"password {MASK} is wrong"),
        ("xs3cr/etx", f"x{MASK}x"),
        ("http://h/?p=s3cr/et", f"http://h/?p={MASK}"),
        ('{"a": "qu\\"ote"}', f'{{"a": "{MASK}"}}'),
        ("abc ab abc", f"abc {MASK} abc"),
        ("1234 and 5", f"{MASK} and 5"),
        ("nothing", "nothing"),
    ],
)
def test_values_are_masked(text: str, masked: str) -> None:
    masking = Masking(["s3cr/et", 'qu"ote', "ab", {"port": 1234, "on": True}, [None, ""], "x"])
    assert masking.text(text) == masked
    assert masking.data({"a": [text, 1]}) == {"a": [masked, 1]}


def test_nothing_to_mask_costs_nothing() -> None:
    masking = Masking(["", None, "x"])
    assert not masking
    assert masking.text("x") == "x"


KEY = "-----BEGIN KEY-----\n" + 'b3Blb"pä' * 20


@pytest.mark.parametrize("length", [10, 30, 79, 200])
@pytest.mark.parametrize("before", ["", "x" * 40])
@pytest.mark.parametrize("end", ["… is no number", "…"])
def test_values_that_were_cut_are_masked(length: int, before: str, end: str) -> None:
    masking = Masking([KEY])
    for form in (KEY, json.dumps(KEY), json.dumps(KEY, ensure_ascii=False)):
        written = before + form.strip('"')
        assert masking.text(f"value: {written[: len(before) + length]}{end}") == (
            f"value: {before}{MASK}{end}"
        )


def test_value_cut_without_ellipsis_is_masked() -> None:
    text = f"{'x' * 80} not {KEY!r:.30}"
    assert Masking([KEY.replace("\n", "")]).text(text.replace("\\n", "")).endswith(f"not '{MASK}")


def test_short_beginnings_of_values_stay() -> None:
    masking = Masking(["password-1"])
    assert masking.text("the pass… is wrong") == "the pass… is wrong"
    assert masking.text("the passwo") == "the passwo"


def test_numbers_are_masked_in_data() -> None:
    data = {"port": 34567, "other": 80, "on": True, "rate": 2.5, "text": "34567"}
    assert Masking([34567, 2.5, 1]).data(data) == {
        "port": MASK,
        "other": 80,
        "on": True,
        "rate": MASK,
        "text": MASK,
    }


def test_long_value_of_one_character_is_masked_quickly() -> None:
    masking, text = Masking(["a" * 100_000 + "b"]), "a" * 100_000
    began = time.process_time()
    assert masking.text(f"{text}…").endswith(f"{MASK}…")
    assert time.process_time() - began < 1.0


@pytest.mark.parametrize(
    "secret", ["it's\"quoted", "a\xa0\x07b", "å\u2028word", "back\\slash", "<a&b>"]
)
@pytest.mark.parametrize("around", ["", "x", "'", '"', "'\""])
def test_values_are_masked_as_messages_write_them(secret: str, around: str) -> None:
    masking, value = Masking([secret]), f"{around}{secret}{around}"
    for written in (repr(value), json.dumps(value), html.escape(value), quote_plus(value)):
        assert masking.text(written).count(MASK) == 1, written


@pytest.mark.parametrize(
    ("secret", "number"),
    [
        ("12345.0", 12345),
        ("0012345", 12345),
        ("12.50", 12.5),
        ("-12345.0", -12345),
        ("1e5", 100000),
    ],
)
def test_numbers_are_masked_in_other_notations(secret: str, number: float) -> None:
    masking = Masking([secret])
    assert masking.data([number, float(number)]) == [MASK, MASK]
    assert masking.text(f"{number} is too large") == f"{MASK} is too large"


def test_both_ends_of_a_long_value_are_masked() -> None:
    secret = "".join(map(str, range(10_000)))
    text = f"before {secret} after"
    for length in (20, 2_000, 9_000):
        assert Masking([secret]).text(f"{text[:length]}…{text[-length:]}") == (
            f"before {MASK}…{MASK} after"
        )


def test_numbers_of_any_size_are_masked() -> None:
    huge, precise = 10**400, 12345678901234567891
    masking = Masking([huge, "1e999", f"00{precise}", 2.5])
    assert masking.data([huge, precise, 2.5, 2]) == [MASK, MASK, MASK, 2]


def test_value_of_a_mebibyte_is_masked_quickly() -> None:
    secret = "".join(f'{number:x} "quoted" & more\n' for number in range(55_000))
    assert len(secret) > 1 << 20
    began = time.process_time()
    masking = Masking([secret, "other"])
    for written in (secret, repr(secret), json.dumps(secret), f"not {secret[:500]}…"):
        assert masking.text(written).count(MASK) == 1
    assert masking.data({"key": secret, "a": "other"}) == {"key": MASK, "a": MASK}
    assert time.process_time() - began < 5.0
