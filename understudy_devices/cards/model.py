# SPDX-License-Identifier: MIT
"""A card as its specification describes it: config space, BARs, registers, interrupts, DMA.

The models define the valid values of each key; rules.py checks rules between several keys.
Offsets, sizes and alignments are in bytes; widths of fields and bit numbers are in bits.
Register bits without a field are reserved.  Instances are frozen.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, WithJsonSchema

OnWrite = Literal["w1c", "w1s", "w1t", "w0c", "w0s", "w0t", "wc", "ws"]
Access = Literal["rw", "ro", "wo", OnWrite, "rc", "rs"]
"""UVM's names: what writing 1, writing 0, any write or reading clears, sets or toggles."""
AT_ZERO: Final[tuple[OnWrite, ...]] = ("w0c", "w0s", "w0t")
ON_WRITE: Final[tuple[OnWrite, ...]] = get_args(OnWrite)
READABLE: Final[tuple[Access, ...]] = ("rw", "ro", *ON_WRITE, "rc", "rs")
Direction = Literal["to_device", "from_device"]
Side = Literal["both", "loaded", "stored"]

SPAN = re.compile(r"([0-9]{1,2})(?::([0-9]{1,2}))?")
BITS_MAX = 64
REGISTERS_MAX = 4096
"""Most registers of a card, where each element of an array counts."""

NAME_MAX = 63
"""Most letters of a name, also of an element's."""

VECTORS_MAX = 64
"""Most MSI-X vectors of a card."""

SOURCES_MAX = 64
"""Most causes of interrupts: the journal has a bit for each."""

VENDOR_BYTES_MAX = 189
"""Most bytes of a vendor-specific capability: config space has 256, its header 64, and the
capability's own header 3."""


def _given(value: Any) -> Any:
    if value is None:
        raise ValueError("write its keys, {} if they all have defaults, or leave it away")
    return value


GIVEN = BeforeValidator(_given)
"""A key without a value is a mistake, though the key may be missing."""
CARD_NAME = r"^[a-z][a-z0-9_]{0,30}$"
NAME = rf"^[A-Z][A-Z0-9_]{{0,{NAME_MAX - 1}}}$"
SOURCE_NAME = r"^[a-z][a-z0-9_]{0,62}$"
CardName = Annotated[str, Field(pattern=CARD_NAME)]
Name = Annotated[str, Field(pattern=NAME)]
SourceName = Annotated[str, Field(pattern=SOURCE_NAME)]
Text = Annotated[str, Field(min_length=1, max_length=10_000)]
Byte = Annotated[int, Field(ge=0, lt=2**8)]
Word = Annotated[int, Field(ge=0, lt=2**16)]
Value = Annotated[int, Field(ge=0, lt=2**BITS_MAX)]
Bytes = Annotated[int, Field(ge=1, le=2**40)]


@dataclass(frozen=True)
class Bits:
    """Bits `high` to `low` of a register, both included; 0 is the least significant."""

    high: int
    low: int

    @property
    def count(self) -> int:
        """The number of bits."""
        return self.high - self.low + 1

    @property
    def mask(self) -> int:
        """Return a mask with these bits, at their positions in the register."""
        return ((1 << self.count) - 1) << self.low

    def __str__(self) -> str:
        """Return the bits in the specification's notation: 7 or 15:8."""
        return str(self.high) if self.count == 1 else f"{self.high}:{self.low}"


def _bits(value: Any) -> Bits:
    match = SPAN.fullmatch(str(value)) if type(value) in (int, str) else None
    if not match:
        raise ValueError("bits are HIGH:LOW or one number, as 15:8 or 7")
    high, low = int(match[1]), int(match[2] or match[1])
    if high < low:
        raise ValueError(f"bits are HIGH:LOW: write {low}:{high}")
    if high >= BITS_MAX:
        raise ValueError(f"no register has more than {BITS_MAX} bits")
    return Bits(high, low)


BitsKey = Annotated[
    Bits,
    BeforeValidator(_bits),
    PlainSerializer(str, return_type=str),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0, "exclusiveMaximum": BITS_MAX},
                {"type": "string", "pattern": f"^{SPAN.pattern}$"},
            ],
            "description": "HIGH:LOW, both included, or one bit's number",
        }
    ),
]


