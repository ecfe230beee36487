# SPDX-License-Identifier: MIT
"""What SIGCSE 2006 prints in Table 1, and what its text says of Figures 3 and 4.

The text has no figure of either picture.
"""

SEEK, TRANSFER = "random seek", "random transfer"

TABLE_1 = {  # error of the model, %
    "IBM": {SEEK: 10.1, TRANSFER: 1.1},
    "Seagate": {SEEK: 8.9, TRANSFER: 2.6},
}

# Section 3.2.
SCHEDULERS_GAIN = "SSTF and C-LOOK are faster than FCFS"
NACHOS_GAINS_MORE = "schedulers gain much more on the disk of Nachos"
VESPER_ALIKE = "schedulers gain about as much on the IBM drive as on the Seagate drive"
LARGER_IS_FASTER = "a larger prefetch tends to be faster"
IBM_GAINS_MOST = "prefetching gains most on the IBM drive, which has the highest throughput"
