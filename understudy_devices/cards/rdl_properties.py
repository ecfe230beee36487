# SPDX-License-Identifier: MIT
"""The properties that this project adds to SystemRDL to describe a card, and SystemRDL's terms
for accesses.

SystemRDL 2.0 (Accellera) has registers, fields, enums, resets and texts.  Config space, BARs,
doorbells, ports, interrupts and DMA are user-defined properties (its section 15).  Each structure
has the members of the model with the same name (model.py).
"""

from typing import Final, get_type_hints

from understudy_devices.cards.model import (
    Access,
    Buffer,
    Config,
    Interrupt,
    Ring,
    Section,
    VendorCapability,
)

TEXT, NUMBER = "string", "longint unsigned"
STRUCTURES: Final[dict[str, type[Section]]] = {
    "card_config": Config,
    "card_vendor_capability": VendorCapability,
    "card_interrupt": Interrupt,
    "card_buffer": Buffer,
    "card_ring": Ring,
}
PROPERTIES = {  # name: components that have it, type
    "pci_config": ("addrmap", "card_config"),
    "pci_functions": ("addrmap", NUMBER),
    "pci_msi_vectors": ("addrmap", NUMBER),
    "pci_msix_vectors": ("addrmap", NUMBER),
    "pci_msix_bar": ("addrmap", NUMBER),
    "pci_msix_table": ("addrmap", NUMBER),
    "pci_msix_pending": ("addrmap", NUMBER),
    "pci_pm_no_soft_reset": ("addrmap", NUMBER),
    "pci_express_flr": ("addrmap", NUMBER),
    "pci_express_aer": ("addrmap", NUMBER),
    "pci_vendor_capabilities": ("addrmap", "card_vendor_capability[]"),
    "pci_interrupts": ("addrmap", "card_interrupt[]"),
    "pci_buffers": ("addrmap", "card_buffer[]"),
    "pci_rings": ("addrmap", "card_ring[]"),
    "pci_bar_number": ("addrmap | mem", NUMBER),
    "pci_bar_bytes": ("addrmap | mem", NUMBER),
    "pci_bar_kind": ("addrmap | mem", TEXT),
    "pci_register_kind": ("reg", TEXT),
    "pci_one_value": ("reg", "boolean"),
}
"""pci_one_value: the register has a single value and no fields; SystemRDL needs a field, named
VALUE."""

Ways = tuple[str, str | None, str | None]  # sw, onread, onwrite
WAYS: Final[dict[Access, Ways]] = {
    "rw": ("rw", None, None),
    "ro": ("r", None, None),
    "wo": ("w", None, None),
    "w1c": ("rw", None, "woclr"),
    "w1s": ("rw", None, "woset"),
    "w1t": ("rw", None, "wot"),
    "w0c": ("rw", None, "wzc"),
    "w0s": ("rw", None, "wzs"),
    "w0t": ("rw", None, "wzt"),
    "wc": ("rw", None, "wclr"),
    "ws": ("rw", None, "wset"),
    "rc": ("r", "rclr", None),
    "rs": ("r", "rset", None),
}


def declarations() -> str:
    """Return the declarations at the head of a file."""
    lines = [
        f"struct {name} {{ {_members(section)} }};" for name, section in STRUCTURES.items()
    ] + [
        f"property {name} {{ component = {components}; type = {kind}; }};"
        for name, (components, kind) in PROPERTIES.items()
    ]
    return "\n".join(lines)


def _members(section: type[Section]) -> str:
    kinds = {int: (NUMBER, ""), tuple[int, ...]: (NUMBER, "[]")}
    hints = get_type_hints(section)
    members = ((name, *kinds.get(hints[name], (TEXT, ""))) for name in section.model_fields)
    return " ".join(f"{kind} {name}{array};" for name, kind, array in members)
