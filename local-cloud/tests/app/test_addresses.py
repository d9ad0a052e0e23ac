"""Clouds on one machine never share floating addresses, even with different users."""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from localcloud.process.addresses import AddressRangeError, claim_range


def test_concurrent_clouds_have_different_ranges(tmp_path: Path) -> None:
    ranges = [claim_range(tmp_path / str(number) / "cloud") for number in range(40)]
    assert len({each.cidr for each in ranges}) == 40
    for each in ranges:
        each.claim.close()


def test_restarted_cloud_keeps_its_range(tmp_path: Path) -> None:
    first = claim_range(tmp_path)
    first.claim.close()
    with claim_range(tmp_path).claim, pytest.raises(AddressRangeError, match="Stop that one"):
        claim_range(tmp_path, patience=0)


def test_cloud_of_earlier_release_keeps_its_addresses(tmp_path: Path) -> None:
    (tmp_path / "cloud.sqlite").touch()
    with (found := claim_range(tmp_path)).claim:
        assert found.cidr == "127.24.4.0/24"


def test_range_of_a_killed_process_is_awaited(tmp_path: Path) -> None:
    program = (
        "import sys, time; from pathlib import Path\n"
        "from localcloud.process.addresses import claim_range\n"
        "held = claim_range(Path(sys.argv[1])); print(held.cidr, flush=True); time.sleep(100)"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        cidr = process.stdout.readline().strip()
        with pytest.raises(AddressRangeError):
            claim_range(tmp_path, patience=0)
        killer = threading.Timer(0.3, process.kill)
        killer.start()
        with (found := claim_range(tmp_path)).claim:
            assert found.cidr == cidr
        killer.join()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user, whom root alone can be")
def test_no_user_gets_what_another_has_claimed(tmp_path: Path) -> None:
    mine = claim_range(tmp_path / "mine")
    theirs = Path(tempfile.mkdtemp(dir="/tmp"))
    theirs.chmod(0o777)
    (theirs / "floating-range").write_text(str(mine.number))
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.setuid(65534)
            claim_range(theirs, patience=0)
        except AddressRangeError:
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0
    mine.claim.close()
    shutil.rmtree(theirs)
