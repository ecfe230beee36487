# SPDX-License-Identifier: MIT
"""The card nvme refuses wrong data pointers with the status that NVM Express 1.4 asks for, touches
no memory outside, and works on; and the referee names the driver's mistakes (prp_driver.c).
"""

import re
from pathlib import Path

import pytest
from guests import complaints, group, once

from understudy_devices.referee import run

pytestmark = group("nvme-pointers")

DRIVER = Path(__file__).parent / "drivers" / "prp_driver.c"
OFFSET, FIELD, RANGE, NAMESPACE = 0x4013, 0x4002, 0x4080, 0x400B
OUTSIDE = {"DMA outside the driver's memory", "wrong ring wrap"}
"""The second one is the name if the address is just past memory that the card may use."""
TRANSFER = 0x4
"""Data Transfer Error: the card can't reach the memory."""
STATUS = {
    "page": 0,
    "odd-first": OFFSET,
    "second-missing": TRANSFER,
    "second-misaligned": OFFSET,
    "first-nowhere": TRANSFER,
    "first-past-all": TRANSFER,
    "guard": TRANSFER,
    "into-guard": TRANSFER,
    "list-nowhere": TRANSFER,
    "list-misaligned": OFFSET,
    "list": 0,
    "entry-misaligned": OFFSET,
    "entry-nowhere": TRANSFER,
    "list-of-itself": 0,
    "next-misaligned": OFFSET,
    "sgl": FIELD,
    "fused": FIELD,
    "namespace": NAMESPACE,
    "last-sector": 0,
    "past-end": RANGE,
    "past-all": RANGE,
    "too-long": FIELD,
    "write": 0,
    "write-nowhere": TRANSFER,
    "read": 0,
    "queue-misaligned": OFFSET,
    "unmapped": TRANSFER,
    "after-doorbell": 0,
    "after-reset": 0,
}
FACTS = {"written": 1, "fatal": 1, "guards": 1}
"""The refused write has changed no sector; CSTS.CFS is set; no byte around the memory that the card
may use has changed."""


@once
def attacked() -> run.Outcome:
    """Run the driver, which is loaded twice."""
    return run.run(run.prepared("nvme", DRIVER), run.Setting(1, 1))


def texts(*rules: str) -> list[str]:
    return [finding.text for finding in attacked().findings if finding.rule in rules]


@pytest.mark.parametrize(("name", "value"), (STATUS | FACTS).items())
def test_the_card_answers(name: str, value: int) -> None:
    """Each load of the driver has the same answer."""
    answers = re.findall(rf"prp: {name} (\S+)", attacked().log)
    assert [int(answer, 16) for answer in answers] == [value, value]


def test_the_driver_is_blamed() -> None:
    """Each refused transfer and each wrong offset is a finding, and there is no other one."""
    rules = {finding.rule for finding in attacked().findings}
    assert rules == OUTSIDE | {"rule of the card broken"}
    refused = list(STATUS.values()).count(TRANSFER) + 1  # and the commands of the admin queue
    assert len(texts(*OUTSIDE)) == 2 * refused
    broken = texts("rule of the card broken")
    offsets = [text for text in broken if "has a wrong offset in its page" in text]
    assert len(offsets) == 2 * list(STATUS.values()).count(OFFSET)
    assert set(broken) - set(offsets) == {"doorbell 2 is given 8, and its queue has 8 entries"}


def test_the_kernel_is_well() -> None:
    assert not complaints(attacked().log.splitlines())
