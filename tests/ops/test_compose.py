import re
from pathlib import Path

from appliance.settings import Settings

COMPOSE = (Path(__file__).parents[2] / "compose.yaml").read_text()
FIXED = {
    *("DATA_DIR", "RUN_DIR", "HOST", "PORT", "CHROMIUM_PATH"),
    *("DISPLAY_BASE", "BRIDGE_PORT_BASE", "CDP_PORT_BASE"),
}
"""What is as it is in the image."""


def test_every_setting_that_is_not_the_image_s_own_reaches_the_container() -> None:
    passed_on = set(re.findall(r"^      ([A-Z_]+):$", COMPOSE, re.MULTILINE))
    assert passed_on == {name.upper() for name in Settings.model_fields} - FIXED


def test_the_container_has_no_rights_but_those_of_the_keeper() -> None:
    assert "cap_drop: [ALL]\n" in COMPOSE
    assert "cap_add: [SETUID, SETGID, KILL]\n" in COMPOSE
    assert "- no-new-privileges:true\n" in COMPOSE
    assert "privileged: true" not in COMPOSE
