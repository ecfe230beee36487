# SPDX-License-Identifier: MIT
"""PERFORM 2010 Table 3, with the response times' distribution (Jones 2010, section 4.4.4)."""

from functools import partial

from understudy_devices.papers.printed import JONES, PERFORM
from understudy_devices.papers.tables import TABLES
from understudy_devices.reproduce import disk_tables

PRINTED = (
    (PERFORM, "Table 3"),
    (JONES, "Table 4.2"),
    (JONES, "Figure 4.5"),
)
SECONDS = {"sim": 5, "vm": 145}
DIFFERS = disk_tables.DIFFERS

question = partial(disk_tables.question, TABLES["table3"])
run = partial(disk_tables.run, TABLES["table3"])
