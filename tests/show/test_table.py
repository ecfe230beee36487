# SPDX-License-Identifier: MIT
"""Numbers in tables: who copies one, as a student does into an answer, copies enough digits."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy_devices.measure.comparison import Estimate
from understudy_devices.show import table


@pytest.mark.parametrize(
    ("mean", "half_width", "text"),
    [
        (0.1964, None, "0.196"),
        (0.0871, 0.00004, "0.0871 ± 0.0000"),
        (0.9996, None, "1.000"),
        (-0.25, None, "-0.250"),
        (1.0, 0.014, "1.00 ± 0.01"),
        (6_253.8, 277.64, "6,253.80 ± 277.64"),
        (58_318.2, 1.6, "58,318 ± 2"),
        (0.0, 0.0, "0.00 ± 0.00"),
        (1e-13, None, "0.00"),
        (math.nan, None, "-"),
    ],
)
def test_a_number_has_two_decimals_and_three_digits(
    mean: float, half_width: float | None, text: str
) -> None:
    assert table.number(Estimate(mean, half_width)) == text


@given(st.floats(1e-6, 1e9))
def test_a_copied_number_is_within_half_a_percent(value: float) -> None:
    copied = float(table.number(Estimate(value, None)).replace(",", ""))
    assert copied == pytest.approx(value, rel=0.005001)
