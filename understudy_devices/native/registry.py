# SPDX-License-Identifier: MIT
"""The registry of schedulers: files in core/schedulers/, and files that users add.  Files of
prefetchers, replacement policies and workloads are compiled in the same way.

A scheduler is one C file. Each scheduler is compiled separately, on first use, and kept in the
cache. So a new, changed or deleted file affects no other scheduler. The project's schedulers are
named by their files, others by their own declaration.
"""

import errno
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from understudy_devices.base import prebuilt, sandbox, scratch, sources
from understudy_devices.base.cache import cached_folder, digest
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.base.once import once
from understudy_devices.base.paths import ROOT
from understudy_devices.base.plain import plain, quoted
from understudy_devices.base.programs import compiler_version

FOLDER, PREFETCH, REPLACEMENT = PARTS = prebuilt.FOLDERS
WORKLOADS = "sim/workloads"
PACKAGE = "gcc libc6-dev"
WARNINGS = "warnings.txt"
WARNING_LINES = 40
NAME_SHOWN = 80
FILE_BYTES = 2**24  # largest size of a user's file

# The simulator refuses what a kernel build refuses: floating point, and undeclared functions.
FLAGS = (
    "-O2",
    "-g",
    "-std=gnu11",
    "-fPIC",
    "-fno-plt",
    "-fvisibility=hidden",
    "-mgeneral-regs-only",
    "-Wall",
    "-Wextra",
    "-Wno-unused-parameter",
    "-Werror=implicit-function-declaration",
    "-Werror=implicit-int",
    "-Werror=incompatible-pointer-types",
    "-Werror=int-conversion",
    "-Werror=return-type",
    "-Werror=strict-prototypes",
)

OF_STRANGERS = ("-Werror=date-time",)  # the same file has the same code


def read(path: Path) -> bytes:
    """Read a user's file; OSError if it is unreadable or too long, or if its name can't be
    printed.
    """
    if plain(path.name) != path.name or "\n" in path.name:
        raise OSError(errno.EINVAL, "its name has characters that a terminal obeys; rename it")
    with path.open("rb", buffering=0) as file:
        os.set_blocking(file.fileno(), False)  # the target of a symbolic link may block for ever
        text = file.read(FILE_BYTES + 1) or b""
    if len(text) > FILE_BYTES:
        raise OSError(errno.EFBIG, f"longer than {FILE_BYTES:,} bytes")
    return text


@dataclass(frozen=True)
class Source:
    """The file of a scheduler, a policy or a workload, and the content that it had at first use.

    `shown` is its name for people: as the user typed it, or its path in the checkout. A user's code
    is compiled in a sandbox, and runs outside the simulation in another sandbox. Every file is
    compiled as if it were in `folder`.
    """

    shown: str
    text: bytes
    ours: bool = False
    folder: str = FOLDER

    @property
    def stranger(self) -> str:
        """Return `shown` if the file is not part of the project, else an empty string."""
        return "" if self.ours else self.shown

    @property
    def stem(self) -> str:
        """Return the file's name without its folder and extension."""
        return Path(self.shown).stem

    @property
    def part(self) -> int:
        """Return what the file is of, as a number: enum sim_part of sim/engine.h."""
        return PARTS.index(self.folder)


_added: dict[str, Source] = {}


def ours(folder: str = FOLDER) -> list[str]:
    """Return the names of the project's schedulers, or of its policies: the files in a folder."""
    return sorted(Path(name).stem for name in sources.matching(f"{folder}/*.c"))


def our_file(folder: str, name: str) -> Source:
    """Return the file of that name in a folder of the project."""
    file = f"{folder}/{name}.c"
    return Source(file, sources.taken()[file], ours=True, folder=folder)


def known(name: str) -> bool:
    """Return whether the name is that of a scheduler of the project or of an added scheduler."""
    return name in _added or f"{FOLDER}/{name}.c" in sources.taken()


def source(name: str) -> Source:
    """Return the file of a known scheduler."""
    return _added[name] if name in _added else our_file(FOLDER, name)


def added() -> Mapping[str, Source]:
    """Return the files that were registered with `add`, by name."""
    return dict(_added)


def add(name: str, file: Source) -> None:
    """Register a file under a name; it replaces an earlier version of that file."""
    _added[name] = file


