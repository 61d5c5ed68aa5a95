"""How the strict reader fares on the two corpora of the tests, by family of templates.

python -m bench.reading
"""

from __future__ import annotations

from collections import defaultdict

from tests.reading import corpus
from tests.reading.reading import Tally, read


def main() -> None:
    for title, kinds in (("Known intent", corpus.MEANT), ("Not to be credited", corpus.UNCLEAR)):
        families: dict[str, Tally] = defaultdict(Tally)
        for make in kinds.values():
            for case in make():
                families[case.family].add(case, read(case))
        print(f"{title:40} replies   wrong  unread")
        for family, tally in families.items():
            print(f"  {family:38} {tally.replies:7} {len(tally.wrong):7} {len(tally.unread):7}")
        replies, wrong, unread = (
            sum(counts)
            for counts in zip(*((t.replies, len(t.wrong), len(t.unread)) for t in families.values()), strict=True)
        )
        print(f"  {'all':38} {replies:7} {wrong:7} {unread:7}  ({unread / replies:.2%} unread)\n")


if __name__ == "__main__":
    main()
