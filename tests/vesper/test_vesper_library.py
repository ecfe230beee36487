# SPDX-License-Identifier: MIT
"""Libvesper has the simulator's times, to the nanosecond, builds everywhere, and needs nothing."""

import platform
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from places import CHECKOUT
from vesper_builds import STRICT, compiled, output_of, refused, symbols, understudy

from understudy_devices.base.amalgamation import PROFILES
from understudy_devices.cli import vesper
from understudy_devices.device import profile
from understudy_devices.native.drive import Drive

pytestmark = pytest.mark.xdist_group("vesper_library")

REPLAY = CHECKOUT / "tests" / "vesper" / "replay.c"
DISKS = [name for name, file in profile.catalogue().items() if not profile.read(file).array]
BUILTINS = {"memcpy", "memmove", "memset"}
DIVISIONS = {  # of libgcc, on 32 bits
    *("__divdi3", "__moddi3", "__udivdi3", "__umoddi3", "__udivmoddi4"),
    "_GLOBAL_OFFSET_TABLE_",
}
NARROW = ["-m32"] if platform.machine() == "x86_64" else []  # other machines have no such option
SMALL, NEVER = 0, 1  # enum vesper_scaling
SECTOR = 512


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the library, and compile it as a course would."""
    folder = tmp_path_factory.mktemp("vesper")
    understudy("vesper", "--out", folder, "--with", "figure2", "--with", "hosted")
    compiled(folder, "vesper.o", *STRICT, "-c", "vesper.c")
    compiled(folder, "replay", *STRICT, "-I.", REPLAY, "vesper.o")
    return folder


def requests(sectors: int, seed: int, count: int = 300) -> list[tuple[str, int, int]]:
    """Return random requests: often short, near the one before, or in sequence."""
    draw = random.Random(seed)
    found: list[tuple[str, int, int]] = []
    first, length = 0, 1
    for _ in range(count):
        kind = draw.random()
        if kind < 0.3:
            first = (first + length) % sectors
        elif kind < 0.5:
            first = min(max(0, first + draw.randrange(-200, 200)), sectors - 1)
        else:
            first = draw.randrange(sectors)
        length = min(draw.choice((1, 1, 2, 8, 8, 64, 500)), sectors - first)
        found.append((draw.choice("rrrw"), first, length))
    return found


def replayed(program: Path, *words: object, given: str) -> tuple[list[list[int]], list[int]]:
    """Return the row of each request, and the statistics."""
    *rows, sums = output_of(program, *words, given=given).splitlines()
    return [list(map(int, row.split())) for row in rows], list(map(int, sums.split()))


def check_alike(
    program: Path, name: str, disk: profile.DiskProfile, sectors: int, scaling: int
) -> None:
    """Check that the library serves requests as the core does, by Python's way to the core."""
    sent = requests(sectors, sectors)
    draw = random.Random(1)
    idle = [draw.choice((0, 0, 1000, 3_000_000)) for _ in sent]
    ops = [int(op == "w") for op, _, _ in sent]
    firsts, lengths = [first for _, first, _ in sent], [length for _, _, length in sent]
    service_ns, hits = Drive(disk.timing(sectors), 5).serve(ops, firsts, lengths, idle)
    start_ns = np.cumsum(idle) + np.concatenate([[0], np.cumsum(service_ns)[:-1]])
    given = "".join(
        f"{op} {first} {length} {at}\n"
        for (op, first, length), at in zip(sent, start_ns.astype(int), strict=True)
    )
    rows, sums = replayed(program, name, sectors, SECTOR, 1, 5, scaling, given=given)
    assert [row[1] for row in rows] == start_ns.astype(int).tolist()
    assert [row[2] - row[1] for row in rows] == service_ns.tolist()
    assert [row[3] for row in rows] == hits.astype(int).tolist()
    assert sums[0] == sum(sums[1:6])
    assert sums[6] == hits.sum()


@pytest.mark.parametrize("sectors", [256, 1000, 32767, 262_144, 2_929_687, 2**31, 2**40])
@pytest.mark.parametrize("name", vesper.SHIPPED)
def test_shipped_profiles_at_any_size(library: Path, name: str, sectors: int) -> None:
    disk = profile.load(name)
    scaling = SMALL if disk.scaling else NEVER
    check_alike(library / "replay", name, disk, sectors, scaling)


