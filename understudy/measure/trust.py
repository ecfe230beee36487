# SPDX-License-Identifier: MIT
"""How far an answer may be trusted: one of three states, and the reasons."""

from dataclasses import dataclass
from typing import Any

WORDS = {True: "checked and within", None: "not checked", False: "checked and off"}


@dataclass(frozen=True)
class Trust:
    """True: checked and within the limits.  None: `because` names what was not checked.  False:
    `because` says what is outside its limits, and nothing is recommended.  `tail_because`: why
    there is no recommendation for the tail."""

    trusted: bool | None
    because: tuple[str, ...] = ()
    tail_because: tuple[str, ...] = ()

    def __str__(self) -> str:
        """In one line."""
        return ": ".join([WORDS[self.trusted], *filter(None, ["; ".join(self.because)])])

    def __and__(self, other: "Trust") -> "Trust":
        """The trust in two answers together: the lower of both."""
        states = (self.trusted, other.trusted)
        state = False if False in states else None if None in states else True
        because = tuple(
            reason for one in (self, other) if one.trusted is state for reason in one.because
        )
        return Trust(state, because, self.tail_because + other.tail_because)

    def as_json(self) -> dict[str, Any]:
        """Its entries in result.json."""
        tail = {"tail_because": list(self.tail_because)} if self.tail_because else {}
        return {"trusted": self.trusted, "because": list(self.because), **tail}
