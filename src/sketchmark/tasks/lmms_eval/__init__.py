"""Task files of lmms-eval's shape, played as they are: people bring their own tasks.

What such a file may say: docs/benchmarks/lmms-eval-tasks.md, "Task files".

What such a file names with `!function` is the user's own Python and can do anything the user can, so it runs only
when the user said so, and only once the task is played. What would change a score and is known not to be understood
is refused, never ignored.
"""

from sketchmark.tasks.lmms_eval.adopting import adopt
from sketchmark.tasks.lmms_eval.aggregating import influences, submission, totals
from sketchmark.tasks.lmms_eval.playing import documents, score

__all__ = ["adopt", "documents", "influences", "score", "submission", "totals"]

ALIASES = {
    "documents": "sketchmark.tasks.lmms_eval:documents",
    "score": "sketchmark.tasks.lmms_eval:score",
    "influences": "sketchmark.tasks.lmms_eval:influences",
    "totals": "sketchmark.tasks.lmms_eval:totals",
    "submission": "sketchmark.tasks.lmms_eval:submission",
}
"""The names by which task files and run folders know this code. They never change; where the code is, may."""
