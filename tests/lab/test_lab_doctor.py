# SPDX-License-Identifier: MIT
"""`lab doctor`: the clocks of running guests."""

import json
from pathlib import Path

import lab_images
import lab_linux
import pytest
from lab_class import Class

from understudy_devices.lab import doctor
from understudy_devices.lab.doctor import _Offset

pytestmark = pytest.mark.thorough


@pytest.mark.slow
def test_a_wrong_clock_is_noticed(tmp_path: Path) -> None:
    """The guest's says 2001 until a start sets it."""
    lab = Class(tmp_path)
    try:
        disk = lab_images.image(tmp_path / "linux.qcow2", b"0".ljust(10), mib=8)
        lab.create(disk, *lab_linux.options(tmp_path))
        assert "no VM runs whose agent answers" in lab.lab("doctor", "--seconds", "0").stderr
        lab.start()
        lab.wait_for("up 0")
        content = json.loads(lab.lab("doctor", "--seconds", "0", "--json").stdout)
        (clock,) = content["clocks"]
        assert clock["source"] in ("tsc", "hpet", "acpi_pm", "refined-jiffies")
        assert clock["offset_ms"] < -1e9
        assert clock["advice"]
        assert content["not_measured"] == {"team02": "it does not run here"}
        lab.do("stop", "team01", "--suspend")
        lab.start()
        content = json.loads(lab.lab("doctor", "--seconds", "0", "--json").stdout)
        assert abs(content["clocks"][0]["offset_ms"]) < 600e3
    finally:
        lab.kill()


@pytest.mark.parametrize(
    ("source", "accelerator", "offset_ms", "drift_ms", "words"),
    [
        ("kvm-clock", "kvm", 0.5, 0.1, ""),
        ("tsc", "tcg", -3.0, 0.0, ""),
        ("hpet", "kvm", 0.0, 0.0, "wrong clock source: boot the guest with clocksource=kvm-clock"),
        ("acpi_pm", "tcg", 0.0, 0.0, "wrong clock source: boot the guest with clocksource=tsc"),
        ("kvm-clock", "kvm", 0.0, 5.0, "its clock runs at a wrong rate"),
        ("tsc", "tcg", 0.0, 150.0, "its clock runs at a wrong rate"),
        (
            "tsc",
            "tcg",
            900.0,
            0.0,
            "its clock is wrong: understudy lab stop os822 team01 --suspend",
        ),
    ],
)
def test_the_advice(
    tmp_path: Path, source: str, accelerator: str, offset_ms: float, drift_ms: float, words: str
) -> None:
    lab = Class(tmp_path)
    lab.create(lab_images.guest(tmp_path))
    end = _Offset(0, offset_ms, 2.5)
    advice = doctor._advice(source, accelerator, end, drift_ms, 2.5, lab.team())
    assert advice.startswith(words)
    assert bool(advice) == bool(words)
