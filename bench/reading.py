"""Count how the strict parser does on the corpus of labelled replies, by family of templates, and how MMSI-Bench's
three scorings do on replies to its questions.

python -m bench.reading
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from tests.answers.cases import GENERAL, Case, filled, replies
from tests.answers.reading import SCORINGS, Tally, answer, mmsi_letter

Reading = Callable[[Case], object]


def main() -> None:
    cases = [case for name in GENERAL for case in filled(name)]
    _table("Known intent", (case for case in cases if case.answer is not None), answer)
    _table("Not to be credited", (case for case in cases if case.answer is None), answer)
    for scoring in SCORINGS:
        _table(f"MMSI-Bench, known intent, {scoring}", filled("mmsi"), _by(scoring))
    for kind in dict.fromkeys(case.kind for case in replies()):
        _table(f"Single replies, {kind}", (case for case in replies() if case.kind == kind), answer, by_family=False)


def _by(scoring: str) -> Reading:
    return lambda case: mmsi_letter(case, scoring)


def _table(title: str, cases: Iterable[Case], reading: Reading, *, by_family: bool = True) -> None:
    families: dict[str, Tally] = defaultdict(Tally)
    whole = Tally()
    for case in cases:
        got = reading(case)
        if by_family:
            families[case.why].add(case, got)
        whole.add(case, got)
    print(f"{title:40} replies   wrong  unparsed")
    for family, tally in {**families, "all": whole}.items():
        print(f"  {family:38} {tally.replies:7} {len(tally.wrong):7} {len(tally.unparsed):9}")
    print(f"  {len(whole.unparsed) / whole.replies:.2%} unparsed\n")


if __name__ == "__main__":
    main()