class Section(BaseModel):
    """The base class of all parts of a specification: frozen, without unknown keys or type
    conversions."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True
    )


class Msi(Section):
    """The MSI capability."""

    vectors: Literal[1, 2, 4, 8, 16, 32]
    """Vectors that the card asks for."""


class Msix(Section):
    """The MSI-X capability."""

    vectors: Annotated[int, Field(ge=1, le=VECTORS_MAX)]
    """Vectors that the card has."""
    bar: Annotated[int, Field(ge=0, le=5)]
    """Number of the BAR with their table and their pending bits."""
    table: Annotated[int, Field(ge=0, lt=2**27)] = 0
    """Bytes from the start of the BAR to the table, a multiple of 8; a vector takes 16 bytes."""
    pending: Annotated[int, Field(ge=0, lt=2**27)] = 2048
    """Bytes from the start of the BAR to the pending bits, a multiple of 8; they take 8 bytes."""


class Pm(Section):
    """The power management capability: the card has D0 and D3hot."""

    no_soft_reset: bool = False
    """Whether the registers keep their values in D3hot; if not, waking resets the card."""


class Express(Section):
    """The PCI Express capability, of an endpoint in the root complex."""

    flr: bool = True
    """Whether a driver can reset the card by it (function-level reset)."""
    aer: bool = False
    """Whether the card reports errors (Advanced Error Reporting)."""


class VendorCapability(Section):
    """A vendor-specific capability: bytes in config space, for the card's own driver."""

    data: Annotated[tuple[Byte, ...], Field(min_length=1, max_length=VENDOR_BYTES_MAX)]
    """The bytes after the capability's ID, its link and its length."""
    description: Text
    """What they say."""


class Capabilities(Section):
    """The list of capabilities in config space."""

    msi: Annotated[Msi | None, GIVEN] = None
    """Message-signalled interrupts; without them the card has INTA."""
    msix: Annotated[Msix | None, GIVEN] = None
    """Interrupts with an address and a mask each; a driver takes these or MSI."""
    pm: Annotated[Pm | None, GIVEN] = None
    """Power management; without it the card is always awake."""
    express: Annotated[Express | None, GIVEN] = None
    """PCI Express; without it the card is one of PCI."""
    vendor: Annotated[tuple[VendorCapability, ...], Field(max_length=16)] = ()
    """Vendor-specific capabilities, in the order in which a driver finds them."""

    @property
    def vectors(self) -> int:
        """The largest number of vectors that a driver can get; 1 for INTA."""
        return max((kind.vectors for kind in (self.msi, self.msix) if kind), default=1)

    @property
    def largest(self) -> str | None:
        """Return the capability with the most vectors, "MSIX" or "MSI"; None: INTA."""
        kinds = {"MSIX": self.msix, "MSI": self.msi}
        return next((name for name, it in kinds.items() if it and it.vectors == self.vectors), None)

    def __str__(self) -> str:
        """Return a phrase for people."""
        kinds = {"MSI": self.msi, "MSI-X": self.msix}
        parts = [f"{name}, vectors: {it.vectors}" for name, it in kinds.items() if it]
        return "; ".join(parts) or "INTA"


class Config(Section):
    """The card's config space."""

    vendor: Word
    """Vendor ID."""
    device: Word
    """Device ID."""
    subsystem_vendor: Word
    """Subsystem vendor ID."""
    subsystem: Word
    """Subsystem ID."""
    class_code: Annotated[int, Field(ge=0, lt=2**24)]
    """Class, subclass and programming interface, a byte each, as 0x038000."""
    revision: Annotated[int, Field(ge=0, lt=2**8)]
    """Revision ID."""


