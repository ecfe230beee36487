# SPDX-License-Identifier: MIT
"""The measurements that ICPE 2011 prints, by workload: Tables 1, 3, 4, 5 and 6; times in ms."""

SERVERS = 32  # the issue queue of the paper's hypervisor
# Table 1: the requests in the system of one VM alone; measured and expected with two; with three.
QUEUES = {
    "PM-1": (11.9, 27.5, 23.8, 43.7, 35.7),
    "PM-2": (14.1, 30.2, 28.2, 44.6, 42.3),
    "FFSB-1-S": (4.6, 8.5, 9.2, 12.8, 13.8),
    "FFSB-1-R": (4.8, 8.5, 9.6, 13.3, 14.4),
    "FFSB-2-S": (3.5, 6.4, 7.0, 9.0, 10.5),
    "FFSB-2-R": (4.0, 7.5, 8.0, 10.0, 12.0),
}
# Table 3: mean time between arrivals, and mean service time.
INTERARRIVAL_AND_SERVICE_MS = {
    "PM-1": (0.72, 8.61),
    "PM-2": (0.81, 11.5),
    "FFSB-1-S": (3.07, 13.9),
    "FFSB-1-R": (3.24, 15.6),
    "FFSB-2-S": (4.36, 15.2),
    "FFSB-2-R": (3.54, 14.1),
}
# Table 4: mean response times alone (three VMs); with two VMs running; with three running.
RESPONSES_MS = {
    "PM-1": ((9.45, 8.49, 7.9), (28.3, 25.4), (47.7, 48.2, 37.8)),
    "PM-2": ((11.5, 11.9, 11.0), (31.1, 30.8), (53.3, 56.0, 43.9)),
    "FFSB-1-S": ((14.8, 13.5, 13.3), (18.4, 16.8), (24.9, 24.5, 25.2)),
    "FFSB-1-R": ((16.4, 15.2, 15.3), (21.5, 20.1), (29.8, 25.6, 28.2)),
    "FFSB-2-S": ((15.4, 15.2, 15.1), (19.9, 20.4), (24.9, 22.3, 23.6)),
    "FFSB-2-R": ((14.6, 13.7, 13.8), (19.6, 19.4), (23.5, 22.9, 23.3)),
}
# Table 5: relative error of the simulation, and of the product form, with two VMs; with three.
SIMULATION_ERRORS = {
    "PM-1": (0.13, 0.09),
    "PM-2": (0.08, 0.06),
    "FFSB-1-S": (0.03, 0.02),
    "FFSB-1-R": (0.03, 0.30),
    "FFSB-2-S": (0.09, 0.04),
    "FFSB-2-R": (0.16, 0.15),
}
PRODUCT_FORM_ERRORS = {
    "PM-1": (0.46, 18.4),
    "PM-2": (2.26, 64.9),
    "FFSB-1-S": (0.12, 0.06),
    "FFSB-1-R": (0.09, 0.03),
    "FFSB-2-S": (0.03, 0.05),
    "FFSB-2-R": (0.03, 0.04),
}
# Table 6: pieces a request is split into; requests merged into one, with two VMs; with three.
SPLIT_AND_MERGED = {
    "PM-1": (1.01, 2.55, 4.7),
    "PM-2": (1.02, 2.43, 4.35),
    "FFSB-1-S": (1.56, 2.0, 2.9),
    "FFSB-1-R": (1.54, 2.0, 3.9),
    "FFSB-2-S": (1.83, 2.2, 3.075),
    "FFSB-2-R": (1.64, 1.9, 2.575),
}
# Figure 2: the 95th percentile of one VM alone, with two, with three.
P95_MS = (25.5, 238.0, 319.8)
# Figure 7: the 95th percentile of times between arrivals, of FFSB-1-S.
GAP_P95_MS = 8.5
