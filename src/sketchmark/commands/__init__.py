"""The table of commands: the module that holds each, and its line in `sketchmark --help`."""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """A command's module and its help. The module defines the command as `NAME_command`."""

    module: str
    about: str


COMMANDS = {
    "audit": Entry("compare", "Show where a drawing gain comes from."),
    "card": Entry("outputs", "Print how to reproduce a run, in Markdown."),
    "check": Entry("check", "Check every row of a question file."),
    "compare": Entry("compare", "Compare modes, canvases and runs."),
    "demo": Entry("demo", "Run three scripted players on generated puzzles."),
    "doctor": Entry("models", "Test what a model can do in some twenty small calls."),
    "export": Entry("outputs", "Write a run in another tool's format."),
    "list": Entry("list", "List tasks, models or worlds."),
    "make": Entry("worlds", "Write generated puzzles with images and solutions."),
    "merge": Entry("folders", "Join the shards of a run."),
    "plot": Entry("outputs", "Draw a figure for a paper."),
    "read": Entry("worlds", "Read an image as drawn steps are scored."),
    "repair": Entry("folders", "Set damaged lines and images of a run aside."),
    "report": Entry("outputs", "Write a run's report, one HTML file."),
    "report-metrics": Entry("score", "Score radiology reports with model-based metrics."),
    "run": Entry("run", "Run tasks with a model and print the scores."),
    "score": Entry("score", "Score the episodes of a run again."),
    "score-file": Entry("score", "Score a file of replies from another tool."),
    "serve": Entry("models", "Serve a model to OpenAI clients on this machine."),
    "show": Entry("list", "Show the prompts, data and scores of a task."),
    "submission": Entry("score", "Write submission files for a benchmark's server."),
    "view": Entry("outputs", "Look at runs in the browser."),
    "voila": Entry("voila", "Make, check, run and score VOILA analogies."),
}
"""`sketchmark --help` is made from this table, so it imports no command."""
