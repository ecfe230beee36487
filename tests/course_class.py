# SPDX-License-Identifier: MIT
"""A class's submissions for seek-reduction: right ones in each form, and each kind of wrong one."""

import io
import json
import os
import re
import sys
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from places import CHECKOUT

from understudy_devices.course import library
from understudy_devices.course.export import solution
from understudy_devices.course.grade import Grader

ASSIGNMENT = CHECKOUT / "assignments" / "seek-reduction"
SSTF = (ASSIGNMENT / "solution" / "sstf.c").read_text()
CLOOK = (ASSIGNMENT / "solution" / "clook.c").read_text()

Files = dict[str, bytes]
Change = tuple[str, str]

ADD = "\tfifo_add(&mine->pending, rq);\n"
PICKED = "\tfifo_remove(&mine->pending, best);\n"
DECLARED = "static const struct scheduler mine_scheduler = {\n"
INCLUDED = '#include "../fifo.h"\n'


def including(*headers: str) -> Change:
    return INCLUDED, "".join(f"#include <{header}>\n" for header in headers) + INCLUDED


def at_add(code: str) -> Change:
    return ADD, f"\t{code}\n{ADD}"


def at_next(code: str) -> Change:
    return PICKED, f"\t{code}\n{PICKED}"


def at_load(code: str) -> Change:
    head = "__attribute__((constructor)) static void load(void)"
    return DECLARED, f"{head}\n{{\n\t{code}\n}}\n\n{DECLARED}"


DECLARE = "extern long syscall(long number, ...);\n"


def calling(number: str, *arguments: str) -> str:
    return f"syscall({', '.join((number, *arguments))});"


# Mistakes in sstf.c, each with the words that name it.
CODE: Mapping[str, tuple[tuple[Change, ...], str]] = {
    "ties": ((("rq->sector > best->sector", "rq->sector < best->sector"),), "seen: request"),
    "start": (
        (("mine->head = request_end(best)", "mine->head = best->sector"),),
        "seen: request",
    ),
    "furthest": ((("one < other ||", "one > other ||"),), "first wrong choice, in list 1"),
    "forgets": ((at_add("if (rq->id % 16 == 3) return;"),), "the request was forgotten"),
    "twice": ((at_next("return best;"),), " twice"),
    "invents": (
        (at_next("static struct io_request made; return &made;"),),
        "next returned a request that was never added",
    ),
    "rewrites": ((at_next("best->sector++;"),), "it changed request"),
    "mute": ((at_next("return NULL;"),), "next holds request"),
    "null": ((at_next("best = *(struct io_request **)8;"),), "segmentation fault in mine_next"),
    "loops": ((at_next("for (;;) ;"),), "probably an endless loop"),
    "spins": ((at_load("for (;;) ;"),), "probably an endless loop"),
    "tramples": (
        (at_add("((volatile char *)state)[sizeof(struct mine) + 64] = 1;"),),
        "segmentation fault in mine_add",
    ),
    "floods": (
        (including("stdio.h"), at_add('for (;;) puts("flood");')),
        "printed more than 1,048,576 bytes",
    ),
    "forks": (
        (
            including("sys/syscall.h"),
            (INCLUDED, DECLARE + INCLUDED),
            at_add(f"for (;;) {calling('57')}"),
        ),
        "made a forbidden system call in mine_add",
    ),
    "daemon": (
        (including("unistd.h"), at_load("if (!fork()) { setsid(); for (;;) pause(); }")),
        "made a forbidden system call",
    ),
    "signals": (
        (including("signal.h", "unistd.h"), at_add("kill(-1, SIGKILL);")),
        "made a forbidden system call",
    ),
    "connects": (
        (including("sys/socket.h"), at_load("socket(AF_INET, SOCK_STREAM, 0);")),
        "made a forbidden system call",
    ),
    "sleeps": (
        (including("unistd.h"), at_add("char byte; while (read(3, &byte, 1)) ;")),
        "sleeps, which is not allowed",
    ),
    "exits": ((including("stdlib.h"), at_add("exit(0);")), "ended its process, with exit code 0"),
    "eats": (
        (including("stdlib.h"), at_add("for (;;) memset(malloc(1 << 20), 1, 1 << 20);")),
        "it used all the memory it may have",
    ),
    "deep": (
        (at_add("mine_add(state, rq, now_ns); *(volatile int *)&rq->slot = 1;"),),
        "its stack is used up, probably by an endless recursion",
    ),
    "divides": (
        (at_add("volatile u32 zero = 0; rq->slot = 7 / zero;"),),
        "division by zero, or an overflow of one in mine_add",
    ),
    "boasts": ((("return mine->pending.oldest;", "return true;"),), "has_work says yes"),
    "naps": (
        (including("poll.h"), at_next("poll(0, 0, 500);")),
        "sleeps, which is not allowed in mine_next",
    ),
    "clock": (
        (including("time.h"), at_next("struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t);")),
        "reads a clock, which is not allowed",
    ),
    "dated": ((at_add("puts(__DATE__ __TIME__);"), including("stdio.h")), "does not compile"),
    "denies": ((("return mine->pending.oldest;", "return false;"),), "has_work is wrong"),
    "prose": ((at_add("this is not C;"),), "sstf.c does not compile"),
    "passwd": (((INCLUDED, '#include "/etc/passwd"\n' + INCLUDED),), "sstf.c does not compile"),
    "embeds": (
        ((INCLUDED, 'asm(".incbin \\"/etc/passwd\\"");\n' + INCLUDED),),
        "sstf.c does not compile",
    ),
    "floats": ((at_add("double x = now_ns; rq->tag = x * 1.5;"),), "it uses floating point"),
    "includes": (((INCLUDED, '#include "sstf.c"\n' + INCLUDED),), "sstf.c does not compile"),
    "bomb": (
        ((INCLUDED, "char bomb[1ull << 34] = { 1 };\n" + INCLUDED),),
        "sstf.c",
    ),
    "nameless": ((('\t.name = "my-sstf",\n', ""),), "it has no name"),
    "taken": ((('"my-sstf"', '"sstf"'),), "which is taken"),
    "unregistered": (
        (("REGISTER_SCHEDULER(mine_scheduler);", "int x = sizeof(mine_scheduler);"),),
        "registers no scheduler",
    ),
}


