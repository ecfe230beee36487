# SPDX-License-Identifier: MIT
"""SystemRDL: a card survives export and import, the SystemRDL compiler finds the registers at
the YAML's offsets, and errors name their line."""

import random
from pathlib import Path
from typing import Any

import pytest
from card_texts import GOOD, RandomCard
from click.testing import CliRunner, Result
from ruamel.yaml import YAML
from systemrdl.compiler import RDLCompiler
from systemrdl.node import FieldNode, RegNode

from understudy_devices.cards import specification
from understudy_devices.cards.rdl_export import rdl
from understudy_devices.cards.rdl_import import OUTSIDE, VARIES
from understudy_devices.cards.wrong import WrongCard
from understudy_devices.cli.card import command

pytestmark = pytest.mark.thorough

TEXTS = {name: file.read_text() for name, file in specification.catalogue().items()}
TEXTS |= {"tiny": GOOD}
TEXTS |= {f"random{seed}": RandomCard(seed).text for seed in range(25)}
UART = """\
addrmap uart {
  name = "A UART";
  default sw = rw;
  reg { field {} EN[0:0]; field { sw = r; } BUSY[7:7] = 1; } CTRL @0x0;
  regfile {
    reg { regwidth = 16; field {} DATA[16] = 0x1234; } value;
  } channel[2] @0x10 += 0x8;
};
"""
CONFIG = """\
struct card_config {
  longint unsigned vendor; longint unsigned device; longint unsigned subsystem_vendor;
  longint unsigned subsystem; longint unsigned class_code; longint unsigned revision;
};
property pci_config { component = addrmap; type = card_config; };
addrmap uart {
  pci_config = card_config'{vendor: 1, device: 2, subsystem_vendor: 3, subsystem: 4,
                            class_code: 0x070002, revision: 5};
"""


def imported(file: Path, *options: str | Path) -> Result:
    """Run `understudy card import` in this process."""
    words = ["import", str(file), *map(str, options)]
    return CliRunner().invoke(command, words, standalone_mode=False)


def canonical(text: str) -> dict[str, Any]:
    """Parse YAML, sort the parts whose order is irrelevant, and drop default values."""
    card: dict[str, Any] = YAML(typ="safe", pure=True).load(text)
    card["bars"].sort(key=lambda one: one["number"])
    card["registers"].sort(key=lambda one: (one["bar"], one["offset"]))
    for key in ("interrupts", "buffers", "rings"):
        if not card.get(key):
            card.pop(key, None)
    for register in card["registers"]:
        if register.setdefault("kind", "plain") and register.get("fields"):
            register.pop("reset", None)  # it repeats its fields'
        for field in register.get("fields", ()):
            high, _, low = str(field["bits"]).partition(":")
            field["bits"] = (int(low or high), int(high))
            field.setdefault("reset", 0)
        register.get("fields", []).sort(key=lambda one: one["bits"])
    return card


@pytest.mark.parametrize("name", TEXTS)
def test_nothing_is_lost_there_and_back(name: str, tmp_path: Path) -> None:
    file = tmp_path / "card.rdl"
    file.write_text(rdl(specification.parse("x.yaml", TEXTS[name].encode())))
    back = imported(file)
    assert not back.exception
    assert canonical(back.stdout) == canonical(TEXTS[name])


def test_others_read_it_as_the_yaml_has_it(tmp_path: Path) -> None:
    file = tmp_path / "zach1.rdl"
    file.write_text(rdl(specification.load("zach1")))
    compiler = RDLCompiler()
    compiler.compile_file(str(file))
    top = compiler.elaborate().top
    control = top.find_by_path("CONTROL")
    assert control is not None
    registers = {node.inst_name: node for node in control.children() if isinstance(node, RegNode)}
    document = YAML(typ="safe", pure=True).load(TEXTS["zach1"])
    assert set(registers) == {register["name"] for register in document["registers"]}
    for register in document["registers"]:
        node = registers[register["name"]]
        assert node.absolute_address == register["offset"]
        assert node.size * 8 == register["width"]
        for field in register.get("fields", ()):
            match = node.find_by_path(field["name"])
            assert isinstance(match, FieldNode)
            ends = [int(end) for end in str(field["bits"]).split(":")]
            assert (match.high, match.low) == (ends[0], ends[-1])
            assert match.is_sw_writable == (field["access"] not in ("ro", "rc"))
            assert match.get_property("reset") == field.get("reset", 0)


