"""Programs that nobody here wrote use the daemon: the MCP Inspector, and a generated HTTP client.

    .venv/bin/python .ci/outside_programs.py DIRECTORY

Both are installed into DIRECTORY, the Inspector by npm, the generator by pip.
"""

import json
import os
import subprocess
import sys
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

COMMANDS = Path(sys.executable).parent
INSPECTOR = "@modelcontextprotocol/inspector@<3"
GENERATOR = "openapi-python-client>=0.29,<0.30"

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
    with daemon() as socket:
        inspect(directory, socket)
        generate(directory, socket)


def install(directory: Path) -> None:
    run("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", directory, INSPECTOR)
    venv.create(directory / "generator", with_pip=True)
    run(directory / "generator/bin/pip", "install", "-qq", GENERATOR)


@contextmanager
def daemon() -> Iterator[Path]:
    """A daemon of our own; its socket."""
    with TemporaryDirectory(prefix="coordrooms-", dir="/tmp") as folder:
        os.chmod(folder, 0o711)
        socket = Path(folder, "s.sock")
        serve = [COMMANDS / "coordroomsd", "serve", "--state-dir", folder, "--socket", socket]
        process = subprocess.Popen(serve, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            # Its first line says that it serves.
            assert str(socket) in process.stdout.readline(), "the daemon did not start"
            yield socket
        finally:
            process.terminate()
            process.wait()


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
