"""Few-shot examples: other questions with their answers, put before a question as lmms-eval does it.

They are drawn anew for every question, by one generator with lmms-eval's own seed, so that the n-th question has the
same examples here and there, however many are played. What a file says of its examples alone (other texts, or which
they are) counts, although lmms-eval does not look at it: its author wrote it, and it is what lm-eval does.
"""

from __future__ import annotations

from copy import copy
from random import Random
from typing import Any

from sketchmark.errors import BadInput, DataMissing
from sketchmark.task_files.functions import blamed
from sketchmark.tasks.lmms_eval.config import Config, examples_given, examples_wanted, mapping, worded_otherwise
from sketchmark.tasks.lmms_eval.opened import Opened
from sketchmark.tasks.lmms_eval.task_code import Document

FIRST, ANY = "first_n", "default"
"""The ways to choose examples, by lmms-eval's names."""

_SEED = 1234
_EMPTY_LINE = "\n\n"


class Examples:
    """To be asked for every question of a task, in their order."""

    def __init__(self, task: Opened, settings: Config | None, targets: Any) -> None:
        self._task, self._settings, self._targets = task, settings, targets
        self._wanted = examples_wanted(task.config)
        self._words = copy(task)
        self._words.config = {**task.config, **worded_otherwise(task.config)}
        self._random = Random(_SEED)

    def before(self, doc: Document) -> str:
        """What stands before the question. The question is no example of itself, so that there is one fewer where
        the file did not say that it has them from the questions (`fewshot_split`)."""
        if not self._wanted:
            return ""
        drawn = self._drawn()
        with blamed(f"comparing few-shot examples of {self._task.path}"):
            chosen = [one for one in drawn if one != doc][: self._wanted]
        return "".join(map(self._worded, chosen))

    def _drawn(self) -> list[Document]:
        config, there = self._task.config, len(self._task.pool)
        spare = examples_given(config) is None and config.get("fewshot_split") == config.get("test_split")
        wanted = self._wanted + spare
        if wanted > there:
            raise DataMissing(f"{self._task.path} wants {wanted} few-shot examples, and there are {there}")
        if mapping(config.get("fewshot_config")).get("sampler") == FIRST:
            return self._task.from_pool(range(wanted))
        return self._task.from_pool(self._random.sample(range(there), wanted))

    def _worded(self, doc: Document) -> str:
        """With its end. One whose answer is said to be nothing brings it, and its end, in its text."""
        config, where = self._words.config, f"a few-shot example of {self._task.path}"
        question = self._words.text("doc_to_text", doc, self._settings, where)
        if config["doc_to_target"] == "":
            return question
        answer = self._words.target(doc, self._targets, where)
        if answer == []:
            raise BadInput(f"{where} has no answer")
        first = answer if isinstance(answer, str) else answer[0]
        return f"{question}{config.get('target_delimiter', ' ')}{first}{config.get('fewshot_delimiter', _EMPTY_LINE)}"