def forget() -> None:
    """Remove all added files, so that their names are free again."""
    _added.clear()


@contextmanager
def lent(name: str, file: Source) -> Iterator[None]:
    """Register a file under a name while the block runs."""
    add(name, file)
    try:
        yield
    finally:
        del _added[name]


def content(file: Source) -> str:
    """Return a digest of everything that determines the compiled code."""
    ready = _ready(file)
    if ready:
        return ready.stem
    return digest(
        [
            compiler_version().encode(),
            " ".join((*_flags(file), "-o", WARNINGS)).encode(),
            file.text,
            *sources.parts(_headers(file)),
        ]
    )


@once
def compiled(file: Source) -> Path:
    """Return the path of the compiled code, a shared object; compile the file if it is not
    cached.
    """
    ready = _ready(file)
    if ready:
        return ready
    name = f"{Path(file.folder).name}/{file.stem}-{content(file)}"
    folder = cached_folder(name, lambda scratch: compile_into(file, scratch))
    return folder / "scheduler.so"


def _ready(file: Source) -> Path | None:
    """Return the compiled code if an installed package contains it, or None."""
    path = ROOT / "compiled" / f"{prebuilt.name(file.stem, file.text)}.so"
    return path if file.ours and path.is_file() else None


def _place(file: Source) -> str:
    """Return the file's path as the compiler sees it."""
    return f"{file.folder}/{file.stem}.c"


def _flags(file: Source) -> tuple[str, ...]:
    more = ("-DWORKLOAD_ALONE",) if file.folder == WORKLOADS else ()
    return (*FLAGS, *more, *(() if file.ours else OF_STRANGERS))


def _headers(file: Source) -> Mapping[str, bytes]:
    more = ("sim/*.h",) if file.folder == WORKLOADS else ()
    return sources.matching(*sources.CORE_HEADERS, *more)


def compile_into(file: Source, folder: Path) -> None:
    """Compile a file in an empty folder."""
    place = _place(file)
    sources.write({**_headers(file), place: file.text}, folder)
    prefix = f"-ffile-prefix-map={folder}=."
    command = ["gcc", *_flags(file), prefix, "-shared", "-o", "scheduler.so", place]
    done = sandbox.compiled(command, folder, PACKAGE, stranger=file.stranger)
    if done.returncode:
        raise UserError(does_not_compile(file, done.stderr.replace(place, file.shown)))
    (folder / WARNINGS).write_text(done.stderr)
    for part in ("core", "sim"):
        shutil.rmtree(folder / part, ignore_errors=True)


def warnings(file: Source) -> str:
    """Return the compiler's warnings about a file that compiles."""
    messages = (compiled(file).parent / WARNINGS).read_text().replace(_place(file), file.shown)
    lines = messages.splitlines()
    rest = len(lines) - WARNING_LINES
    more = [f"... {rest} lines more"] if rest > 0 else []
    return quoted("\n".join(lines[:WARNING_LINES] + more)) + "\n" if lines else ""


def does_not_compile(file: Source, words: str) -> str:
    """Return the compiler's messages about a file.

    If the file uses floating point, the compiler reports only missing registers, or functions that
    do not exist in the kernel. So an explanation precedes these messages.
    """
    floating = re.search(r"SSE|x87|general-regs-only|\b__\w+[sdt]f[23si]", words)
    why = "it uses floating point, which a kernel does not have:\n" if floating else ""
    return f"{file.shown} does not compile:\n{why}{quoted(words)}"


def where(file: Source, code: Path, offset: int) -> str:
    """Return the function and line of an offset in the code: "mine_next, ./mine.c:31".

    Return only the file's name if the debug information can't be read in time.
    """
    command = ["addr2line", "-f", "-e", str(code), hex(offset)]
    try:
        with scratch.folder("understudy-where-") as folder:  # the code is only readable there
            done = sandbox.compiled(
                command, folder, "binutils", stranger=file.stranger, readable=[code]
            )
    except RunFailed:
        return file.shown
    if done.returncode:
        return file.shown
    function, _, line = done.stdout.strip().partition("\n")
    number = line.rpartition(":")[2].split(" ")[0]
    if not number.isdigit():
        return file.shown
    return f"{function[:NAME_SHOWN]}, {file.shown}:{number}"
