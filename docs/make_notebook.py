"""Run docs/notebook.ipynb again and keep what it shows: `python docs/make_notebook.py`.

`tests/core/test_notebook.py` runs it in the same way and looks at every output.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).with_name("notebook.ipynb")


def executed(folder: Path) -> Any:
    """The notebook after its cells ran in `folder`, in a kernel of this very Python, with a separate call cache."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    where = {"metadata": {"path": str(folder)}}
    home = {**os.environ, "IPYTHONDIR": str(folder), "XDG_CACHE_HOME": str(folder), "JUPYTER_PLATFORM_DIRS": "1"}
    NotebookClient(notebook, kernel_name="python3", record_timing=False, resources=where).execute(env=home)
    return notebook


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        made = executed(Path(folder))
    made.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(made, NOTEBOOK)
