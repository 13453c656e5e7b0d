"""nginx and Caddy before a daemon, configured as docs/proxies.md says."""

from __future__ import annotations

import http.client
import os
import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.integration.callers import Caller, ListeningDaemon
from tests.polling import GIVE_UP_AFTER_S, block_until
from tests.postgres_servers import free_port

PAGE = Path(__file__).parents[2] / "docs" / "proxies.md"
NAME = "rooms.example.org"
DAEMON = "127.0.0.1:8040"


def block(language: str) -> str:
    """A listing of the page."""
    found = re.search(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found
    return found[1]


def daemon_behind_a_proxy() -> ListeningDaemon:
    settings = block("toml").replace(f'listen = "{DAEMON}"\n', "")
    return ListeningDaemon(config=settings)


class ReverseProxy:
    """`kind` is `nginx` or `caddy`. Skips the test where it is not installed."""

    def __init__(self, kind: str, daemon: ListeningDaemon) -> None:
        program = shutil.which(kind, path=f"{os.environ['PATH']}:/usr/sbin")
        if program is None or shutil.which("openssl") is None:
            pytest.skip(f"needs {kind} and openssl (apt-get install {kind} openssl)")
        self.port = free_port()
        self._directory = daemon.state_dir / kind
        self._directory.mkdir()
        self._make_certificate()
        site = block(kind).replace(DAEMON, f"127.0.0.1:{daemon.port}")
        command = getattr(self, f"_{kind}")(program, site)
        self._log = self._directory / "output.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={"PATH": os.environ["PATH"], "HOME": str(self._directory)},
            )
        block_until(self._listens, self.log)

    def stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(GIVE_UP_AFTER_S)
        finally:
            self._process.kill()
            self._process.wait()

    def log(self) -> str:
        return "".join(path.read_text() for path in self._directory.glob("*.log"))

    def connection(self) -> http.client.HTTPSConnection:
        context = ssl.create_default_context(cafile=str(self._directory / "fullchain.pem"))
        connection = http.client.HTTPSConnection(NAME, self.port)
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=GIVE_UP_AFTER_S)
        connection.sock = context.wrap_socket(plain, server_hostname=NAME)
        return connection

    def _nginx(self, program: str, site: str) -> list[str]:
        here = self._directory
        site = site.replace("listen 443 ssl", f"listen 127.0.0.1:{self.port} ssl")
        site = site.replace(f"/etc/ssl/{NAME}", str(here))
        temporary = "".join(
            f"{name}_temp_path {here}/{name};\n"
            for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        user = "user root;" if os.geteuid() == 0 else ""
        (here / "nginx.conf").write_text(
            f"daemon off;\n{user}\npid {here}/pid;\nerror_log {here}/error.log;\nevents {{}}\n"
            f"http {{\naccess_log {here}/access.log;\n{temporary}\n{site}}}\n"
        )
        return [program, "-c", str(here / "nginx.conf"), "-e", str(here / "error.log")]

    def _caddy(self, program: str, site: str) -> list[str]:
        here = self._directory
        certificate = f"\ttls {here}/fullchain.pem {here}/privkey.pem\n"
        site = site.replace(f"{NAME} {{\n", f"https://{NAME}:{self.port} {{\n{certificate}", 1)
        options = "{\n\tadmin off\n\tauto_https disable_redirects\n}\n"
        (here / "Caddyfile").write_text(options + site)
        return [program, "run", "--config", str(here / "Caddyfile"), "--adapter", "caddyfile"]

    def _make_certificate(self) -> None:
        subprocess.run(
            [
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                "-nodes", "-days", "2", "-subj", f"/CN={NAME}",
                "-addext", f"subjectAltName=DNS:{NAME}",
                "-keyout", self._directory / "privkey.pem",
                "-out", self._directory / "fullchain.pem",
            ],
            check=True,
            capture_output=True,
        )  # fmt: skip

    def _listens(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port)).close()
        except OSError:
            assert self._process.poll() is None, self.log()
            return False
        return True


class Outside:
    """A caller on the other side of a proxy."""

    def __init__(self, proxy: ReverseProxy, caller: Caller) -> None:
        self._proxy = proxy
        self._headers = caller.headers() | {"Host": NAME}

    def send(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> http.client.HTTPSConnection:
        """The connection on which the answer comes."""
        connection = self._proxy.connection()
        sent = self._headers | dict(headers)
        if body is not None:
            sent["Content-Type"] = "application/json"
        connection.request(method, path, body, sent)
        return connection
