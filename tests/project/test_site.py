# SPDX-License-Identifier: MIT
"""The site of docs/: it is whole, its links lead somewhere, and its reference is complete."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag

import polars as pl
import pytest
from built_page import built
from click.testing import CliRunner
from places import CHECKOUT

from manual import website
from manual.commands import describe
from understudy_devices.cards.model import Card
from understudy_devices.cli.main import main
from understudy_devices.device.profile import DiskProfile
from understudy_devices.native import registry

pytestmark = [pytest.mark.thorough, pytest.mark.xdist_group("site")]

HREF = re.compile(r'<(?:a|img|link|script)\b[^>]*?\b(?:href|src)="?([^"\s>]+)')
ID = re.compile(r'\bid="?([^"\s>]+)')
KINDS = {"Tutorial", "How to", "Reference", "Explanation"}
# Pages that the navigation leaves to docs/index.md, which lists them.
LISTED = ("decisions/", "notes/", "prefetch/", "replacement/", "schedulers/")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return website.build(built(tmp_path_factory))


def test_links_lead_somewhere(site: Path) -> None:
    """To a file and, within the site, to a place in it: Zensical checks only links to pages."""
    lost, checked = [], 0
    for page in site.rglob("*.html"):
        if page.name == "404.html":  # its links are those of the root
            continue
        for link in HREF.findall(page.read_text()):
            if re.match(r"\w+:", link):
                continue
            name, place = urldefrag(link)
            if place.startswith("v="):  # what the page that simulates begins with
                place = ""
            target = (page.parent / unquote(name)).resolve() if name else page
            target = target / "index.html" if target.is_dir() else target
            checked += 1
            if not target.exists() or (
                place and target.suffix == ".html" and unquote(place) not in ids(target)
            ):
                lost.append(f"{page.relative_to(site)}: {link}")
    assert not lost
    assert checked > 1000


def ids(page: Path) -> set[str]:
    """Return the places of a page that a link can name."""
    return set(ID.findall(page.read_text()))


def test_each_scheduler_runs_in_the_browser(site: Path) -> None:
    """Its page links to the page that simulates, with that scheduler chosen."""
    names = registry.ours()
    assert names
    for name in names:
        text = (site / "schedulers" / name / "index.html").read_text()
        chosen = re.search(r"simulate/index\.html#v=1&(?:amp;)?schedulers=([\w,-]+)", text)
        assert chosen, name
        first, other = chosen[1].split(",")
        assert first == name
        assert other in {*names} - {name}
    for part in ("index.html", "data/simulator.wasm", "compiler/bundle.js"):
        assert (site / "simulate" / part).is_file()


def test_nothing_is_loaded_from_another_host(site: Path) -> None:
    for page in site.rglob("*.html"):
        for tag in re.findall(r"<(?:script|link|img)\b[^>]*>", page.read_text()):
            assert not re.search(r'(?:href|src)="?https?:', tag), f"{page}: {tag}"


def test_search_finds_options_and_keys(site: Path) -> None:
    index = json.dumps(json.loads((site / "search.json").read_text()))
    for word in ("--queue-depth", "read_reach_sectors", "busdriver_ns", "p999_response_ms"):
        assert word in index, word


def entries(part: Any) -> Iterator[str]:
    """Yield the pages of a part of the navigation."""
    if isinstance(part, str):
        yield part
    else:
        for inner in part.values() if isinstance(part, dict) else part:
            yield from entries(inner)


def test_the_navigation_has_every_page_once() -> None:
    """In one of four kinds; a new page of docs/ needs a line in zensical.toml."""
    navigation = tomllib.loads((CHECKOUT / "zensical.toml").read_text())["project"]["nav"]
    assert {name for part in navigation for name in part} == KINDS | {"Overview"}
    pages = list(entries(navigation))
    assert len(pages) == len(set(pages))
    written = {
        file.relative_to(CHECKOUT / "docs").as_posix() for file in (CHECKOUT / "docs").rglob("*.md")
    }
    listed = {page for page in written if page.startswith(LISTED)}
    made = {page for page in website.generated() if not page.startswith("reference/commands/")}
    assert {*pages} | listed == written | made | set(website.BESIDE.values())


def test_the_reference_has_every_command_and_option() -> None:
    pages = website.generated()
    for command in describe().each():
        if len(command.words) == 1:
            continue
        page = pages[f"reference/commands/{command.words[1]}.md"]
        assert f"# {command.name}\n" in page
        for options in command.groups.values():
            for option in options:
                assert f"`{option.names}`".replace("|", "\\|") in page


@pytest.mark.parametrize(("name", "model"), [("profile", DiskProfile), ("card", Card)])
def test_every_key_has_a_meaning(name: str, model: Any) -> None:
    """No cell of the last column is empty, and each key of the model is in a row."""
    page = website.generated()[f"reference/{name}.md"]
    rows = re.findall(r"^\| `(\w+)` \| (.*) \| (.*) \| (.*) \|$", page, re.MULTILINE)
    assert set(model.model_fields) <= {key for key, *_ in rows}
    assert not [key for key, kind, default, meaning in rows if not (kind and default and meaning)]


def test_ranges_are_those_of_the_models() -> None:
    page = website.generated()["reference/profile.md"]
    assert "| `depth` | whole number (from 1 to 256) | required |" in page
    assert "| `phase` | `mean`, `random`, `known` | `mean` |" in page
    assert "| `checks` | list of [Check](#check) (at most 100) | none |" in page


def test_the_page_of_results_has_every_field(tmp_path: Path) -> None:
    """Of three schedulers, one of which returns a request twice."""
    bad = tmp_path / "bad.c"
    text = (CHECKOUT / "core" / "schedulers" / "fcfs.c").read_text().replace("fcfs", "bad")
    bad.write_text(re.sub(r"\tif \(rq\)\n\t\tfifo_remove.*\n", "", text))
    words = f"predict --workload random --requests 100 --seeds 2 --schedulers fcfs,clook,{bad}"
    done = CliRunner().invoke(main, [*words.split(), "--out", str(tmp_path / "run")])
    assert done.exit_code == 1, done.stderr
    document = json.loads((tmp_path / "run" / "result.json").read_text())
    page = (CHECKOUT / "docs" / "result.md").read_text()
    named = set(re.findall(r"`(\w+)`", page))
    assert "bad" in document["failed"]
    assert set(document) <= named
    for part in ("inputs", "environment", "comparison"):
        assert set(document[part]) - {"writes_percent"} <= named, part
    assert set(document["runs"][0]) <= named
    for choice in document["comparison"]["choices"]:
        assert set(choice) <= named
    for difference in document["comparison"]["differences"]:
        assert set(difference) <= named
    assert set(pl.read_parquet(tmp_path / "run" / "requests.parquet").columns) <= named


def test_without_zensical_its_command_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    with pytest.raises(SystemExit, match="pip install"):
        website.build()
