"""Whether the server says truthfully that it can work."""

import subprocess
import sys
from pathlib import Path

CODE = """
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from pydantic import SecretStr

from tests.web.api.running import run_server

folder, key = Path(sys.argv[1]), sys.argv[2]
with contextmanager(run_server)(folder, anthropic_api_key=SecretStr(key) if key else None) as server:
    with server.client(headers={}) as http:
        answers = [http.get("/readyz")]
        while answers[-1].status_code != 200 and len(answers) < 2_000:
            assert answers[-1].status_code == 503, answers[-1].text
            assert "models' clients" in answers[-1].json()["detail"]
            time.sleep(0.02)
            answers.append(http.get("/readyz"))
print(answers[-1].status_code, len(answers) > 1, "anthropic" in sys.modules, "openai" in sys.modules)
"""


def serve(folder: Path, key: str) -> list[str]:
    """What a fresh process says: the last status of /readyz, whether it had to wait, and which clients it loaded."""
    command = [sys.executable, "-c", CODE, str(folder), key]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1].split()


def test_a_server_with_a_key_is_ready_once_the_client_for_it_is_loaded(tmp_path: Path):
    assert serve(tmp_path, "sk-x") == ["200", "True", "True", "False"]


def test_a_server_without_keys_loads_no_client_and_is_ready_at_once(tmp_path: Path):
    assert serve(tmp_path, "") == ["200", "False", "False", "False"]