class Bar(Section):
    """A window of the card in physical memory, or a range of I/O ports."""

    number: Annotated[int, Field(ge=0, le=5)]
    """Number of the base address register; one of kind memory64 takes the next one as well."""
    name: Name
    """Its name in the manual."""
    bytes: Annotated[int, Field(ge=4, le=2**27)]
    """Size in bytes, a power of two: at least 16, or 4 to 256 ports; the bus has 256 MiB for all
    its cards.
    """
    kind: Literal["memory32", "memory64", "io"]
    """Whether its address has 32 or 64 bits, or it is a range of I/O ports for IN and OUT.
    """
    description: Text
    """What it contains."""


class EnumValue(Section):
    """A named value of a field."""

    name: Name
    """Unique in the field."""
    value: Value
    """The value, shifted down to bit 0."""
    description: Text
    """What it means."""


class RegisterField(Section):
    """Some bits of a register."""

    name: Name
    """Unique in the register."""
    bits: BitsKey
    """Which bits."""
    access: Access
    """For a driver: rw, ro, wo; writing 1 clears (w1c), sets (w1s) or inverts (w1t); writing 0 does
    so (w0c, w0s, w0t); any write clears (wc) or sets (ws); reading clears (rc) or sets (rs)."""
    reset: Value = 0
    """Value after a reset, shifted down to bit 0."""
    description: Text
    """What the bits are for."""
    values: tuple[EnumValue, ...] = ()
    """Named values."""


class Register(Section):
    """A register: its offset, and either its fields or, if it has a single value, its access."""

    name: Name
    """Unique in the card; elements of an array are called NAME_0, NAME_1, ..."""
    bar: Annotated[int, Field(ge=0, le=5)]
    """Number of its BAR."""
    offset: Annotated[int, Field(ge=0, lt=2**40)]
    """Bytes from the start of the BAR, a multiple of its size; of 4 if it has 64 bits.  No register
    is in two pages of 4096 bytes."""
    width: Literal[8, 16, 32, 64]
    """Its size in bits."""
    kind: Literal["plain", "doorbell", "port"] = "plain"
    """doorbell: each write is an event; port: each write or read counts, as with a FIFO."""
    access: Access | None = None
    """Access of all its bits, instead of fields."""
    reset: Value | None = None
    """Value after a reset; by default that of its fields."""
    description: Text
    """What it is for."""
    fields: tuple[RegisterField, ...] = ()
    """Its fields, instead of access."""
    count: Annotated[int, Field(ge=1, le=REGISTERS_MAX)] = 1
    """More than 1: an array of so many registers."""
    stride: Annotated[int, Field(ge=1, lt=2**40)] | None = None
    """Bytes from an element of the array to the next one; by default its size."""

    @property
    def is_loaded(self) -> bool:
        """Whether a driver can read any bit of it."""
        return bool(self.bits_with(*READABLE))

    @property
    def is_stored(self) -> bool:
        """Whether a driver can write any bit of it."""
        return bool(self.bits_with("rw", "wo", *ON_WRITE))

    def shares(self, other: "Register") -> bool:
        """Return whether both have one address, where this one is only read and the other one only
        written."""
        place = (self.bar, self.offset, self.width)
        read_only = self.is_loaded and not self.is_stored
        write_only = other.is_stored and not other.is_loaded
        return place == (other.bar, other.offset, other.width) and read_only and write_only

    @property
    def prefix(self) -> str:
        """The name that its fields have in C: that of the register, or of its array."""
        return self.name

    @property
    def step(self) -> int:
        """Bytes from an element of the array to the next one."""
        return self.stride or self.width // 8

    def elements(self) -> Iterator["Register"]:
        """Yield the register, or the elements of the array."""
        if self.count == 1:
            yield self
            return
        own = {name: getattr(self, name) for name in Register.model_fields}
        for index in range(self.count):
            here = {"name": f"{self.name}_{index}", "offset": self.offset + index * self.step}
            yield Element.model_construct(**own | here | {"count": 1, "array": self.name})

    @property
    def initial(self) -> int:
        """The value after a reset, with reserved bits 0."""
        if self.reset is not None:
            return self.reset
        return sum(field.reset << field.bits.low for field in self.fields)

    def bits_with(self, *accesses: Access) -> int:
        """Return the bits that have one of these kinds of access."""
        if self.access:
            return (1 << self.width) - 1 if self.access in accesses else 0
        return sum(field.bits.mask for field in self.fields if field.access in accesses)

    @property
    def end(self) -> int:
        """The offset of the first byte after the register, or its first element."""
        return self.offset + self.width // 8


