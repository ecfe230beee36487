# SPDX-License-Identifier: MIT
"""Invalid parameters of our modules are refused, at loading and later, and the kernel's log says
why.
"""

import pytest
from guests import MIB, attempts, boot, group, once, text

from understudy_devices.platforms.vm.machine import Result

pytestmark = group("parameters")

REFUSED = {
    "vpcib": {
        "journal_at=16777216": "outside the kernel's memory",
        "journal_at=1": "outside the kernel's memory",
        "journal_at=18446744073709547520": "outside the kernel's memory",
        "journal_records=65": "a power of two",
    },
    "vdisk": {
        "depth=0": "depth=0 is not 1 to 128",
        "depth=129": "depth=129 is not 1 to 128",
        "depth=4294967295": "depth=4294967295 is not 1 to 128",
    },
}
EACH = [(module, given) for module, each in REFUSED.items() for given in each]
LATER = ("0", "129", "4294967295", "x")
SCENARIO = (
    "".join(f"attempt {depth} /sys/module/vdisk/parameters/depth\n" for depth in (*LATER, 128))
    + "rmmod vdisk && rmmod vpcib || fail 'they stay'\n"
    + "".join(
        f"dmesg -c > /dev/null\n"
        f"insmod /modules/{module}.ko {given} 2> /dev/null && fail '{given} loads'\n"
        f"dmesg > '/out/{given}'\n"
        for module, given in EACH
    )
)


@once
def tried() -> Result:
    """Boot the VM in which all of them are tried."""
    return boot(SCENARIO, {"vpcib": "", "vdisk": f"size={MIB}"})


@pytest.mark.parametrize(("module", "parameter"), EACH)
def test_it_does_not_load(module: str, parameter: str) -> None:
    assert f"{module}: " in text(tried(), parameter)
    assert REFUSED[module][parameter] in text(tried(), parameter)


def test_a_depth_is_refused_later() -> None:
    reasons = attempts(tried())
    assert reasons == {f"depth={depth}": "Invalid argument" for depth in LATER} | {
        "depth=128": "ok"
    }
