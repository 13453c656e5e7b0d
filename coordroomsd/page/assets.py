"""The page's files, as they are in the package: nothing is built, nothing comes from elsewhere."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from coordroomsd.domain.errors import Refusal

FOLDER = Path(__file__).with_name("assets")
SHELL = "index.html"

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}

# What a peer wrote is only ever text on the page; should that fail once, it still runs nothing and
# reaches nobody.
HEADERS = {
    "content-security-policy": "; ".join(
        [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self' data:",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ]
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    "cache-control": "no-cache",
}


class Asset(NamedTuple):
    content: bytes
    media_type: str
    etag: str


class Assets:
    """Read once: they change with the daemon's version."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._files = {
            str(path.relative_to(folder)): _asset(path)
            for path in sorted(folder.rglob("*"))
            if path.suffix in _TYPES
        }

    def answer(self, name: str, request: Request) -> Response:
        """Raises `not_found`."""
        asset = self._files.get(name)
        if asset is None:
            raise Refusal("not_found", f"Nothing is served at {request.url.path}.")
        headers = HEADERS | {"etag": asset.etag}
        known = request.headers.get("if-none-match", "")
        if asset.etag in (tag.strip().removeprefix("W/") for tag in known.split(",")):
            return Response(None, 304, headers)
        return Response(asset.content, 200, headers, asset.media_type)


def _asset(path: Path) -> Asset:
    content = path.read_bytes()
    return Asset(content, _TYPES[path.suffix], f'"{hashlib.sha256(content).hexdigest()[:32]}"')
