# SPDX-License-Identifier: MIT
"""Executes the notebooks in docs/notebooks/ and writes their outputs into them.

    python scripts/notebooks.py          mend all notebooks
    python scripts/notebooks.py FOLDER   write the executed notebooks into a folder instead

Each notebook runs in an empty folder, which is then removed.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).resolve().parents[1] / "docs" / "notebooks"
SECONDS = 300  # for each cell


def execute(file: Path, out: Path) -> None:
    """Execute the notebook `file`, and write it with its outputs as `out`."""
    notebook = nbformat.read(file, as_version=4)
    with TemporaryDirectory() as folder:
        where = {"metadata": {"path": folder}}
        client = NotebookClient(
            notebook,
            timeout=SECONDS,
            kernel_name="python3",
            resources=where,
            record_timing=False,
            coalesce_streams=True,
        )
        client.execute()
    notebook.metadata = {"kernelspec": notebook.metadata.kernelspec}  # no versions of this machine
    nbformat.write(notebook, out)


def main() -> None:
    """Execute every notebook."""
    into = Path(sys.argv[1]) if sys.argv[1:] else NOTEBOOKS
    for file in sorted(NOTEBOOKS.glob("*.ipynb")):
        execute(file, into / file.name)


if __name__ == "__main__":
    main()
