from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

from appliance.runtime.links import Signer, live_path, live_url

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def test_a_token_opens_its_path_until_it_expires():
    signer = Signer(b"secret")
    token = signer.sign("/live/1", NOON)
    assert signer.verify("/live/1", token, NOON - timedelta(seconds=1))
    assert not signer.verify("/live/1", token, NOON)


def test_a_token_of_another_path_or_secret_opens_nothing():
    token = Signer(b"secret").sign("/live/1", NOON)
    before = NOON - timedelta(hours=1)
    assert not Signer(b"secret").verify("/live/2", token, before)
    assert not Signer(b"other").verify("/live/1", token, before)


def test_a_token_with_a_later_time_written_into_it_opens_nothing():
    signer = Signer(b"secret")
    seconds, mac = signer.sign("/live/1", NOON).split(".")
    assert not signer.verify("/live/1", f"{int(seconds) + 60}.{mac}", NOON)


def test_nonsense_is_refused_without_a_fault():
    signer = Signer(b"secret")
    for token in ("", ".", "x.y", "²³.a", "9" * 400 + ".a", "1", "-1.a", "12.ä"):
        assert not signer.verify("/live/1", token, NOON)


def test_the_live_address_is_absolute_signed_and_stays_the_same():
    signer = Signer(b"secret")
    session_id = uuid4()
    address = urlsplit(live_url("http://box:8420", signer, session_id))
    assert f"{address.scheme}://{address.netloc}{address.path}" == f"http://box:8420/live/{session_id}"
    assert signer.verify(live_path(session_id), parse_qs(address.query)["token"][0])
    assert live_url("http://box:8420", signer, session_id) == address.geturl()
