import subprocess
import sys
from pathlib import Path

import pytest

from appliance.settings import Settings, find_unknown_names


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "http://127.0.0.1:8420"),
        ("0.0.0.0", "http://127.0.0.1:8420"),
        ("::", "http://[::1]:8420"),
        ("fd00::5", "http://[fd00::5]:8420"),
        ("box.example", "http://box.example:8420"),
    ],
)
def test_the_server_is_reached_from_its_machine_at_an_address_that_a_browser_takes(host: str, address: str) -> None:
    settings = Settings(host=host, port=8420, public_url="")
    assert settings.local_url == address
    assert settings.base_url == address


def test_links_are_made_with_the_public_address_where_there_is_one() -> None:
    settings = Settings(port=8420, public_url="https://helm.example/")
    assert settings.base_url == "https://helm.example"
    assert settings.local_url == "http://127.0.0.1:8420"


def test_the_environment_wins_over_secret_files_and_those_over_the_env_files(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / ".env").write_text("API_KEY=data\nADMIN_EMAIL=data\nOPENAI_API_KEY=data\nDEFAULT_MODEL=data\n")
    (tmp_path / ".env").write_text("API_KEY=here\nADMIN_EMAIL=here\nDEFAULT_MODEL=here\nPUBLIC_URL=here\n")
    (tmp_path / "secret").write_text("file\n")
    look = (
        "from appliance.settings import load_settings; s = load_settings();"
        "print(s.api_key.get_secret_value(), s.admin_email, s.default_model, s.public_url)"
    )
    environment = {
        "API_KEY": "environment",
        "API_KEY_FILE": str(tmp_path / "secret"),
        "ADMIN_EMAIL_FILE": str(tmp_path / "secret"),
    }
    said = subprocess.run(
        [sys.executable, "-c", look], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert said.stdout.split() == ["environment", "file", "data", "here"]


def test_a_misspelt_setting_is_noticed_and_a_stranger_is_not() -> None:
    assert find_unknown_names({"ADMIN_EMIAL": "", "API_KEY_FILE": "", "EDITOR": "", "PORT": ""}) == ["ADMIN_EMIAL"]
