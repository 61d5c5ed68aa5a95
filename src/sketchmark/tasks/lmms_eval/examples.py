"""Few-shot examples: other questions with their answers, put before a question as lmms-eval does it.

They are drawn anew for every question, by one generator with lmms-eval's own seed, so that the n-th question has the
same examples here and there, however many are played.
"""

from __future__ import annotations

from random import Random
from typing import Any

from sketchmark.errors import BadInput, DataMissing
from sketchmark.task_files.functions import blamed
from sketchmark.tasks.lmms_eval.config import Config, examples_wanted, mapping
from sketchmark.tasks.lmms_eval.opened import Opened
from sketchmark.tasks.lmms_eval.task_code import Document

FIRST, ANY = "first_n", "default"
"""The ways to choose examples, by lmms-eval's names."""

_SEED = 1234


class Examples:
    """To be asked for every question of a task, in their order."""

    def __init__(self, task: Opened, settings: Config | None, targets: Any) -> None:
        self._task, self._settings, self._targets = task, settings, targets
        self._wanted = examples_wanted(task.config)
        self._random = Random(_SEED)

    def before(self, doc: Document) -> str:
        """What stands before the question. The question is no example of itself, so that there is one fewer where
        the file did not say that it has them from the questions (`fewshot_split`)."""
        if not self._wanted:
            return ""
        drawn = self._drawn()
        with blamed(f"comparing few-shot examples of {self._task.path}"):
            chosen = [one for one in drawn if one != doc][: self._wanted]
        between = str(self._task.config.get("fewshot_delimiter", "\n\n"))
        return between.join(map(self._worded, chosen)) + between

    def _drawn(self) -> list[Document]:
        config, there = self._task.config, len(self._task.pool)
        wanted = self._wanted + (config.get("fewshot_split") == config.get("test_split"))
        if wanted > there:
            raise DataMissing(f"{self._task.path} wants {wanted} few-shot examples, and there are {there}")
        if mapping(config.get("fewshot_config")).get("sampler") == FIRST:
            return self._task.from_pool(range(wanted))
        return self._task.from_pool(self._random.sample(range(there), wanted))

    def _worded(self, doc: Document) -> str:
        where = f"a few-shot example of {self._task.path}"
        answer = self._task.target(doc, self._targets, where)
        if answer == []:
            raise BadInput(f"{where} has no answer")
        first = answer if isinstance(answer, str) else answer[0]
        question = self._task.text("doc_to_text", doc, self._settings, where)
        return f"{question}{self._task.config.get('target_delimiter', ' ')}{first}"
