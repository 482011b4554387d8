import os
import subprocess
import sys
from pathlib import Path

from appliance.runtime.processes import find_groups_with, group_exists, kill_group, read_start_ticks


def test_a_group_is_found_by_its_command_line_and_killed_with_all_in_it(tmp_path):
    mark = f"{tmp_path}/browsers/"
    script = "import subprocess, sys; subprocess.run(['sleep', '60'])"
    process = subprocess.Popen([sys.executable, "-c", script, f"--user-data-dir={mark}1"], start_new_session=True)
    try:
        assert find_groups_with(mark) == {process.pid}
        assert read_start_ticks(process.pid) is not None
        assert kill_group(process.pid)
    finally:
        process.kill()
        process.wait(5)
    assert not find_groups_with(mark)
    assert read_start_ticks(process.pid) is None


def test_our_own_group_is_never_among_those_found():
    own_command = Path(f"/proc/{os.getpid()}/cmdline").read_text().split("\0")[0]
    assert os.getpgrp() not in find_groups_with(own_command)


def test_a_group_that_is_gone_is_told_apart():
    process = subprocess.Popen(["true"], start_new_session=True)
    process.wait(5)
    assert not group_exists(process.pid)
    assert not kill_group(process.pid)
