import subprocess
import sys

import pytest

PROGRAM = """
import structlog
from appliance.settings import load_settings
from web.cli.logs import set_up_logging

def fail(key):
    raise ValueError("no")

set_up_logging(load_settings())
try:
    fail("sk-" + "secret")
except ValueError:
    structlog.get_logger().exception("it went wrong", run="r1")
"""


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_logged_fault_shows_where_it_happened_and_no_values(form, tmp_path):
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM],
        env={"LOG_FORMAT": form, "DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "it went wrong" in ran.stdout
    assert "ValueError: no" in ran.stdout
    assert "sk-secret" not in ran.stdout
    assert "sk-secret" not in ran.stderr


def test_the_address_of_a_live_view_is_logged_without_its_token(tmp_path):
    program = (
        PROGRAM
        + """
import logging
log = logging.getLogger("uvicorn.error")
log.info('%s - "WebSocket %s" [accepted]', "127.0.0.1", "/live/1/websocket?token=9.secret")
"""
    )
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={"DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert '"WebSocket /live/1/websocket" [accepted]' in ran.stdout
    assert "9.secret" not in ran.stdout
