from __future__ import annotations

from sketchmark.cli import main

main()
