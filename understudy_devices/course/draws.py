# SPDX-License-Identifier: MIT
"""Draws for one student: numbers that follow from a secret and an identity, and from nothing else.

A key is an HMAC-SHA256 of its parent's key and a label.  So the grader can repeat every draw, a
student who has a key cannot find the keys beside it, and a label that is added or removed changes
no other draw.
"""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

SEED_BITS = 31  # of the seeds that commands take


@dataclass(frozen=True)
class Draws:
    """A key; each label has its own number below the key."""

    key: bytes

    @classmethod
    def of(cls, secret: bytes, *labels: str) -> "Draws":
        """Return the draws below a secret, by labels."""
        draws = cls(secret)
        for label in labels:
            draws = draws.child(label)
        return draws

    def child(self, label: str) -> "Draws":
        """Return other draws, which are independent of these."""
        return Draws(hmac.digest(self.key, label.encode("utf-8", "surrogateescape"), "sha256"))

    def below(self, label: str, limit: int) -> int:
        """Return a number from 0 to limit - 1."""
        wide = int.from_bytes(self.child(f"number {label}").key, "big")
        return wide % limit  # 256 bits: the remainder's bias is far below any use here

    def between(self, label: str, low: int, high: int) -> int:
        """Return a number from `low` to `high`."""
        return low + self.below(label, high - low + 1)

    def choice(self, label: str, items: Sequence[T]) -> T:
        """Return one of the items."""
        return items[self.below(label, len(items))]

    def shuffled(self, label: str, items: Sequence[T]) -> list[T]:
        """Return the items in another order."""
        draws = self.child(f"order {label}")
        keys = [draws.child(str(number)).key for number in range(len(items))]
        return [items[number] for number in sorted(range(len(items)), key=keys.__getitem__)]

    def seed(self, label: str) -> int:
        """Return a seed for a command's --seed."""
        return 1 + self.below(f"seed {label}", 2**SEED_BITS - 1)