def test_a_file_of_somebody_else_becomes_a_card(tmp_path: Path) -> None:
    file = tmp_path / "uart.rdl"
    file.write_text(CONFIG + UART.partition("\n")[2])
    card = specification.parse("uart.yaml", imported(file).stdout.encode())
    assert (card.name, card.title, card.config.class_code) == ("uart", "A UART", 0x070002)
    assert [(bar.number, bar.bytes, bar.kind) for bar in card.bars] == [(0, 4096, "memory32")]
    places = {one.name: (one.offset, one.width, one.initial) for one in card.registers}
    assert places == {
        "CTRL": (0, 32, 0x80),
        "CHANNEL_0_VALUE": (0x10, 16, 0x1234),
        "CHANNEL_1_VALUE": (0x18, 16, 0x1234),
    }
    access = {field.name: field.access for field in card.registers[0].fields}
    assert access == {"EN": "rw", "BUSY": "ro"}


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        (
            "field {} EN",
            "field {onread=rclr;} EN",
            11,
            "EN: rw, rclr: a card has rw, ro, wo, and one effect",
        ),
        ("field {} EN", "field {sw=rw1;} EN", 11, "EN: rw1: a card has"),
        (
            "CTRL @0x0",
            "CTRL[6000000] @0x100",
            11,
            "more than 4096 registers: no card has so many",
        ),
        (
            "CTRL @0x0",
            "CTRL @0x0 ; external mem {mementries=4097; memwidth=8;} RAM",
            11,
            "more than 4096 registers: make this memory a BAR",
        ),
        (
            "CTRL @0x0",
            "CTRL @0x0 ; external mem {mementries=4; memwidth=36;} RAM",
            11,
            "width: 36: Input should be 8, 16, 32 or 64",
        ),
        (
            "CTRL @0x0",
            "CTRL @0x0 ; external mem {mementries=4; memwidth=8; sw=rw1;} RAM",
            11,
            "RAM: rw1: a card has rw, ro, wo",
        ),
        ("field {} EN[0:0]; field", "signal {} s; field {reset=s;} EN[0:0]; field", 11, VARIES),
        (
            "} CTRL",
            "field {} HIGH[127:96]; regwidth = 128; } CTRL",
            11,
            "width: 128: Input should be 8, 16, 32 or 64",
        ),
        (
            "CTRL @0x0",
            f"{'C' * 64} @0x0",
            11,
            "CCC...: should have capitals, digits and _, a capital first; 63 at most",
        ),
        (
            "name =",
            "nonsense = 1; name =",
            9,
            "'nonsense': if another file declares it, name that file with --include",
        ),
        (
            "} CTRL",
            "} CTRL; strange STRANGE",
            11,
            "Type 'strange' is not defined: if another file declares it, name that file with",
        ),
        ("EN[0:0]", "EN[7:0]", 11, "overlap"),
        ("@0x10 +=", "@0x2 +=", 14, "overlap"),
        ("channel[2]", "channel[9999]", 13, "more than 4096 registers: no card has so many"),
        ("addrmap uart {", "addrmap 9 {", 6, "9"),
        ("name =", "nonsense =", 9, "nonsense"),
        ("vendor: 1,", "vendor: 0x10000,", 6, "vendor: 65536: Input should be less than 65536"),
        ("name =", "<% system %> name =", 9, "Perl is not run: write out what it makes"),
        ("EN[0:0]", "en[0:0]; field {} EN[1:1]", 11, "EN is there twice: names are unique"),
        ("EN[0:0]", "EN[0:0] = DATA_", 11, "DATA_"),
    ],
)
def test_what_is_no_card(old: str, new: str, line: int, message: str, tmp_path: Path) -> None:
    file = tmp_path / "uart.rdl"
    text = CONFIG + UART.partition("\n")[2]
    assert old in text
    file.write_text(text.replace(old, new, 1))
    error = str(imported(file).exception)
    assert error.startswith(f"{file}:{line}: "), error
    assert message in error


