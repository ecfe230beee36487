# SPDX-License-Identifier: MIT
"""How far a prediction can be trusted: one of three states, and the reasons."""

from dataclasses import dataclass
from typing import Any

WORDS = {True: "checked and within", None: "not checked", False: "checked and off"}


@dataclass(frozen=True)
class Trust:
    """The trust in an answer.

    `trusted` is True if everything was checked and is within the limits, None if something was not
    checked, and False if something is outside its limits.  Then nothing is recommended.  `because`
    says what was not checked or is outside its limits.  `tail_because` says why there is no
    recommendation for the tail of the response times.
    """

    trusted: bool | None
    because: tuple[str, ...] = ()
    tail_because: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the trust as one line of text."""
        return ": ".join([WORDS[self.trusted], *filter(None, ["; ".join(self.because)])])

    def __and__(self, other: "Trust") -> "Trust":
        """Return the lower of the two trusts, with its reasons."""
        states = (self.trusted, other.trusted)
        state = False if False in states else None if None in states else True
        because = tuple(
            reason for one in (self, other) if one.trusted is state for reason in one.because
        )
        return Trust(state, because, self.tail_because + other.tail_because)

    def as_json(self) -> dict[str, Any]:
        """Return the trust's entries in result.json."""
        tail = {"tail_because": list(self.tail_because)} if self.tail_because else {}
        return {"trusted": self.trusted, "because": list(self.because), **tail}
