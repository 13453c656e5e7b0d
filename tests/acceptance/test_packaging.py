"""What a user gets from `pip install`, and what the lock promises."""

from __future__ import annotations

import ast
import re
import shutil
import site
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PathDistribution, packages_distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import coordrooms
import coordroomsd

ROOT = Path(__file__).parents[2]
FOLDERS = {"coordroomsd": ROOT, "coordrooms": ROOT / "client"}
UNITS = "coordroomsd/service/units/"
LOCK = (ROOT / "requirements" / "lock.txt").read_text()


@dataclass(frozen=True, slots=True)
class Built:
    sdist: Path
    wheel: Path


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Built]:
    """Both distributions: a source archive, and the wheel that is made from it alone."""
    found = {}
    for name, folder in FOLDERS.items():
        out = tmp_path_factory.mktemp(name)
        run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", out, cwd=folder)
        [sdist] = out.glob("*.tar.gz")
        with tarfile.open(sdist) as archive:
            archive.extractall(out, filter="data")
        source = out / sdist.name.removesuffix(".tar.gz")
        run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", out, cwd=source)
        [wheel] = out.glob("*.whl")
        found[name] = Built(sdist, wheel)
    return found


def metadata(wheel: Path) -> Distribution:
    [folder] = [f for f in zipfile.Path(wheel).iterdir() if f.name.endswith(".dist-info")]
    return PathDistribution(folder)


def empty_environment(path: Path) -> Path:
    """A virtual environment with nothing in it, not even pip; its interpreter."""
    venv.create(path)
    return path / "bin" / "python"


def install(python: Path, wheel: Path, *options: str) -> None:
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "-qq", "--no-index"]
    run(*pip, *options, wheel, cwd=python.parent)


def test_the_versions_agree() -> None:
    assert coordroomsd.__version__ == coordrooms.__version__