def test_one_mistake_of_a_wide_register(tmp_path: Path) -> None:
    file = tmp_path / "wide.rdl"
    wide = "reg { regwidth = 128; field {} A[128]; } R;"
    file.write_text(f"addrmap wide {{\n {wide}\n reg {{ field {{}} B; }} S;\n}};")
    error = str(imported(file, "--ids", "1af4:10f0").exception)
    assert error == f"{file}:2: width: 128: Input should be 8, 16, 32 or 64"


MEMORIES = """\
addrmap memories {
  reg { field {} EN[0:0]; } ctrl @0x0;
  external mem {
    mementries = 3; memwidth = 16; sw = r; desc = ""; name = "";
  } ram[2] @0x10 += 0x10;
  external mem {
    mementries = 4; memwidth = 32;
    reg { field {} LENGTH[15:0]; } entries[4];
  } queue @0x40;
};
"""


def test_a_memory_among_registers_is_an_array(tmp_path: Path) -> None:
    """Of a memory with registers, there are these.  An empty description becomes the name."""
    file = tmp_path / "memories.rdl"
    file.write_text(MEMORIES)
    card = specification.parse("x.yaml", imported(file, "--ids", "1af4:10f0").stdout.encode())
    parts = {one.name: (one.offset, one.width, one.count, one.access) for one in card.registers}
    assert parts == {
        "CTRL": (0, 32, 1, None),
        "RAM_0": (0x10, 16, 3, "ro"),
        "RAM_1": (0x20, 16, 3, "ro"),
        "QUEUE_ENTRIES": (0x40, 32, 4, None),
    }
    assert {one.description for one in card.registers if one.access} == {"ram"}


def test_bits_that_are_read_and_written_as_different_fields(tmp_path: Path) -> None:
    """They are two registers, unless a field of the register is both."""
    file = tmp_path / "spi.rdl"
    data = "reg { field { sw = w; } OUT[7:0]; field { sw = r; } IN[7:4]; } data[2];"
    file.write_text(f"addrmap spi {{\n{data}\n}};")
    card = specification.parse("x.yaml", imported(file, "--ids", "1af4:10f0").stdout.encode())
    parts = {one.name: (one.offset, one.count, one.fields[0].name) for one in card.registers}
    assert parts == {"DATA": (0, 2, "IN"), "DATA_WRITTEN": (0, 2, "OUT")}
    file.write_text(file.read_text().replace("reg {", "reg { field { sw = rw; } BOTH[8:8]; "))
    error = str(imported(file, "--ids", "1af4:10f0").exception)
    assert error == f"{file}:2: IN (7:4) overlaps OUT (7:0)"


def test_a_mistake_in_a_file_that_is_included(tmp_path: Path) -> None:
    """It is named with its line, as the compiler's own errors are."""
    file, inner = tmp_path / "uart.rdl", tmp_path / "inner.rdl"
    file.write_text('addrmap uart {\n`include "inner.rdl"\n};')
    inner.write_text("\nreg { field { sw = rw1; } EN[0:0]; } CTRL;\n")
    error = str(imported(file, "--ids", "1af4:10f0").exception)
    assert error.startswith(f"{file}:1: {inner}:2: EN: rw1: a card has")


def test_a_file_without_an_addrmap(tmp_path: Path) -> None:
    file = tmp_path / "part.rdl"
    file.write_text("reg part { field {} EN[0:0]; };")
    error = str(imported(file, "--ids", "1af4:10f0").exception)
    assert error.endswith(": import the file that has the addrmap, which uses this one")


