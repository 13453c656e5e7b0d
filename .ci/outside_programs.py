"""Programs that nobody here wrote use the daemon: the MCP Inspector, MCP's conformance tests, and a
generated HTTP client.

    .venv/bin/python .ci/outside_programs.py DIRECTORY

All are installed into DIRECTORY, the generator by pip, the others by npm.
"""

import asyncio
import json
import os
import socket
import subprocess
import sys
import urllib.request
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

COMMANDS = Path(sys.executable).parent
INSPECTOR = "@modelcontextprotocol/inspector@<3"
# Those after it need a newer Node.js than Debian has.
CONFORMANCE = "@modelcontextprotocol/conformance@0.1.13"
GENERATOR = "openapi-python-client>=0.29,<0.30"

# What concerns a server that has tools. The others call tools, resources and prompts of their own.
SCENARIOS = (
    "server-initialize",
    "ping",
    "tools-list",
    "tools-call-error",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
)

# Runs with the generator's Python, in the folder that the client was generated into.
POSTS_AND_READS = """
import sys
import httpx
from rooms_api import Client
from rooms_api.api.default import create_room, list_messages, post_messages, wait_in_room
from rooms_api.models import NewMessages, NewRoom
socket = {"transport": httpx.HTTPTransport(uds=sys.argv[1])}
client = Client("http://localhost", raise_on_unexpected_status=True, httpx_args=socket)
me = {"client": client, "coordrooms_conversation": "generated"}
made = create_room.sync(body=NewRoom.from_dict({"name": "generated"}), **me)
said = {"messages": [{"kind": "decision", "body": "from a generated client"}]}
post_messages.sync(made.room.slug, body=NewMessages.from_dict(said), **me)
page = list_messages.sync(made.room.slug, **me)
assert [message.body for message in page.messages] == ["from a generated client"], page
assert wait_in_room.sync(made.room.slug, timeout_s=0, **me).reason == "timeout"
refused = post_messages.sync("nowhere", body=NewMessages.from_dict(said), **me)
assert refused.code == "room_not_found", refused
"""


def main(directory: Path) -> None:
    install(directory)
    with daemon() as running:
        inspect(directory, running.socket)
        asyncio.run(conform(directory, running))
        generate(directory, running.socket)


def install(directory: Path) -> None:
    npm = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", directory]
    run(*npm, INSPECTOR, CONFORMANCE)
    venv.create(directory / "generator", with_pip=True)
    run(directory / "generator/bin/pip", "install", "-qq", GENERATOR)


class Running(NamedTuple):
    socket: Path
    config: Path
    port: int
    # Where `conform` listens, which the daemon takes for a name of its own.
    proxy_port: int


@contextmanager
def daemon() -> Iterator[Running]:
    """A daemon of our own."""
    with TemporaryDirectory(prefix="coordrooms-", dir="/tmp") as folder:
        os.chmod(folder, 0o711)
        paths = Path(folder, "s.sock"), Path(folder, "config.toml")
        running = Running(*paths, free_port(), free_port())
        running.config.write_text(
            f'[server]\nlisten = "127.0.0.1:{running.port}"\n'
            f'hosts = ["127.0.0.1:{running.proxy_port}", "localhost:{running.proxy_port}"]\n'
        )
        places = ["--state-dir", folder, "--socket", running.socket, "--config", running.config]
        serve = [COMMANDS / "coordroomsd", "serve", *places]
        process = subprocess.Popen(serve, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            # Its first line says that it serves.
            assert str(running.socket) in process.stdout.readline(), "the daemon did not start"
            yield running
        finally:
            process.terminate()
            process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def inspect(directory: Path, socket: Path) -> None:
    """The Inspector's command line lists the tools, makes a room and waits in it."""
    cli = [directory / "node_modules/.bin/mcp-inspector", "--cli"]
    server = ["-e", f"COORDROOMS_URL=unix:{socket}", COMMANDS / "coordrooms", "mcp"]

    def ask(method: str, *arguments: str) -> dict:
        return json.loads(run(*cli, *server, "--method", method, *arguments))

    def call(tool: str, **arguments: object) -> dict:
        named = [f"{name}={value}" for name, value in arguments.items()]
        answer = ask("tools/call", "--tool-name", tool, "--tool-arg", *named)
        assert not answer.get("isError"), answer
        return answer["structuredContent"]["result"]

    tools = {tool["name"] for tool in ask("tools/list")["tools"]}
    assert {"create_room", "write_messages", "wait"} <= tools, tools
    made = call("create_room", roomName="inspected", conversationId="inspector")
    assert made["room"]["name"] == "inspected", made
    waited = call("wait", room="inspected", conversationId="inspector", timeout_s=1)
    assert waited["reason"] == "timeout", waited
    print("the MCP Inspector lists the tools and calls wait")


async def conform(directory: Path, running: Running) -> None:
    """MCP's own tests of a server. They carry no token: they come through a proxy that adds it."""
    enroll = ["enroll", "conformance", "--config", running.config, "--socket", running.socket]
    code = run(COMMANDS / "coordroomsd", *enroll).strip()
    token = taken_up(code, f"http://127.0.0.1:{running.port}/api/v1/enroll")
    credential = [f"Authorization: Bearer {token}".encode(), b"Connection: close"]

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n"))[:-4].split(b"\r\n")
        except asyncio.IncompleteReadError:  # a connection that was kept and is not needed
            writer.close()
            return
        head = [line for line in head if not line.lower().startswith(b"connection:")]
        answers, calls = await asyncio.open_connection("127.0.0.1", running.port)
        calls.write(b"\r\n".join([*head, *credential, b"", b""]))
        await asyncio.gather(pump(reader, calls), pump(answers, writer))

    command = [directory / "node_modules/.bin/conformance", "server", "--output-dir", directory]
    url = f"http://127.0.0.1:{running.proxy_port}/mcp"
    async with await asyncio.start_server(forward, "127.0.0.1", running.proxy_port):
        for scenario in SCENARIOS:
            asked = [*command, "--url", url, "--scenario", scenario]
            await asyncio.to_thread(run, *asked)
    print(f"MCP's conformance tests pass: {', '.join(SCENARIOS)}")


def taken_up(code: str, url: str) -> str:
    """The token that a one-time code becomes."""
    headers = {"Content-Type": "application/json"}
    call = urllib.request.Request(url, json.dumps({"code": code}).encode(), headers)
    with urllib.request.urlopen(call) as answer:
        token: str = json.load(answer)["token"]
        return token


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


def generate(directory: Path, socket: Path) -> None:
    """A client is generated from the daemon's own description, and posts and reads with it."""
    python = directory / "generator/bin/python"
    fetch = "import httpx, sys; t = httpx.HTTPTransport(uds=sys.argv[1]); print(httpx.Client("
    fetch += "transport=t).get('http://localhost/openapi.json').text)"
    description = directory / "openapi.json"
    description.write_text(run(python, "-c", fetch, socket))
    generator = [directory / "generator/bin/openapi-python-client", "generate", "--meta", "none"]
    output = directory / "rooms_api"
    run(*generator, "--path", description, "--output-path", output, "--overwrite", cwd=directory)
    run(python, "-c", POSTS_AND_READS, socket, cwd=directory)
    print("a client generated from /openapi.json posts and reads")


def run(*command: str | Path, cwd: Path | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{[str(part) for part in command]}\n{done.stdout}\n{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
