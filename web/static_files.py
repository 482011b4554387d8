"""Serves the static folder under addresses that carry its version, so that browsers keep files without asking again."""

import mimetypes
from hashlib import sha256
from pathlib import Path
from typing import Any

from litestar import Request, Router, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath
from litestar.response import File, Response

STATIC_DIR = Path(__file__).resolve().parent.parent / "static"
_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_FOREVER = "public, max-age=31536000, immutable"


class StaticFiles:
    """The files of one folder as they are when the process starts.

    The version stands in front of the path and not behind it, so that modules which import each other by relative
    addresses carry it too.
    """

    def __init__(self, folder: Path = STATIC_DIR) -> None:
        self._folder = folder.resolve()
        self._digests = {
            path.relative_to(self._folder).as_posix(): sha256(path.read_bytes()).hexdigest()[:16]
            for path in sorted(self._folder.rglob("*"))
            if path.is_file() and not path.name.startswith(".")
        }
        everything = "\n".join(f"{name} {digest}" for name, digest in self._digests.items())
        self.version = f"v-{sha256(everything.encode()).hexdigest()[:10]}"

    def address(self, name: str) -> str:
        """Return the address of a file by its name inside the folder, such as "css/base.css"."""
        if name not in self._digests:
            raise KeyError(f"static/{name} does not exist; run ops/assets if it is a vendor file")
        return f"/static/{self.version}/{name}"

    def answer(self, path: str, if_none_match: str) -> Response[bytes] | File:
        """Return the file, or 304 when the browser has it; raises NotFoundException."""
        first, _, rest = path.strip("/").partition("/")
        name = rest if first.startswith("v-") else path.strip("/")
        digest = self._digests.get(name)
        if digest is None:
            raise NotFoundException("There is no such file.")
        headers = {
            "ETag": f'"{digest}"',
            "Cache-Control": _FOREVER if first == self.version else "no-cache",
            "X-Content-Type-Options": "nosniff",
        }
        if f'"{digest}"' in if_none_match:
            return Response(b"", status_code=304, headers=headers)
        media_type = _TYPES.get(Path(name).suffix) or mimetypes.guess_type(name)[0] or "text/plain"
        return File(self._folder / name, media_type=media_type, headers=headers, content_disposition_type="inline")


def static_router(files: StaticFiles) -> Router:
    """Return the router of /static."""

    @get("/{path:path}", sync_to_thread=False)
    def serve_file(path: FromPath[str], request: Request[Any, Any, Any]) -> Response[bytes] | File:
        """Serve one file."""
        return files.answer(path, request.headers.get("if-none-match", ""))

    return Router("/static", route_handlers=[serve_file], include_in_schema=False)
