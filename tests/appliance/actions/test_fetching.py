import gzip
import ssl
import zlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from appliance.actions.fetching import Fetched, Wanted, fetch
from appliance.addresses import Address
from appliance.browser.policy import Policy
from appliance.errors import ActionFailed, ActionRefused
from tests.appliance.actions.answering import Server

FREE = Policy(private_allowed=("loopback",))


async def get(url: str, policy: Policy = FREE, **options: int) -> Fetched:
    return await fetch(policy, Wanted(url), anything, **options)


def anything(wanted: Wanted) -> None:
    """Let everything be sent."""


def make_certificate(name: str) -> bytes:
    """Return a certificate that nobody vouches for, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject, now = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]), datetime.now(UTC)
    builder = x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return private + builder.sign(key, hashes.SHA256()).public_bytes(pem)


class Resolver:
    """Gives one answer after the other and counts how often it was asked."""

    def __init__(self, *answers: str) -> None:
        self.answers, self.asked = answers, 0

    async def __call__(self, host: str) -> tuple[Address, ...]:
        answer = self.answers[min(self.asked, len(self.answers) - 1)]
        self.asked += 1
        return (ip_address(answer),)


async def test_a_name_is_looked_up_once_and_the_connection_goes_where_that_led():
    async with Server("127.0.0.2") as meant, Server("127.0.0.1", meant.port) as inside:
        meant.say("/", b"the site")
        inside.say("/", b"a secret")
        resolve = Resolver("127.0.0.2", "127.0.0.1")
        policy = Policy(private_allowed=("127.0.0.2",), resolve=resolve)
        got = await get(meant.url("/", "site.example"), policy)
        assert got.data == b"the site"
        assert resolve.asked == 1
        assert meant.asked[0].headers["host"] == f"site.example:{meant.port}"
        assert not inside.asked
        with pytest.raises(ActionRefused, match="private network"):
            await get(meant.url("/", "site.example"), policy)
        assert not inside.asked


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("http://169.254.169.254/latest/meta-data/", "metadata"),
        ("http://metadata.google.internal/", "credentials"),
        ("http://[::ffff:169.254.169.254]/", "metadata"),
        ("http://2852039166/", "metadata"),
        ("http://10.1.2.3/", "private network"),
        ("http://inside.example/", "private network"),
        ("http://localhost:8420/", "belongs to this appliance"),
        ("http://127.0.0.1:25/", "another kind of server"),
        ("file:///etc/passwd", "only http and https"),
        ("ftp://127.0.0.1/", "only http and https"),
        ("http://evil.example/", "outside the domains"),
        ("http://site.example@evil.example/", "outside the domains"),
    ],
)
async def test_a_redirect_is_judged_like_any_address(server: Server, target: str, reason: str):
    policy = Policy(
        own_ports=frozenset({8420}),
        private_allowed=("loopback",),
        resolve=Resolver("10.0.0.7"),
    )
    if "domains" in reason:
        policy = replace(policy, allowed_domains=("127.0.0.1", "site.example"))
    server.say("/go", b"", f"Location: {target}", status="302 Found")
    with pytest.raises(ActionRefused, match=reason):
        await get(server.url("/go"), policy)
    with pytest.raises(ActionRefused, match=reason):
        await get(target, policy)
    assert server.lines == ["GET /go HTTP/1.1"]


async def test_a_port_of_ours_is_refused_by_every_address_of_this_machine(server: Server):
    own = replace(FREE, own_ports=frozenset({server.port}))
    for host in ("127.0.0.1", "localhost", "[::1]", "0x7f.1", "127.1"):
        with pytest.raises(ActionRefused, match="belongs to this appliance"):
            await get(server.url("/", host), own)
    allowed = replace(own, own_pages=(server.url("/demo/"),))
    server.say("/demo/", b"a shop")
    assert (await get(server.url("/demo/"), allowed)).data == b"a shop"
    with pytest.raises(ActionRefused, match="belongs to this appliance"):
        await get(server.url("/demo/../admin"), allowed)


async def test_what_was_judged_is_what_is_asked_for(server: Server):
    server.say("/a b", b"")
    await get(f"http://good.test\\@127.0.0.1:{server.port}/x".replace("good.test\\@", "user:pa%20ss@"))
    assert server.asked[0].headers["authorization"] == "Basic dXNlcjpwYSBzcw=="
    await get(server.url("/ü b?q=ä&r=%41#part"))
    await get(server.url("?only=query"))
    await get(server.url("\\back\\slash"))
    paths = [line.split(" ")[1] for line in server.lines]
    assert paths == ["/x", "/%C3%BC%20b?q=%C3%A4&r=%41", "/?only=query", "/back/slash"]


async def test_nothing_of_the_browser_and_no_cookie_goes_along(server: Server):
    server.say("/one", b"", "Location: /two", "Set-Cookie: a=b", status="302 Found")
    server.say("/two", b"there")
    got = await get(server.url("/one"))
    assert (got.data, got.url) == (b"there", server.url("/two"))
    assert set(server.asked[1].headers) == {"host", "accept", "accept-encoding", "user-agent"}


async def test_a_redirect_to_another_site_takes_no_key_along():
    async with Server() as first, Server("127.0.0.2") as second:
        first.say("/", b"", f"Location: {second.url('/')}", status="307 Temporary Redirect")
        second.say("/", b"ok")
        headers = {"authorization": "Bearer x", "x-api-key": "k", "cookie": "c=d", "content-type": "text/plain"}
        await fetch(FREE, Wanted(first.url("/"), "POST", headers, b"body"), anything)
        assert first.asked[0].headers["x-api-key"] == "k"
        assert second.asked[0].line.startswith("POST")
        assert second.asked[0].body == b"body"
        assert second.asked[0].headers["content-type"] == "text/plain"
        assert not {"authorization", "x-api-key", "cookie"} & set(second.asked[0].headers)


async def test_a_post_that_is_redirected_is_followed_as_browsers_do(server: Server):
    server.say("/form", b"", "Location: /done", status="303 See Other")
    server.say("/done", b"thanks")
    got = await fetch(FREE, Wanted(server.url("/form"), "POST", {"content-type": "text/plain"}, b"x"), anything)
    assert got.data == b"thanks"
    assert server.lines[1] == "GET /done HTTP/1.1"
    assert "content-type" not in server.asked[1].headers


async def test_redirects_without_end_are_given_up(server: Server):
    server.say("/", b"", "Location: /", status="302 Found")
    with pytest.raises(ActionFailed, match="redirects more than 10 times"):
        await get(server.url("/"))


async def test_a_compression_bomb_makes_no_more_than_there_is_room_for(server: Server):
    bomb = gzip.compress(b"0" * 60_000_000)
    server.say("/", bomb, "Content-Encoding: gzip")
    got = await get(server.url("/"), max_bytes=100_000)
    assert len(got.data) == 100_000
    assert "only its first 100,000 bytes" in got.lack


@pytest.mark.parametrize("frame", [15, -15])
async def test_deflate_is_read_with_its_frame_and_without(server: Server, frame: int):
    packer = zlib.compressobj(wbits=frame)
    server.say("/", packer.compress(b"hello " * 50) + packer.flush(), "Content-Encoding: deflate")
    assert (await get(server.url("/"))).data == b"hello " * 50


async def test_a_compression_that_was_not_asked_for_is_said(server: Server):
    server.say("/", b"\x0b\x02\x80hello\x03", "Content-Encoding: br")
    with pytest.raises(ActionFailed, match="compressed as 'br'"):
        await get(server.url("/"))


async def test_an_answer_that_breaks_off_is_handed_over_as_far_as_it_came(server: Server):
    server.says["/"] = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nthe beginning"
    got = await get(server.url("/"))
    assert got.data == b"the beginning"
    assert "broke off" in got.lack
    server.says["/zip"] = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 9\r\n\r\nnot a zip"
    assert "compression is broken" in (await get(server.url("/zip"))).lack


async def test_an_answer_without_end_is_handed_over_when_the_time_is_up(server: Server):
    server.stays_open = True
    server.says["/"] = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nthe beginning"
    got = await get(server.url("/"), seconds=2)
    assert got.data == b"the beginning"
    assert "did not end within 2 s" in got.lack


async def test_a_server_that_never_answers_is_given_up(server: Server):
    server.stays_open = True
    server.says["/"] = b""
    with pytest.raises(ActionFailed, match="did not answer within 1 s"):
        await get(server.url("/"), seconds=1)


async def test_no_server_and_no_http_are_told_apart(server: Server):
    server.says["/"] = b"220 mail.example ESMTP\r\n"
    with pytest.raises(ActionFailed, match="gave no answer that can be read"):
        await get(server.url("/"))
    async with Server() as gone:
        pass
    with pytest.raises(ActionFailed, match="cannot be reached"):
        await get(gone.url("/"))

    async def unknown(host: str) -> tuple[Address, ...]:
        raise OSError(host)

    with pytest.raises(ActionFailed, match="cannot be resolved"):
        await get("http://nowhere.example/", replace(FREE, resolve=unknown))


async def test_a_certificate_is_asked_for_by_name_and_checked(tmp_path: Path):
    certificate = tmp_path / "certificate.pem"
    certificate.write_bytes(make_certificate("site.example"))
    names: list[str | None] = []
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    tls.sni_callback = lambda _socket, name, _context: names.append(name)
    async with Server(tls=tls) as server:
        policy = replace(FREE, resolve=Resolver("127.0.0.1"))
        with pytest.raises(ActionFailed, match="CERTIFICATE_VERIFY_FAILED"):
            await get(server.url("/", "site.example"), policy)
    assert names == ["site.example"]


async def test_what_may_not_be_sent_is_refused_before_and_after_a_redirect(server: Server):
    async with Server("127.0.0.2") as other:
        server.say("/", b"", f"Location: {other.url('/')}", status="307 Temporary Redirect")

        def only_here(wanted: Wanted) -> None:
            if wanted.body and not wanted.url.startswith(server.url("")):
                raise ActionRefused("That must not go there.")

        with pytest.raises(ActionRefused, match="It redirects on, and That must not go there"):
            await fetch(FREE, Wanted(server.url("/"), "POST", {}, b"x"), only_here)
        assert not other.asked