class Element(Register):
    """An element of an array of registers."""

    array: Name
    """The array's name."""

    @property
    def prefix(self) -> str:
        """The array's name."""
        return self.array


class Interrupt(Section):
    """A cause of interrupts: a status bit, the bit that enables it, and the vector."""

    name: SourceName
    """Unique in the card."""
    status: str | None = None
    """REGISTER.FIELD of the bit that is set when it happens; none: the driver's memory says so."""
    enable: str | None = None
    """REGISTER.FIELD of the bit that lets it interrupt, rw or wo; none: it always may."""
    vector: Annotated[int, Field(ge=0, lt=VECTORS_MAX)]
    """The MSI or MSI-X vector; 0 without these."""
    description: Text
    """When it happens."""


class Buffer(Section):
    """A buffer in the driver's memory that the card reads or writes by DMA."""

    name: SourceName
    """Unique among buffers and rings."""
    direction: Direction
    """Whether the card reads it (to_device) or writes it."""
    address: Name
    """Register of its bus address."""
    length: Name
    """Register of its length in bytes."""
    doorbell: Name
    """Register that starts the transfer when written."""
    alignment: Bytes
    """Its address is a multiple of this number of bytes, a power of two."""
    bytes_max: Bytes
    """Its greatest length in bytes."""
    description: Text
    """What it contains."""


class Ring(Buffer):
    """A ring buffer of entries of equal size."""

    entry_bytes: Bytes
    """Size of an entry."""
    head: Name
    """Register of the index of the next entry that the card takes."""
    tail: Name
    """Register of the index behind the last entry that the driver has filled."""


class Card(Section):
    """A whole card."""

    name: CardName
    """The file's name without .yaml."""
    title: Annotated[str, Field(min_length=1, max_length=100)]
    """One line for lists and the manual's head."""
    description: Text
    """What the card does, and how to use it; an empty line separates paragraphs."""
    config: Config
    """Config space."""
    functions: Annotated[int, Field(ge=1, le=8)] = 1
    """Functions of the card, which are all alike: each has its own config space, registers,
    interrupts and driver, as each port of a network card."""
    capabilities: Capabilities = Capabilities()
    """Capabilities in config space."""
    bars: Annotated[tuple[Bar, ...], Field(min_length=1, max_length=6)]
    """Its windows in memory."""
    registers: Annotated[tuple[Register, ...], Field(min_length=1, max_length=REGISTERS_MAX)]
    """All registers; an array of registers is one entry."""
    interrupts: Annotated[tuple[Interrupt, ...], Field(max_length=SOURCES_MAX)] = ()
    """All causes of interrupts."""
    buffers: tuple[Buffer, ...] = ()
    """Memory that it reads or writes by DMA."""
    rings: tuple[Ring, ...] = ()
    """Memory that it uses cyclically."""

    def __copy__(self) -> "Card":
        """Return a copy that computes its properties itself, since model_copy changes it."""
        copied = super().__copy__()
        for name in ("all_registers", "partners"):
            copied.__dict__.pop(name, None)
        return copied

    @cached_property
    def all_registers(self) -> tuple[Register, ...]:
        """All registers, with each element of an array, by BAR and offset; of two at one address,
        the one that is loaded is first."""
        every = (element for register in self.registers for element in register.elements())
        return tuple(sorted(every, key=lambda one: (one.bar, one.offset, not one.is_loaded)))

    @cached_property
    def partners(self) -> dict[str, Register]:
        """The other register at the same address, by the names of registers that share theirs."""
        pairs = list(zip(self.all_registers, self.all_registers[1:], strict=False))
        shared = [(first, second) for first, second in pairs if first.shares(second)]
        return {one.name: other for a, b in shared for one, other in ((a, b), (b, a))}

    def side(self, register: Register) -> Side:
        """Return which accesses a register takes; not both if another one has its address."""
        if register.name not in self.partners:
            return "both"
        return "loaded" if register.is_loaded else "stored"
