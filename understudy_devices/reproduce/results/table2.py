# SPDX-License-Identifier: MIT
"""PERFORM 2010 Table 2, with the response times' distribution (Jones 2010, section 4.4.4)."""

from functools import partial

from understudy_devices.papers.printed import JONES, PERFORM
from understudy_devices.papers.tables import TABLES
from understudy_devices.reproduce import disk_tables

PRINTED = (
    (PERFORM, "Table 2"),
    (PERFORM, "section 6"),
    (JONES, "Table 4.1"),
    (JONES, "Figure 4.4"),
)
SECONDS = {"sim": 2, "vm": 30}
DIFFERS = disk_tables.DIFFERS

question = partial(disk_tables.question, TABLES["table2"])
run = partial(disk_tables.run, TABLES["table2"])
