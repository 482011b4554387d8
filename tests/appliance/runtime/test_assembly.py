import asyncio
from datetime import UTC, datetime

import pytest

from appliance.errors import ActionRefused, SettingsInvalid
from appliance.runtime.assembly import make_equipment, make_keys, open_appliance
from appliance.runtime.folders import prepare_data_dir
from appliance.runtime.links import Signer
from appliance.runtime.secret import read_secret
from appliance.runtime.wishes import SessionWish
from appliance.settings import Settings
from appliance.words import FailureKind, SessionStatus


async def _wait_until_ended(appliance, session):
    async with appliance.hub.watch(session.id) as watch, asyncio.timeout(20):
        while not (found := await appliance.sessions.find(session.id)).status.is_final:
            await watch.wait(1)
    return found


async def test_the_secret_is_made_once_for_this_user_only(settings):
    prepare_data_dir(settings)
    secret = read_secret(settings)
    assert read_secret(settings) == secret
    assert (settings.data_dir / "secret.key").stat().st_mode & 0o777 == 0o600
    assert settings.data_dir.stat().st_mode & 0o777 == 0o700
    assert len(secret) >= 32


def test_a_secret_that_is_set_wins_and_a_damaged_one_is_refused(settings, tmp_path):
    assert read_secret(Settings(data_dir=tmp_path, secret_key="given")) == b"given"
    prepare_data_dir(settings)
    (settings.data_dir / "secret.key").write_text("")
    with pytest.raises(SettingsInvalid, match="damaged"):
        read_secret(settings)


def test_a_data_dir_that_is_a_file_is_refused_in_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsInvalid, match="DATA_DIR"):
        prepare_data_dir(Settings(data_dir=tmp_path / "file"))


async def test_it_opens_and_closes_twice_over_and_keeps_its_secret(settings):
    for _ in range(2):
        async with open_appliance(settings) as appliance:
            assert (await appliance.sessions.list_page()).total == 0
            token = appliance.signer.sign("/x", datetime(2100, 1, 1, tzinfo=UTC))
            assert Signer(appliance.secret).verify("/x", token)


async def test_a_second_one_on_the_same_data_is_refused(settings):
    async with open_appliance(settings):
        with pytest.raises(SettingsInvalid, match="Another server"):
            async with open_appliance(settings):
                pass


async def test_without_a_supervisor_a_run_ends_saying_how_to_start_one(settings):
    async with open_appliance(settings) as appliance:
        session = await appliance.sessions.create(SessionWish(task="t", model="autopilot"))
        ended = await _wait_until_ended(appliance, session)
    assert (ended.status, ended.failure, ended.output) == (SessionStatus.ERROR, FailureKind.AGENT_FAILURE, None)
    assert "pilothouse supervise" in (ended.last_step_summary or "")


async def test_of_our_own_server_the_browser_may_open_the_demonstration_site_only(settings, database):
    policy = make_equipment(settings, database, b"").policy
    for host in ("127.0.0.1", "localhost"):
        policy.check_url(f"http://{host}:{settings.port}/demo/wares/x?y=../z")
        for path in (
            "/",
            "/v3/sessions",
            "/demo/../v3/sessions",
            "/demo/%2e%2e/v3/sessions",
            "/demo",
            "/demo/\\..\\v3",
        ):
            with pytest.raises(ActionRefused):
                policy.check_url(f"http://{host}:{settings.port}{path}")
    with pytest.raises(ActionRefused):
        policy.check_url(f"http://x@127.0.0.1:{settings.port}/demo/")
    with pytest.raises(ActionRefused):
        policy.check_url(f"http://127.0.0.1:{settings.cdp_port_base}/demo/")


def test_what_the_settings_say_of_a_compatible_server_reaches_the_models():
    keys = make_keys(
        Settings(compatible_base_url="http://m", compatible_models="a, b", compatible_context_window=8_192)
    )
    assert (keys.compatible_models, keys.compatible_context_window) == (("a", "b"), 8_192)