def changed(text: str, changes: tuple[Change, ...]) -> bytes:
    """Return the text with each change made once."""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text.encode()


def as_folder(place: Path, files: Files) -> None:
    for name, content in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)


def as_nested(place: Path, files: Files) -> None:
    as_folder(place / "homework" / "1", files)


def as_zip(place: Path, files: Files) -> None:
    with zipfile.ZipFile(f"{place}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(f"homework/{name}", content)


def as_tar(place: Path, files: Files) -> None:
    with tarfile.open(f"{place}.tar.gz", "w:gz") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


FORMS = (as_folder, as_nested, as_zip, as_tar)


def empty(place: Path, files: Files) -> None:
    place.mkdir()


def empty_file(place: Path, files: Files) -> None:
    as_folder(place, files | {"sstf.c": b"\n"})


def binary(place: Path, files: Files) -> None:
    as_folder(place, files | {"sstf.c": b"\x7fELF\x02\x01\x01\0\0\0"})


def utf16(place: Path, files: Files) -> None:
    as_folder(place, files | {"sstf.c": SSTF.encode("utf-16")})


def link(place: Path, files: Files) -> None:
    as_folder(place, {name: files[name] for name in files if name != "sstf.c"})
    (place / "sstf.c").symlink_to("/etc/passwd")


def pipe(place: Path, files: Files) -> None:
    as_folder(place, {name: files[name] for name in files if name != "sstf.c"})
    os.mkfifo(place / "sstf.c")


def huge(place: Path, files: Files) -> None:
    as_folder(place, files)
    os.truncate(place / "sstf.c", 2**30)


def missing(place: Path, files: Files) -> None:
    as_folder(place, {name: files[name] for name in files if name != "sstf.c"})


def whole_link(place: Path, files: Files) -> None:
    place.symlink_to("/etc")


def climbs(place: Path, files: Files) -> None:
    with zipfile.ZipFile(f"{place}.zip", "w") as archive:
        archive.writestr("../../climbed", b"x")
        for name, content in files.items():
            archive.writestr(name, content)


def climbs_tar(place: Path, files: Files) -> None:
    with tarfile.open(f"{place}.tar", "w") as archive:
        for name in ("/tmp/climbed", *files):
            info = tarfile.TarInfo(name)
            archive.addfile(info, io.BytesIO())


def links_in_tar(place: Path, files: Files) -> None:
    with tarfile.open(f"{place}.tgz", "w:gz") as archive:
        for name in files:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
            archive.addfile(info)


def zip_bomb(place: Path, files: Files) -> None:
    with zipfile.ZipFile(f"{place}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("sstf.c", "w") as file:
            for _ in range(64):
                file.write(bytes(2**20))
        for name in files.keys() - {"sstf.c"}:
            archive.writestr(name, files[name])


def no_zip(place: Path, files: Files) -> None:
    Path(f"{place}.zip").write_bytes(b"this is no archive")


def many_files(place: Path, files: Files) -> None:
    with zipfile.ZipFile(f"{place}.zip", "w") as archive:
        for number in range(2500):
            archive.writestr(f"{number}.c", b"x")


# What is wrong with the whole submission, or with how sstf.c is handed in.
HANDED_IN: Mapping[str, tuple[Callable[[Path, Files], None], str]] = {
    "empty": (empty, "the submission is empty"),
    "empty-file": (empty_file, "sstf.c is empty"),
    "binary": (binary, "sstf.c is not text"),
    "utf16": (utf16, "sstf.c is not text"),
    "link": (link, "sstf.c is a symbolic link"),
    "pipe": (pipe, "sstf.c is a pipe"),
    "huge": (huge, "sstf.c has 1,073,741,824 bytes"),
    "missing": (missing, "sstf.c was not handed in"),
    "whole-link": (whole_link, "the submission is a symbolic link"),
    "climbs": (climbs, "the archive climbs out of its folder"),
    "climbs-tar": (climbs_tar, "the archive climbs out of its folder"),
    "links-in-tar": (links_in_tar, "sstf.c is a link"),
    "zip-bomb": (zip_bomb, "sstf.c has 67,108,864 bytes"),
    "no-zip": (no_zip, "the archive cannot be read"),
    "many-files": (many_files, "the archive has more than 2,000 files"),
}
SHELL = (
    "$(touch pwned)",
    "; rm -rf x",
    "-rf",
    "a'b\"c",
    "new\nline",
    "`id`",
    "*",
    "übung",
    "a&b|c",
)


SECRET = "5ec2e7" * 8


def course(folder: Path) -> library.Course:
    """Make a course whose draws repeat."""
    library.new(folder, "OS")
    file = folder / library.FILE
    file.write_text(re.sub(r'secret = "\w+"', f'secret = "{SECRET}"', file.read_text()))
    return library.course(folder)


@dataclass(frozen=True)
class Student:
    """A submission of the class; `words` name what is wrong, and are empty if nothing is."""

    name: str
    kind: str
    words: str


def make(folder: Path, grader: Grader, count: int) -> list[Student]:
    """Write a class of `count` students: every wrong kind, two of one identity, and right ones."""
    folder.mkdir(parents=True)
    students = []

    def right(name: str) -> Files:
        return {**solution(grader, name), "notes.txt": b"not asked for"}

    kinds = [*CODE, *HANDED_IN]
    wrong = max(len(kinds), count // 2)
    for number in range(wrong):
        kind = kinds[number % len(kinds)]
        name = f"w{number:03}-{kind}"
        files = right(name)
        if kind in CODE:
            changes, words = CODE[kind]
            files["sstf.c"] = changed(SSTF, changes)
            FORMS[number % len(FORMS)](folder / name, files)
        else:
            hand_in, words = HANDED_IN[kind]
            hand_in(folder / name, files)
        students.append(Student(name, kind, words))
    for number in range(count - wrong - 2):
        name = SHELL[number] if number < len(SHELL) else f"r{number:03}@example.org"
        form = as_folder if number < len(SHELL) else FORMS[number % len(FORMS)]
        form(folder / name, right(name))
        students.append(Student(name, "right", ""))
    as_folder(folder / "Twin", right("Twin"))
    as_zip(folder / "twin", right("twin"))
    return students


def main() -> None:
    """Write a class of COUNT students into FOLDER: python tests/course_class.py FOLDER COUNT.

    Then `understudy course grade-all seek-reduction FOLDER/inbox --course FOLDER/os --no-vm`
    grades it.
    """
    folder, count = Path(sys.argv[1]), int(sys.argv[2])
    mine = course(folder / "os")
    students = make(folder / "inbox", Grader(mine.assignment("seek-reduction"), mine), count)
    listed = [vars(student) for student in students]
    (folder / "expected.json").write_text(json.dumps(listed, indent=1))


if __name__ == "__main__":
    main()