@pytest.mark.thorough
@pytest.mark.parametrize("name", DISKS)
def test_every_profile_as_a_table(library: Path, tmp_path: Path, name: str) -> None:
    """Also those whose layout gives each sector's angle, with slips; one size is the real one."""
    disk = profile.load(name)
    real = disk.facts.capacity_sectors if disk.facts else 2**24
    for sectors in (2**16 + 8, real):
        understudy(
            "disks", "export", name, "--virtual-size", f"{sectors}s", "--out", tmp_path / "table.c"
        )
        table = f"-DTABLE=vesper_{name.replace('-', '_')}"
        words = (*STRICT, f"-I{library}", table, REPLAY, "table.c", library / "vesper.o")
        check_alike(compiled(tmp_path, "replay", *words), "table", disk, sectors, SMALL)


def test_a_small_disk_is_scaled_when_exported_too(library: Path, tmp_path: Path) -> None:
    understudy(
        "disks", "export", "vesper-zoned", "--virtual-size", "128KiB", "--out", tmp_path / "t.c"
    )
    words = (*STRICT, f"-I{library}", "-DTABLE=vesper_vesper_zoned", REPLAY, "t.c")
    program = compiled(tmp_path, "replay", *words, library / "vesper.o")
    check_alike(program, "table", profile.load("vesper-zoned-small"), 256, SMALL)


def test_a_queue_in_the_drive(library: Path, tmp_path: Path) -> None:
    """The drive chooses among its commands as it does for the simulator."""
    depth, sectors = 32, 2**22
    sent = [each for each in requests(sectors, 3, 400) if each[0] == "r"]
    draw = random.Random(2)
    given_ns = np.cumsum([draw.choice((0, 0, 10_000, 50_000_000)) for _ in sent])
    drive = Drive(profile.load("detailed-10k").timing(sectors, depth), 0)
    columns = ([0] * len(sent), [each[1] for each in sent], [each[2] for each in sent])
    start_ns, service_ns, _ = drive.serve_queued(*columns, given_ns)
    due_ns = start_ns + service_ns
    pending = [int((due_ns[:i] > at).sum()) for i, at in enumerate(given_ns)]
    assert 8 < max(pending) < depth
    order = np.argsort(start_ns, kind="stable")
    assert (order != np.arange(len(sent))).any()
    understudy(
        "disks",
        "export",
        "detailed-10k",
        "--virtual-size",
        f"{sectors}s",
        "--out",
        tmp_path / "t.c",
    )
    words = (*STRICT, f"-I{library}", "-DTABLE=vesper_detailed_10k", REPLAY, "t.c")
    program = compiled(tmp_path, "replay", *words, library / "vesper.o")
    given = "".join(
        f"r {first} {n} {at}\n" for (_, first, n), at in zip(sent, given_ns, strict=True)
    )
    rows, _ = replayed(program, "table", sectors, SECTOR, 32, 0, SMALL, given=given)
    assert [row[1] for row in rows] == start_ns[order].tolist()
    assert [row[2] for row in rows] == due_ns[order].tolist()


# ---- builds ---------------------------------------------------------------------------------


def builds() -> Iterator[tuple[str, tuple[str, ...], set[str]]]:
    """Yield compilers, their options, and what the object may need."""
    alone = ("-ffreestanding", "-nostdlib")
    for level in ("-O0", "-O2", "-O3", "-Os"):
        yield "gcc", (level,), BUILTINS
        yield "gcc", (level, *alone), BUILTINS
        yield "riscv64-unknown-elf-gcc", (level, "-mcmodel=medany", *alone), BUILTINS
        for narrow in NARROW:
            yield "gcc", (level, narrow, *alone), BUILTINS | DIVISIONS
    for target in ("riscv64-unknown-elf", "i686-unknown-elf", "riscv32-unknown-elf"):
        needs = BUILTINS if "64" in target else BUILTINS | DIVISIONS
        yield "clang", ("-O2", f"--target={target}", *alone), needs


@pytest.mark.thorough
@pytest.mark.parametrize(("compiler", "options", "needs"), [*builds()])
def test_no_libc_and_no_allocation(
    library: Path, tmp_path: Path, compiler: str, options: tuple[str, ...], needs: set[str]
) -> None:
    words = ("-std=gnu11", "-Wall", "-Wextra", "-Werror", *options, "-c", library / "vesper.c")
    made = compiled(tmp_path, "vesper.o", *words, compiler=compiler)
    assert symbols(made, "U") <= needs
    own = symbols(made, "TDBRVWC")
    assert all(name.startswith(("vesper_", "__x86.get_pc_thunk")) for name in own)


@pytest.mark.thorough
@pytest.mark.parametrize("narrow", NARROW)
def test_32_bits_give_the_same_times(library: Path, tmp_path: Path, narrow: str) -> None:
    words = (*STRICT, narrow, f"-I{library}", REPLAY, library / "vesper.c")
    program = compiled(tmp_path, "replay", *words)
    for name in vesper.SHIPPED:
        disk = profile.load(name)
        check_alike(program, name, disk, 262_144, SMALL if disk.scaling else NEVER)