@pytest.mark.parametrize("name", FOLDERS)
def test_a_wheel_has_every_file_of_its_package(name: str, built: dict[str, Built]) -> None:
    folder = FOLDERS[name]
    expected = {
        str(file.relative_to(folder))
        for file in (folder / name).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    packed = zipfile.ZipFile(built[name].wheel).namelist()
    own = {file for file in packed if file.startswith(f"{name}/")}
    assert {file for file in own if not file.startswith(UNITS)} == expected
    assert f"{name}/py.typed" in expected


def test_the_daemon_comes_with_its_example_configuration_and_units(
    built: dict[str, Built],
) -> None:
    units = ROOT / "systemd"
    with zipfile.ZipFile(built["coordroomsd"].wheel) as wheel:
        packed = {name: wheel.read(name) for name in wheel.namelist()}
    [example] = [packed[name] for name in packed if "/data/share/" in name]
    assert example == (ROOT / "config.example.toml").read_bytes()
    assert {name: data for name, data in packed.items() if name.startswith(UNITS)} == {
        f"{UNITS}{file.relative_to(units)}": file.read_bytes()
        for file in units.rglob("*")
        if file.is_file()
    }


@pytest.mark.parametrize("name", FOLDERS)
def test_the_metadata_is_what_the_project_says(name: str, built: dict[str, Built]) -> None:
    distribution = metadata(built[name].wheel)
    assert distribution.metadata["Name"] == name
    assert distribution.version == coordroomsd.__version__
    assert distribution.metadata["Requires-Python"] == ">=3.11"
    assert [entry.name for entry in distribution.entry_points] == [name]
    assert distribution.metadata["Description"] == (FOLDERS[name] / "README.md").read_text()


def test_the_client_alone_needs_nothing_else(built: dict[str, Built], tmp_path: Path) -> None:
    assert not metadata(built["coordrooms"].wheel).requires
    python = empty_environment(tmp_path)
    install(python, built["coordrooms"].wheel)
    names = run(
        python,
        "-c",
        "import importlib.metadata as m; print(*(d.name for d in m.distributions()))",
        cwd=tmp_path,
    )
    assert names.split() == ["coordrooms"]
    assert "usage: coordrooms " in run(tmp_path / "bin" / "coordrooms", "--help", cwd=tmp_path)


def test_the_installed_daemon_has_its_database_scripts(
    built: dict[str, Built], tmp_path: Path, state_dir: Path
) -> None:
    python = empty_environment(tmp_path)
    install(python, built["coordroomsd"].wheel, "--no-deps")
    # The libraries of this environment; a .pth found by way of a .pth is not read, so that our own
    # editable installation stays out of it.
    [packages] = (tmp_path / "lib").glob("python*/site-packages")
    (packages / "libraries.pth").write_text("\n".join(site.getsitepackages()))
    where = run(python, "-c", "import coordroomsd; print(coordroomsd.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(packages)
    command = tmp_path / "bin" / "coordroomsd"
    assert "applied 0001_" in run(command, "migrate", "--state-dir", state_dir, cwd=tmp_path)
    service = run(command, "install-service", "--user", "--dry-run", cwd=tmp_path)
    assert f"ExecStart={python} -P -m coordroomsd serve" in service
    again = run(command, "migrate", "--state-dir", state_dir, cwd=tmp_path)
    assert again == "nothing to do: the database is up to date\n"


def test_the_daemon_declares_what_it_imports() -> None:
    """What another library brings along today, it may not tomorrow."""
    found = imported_by(ROOT / "coordroomsd") - sys.stdlib_module_names - {"coordroomsd"}
    # pydantic pins the one version of its core, and has types there that it does not hand on.
    found -= {"pydantic_core"}
    distributions = packages_distributions()
    needed = {canonicalize_name(name) for module in found for name in distributions[module]}
    about = project("coordroomsd")["project"]
    runtime = [*about["dependencies"], *about["optional-dependencies"]["otel"]]
    declared = {canonicalize_name(Requirement(text).name) for text in runtime}
    # They share one namespace, `opentelemetry`; what the SDK needs comes with it.
    namespace = set(packages_distributions()["opentelemetry"]) & needed
    assert needed - namespace - declared == set()
    assert not namespace or {name for name in declared if name.startswith("opentelemetry-")}


def imported_by(folder: Path) -> set[str]:
    """The top-level modules that the folder's files import."""
    found = set()
    for file in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            match node:
                case ast.Import(names=names):
                    found |= {alias.name.partition(".")[0] for alias in names}
                case ast.ImportFrom(module=str(module), level=0):
                    found.add(module.partition(".")[0])
    return found


# The lock


def project(name: str) -> dict[str, Any]:
    return tomllib.loads((FOLDERS[name] / "pyproject.toml").read_text())


def declared() -> Iterator[Requirement]:
    """What the two distributions need to run, to be built and to be worked on."""
    for name in FOLDERS:
        tables = project(name)
        for text in (
            *tables["project"]["dependencies"],
            *tables["build-system"]["requires"],
            *tables.get("dependency-groups", {}).get("dev", []),
        ):
            yield Requirement(text)


def locked() -> dict[str, str]:
    """Name to version."""
    return {
        canonicalize_name(name): version
        for name, version in re.findall(r"^([\w.-]+)==(\S+) ", LOCK, flags=re.MULTILINE)
    }


def test_the_lock_has_what_the_projects_declare() -> None:
    versions = locked()
    missing = [
        str(requirement)
        for requirement in declared()
        if versions.get(canonicalize_name(requirement.name), "") not in requirement.specifier
    ]
    assert not missing, f"run `make lock`: {missing}"


def test_every_line_of_the_lock_is_hashed_and_none_names_a_place() -> None:
    entries = re.split(r"^(?=\w)", LOCK, flags=re.MULTILINE)[1:]
    assert len(entries) == len(locked()) > 30
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []
    assert re.findall(r"\S*(?:://| /|@ |--index|--find-links|-e )\S*", LOCK) == []


def test_every_requirement_has_an_upper_bound() -> None:
    """A neighbour's release installs today and breaks on import: a library moved by a major."""
    unbounded = [
        str(requirement)
        for requirement in declared()
        if not any(bound.operator in ("<", "<=", "==") for bound in requirement.specifier)
    ]
    assert unbounded == []


def test_an_image_is_built_of_all_that_the_wheels_are_made_of(tmp_path: Path) -> None:
    """`.containerignore` keeps everything from the build of the image but what it names."""
    everything, *kept = (ROOT / ".containerignore").read_text().split()
    assert everything == "*"
    for name in (line.removeprefix("!") for line in kept if line.startswith("!")):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    for folder in (tmp_path, tmp_path / "client"):
        run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path, cwd=folder)
    # Its versions are those of the image.
    assert (tmp_path / "requirements" / "lock.txt").is_file()
