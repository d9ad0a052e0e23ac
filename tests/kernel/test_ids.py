"""Ids have their documented form, and no two processes draw the same one."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

from stoker.kernel.ids import RandomIds

FORKED = """
import os
from stoker.kernel.ids import RandomIds
ids = RandomIds()
ids.uuid()  # what was drawn with it is there
reading, writing = os.pipe()
if os.fork() == 0:
    os.write(writing, ids.uuid().encode())
    os._exit(0)
print(ids.uuid(), os.read(reading, 36).decode())
"""


def test_ids_have_their_documented_form() -> None:
    ids = RandomIds()
    for _ in range(1000):
        drawn = uuid.UUID(text := ids.uuid())
        assert (str(drawn), drawn.version, drawn.variant) == (text, 7, uuid.RFC_4122)
        assert re.fullmatch("[a-z2-7]{12}", ids.token())


def test_ids_start_with_the_present_time() -> None:
    ids = RandomIds()
    before = time.time_ns() // 1_000_000
    drawn = [ids.uuid() for _ in range(2000)]
    after = time.time_ns() // 1_000_000
    moments = [uuid.UUID(text).int >> 80 for text in drawn]
    assert before <= moments[0]
    assert moments[-1] <= after
    # Ids of one tick of the clock have any order; all others have that of their creation.
    stamps = [text[:18] for text in drawn]
    assert stamps == sorted(stamps)
    assert len(set(stamps)) > len(drawn) // 100


def test_seeded_ids_repeat() -> None:
    one, other = RandomIds(random.Random(7)), RandomIds(random.Random(7))
    assert [one.uuid() for _ in range(50)] == [other.uuid() for _ in range(50)]


def test_threads_draw_ids_of_their_own() -> None:
    ids = RandomIds()
    with ThreadPoolExecutor(8) as pool:
        drawn = list(pool.map(lambda _: (ids.uuid(), ids.token()), range(20_000)))
    assert len({each for each, _ in drawn}) == len({each for _, each in drawn}) == len(drawn)


def test_forked_process_draws_its_own_ids() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKED],
        env=os.environ,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    ours, its = done.stdout.split()
    assert ours != its