def test_a_file_without_config_space_gets_its_ids(tmp_path: Path) -> None:
    """Counting is the behaviour's, and is left out."""
    file = tmp_path / "uart.rdl"
    file.write_text(UART.replace("sw = r; } BUSY", "sw = r; counter; } BUSY"))
    lacks = "no pci_config: give its PCI IDs with --ids VENDOR:DEVICE, or set that property"
    assert str(imported(file).exception) == f"{file}:1: {lacks}"
    card = specification.parse("x.yaml", imported(file, "--ids", "1AF4:10f0").stdout.encode())
    assert (card.config.vendor, card.config.device) == (0x1AF4, 0x10F0)
    assert card.config.class_code == 0xFF0000
    assert [field.access for field in card.registers[0].fields] == ["rw", "ro"]


@pytest.mark.parametrize("ids", ["1af4", "1af4:", "1af4:10f0:1", "0x1af4:10f0", "11af4:10f0"])
def test_wrong_ids(tmp_path: Path, ids: str) -> None:
    file = tmp_path / "uart.rdl"
    file.write_text(UART)
    assert f'--ids "{ids}": write two numbers' in str(imported(file, "--ids", ids).exception)


def test_ids_of_a_file_that_has_them(tmp_path: Path) -> None:
    file = tmp_path / "uart.rdl"
    file.write_text(CONFIG + UART.partition("\n")[2])
    error = str(imported(file, "--ids", "1af4:10f0").exception)
    assert error == f"{file}:6: it has a pci_config: leave --ids away"


def test_a_register_outside_all_bars(tmp_path: Path) -> None:
    """It would be lost."""
    file = tmp_path / "two.rdl"
    file.write_text(
        "property pci_bar_number { component = addrmap | mem; type = longint unsigned; };\n"
        "addrmap two {\n"
        "addrmap { pci_bar_number = 1; reg { field {} A; } R; } first;\n"
        "reg { field {} B; } other @0x100;\n};"
    )
    error = str(imported(file, "--ids", "1af4:10f0").exception)
    assert error == f"{file}:4: other: {OUTSIDE}"


def test_another_tools_properties(tmp_path: Path) -> None:
    """They are declared in a file of their own; its mistakes name it."""
    file, declared = tmp_path / "uart.rdl", tmp_path / "tool.rdl"
    file.write_text(UART.replace("name =", "tool_clock = 7; name ="))
    declared.write_text("property tool_clock { component = addrmap; type = longint unsigned; };")
    ids = ("--ids", "1af4:10f0")
    assert "tool_clock" in str(imported(file, *ids).exception)
    assert "EN" in imported(file, *ids, "--include", declared).stdout
    declared.write_text("\nproperty;")
    error = str(imported(file, *ids, "--include", declared).exception)
    assert error.startswith(f"{file}:1: {declared}:2: ")
    assert "none.rdl: No such file" in str(
        imported(file, *ids, "--include", tmp_path / "none.rdl").exception
    )


def test_a_long_chain_of_files(tmp_path: Path) -> None:
    for number in range(1100):
        (tmp_path / f"{number}.rdl").write_text(f'`include "{number + 1}.rdl"\n')
    error = str(imported(tmp_path / "0.rdl", "--ids", "1af4:10f0").exception)
    assert "more than 1000 files are included" in error


