"""One connection through the relay, between a client and a site of our own."""

import asyncio
import struct

from appliance.browser.tunnel import Reached, Tunnel


async def test_what_a_site_says_first_waits_until_the_browser_can_take_it() -> None:
    gone = asyncio.Event()

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello")
        await reader.read()
        writer.close()
        await writer.wait_closed()
        gone.set()

    async def reach(host: str, port: int) -> Reached:
        _, reached = await asyncio.get_running_loop().create_connection(Reached, host, port)
        # What has arrived by now would be handed over in the next rounds of the loop.
        for _ in range(100):
            await asyncio.sleep(0.001)
        return reached

    tunnels: set[Tunnel] = set()
    site = await asyncio.start_server(greet, "127.0.0.1", 0)
    relay = await asyncio.get_running_loop().create_server(lambda: Tunnel(reach, tunnels), "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", relay.sockets[0].getsockname()[1])
    greeting, address = b"\x05\x01\x00", b"\x05\x01\x00\x01\x7f\x00\x00\x01"
    writer.write(greeting + address + struct.pack("!H", site.sockets[0].getsockname()[1]))
    async with asyncio.timeout(20):
        assert (await reader.readexactly(2 + 10 + 5))[12:] == b"hello"
        writer.close()
        await writer.wait_closed()
        await gone.wait()
    for tunnel in tuple(tunnels):
        tunnel.abort()
    for server in (site, relay):
        server.close()
        await server.wait_closed()
    # Ends that were cut are closed in the next round of the loop.
    await asyncio.sleep(0.01)
