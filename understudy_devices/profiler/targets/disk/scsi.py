# SPDX-License-Identifier: MIT
"""Asks a disk about itself by SCSI commands (SPC-4, SBC-3).

Commands go through Linux's SG_IO.  The parsers accept any bytes, and use the complete parts of
them.
"""

import ctypes
import fcntl
from dataclasses import dataclass, fields

SG_IO = 0x2285
FROM_DEVICE = -3  # SG_DXFER_FROM_DEV
TIMEOUT_MS = 5000
ROOM = 252
INQUIRY, MODE_SENSE = 0x12, 0x5A
CACHING, GEOMETRY, CHARACTERISTICS = 0x08, 0x04, 0xB1
HEADER, DESCRIPTORS_AT = 8, 6  # of MODE SENSE (10)
NOT_ROTATING = 1
SLOWEST_RPM, FASTEST_RPM = 0x0401, 0xFFFE


@dataclass(frozen=True)
class Said:
    """The data that a disk reports; None if it does not report them."""

    vendor: str | None = None
    model: str | None = None
    write_cache: bool | None = None
    read_cache: bool | None = None
    rpm: int | None = None
    rotates: bool | None = None

    def or_else(self, other: "Said") -> "Said":
        """Return this report, with missing values taken from `other`."""
        mine = {each.name: getattr(self, each.name) for each in fields(self)}
        return Said(**{k: getattr(other, k) if v is None else v for k, v in mine.items()})


def ask(descriptor: int) -> Said:
    """Return the whole report; empty if the disk does not speak SCSI."""
    report = inquiry(_inquiry(descriptor, None))
    report = report.or_else(characteristics(_inquiry(descriptor, CHARACTERISTICS)))
    report = report.or_else(mode_page(_mode_sense(descriptor, GEOMETRY)))
    return report.or_else(mode_page(_mode_sense(descriptor, CACHING)))


def inquiry(data: bytes) -> Said:
    """Parse standard INQUIRY data: vendor and model."""
    if len(data) < 32 or data[0] & 0x1F:  # not a disk
        return Said()
    return Said(vendor=text(data[8:16]), model=text(data[16:32]))


def characteristics(data: bytes) -> Said:
    """Parse VPD page B1h: the rotation rate, or that the medium does not rotate."""
    if len(data) < 6 or data[1] != CHARACTERISTICS:
        return Said()
    return _turning(int.from_bytes(data[4:6], "big"))


def mode_page(data: bytes) -> Said:
    """Parse the answer to MODE SENSE (10): a header, block descriptors, and one mode page."""
    if len(data) < HEADER:
        return Said()
    begin = HEADER + int.from_bytes(data[DESCRIPTORS_AT:HEADER], "big")
    page = data[begin : 2 + int.from_bytes(data[:2], "big")]
    code = page[0] & 0x3F if page and not page[0] & 0x40 else None  # not a subpage
    if code == CACHING and len(page) >= 3:
        return Said(write_cache=bool(page[2] & 0x04), read_cache=not page[2] & 0x01)
    if code == GEOMETRY and len(page) >= 22:
        return _turning(int.from_bytes(page[20:22], "big"))
    return Said()


def text(data: bytes) -> str | None:
    """Return the printable characters, without quotes; None if there are none."""
    plain = "".join(chr(byte) if 0x20 <= byte < 0x7F else " " for byte in data)
    return " ".join(plain.replace('"', " ").replace("\\", " ").split()) or None


def _turning(rate: int) -> Said:
    if rate == NOT_ROTATING:
        return Said(rotates=False)
    if SLOWEST_RPM <= rate <= FASTEST_RPM:
        return Said(rpm=rate, rotates=True)
    return Said()


class _Header(ctypes.Structure):
    """struct sg_io_hdr of scsi/sg.h."""

    _fields_ = (
        ("interface_id", ctypes.c_int),
        ("dxfer_direction", ctypes.c_int),
        ("cmd_len", ctypes.c_ubyte),
        ("mx_sb_len", ctypes.c_ubyte),
        ("iovec_count", ctypes.c_ushort),
        ("dxfer_len", ctypes.c_uint),
        ("dxferp", ctypes.c_void_p),
        ("cmdp", ctypes.c_void_p),
        ("sbp", ctypes.c_void_p),
        ("timeout", ctypes.c_uint),
        ("flags", ctypes.c_uint),
        ("pack_id", ctypes.c_int),
        ("usr_ptr", ctypes.c_void_p),
        ("status", ctypes.c_ubyte),
        ("masked_status", ctypes.c_ubyte),
        ("msg_status", ctypes.c_ubyte),
        ("sb_len_wr", ctypes.c_ubyte),
        ("host_status", ctypes.c_ushort),
        ("driver_status", ctypes.c_ushort),
        ("resid", ctypes.c_int),
        ("duration", ctypes.c_uint),
        ("info", ctypes.c_uint),
    )


def _inquiry(descriptor: int, page: int | None) -> bytes:
    return _said(descriptor, bytes([INQUIRY, page is not None, page or 0, 0, ROOM, 0]))


def _mode_sense(descriptor: int, page: int) -> bytes:
    return _said(descriptor, bytes([MODE_SENSE, 0, page, 0, 0, 0, 0, 0, ROOM, 0]))


def _said(descriptor: int, command: bytes) -> bytes:
    """Return the answer to a command; empty if there is none."""
    data = (ctypes.c_ubyte * ROOM)()
    sense = (ctypes.c_ubyte * 64)()
    words = (ctypes.c_ubyte * len(command))(*command)
    header = _Header(
        interface_id=ord("S"),
        dxfer_direction=FROM_DEVICE,
        cmd_len=len(command),
        mx_sb_len=len(sense),
        dxfer_len=ROOM,
        dxferp=ctypes.addressof(data),
        cmdp=ctypes.addressof(words),
        sbp=ctypes.addressof(sense),
        timeout=TIMEOUT_MS,
    )
    try:
        fcntl.ioctl(descriptor, SG_IO, header)
    except OSError:
        return b""
    if header.status or header.host_status or header.driver_status:
        return b""
    return bytes(data)[: max(0, ROOM - header.resid)]
