# SPDX-License-Identifier: MIT
"""A manual as PDF: the HTML page, typeset for paper (docs/decisions/0042-manuals-as-pdf.md).

The fonts are those of Matplotlib, so the PDF has the same bytes on every machine.
"""

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib

from understudy_devices.base.errors import UserError

PAPER = """
@page { size: A4; margin: 18mm 16mm 20mm;
        @bottom-right { content: counter(page) " / " counter(pages); font: 8pt system-ui; } }
:root { font-size: 9.5pt; }
body { margin: 0 !important; padding: 0 !important; max-width: none !important;
       font-size: 1rem !important; }
h2, h3 { break-after: avoid; }
table { font-size: .92rem; }
thead { display: table-header-group; }
tr { break-inside: avoid; }
.left :is(th, td):first-child { width: auto !important; }
pre { font-size: 7.3pt !important; }
code { font-family: code; }
a { color: inherit; text-decoration: none; }
"""
FONTS = {  # family: files of a usual and of a bold face
    "system-ui": ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf"),
    "code": ("DejaVuSansMono.ttf", "DejaVuSansMono-Bold.ttf"),
}
MISSING = "PDF is typeset by Pango, which is missing: sudo apt install libpangoft2-1.0-0"


def pdf(page: str) -> bytes:
    """Return a self-contained page as PDF; raise UserError if Pango is not installed."""
    weasyprint = _weasyprint()
    fonts = weasyprint.text.fonts.FontConfiguration()
    style = weasyprint.CSS(string=_faces() + PAPER, font_config=fonts)
    identifier = hashlib.sha256(page.encode()).digest()[:16]
    written = weasyprint.HTML(string=page).write_pdf(
        stylesheets=[style], font_config=fonts, pdf_identifier=identifier
    )
    return bytes(written)


@cache
def _weasyprint() -> Any:
    """Import WeasyPrint late: its import needs half a second and a library."""
    try:
        import weasyprint
        import weasyprint.text.fonts
    except OSError as error:
        raise UserError(MISSING) from error
    return weasyprint


def _faces() -> str:
    folder = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    return "".join(
        f"@font-face {{ font-family: {family}; font-weight: {weight};"
        f" src: url({(folder / file).as_uri()}); }}\n"
        for family, files in FONTS.items()
        for weight, file in zip(("normal", "bold"), files, strict=True)
    )
