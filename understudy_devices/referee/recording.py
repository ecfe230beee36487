# SPDX-License-Identifier: MIT
"""The journal of a run: outside the guest's memory, and copied to a file while the run goes on.

The guest writes its journal to the VM's wire (kernel/vpcib/journal.c), which is a file of the
host.  So another program, such as the studio, can show the accesses of a run that has not ended;
and the accesses remain if the guest's kernel dies.
"""

import threading
from pathlib import Path

from understudy_devices.base.errors import UserError
from understudy_devices.cards.journal import (
    ACCESS,
    NOTHING_KEPT,
    PAGE_BYTES,
    Kept,
    bytes_outside,
    kept_outside,
)
from understudy_devices.platforms.vm import qemu

RECORDS = 2**20
LOOK_SECONDS = 0.2


class Recording:
    """The journal of one run on a machine."""

    def __init__(self, machine: qemu.Machine, file: Path | None = None) -> None:
        """Prepare the journal; `file` gets a copy of its records as they come."""
        self._at = qemu.wire_bytes(machine) - bytes_outside(RECORDS)
        self._address = qemu.wire_address(machine) + self._at
        self._file = file
        self._ended = threading.Event()
        self._copier: threading.Thread | None = None
        self._error: OSError | None = None
        self._kept = NOTHING_KEPT

    def parameters(self) -> dict[str, int]:
        """Return the bus's parameters for this journal."""
        return {"journal_records": RECORDS, "journal_at": self._address}

    def begin(self, wire: Path) -> None:
        """Copy from now on; called before the guest begins (Vm.began)."""
        if self._file:
            self._ended.clear()
            self._copier = threading.Thread(target=self._copy, args=(wire, self._file), daemon=True)
            self._copier.start()

    def end(self, wire: Path) -> None:
        """Take the whole journal; called when the guest has ended (Vm.salvage)."""
        self._ended.set()
        if self._copier:
            self._copier.join()
        self._kept = kept_outside(wire, self._at, RECORDS)

    def kept(self) -> Kept:
        """Return the journal of the run that has ended; UserError if its copy is not complete."""
        if self._error:
            raise UserError(
                f"{self._file}: {self._error.strerror}: name another --out"
            ) from self._error
        return self._kept

    def _copy(self, wire: Path, to: Path) -> None:
        copied = 0
        try:
            with wire.open("rb", buffering=0) as source, to.open("wb", buffering=0) as copy:
                is_last = False
                while not is_last:
                    is_last = self._ended.wait(LOOK_SECONDS)
                    source.seek(self._at)
                    written = min(int.from_bytes(source.read(8), "little"), RECORDS)
                    source.seek(self._at + PAGE_BYTES + copied * ACCESS.itemsize)
                    copy.write(source.read((written - copied) * ACCESS.itemsize))
                    copied = written
        except OSError as error:
            self._error = error
