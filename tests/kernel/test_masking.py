"""Values are masked in every form in which texts show them."""

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
