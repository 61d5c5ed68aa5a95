"""Broken runs beside a sound one: the viewer shows the sound one whole, and the viewer and every command say in one
line what is wrong with the others."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from sketchmark.cli import main
from tests.view.corruptions import CELL, FILES, WAYS, broken, make_run
from tests.view.making import browse

TAKEN = {
    "run.json": {"deep_inside", "odd_groups", "huge_scores", "endless_scores", "endless_times", "missing"},
    "episodes": {"empty", "truncated", "deep_inside", "odd_groups", "missing", "folder", "dangling_link"}
    | {"huge_numbers", "endless_numbers", "huge_floats", "large_integers", "negative_numbers"}
    | {"huge_scores", "endless_scores", "endless_times"},
    "scores": {"empty", "truncated", "odd_groups", "missing", "folder", "dangling_link"},
}
"""Damage that may go unnamed in the list: lines that are not there were not played or not scored yet, of an episode
the list reads only whose it is, and what a data set puts into groups and notes is its own. What is broken in
report.html, results.json or a picture is seen by who opens them."""

PAGES = (
    "/api/version?run={run}",
    "/api/run?run={run}",
    "/api/samples?run={run}&text=maze&sort=steps:down",
    f"/api/episode?run={{run}}&cell={CELL}&sample=maze-00000",
    "/api/compare?a={run}&b=sound",
    "/report?run={run}",
)

COMMANDS = (
    ("report",),
    ("compare",),
    ("export", "--to", "inspect"),
    ("export", "--to", "hf"),
    ("score",),
    ("submission",),
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("made") / "run")


@pytest.fixture
def shelf(made: Path, tmp_path: Path) -> Iterator[Path]:
    """Every file in every way, a folder each, and one that is sound."""
    with ExitStack() as stack:
        for file in FILES:
            for way in WAYS:
                run = tmp_path / f"{file}-{way}"
                shutil.copytree(made, run)
                stack.enter_context(broken(run, file, way))
        shutil.copytree(made, tmp_path / "sound")
        yield tmp_path


def in_time(do: Callable[[], Any]) -> Any:
    """Call it with a time limit of a minute."""
    found: list[tuple[Any, BaseException | None]] = []

    def work() -> None:
        try:
            found.append((do(), None))
        except BaseException as error:
            found.append((None, error))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(60)
    if not found:
        return "it hangs"
    result, error = found[0]
    if error:
        raise error
    return result


def is_line(text: object) -> bool:
    return isinstance(text, str) and 0 < len(text) < 2_100 and "\n" not in text


@pytest.mark.slow
def test_every_broken_run_is_named_and_the_sound_one_is_shown(shelf: Path) -> None:
    assert in_time(lambda: _look(shelf)) == []


def _look(shelf: Path) -> list[str]:
    wrong = []
    with browse(shelf) as client:
        listed = client.get("/api/runs").json()
        rows, troubles = {row["run"]: row for row in listed["runs"]}, listed["troubles"]
        wrong += [path for path in PAGES if client.get(path.format(run="sound")).status_code != 200]
        wrong += [] if rows["sound"]["episodes"] == 4 else ["the sound run is not whole"]
        for file in FILES:
            for way in WAYS:
                run = f"{file}-{way}"
                if file in TAKEN and way not in TAKEN[file] and run not in troubles:
                    wrong.append(f"{run} is not named")
                if run in troubles and (run in rows or not is_line(troubles[run])):
                    wrong.append(f"{run}: {troubles[run]}")
                wrong += [f"{run}{path}: {said}" for path in PAGES[1:] if (said := _page(client, path, run))]
    return wrong


def _page(client: TestClient, path: str, run: str) -> str:
    """Shown, or a line that says why not; otherwise what came instead."""
    answer = client.get(path.format(run=run))
    if answer.status_code == 200 or is_line(answer.json().get("error")):
        return ""
    return answer.text[:200]


def test_the_page_of_a_broken_run_has_the_message_of_the_list(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made, tmp_path / "run")
    with broken(tmp_path / "run", "scores", "garbled"), browse(tmp_path) as client:
        (words,) = client.get("/api/runs").json()["troubles"].values()
        assert client.get("/api/run?run=run").json() == {"error": words} and f"{CELL}.jsonl" in words


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a command leaves files to the end
@pytest.mark.parametrize("file", [file for file in FILES if file != "report.html"])
def test_every_command_reports_damage_in_one_line(
    made: Path, tmp_path: Path, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rarely_read = file in ("results.json", "picture")
    wrong = []
    for way in ("garbage", "folder", "pipe", "link_loop") if rarely_read else WAYS:
        run = tmp_path / way
        shutil.copytree(made, run)
        with broken(run, file, way):
            for name, *options in COMMANDS:
                if (name, file) == ("score", "scores") and way != "pipe":
                    continue  # it writes them again
                if (name, file) == ("score", "picture"):
                    continue  # the row that needs it has no score: tests/results/test_rescoring.py
                code = in_time(lambda: _code([name, str(run), *options]))  # noqa: B023
                said = capsys.readouterr().err
                refused = file == "run.json" and way not in TAKEN[file] - {"missing"}
                made_again = (name, file) == ("score", "results.json")  # and says so
                lines = (0, 1) if made_again and not code else (1 if code else 0,)
                if code not in ((2,) if refused else (0, 2)) or said.count("\n") not in lines:
                    wrong.append(f"{way}: {name} ended with {code}: {said}")
    assert wrong == []


def _code(arguments: list[str]) -> int | str:
    try:
        main(arguments)
    except SystemExit as end:
        return int(end.code or 0)
    except Exception as error:
        return f"a traceback: {error!r}"
    return "nothing"
