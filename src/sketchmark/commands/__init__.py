"""The table of commands: the group and module of each, and its line in `sketchmark --help`."""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """A command's module, its help and its group. The module defines the command as `NAME_command`."""

    module: str
    about: str
    group: str


COMMANDS = {
    "demo": Entry("worlds", "Run three scripted players on generated puzzles.", "Run"),
    "run": Entry("run", "Run tasks with a model: does drawing help?", "Run"),
    "audit": Entry("compare", "Show where a drawing gain comes from.", "Run"),
    "play": Entry("play", "Solve samples yourself in the browser.", "Run"),
    "doctor": Entry("models", "Test what a model can do in some twenty small calls.", "Run"),
    "serve": Entry("models", "Serve a model to OpenAI clients on this machine.", "Run"),
    "rewards": Entry("models", "Serve the rewards of training to trainers.", "Run"),
    "list": Entry("list", "List tasks, models or worlds.", "Look"),
    "show": Entry("list", "Show the prompts, data and scores of a task.", "Look"),
    "compare": Entry("compare", "Compare modes, canvases and runs; a leaderboard.", "Look"),
    "view": Entry("folders", "Look at runs in the browser.", "Look"),
    "report": Entry("folders", "Write a run's report, one HTML file.", "Share"),
    "plot": Entry("folders", "Draw a figure for a paper.", "Share"),
    "card": Entry("folders", "Print how to reproduce a run, in Markdown.", "Share"),
    "export": Entry("folders", "Write a run in another tool's format.", "Share"),
    "submission": Entry("score", "Write submission files for a benchmark's server.", "Share"),
    "check": Entry("check", "Check a question file of your own.", "Make"),
    "make": Entry("worlds", "Write generated puzzles with images and solutions.", "Make"),
    "read": Entry("worlds", "Read an image as drawn steps are scored.", "Make"),
    "voila": Entry("voila", "Make, check, run and score VOILA analogies.", "Make"),
    "score": Entry("score", "Score the episodes of a run again.", "Maintain"),
    "score-file": Entry("score", "Score a file of replies from another tool.", "Maintain"),
    "report-metrics": Entry("score", "Score radiology reports with model-based metrics.", "Maintain"),
    "merge": Entry("folders", "Join the shards of a run.", "Maintain"),
    "repair": Entry("folders", "Set damaged lines and images of a run aside.", "Maintain"),
}
"""`sketchmark --help` is made from this table, so it imports no command."""

MEANT = {
    "leaderboard": "compare runs",
    "board": "compare runs",
    "diff": "compare RUN RUN",
    "eval": "run",
    "evaluate": "run",
    "resume": "run",
    "tasks": "list tasks",
    "models": "list models",
    "worlds": "list worlds",
    "ls": "list",
    "open": "view runs",
    "web": "view runs",
    "ui": "view runs",
    "human": "play TASK",
    "figure": "plot RUN",
    "rescore": "score RUN",
    "convert": "export RUN",
    "validate": "check FILE",
    "generate": "make",
    "train": "rewards",
    "version": "--version",
}
"""Names from other tools, or nearly ours, and what to type here."""
