# SPDX-License-Identifier: MIT
"""The constraints of `place`: checks the options, and resolves names to VMs and devices.

A name stands for a VM and all its copies, or for a single copy (web#2).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from understudy_devices.api import vms as of_vms
from understudy_devices.base.errors import UserError
from understudy_devices.consolidation.placement.constraints import Constraints, merged

GB_LEAST, GB_MOST = 1e-9, 1e12


@dataclass(frozen=True)
class Rules:
    """Constraints by the names of single VMs and devices."""

    capacities_gb: Mapping[str, float]
    sizes_gb: Mapping[str, float]
    together: tuple[frozenset[str], ...]
    apart: tuple[frozenset[str], ...]

    def as_json(self) -> dict[str, Any]:
        """Return the constraints that are given."""
        given = {
            "capacities_gb": dict(self.capacities_gb),
            "sizes_gb": dict(self.sizes_gb),
            "together": [sorted(group) for group in self.together],
            "apart": [sorted(group) for group in self.apart],
        }
        return {key: value for key, value in given.items() if value}

    def on(self, devices: Sequence[str], vms: Sequence[str]) -> Constraints:
        """Return the constraints on these devices and VMs, in this order; other VMs are left
        out."""
        sets = {
            key: tuple(
                sum(1 << rank for rank, vm in enumerate(vms) if vm in group) for group in groups
            )
            for key, groups in (("together", self.together), ("apart", self.apart))
        }
        limited = bool(self.capacities_gb)
        return Constraints(
            tuple(self.capacities_gb[device] for device in devices) if limited else (),
            tuple(self.sizes_gb[vm] for vm in vms) if limited else (),
            tuple(group for group in merged(sets["together"]) if group.bit_count() > 1),
            tuple(group for group in sets["apart"] if group.bit_count() > 1),
        )


def rules(
    devices: Sequence[str],
    vms: Sequence[str],
    capacities: str,
    sizes: str,
    together: Sequence[str],
    apart: Sequence[str],
    *,
    sizes_suffice: bool = False,
) -> Rules:
    """Check the options' texts; raise a UserError for an unknown name or a contradiction.

    sizes_suffice: whether the VMs' sizes are of use without the devices' capacities.
    """
    capacities_gb = {}
    for name, gb in _sizes("--capacities-gb", capacities).items():
        if name not in devices:
            raise UserError(
                f"--capacities-gb: no device is called {name}; there are {', '.join(devices)}"
            )
        capacities_gb[name] = gb
    sizes_gb: dict[str, float] = {}
    named = _sizes("--sizes-gb", sizes)
    for name in sorted(named, key=lambda name: "#" in name):
        sizes_gb |= dict.fromkeys(copies("--sizes-gb", name, vms), named[name])
    if capacities_gb:
        _need_all("--capacities-gb", "device", devices, capacities_gb)
    elif sizes_gb and not sizes_suffice:
        raise UserError("--sizes-gb: give the devices' --capacities-gb as well, or --today")
    if capacities_gb or sizes_gb:
        _need_all("--sizes-gb", "VM", vms, sizes_gb)
    checked = Rules(
        capacities_gb,
        sizes_gb,
        tuple(_group("--together", text, vms) for text in together),
        tuple(_group("--apart", text, vms) for text in apart),
    )
    _refuse_contradictions(checked, devices, vms, apart)
    return checked


def _sizes(option: str, text: str) -> dict[str, float]:
    return {
        name: of_vms.number(
            value, GB_LEAST, GB_MOST, f"{option}: {name}={value}: write NAME=GB, a size above 0"
        )
        for name, value in of_vms.pairs(option, text).items()
    }


def copies(option: str, name: str, vms: Sequence[str]) -> list[str]:
    """Return the VMs that a name stands for; raise a UserError if there are none."""
    names = [vm for vm in vms if vm == name or vm.rpartition("#")[0] == name]
    if not names:
        raise UserError(f"{option}: no VM is called {name}; there are {', '.join(vms)}")
    return names


def _group(option: str, text: str, vms: Sequence[str]) -> frozenset[str]:
    names = [name for name in text.split(",") if name]
    group = frozenset(vm for name in names for vm in copies(option, name, vms))
    if len(group) < 2:
        raise UserError(f"{option}: {text}: name at least two VMs, as in web,db")
    return group


def _need_all(option: str, what: str, names: Sequence[str], known: Mapping[str, float]) -> None:
    for name in names:
        if name not in known:
            raise UserError(f"{option}: {what} {name} has no size; add {name}=GB")


def _refuse_contradictions(
    checked: Rules, devices: Sequence[str], vms: Sequence[str], texts: Sequence[str]
) -> None:
    units = checked.on(devices, vms).together
    for text, group in zip(texts, checked.apart, strict=True):
        for unit in units:
            both = [vm for rank, vm in enumerate(vms) if unit >> rank & 1 and vm in group]
            if len(both) > 1:
                raise UserError(
                    f"--apart {text}: --together keeps {both[0]} and {both[1]} on one device; "
                    "leave out one of the two options"
                )
        if len(group) > len(devices):
            raise UserError(
                f"--apart {text}: {len(group)} VMs need as many devices, and there are "
                f"{len(devices)}; add devices"
            )
