# SPDX-License-Identifier: MIT
"""Fractions of a disk become sectors of a disk of any size, even the smallest."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy_devices.device.timing import Sample, Timing, lines, steps, zones
from understudy_devices.native.drive import Drive
from understudy_devices.native.request import READ

fractions = st.lists(st.fractions(0, 1), max_size=40)
sizes = st.integers(1, 2**40)


def samples(places: list[Fraction]) -> list[Sample]:
    """Return a sample at each place and at both ends."""
    return [(at, 1000 * at * (3 - at)) for at in sorted({Fraction(0), *places, Fraction(1)})]


@given(fractions, sizes)
def test_any_samples_are_a_curve_on_any_disk(places: list[Fraction], end: int) -> None:
    """The core accepts them as seeks and as zones."""
    curve = lines(samples(places), end)
    assert Drive(Timing(end, 0, curve))
    firsts = [(at, value) for at, value in samples(places) if at < 1]
    assert Drive(Timing(end, 0, curve, zones(firsts, end)))


@given(fractions, sizes)
def test_points_are_on_the_line(places: list[Fraction], end: int) -> None:
    """At the sector nearest to a sample, the value is on the sampled line."""
    given_samples = samples(places)
    at, values = zip(*((float(at), float(value)) for at, value in given_samples), strict=True)
    for sector, value in lines(given_samples, end):
        assert value == pytest.approx(np.interp(sector / end, at, values), abs=0.51)


def test_samples_on_one_sector_are_one_point() -> None:
    spread = [(Fraction(i, 255), Fraction(i)) for i in range(256)]
    assert lines(spread, 2) == ((0, 0), (1, 128), (2, 255))
    assert lines(spread, 1) == ((0, 0), (1, 255))
    assert len(lines(spread, 255)) == len(lines(spread, 256)) == 256


def test_zones_begin_at_the_nearest_sector() -> None:
    firsts = [
        (Fraction(0), Fraction(5)),
        (Fraction(1, 3), Fraction(6)),
        (Fraction(1, 2), Fraction(7)),
    ]
    assert zones(firsts, 10) == ((0, 5), (2, 5), (3, 6), (4, 6), (5, 7), (10, 7))
    assert zones(firsts, 2) == ((0, 5), (1, 7), (2, 7))
    assert zones(firsts[:1], 10) == ((0, 5), (10, 5))


def test_steps_are_constant_in_between() -> None:
    drive = Drive(Timing(90, 0, ((0, 0), (90, 0)), steps([(0, 1000), (40, 3000)], 90)))
    for sector, ns in ((0, 1), (39, 1), (40, 3), (89, 3)):
        assert drive.serve([READ], [sector], [1])[0][0] == ns


@given(st.lists(st.integers(1, 1000), unique=True, max_size=50))
def test_places_ascend(firsts: list[int]) -> None:
    curve = steps([(first, first) for first in sorted({0, *firsts})], 1000)
    assert all(before < after for (before, _), (after, _) in pairwise(curve))
    assert curve[-1][0] == 1000
