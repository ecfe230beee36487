# SPDX-License-Identifier: MIT
"""A user's own zach1, whose registers are elsewhere: the drawing programs use its specification, as
the driver does.
"""

import re
import shutil
from pathlib import Path

from understudy_devices.base.paths import cards_dir
from understudy_devices.referee.demo import demonstrate

MOVED_BYTES = 0x200


def test_the_programs_are_of_the_card_at_hand(tmp_path: Path) -> None:
    """The pictures are the same as with the project's own card."""
    own = tmp_path / "cards"
    shutil.copytree(cards_dir(), own)
    text, count = re.subn(
        r"offset: (0x[0-9a-f]+)",
        lambda match: f"offset: {int(match[1], 16) + MOVED_BYTES:#x}",
        (own / "zach1.yaml").read_text(),
    )
    assert count > 30
    (own / "zach1.yaml").write_text(text)
    pictures: list[list[bytes]] = []
    for card in (str(own / "zach1.yaml"), "zach1"):
        demo = demonstrate(card, tmp_path / f"demo-{len(pictures)}")
        pictures.append([file.read_bytes() for file in demo.files if file.suffix == ".png"])
    assert pictures[0] == pictures[1] != []
