# SPDX-License-Identifier: MIT
"""Whether VMs run under KVM here.  A kernel is booted once to know; the answer is kept."""

from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.platforms.vm import kvm
from understudy_devices.platforms.vm.qemu import Accelerator


def best() -> Accelerator:
    """Return the fastest accelerator that works here."""
    try:
        return "kvm" if kvm.probe().works else "tcg"
    except (RunFailed, UserError):  # no kernel to try it with
        return "tcg"
