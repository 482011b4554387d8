"""Teams, their keys and their caps from the command line, with no server running."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from appliance.errors import PilothouseError
from web.cli.main import build_app


@pytest.fixture
def call(tmp_path: Path) -> Callable[..., str]:
    def run(*arguments: str) -> str:
        environment = {**os.environ, "DATA_DIR": str(tmp_path / "data"), "RUN_DIR": str(tmp_path / "run")}
        result = CliRunner().invoke(build_app(list(arguments)), list(arguments), env=environment)
        if isinstance(result.exception, PilothouseError):
            raise result.exception
        assert result.exit_code == 0, result.output
        return result.output.strip()

    return run


def test_a_team_gets_a_key_and_a_cap_which_is_raised_and_removed(call: Callable[..., str]) -> None:
    team = call("team", "create", "Harbour", "--zone", "Europe/Berlin")
    assert f"{team}  Harbour  (Europe/Berlin)" in call("team", "list")
    assert call("key", "create", "robot", "--team", "Harbour").startswith("ph_")
    assert "Nothing is capped" in call("cap", "list")
    made = call("cap", "set", "team", "month", "--id", team, "--hard", "5", "--soft", "3")
    assert "the team Harbour, month: $0.00 of $5.00 (hard); begins anew on" in made
    cap = made.split()[0]
    assert "$0.00 of $7.50 (hard)" in call("cap", "raise", cap, "2.5", "--days", "2")
    assert cap in call("cap", "list")
    call("cap", "remove", cap)
    assert "Nothing is capped" in call("cap", "list")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("cap", "set", "instance", "day", "--hard", "NaN"), "hardUsd is an amount"),
        (("cap", "set", "instance", "day", "--hard", "much"), "--hard is an amount"),
        (("cap", "set", "instance", "day"), "needs an amount"),
        (("cap", "set", "team", "day", "--hard", "1", "--id", "x"), "is no id"),
        (("key", "create", "robot", "--team", "Nobody"), "There is no team called 'Nobody'"),
        (("team", "create", "Harbour", "--zone", "Mars"), "There is no time zone 'Mars'"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(
    call: Callable[..., str], arguments: tuple[str, ...], reason: str
) -> None:
    with pytest.raises(PilothouseError, match=reason):
        call(*arguments)
