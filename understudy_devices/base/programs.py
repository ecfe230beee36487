# SPDX-License-Identifier: MIT
"""Compile small C programs: the guest's static programs, and programs and libraries of the host.

A program is compiled only once for given sources, and kept in the cache.  The compiler reads a
copy of the sources, which is made when the command first reads them.  The copy's folder has the
same name on every machine.  So the program depends neither on later changes of the sources nor on
the checkout's path.  The sources are searched for #include lines to find this project's headers.

A guest is an x86-64 machine on every host.  GUEST_COMPILER is Debian's name of the compiler for
x86-64, also on an x86-64 machine.
"""

import hashlib
import os
import platform
import re
import shutil
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cache
from pathlib import Path, PurePath

from understudy_devices.base import sandbox
from understudy_devices.base.cache import cached_folder, digest
from understudy_devices.base.errors import NotCompiled, RunFailed, UserError
from understudy_devices.base.paths import IS_X86, ROOT

COMPILED = ".compiled"
GUEST_PREFIX = "x86_64-linux-gnu-"
GUEST_COMPILER = f"{GUEST_PREFIX}gcc"
HOST_COMPILER = "gcc"
PACKAGES = {
    HOST_COMPILER: "gcc libc6-dev",
    GUEST_COMPILER: "gcc libc6-dev" if IS_X86 else "gcc-x86-64-linux-gnu libc6-dev-amd64-cross",
}
"""The Debian packages of each compiler and its C library."""
CFLAGS = ("-O2", "-std=gnu11", "-Wall", "-Wextra", "-Werror")
INCLUDE = re.compile(rb'^#include "([^"]*)"', re.MULTILINE)


@dataclass(frozen=True)
class Program:
    """An executable or a shared library.

    `generated` holds sources and headers that do not exist as files: their paths and their texts.
    `stranger` is the name of a user's file, which is compiled in a sandbox; it is empty for a file
    of this project.
    """

    name: str
    sources: tuple[str, ...]
    _: KW_ONLY
    flags: tuple[str, ...] = ("-static",)
    libraries: tuple[str, ...] = ()
    compiler: str = HOST_COMPILER
    package: str = PACKAGES[HOST_COMPILER]
    generated: tuple[tuple[str, str], ...] = ()
    stranger: str = ""


def compiled(program: Program) -> Path:
    """Return the path of the program in the cache; compile it first if its sources are new."""
    folder = cached_folder(
        f"programs/{program.name}-{content(program)}",
        lambda scratch: _compile(program, scratch),
    )
    return folder / program.name


def compiled_for_guest(program: Program) -> Path:
    """Return the path of the program in the cache, compiled for a guest."""
    package = PACKAGES[GUEST_COMPILER]
    return compiled(replace(program, compiler=GUEST_COMPILER, package=package))


def included(sources: Sequence[str]) -> list[str]:
    """Return the headers of this project that the sources include, in order of first use."""
    met = dict.fromkeys(sources)
    waiting = list(sources)
    while waiting:
        new = [name for name in _names_in(waiting.pop(0)) if name not in met]
        met |= dict.fromkeys(new)
        waiting += new
    return [name for name in met if name not in sources]


def _names_in(name: str) -> list[str]:
    """Return this project's headers that a file includes, as paths from the checkout's root."""
    return _headers(name, _source(name))


def _headers(name: str, text: bytes) -> list[str]:
    folder = PurePath(name).parent
    headers = (it.decode(errors="replace") for it in INCLUDE.findall(text))
    names = [os.path.normpath(folder / name) for name in headers]
    return [name for name in names if (ROOT / name).is_file()]


def content(program: Program) -> str:
    """Return a digest of everything that the program is made from."""
    target = platform.machine() if program.compiler == HOST_COMPILER else program.compiler
    version = compiler_version(program.compiler)
    options = (target, version, *CFLAGS, *program.flags, *program.libraries)
    texts = _texts(program)
    return digest(
        [part.encode() for part in (*options, *texts)]
        + list(texts.values())
        + [_library_contents(program)]
    )


def _texts(program: Program) -> dict[str, bytes]:
    """Return the contents of all sources and headers, by name."""
    generated = {name: text.encode() for name, text in program.generated}
    files = [name for name in program.sources if name not in generated]
    files += [header for name, text in generated.items() for header in _headers(name, text)]
    read = {name: _source(name) for name in (*files, *included(files))}
    return read | generated


@cache
def _source(name: str) -> bytes:
    try:
        return (ROOT / name).read_bytes()
    except OSError as error:
        raise RunFailed(f"{name}: {error.strerror} (errno {error.errno})") from error


@cache
def compiler_version(compiler: str = HOST_COMPILER) -> str:
    """Return the compiler's version, which is part of each compiled program's name in the cache."""
    command = (compiler, "-dumpfullversion")
    return sandbox.compiled(command, ROOT, PACKAGES[compiler]).stdout.strip()


def _library_contents(program: Program) -> bytes:
    """Return a digest of the libraries that are linked into a static program."""
    return _static_libc(program.compiler) if "-static" in program.flags else b""


@cache
def _static_libc(compiler: str) -> bytes:
    command = (compiler, "-print-file-name=libc.a")
    path = sandbox.compiled(command, ROOT, PACKAGES[compiler]).stdout.strip()
    try:
        return hashlib.sha256(Path(path).read_bytes()).digest()
    except OSError as error:
        raise UserError(
            f"no static C library here: apt-get install {PACKAGES[compiler]}"
        ) from error


def _compile(program: Program, folder: Path) -> None:
    tree = folder / "tree"
    for name, text in _texts(program).items():
        copy = tree / _inside(name)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(text)
    target = ("-o", COMPILED)
    sources = (str(_inside(name)) for name in program.sources)
    command = (program.compiler, *CFLAGS, *program.flags, *target, *sources, *program.libraries)
    done = sandbox.compiled(command, tree, program.package, stranger=program.stranger)
    if done.returncode:
        raise NotCompiled(
            f"{program.name} does not compile (its packages: apt-get install {program.package})",
            done.stderr.rstrip(),
        )
    (tree / COMPILED).rename(folder / program.name)
    shutil.rmtree(tree)


def _inside(name: str) -> Path:
    """Return a source's path inside the copy; tests name some sources by absolute path."""
    return Path(name).relative_to(Path(name).anchor)
