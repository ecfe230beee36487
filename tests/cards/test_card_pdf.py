# SPDX-License-Identifier: MIT
"""The manuals as PDF: a second PDF reader finds all text, on A4 pages, with embedded fonts."""

import sys
from io import BytesIO
from pathlib import Path

import pytest
from pypdf import PdfReader

from understudy_devices.base.errors import UserError
from understudy_devices.cards import specification
from understudy_devices.show.card import pdf as module
from understudy_devices.show.card.pdf import pdf
from understudy_devices.show.card.programmer import programmers_manual
from understudy_devices.show.card.reference import reference_manual

COPIER = specification.load("copier")


def words(raw: bytes) -> str:
    """Return the text of all pages, with each run of white space as one blank."""
    pages = PdfReader(BytesIO(raw), strict=True).pages
    return " ".join(" ".join(page.extract_text() for page in pages).split())


def test_the_reference_has_each_register() -> None:
    text = words(pdf(reference_manual(COPIER)))
    for register in COPIER.registers:
        assert text.count(register.name) >= 2
        for field in register.fields:
            assert field.name in text
            assert " ".join(field.description.split()) in text


def test_the_programmers_manual_has_its_code() -> None:
    text = words(pdf(programmers_manual(COPIER)))
    assert "static int copier_probe(struct pci_dev *pdev" in text
    assert "static void copier_remove(struct pci_dev *pdev)" in text


def test_pages_are_a4_and_numbered_and_bring_their_fonts() -> None:
    reader = PdfReader(BytesIO(pdf(reference_manual(COPIER))), strict=True)
    for number, page in enumerate(reader.pages, 1):
        assert (round(page.mediabox.width), round(page.mediabox.height)) == (595, 842)
        assert f"{number} / {len(reader.pages)}" in page.extract_text()
        fonts = page["/Resources"]["/Font"].get_object().values()  # type: ignore[index]
        names = {font.get_object()["/BaseFont"].partition("+")[2] for font in fonts}
        assert names <= {"system-ui", "system-ui-Bold", "code"}


def test_without_pango_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "weasyprint.py").write_text("raise OSError('cannot load library')\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "weasyprint"]:
        monkeypatch.delitem(sys.modules, name)
    module._weasyprint.cache_clear()
    with pytest.raises(UserError, match=r"sudo apt install libpangoft2-1\.0-0"):
        pdf("<p>x</p>")
    module._weasyprint.cache_clear()
