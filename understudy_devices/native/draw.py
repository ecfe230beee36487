# SPDX-License-Identifier: MIT
"""The core's random numbers (core/draw.h) for Python: the same as in the guest and the
simulator.
"""

from understudy_devices._core import ffi, lib


class Draw:
    """One stream of random numbers (core/draw.h)."""

    def __init__(self, seed: int, stream: int = 0) -> None:
        self._draw = ffi.new("struct draw *")
        lib.draw_seed(self._draw, seed, stream)

    def u64(self) -> int:
        """Return a random integer, uniform over all 64-bit values."""
        return int(lib.draw_u64(self._draw))

    def below(self, n: int) -> int:
        """Return a random integer, uniform over 0 to n - 1."""
        return int(lib.draw_below(self._draw, _at_least_one("n", n)))

    def pareto(self, alpha_milli: int, scale: int) -> int:
        """Return an integer from a Pareto distribution: at least `scale`, with alpha in
        thousandths.
        """
        return int(lib.draw_pareto(self._draw, _at_least_one("alpha_milli", alpha_milli), scale))

    def exponential(self, mean: int) -> int:
        """Return an integer from an exponential distribution with that mean."""
        return int(lib.draw_exponential(self._draw, mean))

    def zipf(self, n: int) -> int:
        """Return an integer from a Zipf distribution over 0 to n - 1, by the papers'
        approximation.
        """
        return int(lib.draw_zipf(self._draw, _at_least_one("n", n)))


def _at_least_one(name: str, value: int) -> int:
    if value < 1:
        raise ValueError(f"{name} is {value}, not at least 1")
    return value
