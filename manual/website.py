# SPDX-License-Identifier: MIT
"""The site: docs/ and the generated pages, built by Zensical into build/site.

Zensical reads build/docs, a copy of docs/ in which four things differ.  The README and other pages
beside docs/ are pages of the site; a source file to which a page links is beside the pages; a link
to a folder of the checkout is only its text.  The page that simulates (docs/studio.md) is in
simulate/, and the page of each scheduler links to it.  zensical.toml has the navigation.
"""

import os
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path, PurePosixPath

from manual import markdown, schemas
from manual.commands import CHECKOUT, describe
from understudy_devices.cards.model import Card
from understudy_devices.device.profile import DiskProfile

PAGES = CHECKOUT / "build" / "docs"  # docs_dir in zensical.toml
SITE = CHECKOUT / "build" / "site"
BESIDE = {
    "README.md": "overview.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
SOURCES = "sources"  # the site's folder for source files
SIMULATE = "simulate"  # the site's folder for the page that simulates
STUDIO = CHECKOUT / "build" / "studio"  # what `make studio` builds
LINK = re.compile(r"\[([^\]\[]*)\]\(([^)\s#]*)(#[^)\s]*)?\)")
PROFILE = """\
A profile is a TOML file that describes a disk. [Adding a disk](../adding.md#a-disk) explains the
keys, and [disks](../disks.md) how to find their values. Each optional part of `DiskProfile` is a
table of the file, such as `[seek]`."""
CARD = """\
A card is a YAML file that describes a PCI device. [Cards](../cards.md) explains how to write one;
`understudy card schema` prints the same as a JSON Schema for editors."""


def build(studio: Path | None = None) -> Path:
    """Build the site strictly: a broken link or a page that does not exist is an error.

    `studio` has the page that simulates, if it is built already.
    """
    zensical = Path(sys.executable).with_name("zensical")
    if not zensical.exists():
        raise SystemExit("no zensical: pip install -c constraints.txt -e '.[docs]'")
    stage(studio or _built())
    shutil.rmtree(SITE, ignore_errors=True)
    done = subprocess.run([zensical, "build", "--strict", "--clean"], cwd=CHECKOUT, check=False)
    if done.returncode:
        raise SystemExit("the site is not built: see above")
    return SITE


def _built() -> Path:
    done = subprocess.run([sys.executable, CHECKOUT / "web" / "build.py", STUDIO], check=False)
    if done.returncode:
        raise SystemExit("the page that simulates is not built: see above")
    return STUDIO


def stage(studio: Path) -> None:
    """Fill build/docs."""
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(CHECKOUT / "docs", PAGES, ignore=shutil.ignore_patterns("*.md"))
    pages = {file: _place(file.as_posix()) for file in _written()}
    for file, place in pages.items():
        _put(place, _running(place, _linked(file, (CHECKOUT / file).read_text("utf-8"))))
    for place, text in generated().items():
        _put(place, text)
    shutil.copytree(studio, PAGES / SIMULATE)


def _running(place: str, text: str) -> str:
    """Add a link to the page that simulates: below the title of its description, and of each
    scheduler's page, with that scheduler chosen.
    """
    page = PurePosixPath(place)
    link = f"{os.path.relpath(SIMULATE, page.parent)}/index.html"
    if place == "studio.md":
        line = f"[Open the page]({link})."
    elif page.parent.name == "schedulers":
        other = "clook" if page.stem == "fcfs" else "fcfs"
        line = f"[Run `{page.stem}` in the browser]({link}#v=1&schedulers={page.stem},{other})."
    else:
        return text
    title, _, rest = text.partition("\n")
    return f"{title}\n\n{line}\n{rest}"


def generated() -> dict[str, str]:
    """Return the pages that are made from the code, by their places in the site."""
    program = describe()
    return {
        "reference/commands.md": markdown.commands_page(program),
        **{
            f"reference/commands/{each.words[1]}.md": markdown.command_page(each)
            for each in program.commands
        },
        "reference/profile.md": schemas.page("Keys of a profile", PROFILE, DiskProfile),
        "reference/card.md": schemas.page("Keys of a card", CARD, Card),
    }


def _written() -> list[PurePosixPath]:
    """Return the pages that people wrote."""
    inside = sorted((CHECKOUT / "docs").rglob("*.md"))
    return [PurePosixPath(name) for name in BESIDE] + [
        PurePosixPath(file.relative_to(CHECKOUT).as_posix()) for file in inside
    ]


def _place(name: str) -> str:
    """Return where a file of the checkout is in the site."""
    inside = PurePosixPath(name)
    if name in BESIDE:
        return BESIDE[name]
    if inside.parts[0] == "docs":
        return inside.relative_to("docs").as_posix()
    return f"{SOURCES}/{name}"


def _linked(file: PurePosixPath, text: str) -> str:
    """Return a page with its links changed for its place in the site."""
    return LINK.sub(partial(_link, file), text)


def _link(file: PurePosixPath, match: re.Match[str]) -> str:
    words, target, heading = match[1], match[2], match[3] or ""
    if not target or re.match(r"\w+:", target):
        return match[0]
    name = os.path.normpath(file.parent / target)
    source = CHECKOUT / name
    if source.is_dir():
        return words
    place = _place(name)
    if place.startswith(SOURCES):
        _put_source(place, source)
    here = PurePosixPath(_place(file.as_posix())).parent
    return f"[{words}]({os.path.relpath(place, here)}{heading})"


def _put(place: str, text: str) -> None:
    (PAGES / place).parent.mkdir(parents=True, exist_ok=True)
    (PAGES / place).write_text(text, "utf-8")


def _put_source(place: str, source: Path) -> None:
    (PAGES / place).parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, PAGES / place)
