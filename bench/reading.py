"""How the strict reader fares on the two corpora of the tests, by family of templates; and how MMSI-Bench's three
scorings fare on replies of known intent to its questions.

python -m bench.reading
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from tests.reading import corpus, mmsi_style
from tests.reading.cases import Case
from tests.reading.reading import Tally, read, read_mmsi

Reading = Callable[[Case], object]


def main() -> None:
    for title, kinds in (("Known intent", corpus.MEANT), ("Not to be credited", corpus.UNCLEAR)):
        _table(title, (case for make in kinds.values() for case in make()), read)
    for scoring in ("strict", "official", "lenient"):
        _table(f"MMSI-Bench, known intent, {scoring}", mmsi_style.cases(), _by(scoring))


def _by(scoring: str) -> Reading:
    return lambda case: read_mmsi(case, scoring)


def _table(title: str, cases: Iterable[Case], reading: Reading) -> None:
    families: dict[str, Tally] = defaultdict(Tally)
    whole = Tally()
    for case in cases:
        got = reading(case)
        families[case.family].add(case, got)
        whole.add(case, got)
    print(f"{title:40} replies   wrong  unread")
    for family, tally in {**families, "all": whole}.items():
        print(f"  {family:38} {tally.replies:7} {len(tally.wrong):7} {len(tally.unread):7}")
    print(f"  {len(whole.unread) / whole.replies:.2%} unread\n")


if __name__ == "__main__":
    main()
