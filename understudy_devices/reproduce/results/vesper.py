# SPDX-License-Identifier: MIT
"""How far the Vesper model is off, and what the disk's model changes for students: SIGCSE 2006
Table 1, Figures 3 and 4."""

from understudy_devices.papers.printed import SIGCSE
from understudy_devices.papers.sigcse_2006 import TABLE_1
from understudy_devices.reproduce import SIM, Asked, Reproduced, vesper_error, vesper_gains

PRINTED = ((SIGCSE, "Table 1"), (SIGCSE, "Figure 3"), (SIGCSE, "Figure 4"))
SECONDS = {"sim": 6, "vm": 90}
DIFFERS = """
Table 1: the paper measured two SCSI drives. Our drives are modelled, and know when each sector
passes the head: in the simulator the models themselves, in a VM throttled virtual disks. A real
drive does more that a profile can't describe. The profiler can't seek without a read, so each seek
ends with the read of a sector. In the VM a request has at most 1.25 MB instead of 16 MB, since the
block layer splits longer ones, and only the paper's method of profiling is tried.
Figures 3 and 4: the paper's text has no figures of them, only claims in words, so these are
compared. The text does not define the gain, and does not say which scheduler Figure 4 has; ours is
the gain in speed, with FCFS. The two drives' profiles are synthetic, shaped after the paper's
Figure 1. The disk of Nachos is a profile from its constants: 0.5 ms a track, no constant part, a
track buffer. A block has 512 bytes, in Nachos 128. A request to this disk waits for half a
rotation, as in the other profiles. Nachos computes the real wait; then the places of the files
decide what C-LOOK gains, and with ours it gains next to nothing. The paper puts the large gain on
this disk down to seeks without a constant part. That explains C-LOOK's gain here, but SSTF's is
that of the track buffer: without it, SSTF gains no more than on the IBM drive's profile. Program
and file system take no time. The program runs in the simulator only.
"""


def run(asked: Asked) -> Reproduced:
    """Measure the profiles' errors, and in the simulator what students measure."""
    errors = vesper_error.measured(asked)
    table = vesper_error.grid(errors, asked.platform)
    figures = {"table_1": errors, "table_1_paper": TABLE_1}
    if asked.platform != SIM:
        elsewhere = "Figures 3 and 4 are reproduced in the simulator: --on sim."
        return Reproduced([table], figures, sentences=[elsewhere])
    gains = vesper_gains.measured(asked)
    return Reproduced(
        [table, *vesper_gains.grids(gains)],
        figures | vesper_gains.figures(gains),
        vesper_gains.drawings(gains),
        [vesper_gains.sentence(gains)],
    )
