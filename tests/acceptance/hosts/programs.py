"""The hosts as programs, each with a home of its own in which it knows one model: ours.

They come from the npm registry, pinned in tests/acceptance/npm/package.json, into a folder of the
user's cache (COORDROOMS_TEST_HOSTS names another one):

    mkdir -p ~/.cache/coordrooms/hosts && cd ~/.cache/coordrooms/hosts
    cp …/tests/acceptance/npm/package.json . && npm install
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
PINNED: dict[str, str] = json.loads((ROOT / "tests/acceptance/npm/package.json").read_text())[
    "dependencies"
]
COORDROOMS = Path(sys.executable).parent / "coordrooms"
# What a call of a program takes at most; only a broken one comes near it.
ENDS_WITHIN_S = 150


def cache() -> Path:
    named = os.environ.get("COORDROOMS_TEST_HOSTS")
    usual = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(named) if named else usual / "coordrooms" / "hosts"


class Program(ABC):
    """One host in one home. `env` is the whole environment of its processes."""

    name: str
    package: str

    def __init__(self, home: Path, daemon_url: str, model_url: str) -> None:
        self.home = home
        self.project = home / "project"
        self.project.mkdir(parents=True)
        self.model_url = model_url
        self.env = {
            "HOME": str(home),
            "PATH": f"{COORDROOMS.parent}:/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "SHELL": "/bin/bash",
            "NO_PROXY": "127.0.0.1",
            "COORDROOMS_URL": daemon_url,
        }
        self.configure()

    @classmethod
    def skip_unless_there(cls) -> None:
        if shutil.which("node") is None:
            pytest.skip("needs node (apt-get install nodejs npm)")
        folder = cache() / "node_modules" / cls.package
        if not (folder / "package.json").exists():
            pytest.skip(f"needs {cls.package} in {cache()}: see tests/acceptance/hosts/programs.py")
        version = json.loads((folder / "package.json").read_text())["version"]
        if version != PINNED[cls.package]:
            pytest.skip(f"{cls.package} is {version}, and pinned is {PINNED[cls.package]}")

    @property
    def path(self) -> str:
        return str(cache() / "node_modules" / ".bin" / self.name)

    @abstractmethod
    def configure(self) -> None:
        """Write what a person of this host has: a model, and settings of their own."""

    @abstractmethod
    def one_prompt(self, prompt: str) -> list[str]:
        """The command that answers a prompt and ends."""

    def start(self, prompt: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.one_prompt(prompt),
            cwd=self.project,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def coordrooms(self, *arguments: str) -> str:
        done = subprocess.run(
            [COORDROOMS, *arguments],
            cwd=self.project,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
        return done.stdout

    def files(self) -> dict[str, bytes]:
        """The files of the home but for logs, caches and what this package itself remembers."""
        return {
            str(path.relative_to(self.home)): path.read_bytes()
            for path in sorted(self.home.rglob("*"))
            if path.suffix in (".json", ".jsonc", ".toml", ".js", ".md") and path.is_file()
            if not {".cache", ".local", "node_modules"} & set(path.parts)
        }

    def write(self, name: str, content: Any) -> None:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=2))


class Claude(Program):
    name = "claude"
    package = "@anthropic-ai/claude-code"
    key = "sk-ant-nobody"

    def configure(self) -> None:
        trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        self.write(
            ".claude.json",
            {
                "hasCompletedOnboarding": True,
                "theme": "dark",
                "customApiKeyResponses": {"approved": [self.key[-20:]], "rejected": []},
                "projects": {str(self.project): trusted},
            },
        )
        said = {"type": "command", "command": "true"}
        self.write(".claude/settings.json", {"hooks": {"Stop": [{"hooks": [said]}]}})
        self.env |= {
            "ANTHROPIC_BASE_URL": self.model_url,
            "ANTHROPIC_API_KEY": self.key,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            # Tools that are offered, and not only to be searched for.
            "ENABLE_TOOL_SEARCH": "false",
        }

    def one_prompt(self, prompt: str) -> list[str]:
        return [*self.interactive(), "-p", prompt]

    def interactive(self) -> list[str]:
        model = ["--model", "claude-sonnet-5-5"]
        return [self.path, *model, "--allowedTools=mcp__coordrooms"]


class Codex(Program):
    name = "codex"
    package = "@openai/codex"

    def configure(self) -> None:
        # A model that Codex does not know is offered all tools, instead of a search for them.
        self.write(
            ".codex/config.toml",
            f'''# mine
model = "nobody"
model_provider = "loopback"
check_for_update_on_startup = false

[model_providers.loopback]
name = "loopback"
base_url = "{self.model_url}/v1"
wire_api = "responses"

[projects."{self.project}"]
trust_level = "trusted"
''',
        )

    def one_prompt(self, prompt: str) -> list[str]:
        return [self.path, "exec", "--skip-git-repo-check", *self._trusting(), prompt]

    def interactive(self, prompt: str) -> list[str]:
        return [self.path, "--no-alt-screen", *self._trusting(), prompt]

    def _trusting(self) -> list[str]:
        # The hooks' trust is a person's to give, in a dialogue.
        return ["--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"]


class Gemini(Program):
    name = "gemini"
    package = "@google/gemini-cli"

    def configure(self) -> None:
        self.write(
            ".gemini/settings.json",
            """{
  // mine
  "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
  "general": {"disableAutoUpdate": true},
  "privacy": {"usageStatisticsEnabled": false}
}
""",
        )
        self.env |= {"GOOGLE_GEMINI_BASE_URL": self.model_url, "GEMINI_API_KEY": "nobody"}

    def one_prompt(self, prompt: str) -> list[str]:
        return [self.path, "--yolo", "-m", "gemini-2.5-pro", "-p", prompt]


class Opencode(Program):
    name = "opencode"
    package = "opencode-ai"

    def configure(self) -> None:
        limits = {"context": 100_000, "output": 1000}
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "loopback",
            "options": {"baseURL": f"{self.model_url}/v1", "apiKey": "nobody"},
            "models": {"nobody": {"name": "nobody", "limit": limits}},
        }
        self.write(
            ".config/opencode/opencode.json",
            {
                "model": "loopback/nobody",
                "small_model": "loopback/nobody",
                "autoupdate": False,
                "share": "disabled",
                "provider": {"loopback": provider},
            },
        )
        self.env |= {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"}

    def one_prompt(self, prompt: str) -> list[str]:
        return [self.path, "run", prompt]


class Copilot(Program):
    name = "copilot"
    package = "@github/copilot"

    def configure(self) -> None:
        self.env |= {
            "COPILOT_OFFLINE": "true",
            "COPILOT_MODEL": "nobody",
            "COPILOT_PROVIDER_BASE_URL": f"{self.model_url}/v1",
            "COPILOT_PROVIDER_API_KEY": "nobody",
            "COPILOT_PROVIDER_MAX_PROMPT_TOKENS": "100000",
            "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS": "1000",
        }

    def one_prompt(self, prompt: str) -> list[str]:
        return [self.path, "--allow-all-tools", "--trust-folder", "-p", prompt]


PROGRAMS: dict[str, type[Program]] = {
    program.name: program for program in (Claude, Codex, Gemini, Opencode, Copilot)
}
