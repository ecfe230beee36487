# SPDX-License-Identifier: MIT
"""A small specification that uses every key, which tests then damage, and random specifications."""

import json
import random
from collections.abc import Iterator
from typing import Any

ACCESSES = ["rw", "ro", "wo", "w1c", "w1s", "w1t", "w0c", "w0s", "w0t", "wc", "ws", "rc", "rs"]

GOOD = """\
name: tiny
title: A tiny card
description: It has two registers and a ring.
config:
  {vendor: 1, device: 2, subsystem_vendor: 1, subsystem: 2, class_code: 0x088000, revision: 0}
capabilities:
  msi: {vectors: 2}
bars:
  - {number: 0, name: CONTROL, bytes: 4096, kind: memory32, description: All of it.}
registers:
  - name: STATUS
    bar: 0
    offset: 0x0
    width: 32
    reset: 0x20
    description: What happened.
    fields:
      - {name: DONE, bits: 0, access: w1c, description: It is done.}
      - name: LEVEL
        bits: 6:4
        access: ro
        reset: 2
        description: How full it is.
        values:
          - {name: EMPTY, value: 0, description: Nothing in it.}
          - {name: HALF, value: 2, description: Half full.}
  - name: ENABLE
    bar: 0
    offset: 0x4
    width: 32
    description: What interrupts.
    fields:
      - {name: DONE, bits: 0, access: rw, description: When it is done.}
  - {name: BASE, bar: 0, offset: 0x8, width: 64, access: rw, reset: 0, description: Address.}
  - {name: SIZE, bar: 0, offset: 0x10, width: 32, access: rw, reset: 0, description: Bytes.}
  - {name: HEAD, bar: 0, offset: 0x14, width: 32, access: ro, reset: 0, description: Next.}
  - {name: TAIL, bar: 0, offset: 0x18, width: 32, kind: doorbell, access: rw, reset: 0,
     description: Behind the last.}
interrupts:
  - name: done
    status: STATUS.DONE
    enable: ENABLE.DONE
    vector: 1
    description: It is done.
rings:
  - name: commands
    direction: to_device
    address: BASE
    length: SIZE
    doorbell: TAIL
    alignment: 16
    bytes_max: 4096
    entry_bytes: 16
    head: HEAD
    tail: TAIL
    description: Commands.
"""


