"""A server that says to the byte what it is told to say, and keeps what it was asked."""

import asyncio
import ssl
from dataclasses import dataclass, field
from typing import Self


@dataclass
class Asked:
    """One request: its first line, its headers by lower-case name, its body."""

    line: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Server:
    """Answers each path with the bytes in `says`, whole answers with their heads; then hangs up."""

    host: str = "127.0.0.1"
    port: int = 0
    tls: ssl.SSLContext | None = None
    says: dict[str, bytes] = field(default_factory=dict[str, bytes])
    asked: list[Asked] = field(default_factory=list[Asked])
    stays_open: bool = False

    def url(self, path: str = "/", host: str = "") -> str:
        scheme = "https" if self.tls else "http"
        return f"{scheme}://{host or self.host}:{self.port}{path}"

    def say(self, path: str, body: bytes, *head: str, status: str = "200 OK") -> str:
        """Answer a path with a body and header lines; returns its address."""
        lines = [f"HTTP/1.1 {status}", *head, f"Content-Length: {len(body)}", "", ""]
        self.says[path] = "\r\n".join(lines).encode() + body
        return self.url(path)

    @property
    def lines(self) -> list[str]:
        return [asked.line for asked in self.asked]

    async def __aenter__(self) -> Self:
        self._over = asyncio.Event()
        self._server = await asyncio.start_server(self._serve, self.host, self.port, ssl=self.tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._over.set()
        self._server.close()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = dict(line.split(": ", 1) for line in head[1:] if line)
            headers = {name.lower(): value for name, value in headers.items()}
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            self.asked.append(Asked(head[0], headers, body))
            path = head[0].split(" ")[1].partition("?")[0]
            writer.write(self.says.get(path, b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"))
            await writer.drain()
            if self.stays_open:
                await self._over.wait()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
