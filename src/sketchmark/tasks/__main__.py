"""`python -m sketchmark.tasks`: print the schema of task files; with `table`, the keys of docs/add-a-task.md."""

from __future__ import annotations

import sys

from sketchmark.tasks.schema import json_text, table

sys.stdout.write(table() if sys.argv[1:] == ["table"] else json_text())
