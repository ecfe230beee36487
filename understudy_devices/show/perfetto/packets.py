# SPDX-License-Identifier: MIT
"""Packets of Perfetto's format: the messages Trace, TracePacket, TrackDescriptor and TrackEvent.

https://perfetto.dev/docs/reference/synthetic-track-event describes them.  A trace may have millions
of events, so NumPy encodes all events of a kind at once: the packets of a kind have equal lengths,
since a varint may have more bytes than it needs.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]

SLICE_BEGIN, SLICE_END, COUNTER = 1, 2, 4
EXPLICIT = 3  # children of a track are in the order of their ranks
SEQUENCE_ID = 1
STATE_CLEARED, NEEDS_STATE = 1, 2
VARINT, FIXED64, BYTES = 0, 1, 2  # wire types


def varint(value: int) -> bytes:
    """Return a number from 0 to 2^64 - 1 in its shortest form."""
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def number(of: int, value: int) -> bytes:
    """Return a field with a number."""
    return varint(of << 3 | VARINT) + varint(value)


def message(of: int, *content: bytes) -> bytes:
    """Return a field with bytes, or with fields."""
    whole = b"".join(content)
    return varint(of << 3 | BYTES) + varint(len(whole)) + whole


@dataclass
class Names:
    """Texts of one kind, each sent once; events refer to them by numbers from 1."""

    of: int  # the field of InternedData
    numbers: dict[str, int] = field(default_factory=dict)

    def number(self, text: str) -> int:
        """Return the number of a text."""
        return self.numbers.setdefault(text, len(self.numbers) + 1)

    def encoded(self) -> bytes:
        """Return all texts."""
        return b"".join(
            message(self.of, number(1, iid), message(2, text.encode()))
            for text, iid in self.numbers.items()
        )


@dataclass
class Trace:
    """Tracks and events; times in ns, from 0.

    Events at the same time are in the order of their ranks.
    """

    slices: Names = field(default_factory=lambda: Names(2))
    details: Names = field(default_factory=lambda: Names(3))
    words: Names = field(default_factory=lambda: Names(29))
    _tracks: list[bytes] = field(default_factory=list)
    _kinds: list[tuple[Ints, Ints, Bytes]] = field(default_factory=list)

    def track(self, name: str, parent: int = 0, unit: str | None = None) -> int:
        """Return a new track, below those of the same parent; one with a unit is a counter."""
        uuid = len(self._tracks) + 1
        fields = [number(1, uuid), message(2, name.encode())]
        if parent:
            fields.append(number(5, parent))
        if unit is not None:
            fields.append(message(8, message(6, unit.encode())))
        fields += [number(11, EXPLICIT), number(12, uuid)]
        self._tracks.append(message(60, *fields))
        return uuid

    def begin(
        self,
        time_ns: Ints,
        rank: Ints,
        track: Ints,
        name: Ints,
        flow: Ints,
        details: Mapping[str, Ints],
    ) -> None:
        """Begin a slice at each time; slices with the same flow (above 0) are connected.

        `name` has numbers of `slices`.  Each detail is a number; details whose names end with "*"
        are numbers of `words`.
        """
        columns = [_tag(11), _varints(track), _tag(10), _varints(name)]
        for text, values in details.items():
            of, iid = (17, text[:-1]) if text.endswith("*") else (3, text)
            inner = [_plain(number(1, self.details.number(iid))), _tag(of), _varints(values)]
            columns += [_plain(varint(4 << 3 | BYTES)), *_counted(inner)]
        columns += [_plain(varint(47 << 3 | FIXED64)), _fixed64(flow)]
        self._put(SLICE_BEGIN, time_ns, rank, columns)

    def end(self, time_ns: Ints, rank: Ints, track: Ints) -> None:
        """End the last slice that began on the track."""
        self._put(SLICE_END, time_ns, rank, [_tag(11), _varints(track)])

    def count(self, time_ns: Ints, track: int, value: Ints) -> None:
        """Set a counter, from 0, at each time."""
        which = _plain(number(11, track))
        self._put(COUNTER, time_ns, np.zeros_like(time_ns), [which, _tag(30), _varints(value)])

    def _put(self, kind: int, time_ns: Ints, rank: Ints, columns: Sequence[Bytes]) -> None:
        event = [_plain(number(9, kind)), *columns]
        packet = [
            _plain(number(10, SEQUENCE_ID) + number(13, NEEDS_STATE)),
            _tag(8),
            _varints(time_ns),
            _plain(varint(11 << 3 | BYTES)),
            *_counted(event),
        ]
        rows = [_plain(varint(1 << 3 | BYTES)), *_counted(packet)]
        self._kinds.append((time_ns, rank, _beside(rows, len(time_ns))))

    def encoded(self) -> Iterable[bytes]:
        """Yield the trace: tracks, texts, and all events in the order of their times."""
        names = message(12, self.slices.encoded(), self.details.encoded(), self.words.encoded())
        yield message(1, number(10, SEQUENCE_ID), number(13, STATE_CLEARED), names)
        for track in self._tracks:
            yield message(1, number(10, SEQUENCE_ID), track)
        if self._kinds:
            yield _in_order(self._kinds).tobytes()


def _in_order(kinds: Sequence[tuple[Ints, Ints, Bytes]]) -> Bytes:
    times = np.concatenate([time_ns for time_ns, _, _ in kinds])
    ranks = np.concatenate([rank for _, rank, _ in kinds])
    lengths = np.concatenate([np.full(len(rows), rows.shape[1]) for _, _, rows in kinds])
    order = np.lexsort((ranks, times))
    ends = np.cumsum(lengths[order])
    place = np.empty_like(ends)
    place[order] = ends - lengths[order]
    text = np.empty(int(lengths.sum()), np.uint8)
    first = 0
    for _, _, rows in kinds:
        at = place[first : first + len(rows)]
        for column in range(rows.shape[1]):
            text[at + column] = rows[:, column]
        first += len(rows)
    return text


def _tag(of: int) -> Bytes:
    return _plain(varint(of << 3 | VARINT))


def _plain(content: bytes) -> Bytes:
    """Return bytes that are equal in each row."""
    return np.frombuffer(content, np.uint8)[None, :]


def _varints(values: Ints) -> Bytes:
    """Return numbers from 0, all in the length of the largest."""
    width = len(varint(int(values.max(initial=0))))
    shifts = 7 * np.arange(width)
    rows = (values[:, None] >> shifts & 0x7F).astype(np.uint8)
    rows[:, :-1] |= 0x80
    return rows


def _fixed64(values: Ints) -> Bytes:
    return np.ascontiguousarray(values, "<i8").view(np.uint8).reshape(-1, 8)


def _counted(columns: Sequence[Bytes]) -> list[Bytes]:
    """Return the columns after the sum of their lengths."""
    return [_plain(varint(sum(column.shape[1] for column in columns))), *columns]


def _beside(columns: Sequence[Bytes], rows: int) -> Bytes:
    return np.hstack([np.broadcast_to(each, (rows, each.shape[1])) for each in columns])
