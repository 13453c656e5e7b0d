"""What the READMEs show is run as they show it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import coordrooms
from tests.acceptance.daemons import Daemon

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def blocks(language: str, text: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def test_the_two_examples_talk_to_each_other(own_daemon: Daemon) -> None:
    [agent] = blocks("python")
    [asker] = blocks("python", (ROOT / "client" / "README.md").read_text())
    environment = {"COORDROOMS_URL": own_daemon.url}
    with coordrooms.Client("onlooker", url=own_daemon.url) as client:
        room = client.join("kitchen", create=True)
        process = subprocess.Popen([sys.executable, "-c", agent], env=environment)
        try:
            # What was asked before the agent joined would be history to it.
            assert room.wait(wake_on="member", timeout_s=60).reason == "event"
            example = f"import coordrooms\n{asker}"
            subprocess.run([sys.executable, "-c", example], env=environment, check=True)
        finally:
            process.kill()
            process.wait()
        said = [(message.kind, message.body) for message in room.history().messages]
    assert said == [
        ("decision", "I take the search index."),
        ("question", "Does anybody mind?"),
        ("answer", "Yes."),
        ("status", "Rebuilt."),
    ]


def test_the_registration_is_json_and_names_the_command() -> None:
    [registration] = blocks("json")
    [server] = json.loads(registration)["mcpServers"].values()
    assert server == {"command": "coordrooms", "args": ["mcp"]}


def test_every_link_leads_somewhere() -> None:
    for document in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "client" / "README.md"):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text()):
            assert (document.parent / target).exists(), f"{document.name} links to {target}"


def test_there_are_two_commands_to_start_with() -> None:
    [start, *_] = blocks("")
    assert [line.split("#")[0].strip() for line in start.splitlines()] == ["make run", "make test"]
