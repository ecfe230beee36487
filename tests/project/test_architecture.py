# SPDX-License-Identifier: MIT
"""The imports in understudy_devices/ and the includes between parts of the C code are those that
docs/architecture.md allows.
"""

import ast
import re
import subprocess
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path, PurePath

import pytest
from places import CHECKOUT

PACKAGE = CHECKOUT / "understudy_devices"
PAGE = (CHECKOUT / "docs" / "architecture.md").read_text()
ROW = re.compile(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|$", re.MULTILINE)
INSIDE = {
    package: {part: set(re.findall(r"\w+", stands_on)) for part, stands_on in ROW.findall(section)}
    for package, section in re.findall(
        r"^##+ Inside `([\w/]+)/`$(.*?)(?=^##)", PAGE, re.MULTILINE | re.DOTALL
    )
}

CODE = re.compile(r"`([^`]+)`")
C_PARTS = {
    part: [part, *CODE.findall(stands_on)]
    for parts, stands_on in re.findall(
        r"^\| (`[^|]*) \| ([^|]*) \|[^|]*\|$",
        PAGE.partition("## Who may call whom")[2].partition("## Inside")[0],
        re.MULTILINE,
    )
    for part in CODE.findall(parts)
}
INCLUDE = re.compile(r'^#include "([^"]*)"', re.MULTILINE)


def imported(file: Path, package: str = "understudy") -> Iterator[str]:
    """Yield the modules of a package that a file imports, at any depth of its code."""
    for node in ast.walk(ast.parse(file.read_text())):
        assert not getattr(node, "level", 0), f"{file}: a relative import"
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.startswith(package))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(package):
            yield from (f"{node.module}.{name.name}" for name in node.names)


@pytest.mark.parametrize("package", INSIDE)
def test_the_page_names_every_part(package: str) -> None:
    folders = {file.parent.name for file in (CHECKOUT / package).glob("*/*.py")}
    modules = {file.stem for file in (CHECKOUT / package).glob("[!_]*.py")}
    assert set(INSIDE[package]) == folders | modules


@pytest.mark.parametrize(
    ("package", "part"), [(package, part) for package in INSIDE for part in INSIDE[package]]
)
def test_a_part_stands_on_what_the_page_says(package: str, part: str) -> None:
    allowed = INSIDE[package][part] | {part, "__version__"}
    if part == "native":
        allowed.add("_core")
    place = CHECKOUT / package / part
    for file in place.rglob("*.py") if place.is_dir() else [place.with_suffix(".py")]:
        for module in imported(file, package.replace("/", ".")):
            assert module.split(".")[package.count("/") + 1] in allowed, f"{file} imports {module}"


@pytest.mark.parametrize("package", INSIDE)
def test_a_part_stands_only_on_those_above_it(package: str) -> None:
    parts = list(INSIDE[package])
    for index, part in enumerate(parts):
        assert INSIDE[package][part] <= set(parts[:index]), part


@pytest.mark.parametrize(("one", "other"), [*permutations(("sim", "vm", "real"), 2)])
def test_a_platform_does_not_know_another(one: str, other: str) -> None:
    for file in (PACKAGE / "platforms" / one).rglob("*.py"):
        for module in imported(file):
            assert not module.startswith(f"understudy_devices.platforms.{other}"), (
                f"{file}: {module}"
            )


def c_files() -> list[str]:
    """List our C files without tests and benchmarks, which may include anything, without
    host/image/, which includes none of our files, and without assignments/, whose schedulers are
    compiled as if they were in core/schedulers/.
    """
    listed = subprocess.run(
        ["git", "ls-files", "*.c", "*.h"], cwd=CHECKOUT, capture_output=True, text=True, check=True
    )
    files = listed.stdout.splitlines()
    return [
        file
        for file in files
        if not file.startswith(("tests/", "bench/", "host/image/", "assignments/"))
    ]


def lies_in(file: str, part: str) -> bool:
    """Return whether a file is in a part.

    The part may leave out `kernel/` and the end of a file's name.
    """
    if "*" in part:
        return PurePath("/", file).match(f"/{part}")
    return file.startswith((part, f"kernel/{part}"))


def included(file: str) -> Iterator[str]:
    """Yield our files that a file includes; all other headers are the kernel's, or generated."""
    for name in INCLUDE.findall((CHECKOUT / file).read_text()):
        path = (CHECKOUT / file).parent.joinpath(name).resolve()
        if path.is_file():
            yield str(path.relative_to(CHECKOUT))
        else:
            known = not name.startswith(".") or name.endswith(("_registers.h", "_table.h"))
            assert known, f"{file} includes {name}, which is nowhere"


@pytest.mark.parametrize("file", c_files())
def test_c_includes_what_the_page_says(file: str) -> None:
    parts = [part for part in C_PARTS if lies_in(file, part)]
    assert parts, f"the page has no part for {file}"
    allowed = C_PARTS[max(parts, key=len)]
    for other in included(file):
        assert any(lies_in(other, part) for part in allowed), f"{file} includes {other}"


def test_the_oracle_shares_no_code_with_the_model_and_is_not_installed() -> None:
    for file in (CHECKOUT / "oracle").rglob("*.py"):
        for module in imported(file):
            assert module.split(".")[1] in ("base", "device"), f"{file} imports {module}"
    for file in PACKAGE.rglob("*.py"):
        assert not list(imported(file, "oracle")), file
