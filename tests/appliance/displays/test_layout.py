import os
import re
from pathlib import Path

import pytest

from appliance.displays.layout import OPS_DIR, PoolLayout, remove_run_dir
from appliance.errors import SettingsInvalid


def test_every_variable_of_the_configuration_is_provided(tmp_path: Path) -> None:
    texts = [(OPS_DIR / "supervisord.conf").read_text(), *(path.read_text() for path in (OPS_DIR / "pool").iterdir())]

    used = {name for text in texts for name in re.findall(r"PILOTHOUSE_[A-Z_]+|XAUTHORITY", text)}

    assert used == PoolLayout(1, Path("/tmp/run"), tmp_path).environment().keys()


def test_slots_count_up_from_the_bases(tmp_path: Path) -> None:
    layout = PoolLayout(3, Path("/tmp/run"), tmp_path, display_base=20, bridge_port_base=7000, cdp_port_base=8000)

    slot = layout.slot(2)

    assert (slot.display, slot.bridge_port, slot.cdp_port) == (22, 7002, 8002)
    assert slot.vnc_socket == Path("/tmp/run/vnc-02.sock")
    assert layout.slot(2).bridge_token != slot.bridge_token


@pytest.mark.parametrize("run_dir", ["/tmp/" + "x" * 90, "/tmp/a:b"])
def test_a_run_folder_that_sockets_cannot_be_in_is_refused(tmp_path: Path, run_dir: str) -> None:
    with pytest.raises(SettingsInvalid, match="RUN_DIR"):
        PoolLayout(1, Path(run_dir), tmp_path)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_a_run_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    run_dir = tmp_path / "r"
    run_dir.mkdir()
    os.chown(run_dir, 1, 1)

    with pytest.raises(SettingsInvalid, match="not a folder of this user"):
        PoolLayout(1, run_dir, tmp_path / "logs").make_folders()


def test_a_link_in_place_of_the_run_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "r").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(SettingsInvalid, match="not a folder of this user"):
        PoolLayout(1, tmp_path / "r", tmp_path / "logs").make_folders()


def test_a_log_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")

    with pytest.raises(SettingsInvalid, match=f"Cannot prepare {tmp_path}/data"):
        PoolLayout(1, tmp_path / "r", tmp_path / "data" / "logs").make_folders()


def test_the_run_folder_is_removed_unless_it_holds_what_is_not_ours(tmp_path: Path) -> None:
    for name in ("r", "shared"):
        PoolLayout(1, tmp_path / name, tmp_path / "logs").make_folders()
        (tmp_path / name / "browsers").mkdir()
        (tmp_path / name / "screen-00").write_text("1920x1080")
    (tmp_path / "shared" / "other.sock").touch()

    remove_run_dir(tmp_path / "r")
    remove_run_dir(tmp_path / "shared")

    assert not (tmp_path / "r").exists()
    assert [path.name for path in (tmp_path / "shared").iterdir()] == ["other.sock"]