USE = """
#include "vesper_figure2.h"
static int ran;
static void ready(void) { ran++; }
int main(void)
{
	char name[] = "vesper-zoned", data[1024] = "kept", copy[1024];
	Init(name, ready);
	Write(3, 2, data);
	vesper_advance(&vesper_disk, vesper_next_ns(&vesper_disk));
	Read(3, 2, copy);
	vesper_advance(&vesper_disk, vesper_next_ns(&vesper_disk));
	return ran == 2 && copy[0] == 'k' && copy[3] == 't' ? 0 : 1;
}
"""


@pytest.mark.parametrize("compiler", ["gcc", "g++"])
def test_figure_2_in_c_and_in_cplusplus(library: Path, tmp_path: Path, compiler: str) -> None:
    source = tmp_path / ("use.c" if compiler == "gcc" else "use.cc")
    source.write_text(USE)
    words = ("-Wall", "-Wextra", "-Werror", f"-I{library}", source, library / "vesper.o")
    output_of(compiled(tmp_path, "use", *words, compiler=compiler))


def test_figure_2_panics_at_a_wrong_call(library: Path, tmp_path: Path) -> None:
    (tmp_path / "use.c").write_text(
        "#include <stdio.h>\n#include <stdlib.h>\n"
        "#define VESPER_FIGURE2_PANIC(words) (puts(words), exit(0))\n"
        + USE.replace("Read(3, 2, copy);", "Read(255, 2, copy);")
    )
    program = compiled(tmp_path, "use", f"-I{library}", "use.c", library / "vesper.o")
    assert output_of(program) == "the request ends past the end of the disk\n"


def test_the_shipped_tables_are_those_of_the_profiles(tmp_path: Path) -> None:
    understudy("disks", "export", *vesper.SHIPPED, "--list", "--out", tmp_path / "profiles.c")
    kept = (CHECKOUT / PROFILES).read_text()
    assert (tmp_path / "profiles.c").read_text() == kept, (
        "understudy disks export, as its comment says"
    )


def test_the_state_is_small(library: Path, tmp_path: Path) -> None:
    (tmp_path / "size.c").write_text('#include "vesper.h"\nstruct vesper disk;\n')
    made = compiled(tmp_path, "size.o", f"-I{library}", "-c", "size.c")
    text = (library / "vesper.h").read_text()
    assert symbols(made, "B") == {"disk"}
    assert int(text.split("#define VESPER_STATE_BYTES ")[1].split()[0]) < 64 * 1024


# ---- bad input ------------------------------------------------------------------------------


def test_what_export_refuses(tmp_path: Path) -> None:
    out = ("--out", tmp_path / "table.c")
    assert "array has no head" in refused("disks", "export", "array-32", *out)
    assert "add --virtual-size" in refused("disks", "export", "cheetah-15k7", *out)
    assert "add --virtual-size" in refused("disks", "export", "atlas-10k", *out)
    assert "did you mean" in refused("disks", "export", "vesper-zone", *out).lower()
    assert "is not a size" in refused("disks", "export", "vesper-flat", "--virtual-size", "x", *out)
    assert "a track of" in refused("disks", "export", "atlas-10k", "--virtual-size", "8s", *out)
    copy = tmp_path / "vesper_zoned.toml"
    copy.write_text((CHECKOUT / "profiles/vesper-zoned.toml").read_text())
    assert "same name in C" in refused("disks", "export", "vesper-zoned", copy, *out)
    assert not (tmp_path / "table.c").exists()


def test_what_vesper_refuses(tmp_path: Path) -> None:
    assert "add --disk" in refused("vesper", "--out", tmp_path / "a", "--virtual-size", "1M")
    assert "hosted" in refused("vesper", "--out", tmp_path / "a", "--with", "nacho")
    assert not (tmp_path / "a").exists()
    understudy("vesper", "--out", tmp_path / "b")
    file = tmp_path / "b" / "vesper.c"
    file.write_text(file.read_text() + "/* mine */\n")
    assert "changed by hand" in refused("vesper", "--out", tmp_path / "b")
    assert file.read_text().endswith("/* mine */\n")


def test_a_disk_of_ones_own_is_compiled_in(tmp_path: Path) -> None:
    own = tmp_path / "mine.toml"
    own.write_text("[model]\nintercept_ms = 1.5\nfull_seek_ms = 10\n")
    understudy("vesper", "--out", tmp_path, "--disk", own, "--disk", "vesper-flat")
    program = compiled(tmp_path, "replay", *STRICT, REPLAY, "vesper.c", "-I.")
    rows, _ = replayed(program, "mine", 256, SECTOR, 1, 0, SMALL, given="r 128 1 -\n")
    assert rows == [[128, 0, 6_500_000, 0]]
