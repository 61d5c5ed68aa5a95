"""How far rule and judge agree in an ordinary run, from its score rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sketchmark.tasks.voila.rules import PROPERTIES
from sketchmark.tasks.voila.totals import agreed

_NAMES = {2: ("voila_step2", "voila_judge_step2"), 3: ("voila_step3", "voila_judge_step3"),
          4: ("voila_step4_reader", "voila_step4_judge")}  # fmt: skip


def agreement(rows: Sequence[Mapping[str, Any]], scoring: str) -> dict[str, Any]:
    """Empty without a judge. `voila_agreement_step3` is the share of questions with the same overall mark; the rest,
    with kappa, under `agreement`.

    Step 1 is left to `sketchmark voila score`: a row holds shares of three pictures, not the marks of each.
    """
    steps: dict[str, Any] = {}
    for step, (rule, judge) in _NAMES.items():
        scored = [row["values"] for row in rows if row["scored"]]
        found = {}
        for name in (*PROPERTIES, "overall"):
            marks = [(values.get(f"{rule}_{name}"), values.get(f"{judge}_{name}")) for values in scored]
            found[name] = agreed([(int(a), int(b)) for a, b in marks if a is not None and b is not None])
        if found["overall"]["n"]:
            steps[f"step{step}"] = found
    shares = {f"voila_agreement_{step}": found["overall"]["raw"] for step, found in steps.items()}
    return {**shares, "agreement": steps} if steps else {}