class RandomCard:
    """A valid specification, generated from a seed: all keys, sizes, widths and accesses.

    `text` is the specification as JSON, and hence also YAML.
    """

    def __init__(self, seed: int) -> None:
        """Generate the card; equal seeds generate equal cards."""
        self._draw = random.Random(seed)
        self._bits: list[str] = []
        self._enables: list[str] = []  # those that may enable an interrupt
        self._registers: list[dict[str, Any]] = []
        self._bars = self._some_bars()
        for bar in self._bars:
            self._fill(bar)
        self.document = self._document(seed)
        self.text = json.dumps(self.document, indent=1)

    def _some_bars(self) -> list[dict[str, Any]]:
        bars, number = [], self._draw.randrange(2)
        while number < 5:
            wide = self._draw.random() < 0.4
            bars.append(
                {
                    "number": number,
                    "name": f"WINDOW_{number}",
                    "bytes": 4096 << self._draw.randrange(12),
                    "kind": "memory64" if wide else "memory32",
                    "description": self._words(),
                }
            )
            number += 1 + wide + self._draw.randrange(3)
        self._draw.shuffle(bars)
        return bars

    def _words(self) -> str:
        words = ["it's", "a", "card:", "# no", "'1", '"so"', "<b>", "ümlaut", "yes", "0x10"]
        words += [
            "\\",
            "{%",
            "<%=",
            "%>",
            "`include",
            "`",
            "&#96;",
            "&#38;#96;",
            "a\r\nb",
            "//",
            "/*",
            "*/",
            "- x",
            "\n  -",
            "\n\n",
            "[b]",
        ]
        return " ".join(self._draw.choices(words, k=self._draw.randrange(1, 6)))

    def _fill(self, bar: dict[str, Any]) -> None:
        """Add registers from the start of the BAR, with gaps, and one at its end."""
        offset = 0
        for _ in range(self._draw.randrange(1, 12)):
            width = self._draw.choice([8, 16, 32, 64])
            size = width // 8
            offset = (offset + self._draw.randrange(3) * size + size - 1) // size * size
            self._add(bar["number"], offset, width)
            offset += size
        self._add(bar["number"], bar["bytes"] - 4, 32)

    def _add(self, bar: int, offset: int, width: int) -> None:
        register: dict[str, Any] = {
            "name": f"R{len(self._registers)}",
            "bar": bar,
            "offset": offset,
            "width": width,
            "kind": self._draw.choice(["plain", "doorbell", "port"]),
            "description": self._words(),
        }
        if self._draw.random() < 0.3:
            register |= {"access": self._access(), "reset": self._draw.getrandbits(width)}
        else:
            register["fields"] = list(self._fields(register))
        self._registers.append(register)

    def _access(self) -> str:
        return self._draw.choice(ACCESSES)

    def _fields(self, register: dict[str, Any]) -> Iterator[dict[str, Any]]:
        low = self._draw.randrange(3)
        while low < register["width"]:
            count = min(self._draw.choice([1, 1, 2, 5, 17]), register["width"] - low)
            name = f"F{low}"
            field: dict[str, Any] = {
                "name": name,
                "bits": f"{low + count - 1}:{low}" if count > 1 else low,
                "access": self._access(),
                "reset": self._draw.getrandbits(count),
                "description": self._words(),
            }
            if self._draw.random() < 0.4:
                values = self._draw.sample(range(2 ** min(count, 20)), 2)
                field["values"] = [
                    {"name": f"V{value}", "value": value, "description": self._words()}
                    for value in values
                ]
            if count == 1:
                self._bits.append(f"{register['name']}.{name}")
                if field["access"] in ("rw", "wo"):
                    self._enables.append(self._bits[-1])
            yield field
            low += count + self._draw.choice([0, 0, 1, 7])

    def _document(self, seed: int) -> dict[str, Any]:
        config = {
            key: self._draw.getrandbits(16)
            for key in ("vendor", "device", "subsystem_vendor", "subsystem")
        }
        config |= {"class_code": self._draw.getrandbits(24), "revision": self._draw.getrandbits(8)}
        capabilities = self._capabilities()
        vectors = max((one["vectors"] for one in capabilities.values()), default=1)
        card: dict[str, Any] = {
            "name": f"random{seed}",
            "title": " ".join(self._words().split()),
            "description": f"{self._words()}\n\n{self._words()}\n",
            "config": config,
            "bars": self._bars,
            "registers": self._draw.sample(self._registers, len(self._registers)),
            "interrupts": list(self._interrupts(vectors)),
        }
        if capabilities:
            card["capabilities"] = capabilities
        if any(one["kind"] == "doorbell" for one in self._registers):
            card["buffers"] = [self._buffer(f"buffer{i}") for i in range(self._draw.randrange(3))]
            card["rings"] = [self._ring(f"ring{i}") for i in range(self._draw.randrange(3))]
        return card

    def _capabilities(self) -> dict[str, dict[str, int]]:
        """Return MSI and MSI-X capabilities; MSI-X needs a BAR for its table."""
        capabilities = {}
        if vectors := self._draw.choice([0, 1, 4, 32]):
            capabilities["msi"] = {"vectors": vectors}
        number = 1 + max(one["number"] + (one["kind"] == "memory64") for one in self._bars)
        if number <= 5 and (vectors := self._draw.choice([0, 1, 3, 64])):
            capabilities["msix"] = {"vectors": vectors, "bar": number}
            self._bars.append(
                {
                    "number": number,
                    "name": "VECTORS",
                    "bytes": 4096,
                    "kind": "memory32",
                    "description": self._words(),
                }
            )
        return capabilities

    def _interrupts(self, vectors: int) -> Iterator[dict[str, Any]]:
        for number in range(self._draw.randrange(6) if self._enables else 0):
            yield {
                "name": f"source{number}",
                "status": self._draw.choice(self._bits),
                "enable": self._draw.choice(self._enables),
                "vector": self._draw.randrange(vectors),
                "description": self._words(),
            }

    def _buffer(self, name: str) -> dict[str, Any]:
        names = [one["name"] for one in self._registers]
        doorbells = [one["name"] for one in self._registers if one["kind"] == "doorbell"]
        return {
            "name": name,
            "direction": self._draw.choice(["to_device", "from_device"]),
            "address": self._draw.choice(names),
            "length": self._draw.choice(names),
            "doorbell": self._draw.choice(doorbells),
            "alignment": 2 ** self._draw.randrange(13),
            "bytes_max": self._draw.randrange(1, 100) * 4096,
            "description": self._words(),
        }

    def _ring(self, name: str) -> dict[str, Any]:
        names = [one["name"] for one in self._registers]
        return self._buffer(name) | {
            "entry_bytes": 2 ** self._draw.randrange(13),
            "head": self._draw.choice(names),
            "tail": self._draw.choice(names),
        }
