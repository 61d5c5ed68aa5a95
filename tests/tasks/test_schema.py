"""One schema: the JSON schema that ships and the table in the docs are made of it."""

from __future__ import annotations

from pathlib import Path

import sketchmark
from sketchmark.tasks.schema import GroupFile, ModeBlock, TaskFile, json_schema, json_text, table

DOCS = Path(__file__).parents[2] / "docs"
AGAIN = "python -m sketchmark.tasks"


def test_the_shipped_json_schema_is_the_generated_one() -> None:
    shipped = Path(sketchmark.__file__).parent / "tasks" / "task.schema.json"
    assert shipped.read_text("utf-8") == json_text(), f"{AGAIN} > src/sketchmark/tasks/task.schema.json"


def test_every_key_is_described_in_the_json_schema() -> None:
    for kind in (TaskFile, ModeBlock, GroupFile):
        known = json_schema()["$defs"][kind.__name__]["properties"]
        assert set(known) == set(kind.__struct_fields__)
        assert all(entry.get("description") for entry in known.values())
    assert "max_new_tokens" in json_schema()["$defs"]["TaskFile"]["properties"]["generation"]["properties"]


def test_the_docs_list_every_key() -> None:
    page = (DOCS / "add-a-task.md").read_text("utf-8")
    assert table() in page, f"{AGAIN} table"
    for key in (*TaskFile.__struct_fields__, *GroupFile.__struct_fields__):
        assert f"| `{key}` " in page
    for key in ModeBlock.__struct_fields__:
        assert f"| `modes.NAME.{key}` " in page
    assert "# yaml-language-server: $schema=" in page