def test_perl_in_a_file_that_is_included(tmp_path: Path) -> None:
    """Also deeply, and from files that include each other."""
    file = tmp_path / "uart.rdl"
    file.write_text(f'`include "first.rdl"\n{UART}')
    (tmp_path / "first.rdl").write_text('`include <uart.rdl>\n`include "inner/last.rdl"\n')
    (tmp_path / "inner").mkdir()
    last = tmp_path / "inner" / "last.rdl"
    last.write_text("\n<% open(F, '>', 'made') %>\n")
    error = str(imported(file, "--ids", "1af4:10f0").exception)
    assert error == f"{last}:2: Perl is not run: write out what it makes"
    last.write_text("// nothing\n")
    (tmp_path / "linked").mkdir()  # the same file, which includes another one there
    (tmp_path / "linked" / "first.rdl").symlink_to("../inner/same.rdl")
    (tmp_path / "inner" / "same.rdl").write_text('`include "next.rdl"\n')
    (tmp_path / "inner" / "next.rdl").write_text("// nothing\n")
    (tmp_path / "linked" / "next.rdl").write_text("<% %>\n")
    both = '`include "inner/same.rdl"\n`include "linked/first.rdl"\n'
    (tmp_path / "both.rdl").write_text(both + UART)
    error = str(imported(tmp_path / "both.rdl", "--ids", "1af4:10f0").exception)
    assert error.endswith("linked/next.rdl:1: Perl is not run: write out what it makes")
    assert "circular" in str(imported(file, "--ids", "1af4:10f0").exception)


def test_properties_that_somebody_else_declared_otherwise(tmp_path: Path) -> None:
    file = tmp_path / "uart.rdl"
    text = UART.replace("addrmap uart {", "addrmap uart { pci_interrupts = 7;")
    declared = "property pci_interrupts { component = addrmap; type = longint unsigned; };\n"
    file.write_text(declared + text)
    error = str(imported(file).exception)
    reason = "pci_interrupts: declare it as understudy does: card_interrupt[]"
    assert f"{file}:2: {reason}" in error.splitlines()


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "x.rdl:1: "),
        (b"\xff\xfe", "x.rdl:1: not UTF-8: save the file as UTF-8"),
        (b"addrmap a {};", "x.rdl:1: "),
        ('\naddrmap a {\r\n\tdesc = "b\u200bc"; };'.encode(), "x.rdl:3: U+200B (ZERO WIDTH SPACE)"),
        (b"/" * (2**20 + 1), "x.rdl:1: longer than 1048576 bytes: no card"),
        (b"addrmap " * 10000, "x.rdl:1: "),
        (b"property p { component = reg; type = longint[]; };", "x.rdl:1: "),
        # The SystemRDL compiler itself crashes here.
        (b"addrmap a { x = '{\n c'{ h: \"a\",\n head:\t}\n}; reg {} x; };", "x.rdl:3: "),
    ],
)
def test_what_is_no_rdl(raw: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "x.rdl"
    file.write_bytes(raw)
    error = imported(file).exception
    assert isinstance(error, WrongCard)
    assert message in str(error)


def test_no_file_and_a_folder(tmp_path: Path) -> None:
    assert "No such file or directory" in str(imported(tmp_path / "none.rdl").exception)
    assert "a folder, not a .rdl file" in str(imported(tmp_path).exception)


MARKS = [*"{}[]();'\"=@09-~`\\", "reg", "signal", "external", "8'hff", "true", "ref", "[8]", "+="]


def spoilt(text: str, draw: random.Random) -> str:
    """Delete, insert, repeat or replace pieces of the text at random, up to three times."""
    for _ in range(draw.randrange(1, 4)):
        place = draw.randrange(len(text))
        match draw.randrange(4):
            case 0:
                text = text[:place] + text[place + draw.randrange(1, 30) :]
            case 1:
                text = text[:place] + draw.choice(MARKS) + text[place:]
            case 2:
                words = text.split()
                text = text.replace(draw.choice(words), draw.choice(words), 1)
            case 3:
                lines = text.splitlines()
                lines.insert(draw.randrange(len(lines)), draw.choice(lines))
                text = "\n".join(lines)
    return text


def test_a_spoilt_file_is_a_card_or_told_to_be_none(tmp_path: Path) -> None:
    file = tmp_path / "x.rdl"
    right = rdl(specification.parse("x.yaml", GOOD.encode()))
    wrong = 0
    for seed in range(200):
        file.write_text(spoilt(right, random.Random(seed)))
        result = imported(file)
        assert result.exception is None or isinstance(result.exception, WrongCard), f"seed {seed}"
        wrong += result.exception is not None
    assert wrong > 100
