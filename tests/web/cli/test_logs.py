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


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_log_line_holds_no_secret_of_a_session_that_is_worked_on(form, tmp_path):
    program = (
        "from appliance.sensitive import SensitiveData\n"
        "secrets = SensitiveData.read({'good.test': {'pw': 'hunter' + '-22'}})\n" + PROGRAM + "import logging\n"
        "structlog.get_logger().info('typed ' + secrets.values[0], seen=['x', {'y': secrets.values[0]}])\n"
        "logging.getLogger('a_library').warning('sent %s', secrets.values[0])\n"
        "try:\n    raise ValueError(secrets.values[0])\n"
        "except ValueError:\n    structlog.get_logger().exception('broke')\n"
    )
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={"LOG_FORMAT": form, "DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert ran.stdout.count("<secret>pw</secret>") >= 4
    assert "hunter-22" not in ran.stdout + ran.stderr
