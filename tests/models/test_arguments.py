from __future__ import annotations

import pytest

from sketchmark.errors import BadInput
from sketchmark.models.arguments import Arguments


def test_values_read_the_same_as_text_and_as_python() -> None:
    for given in ({"n": 3, "x": 0.5, "on": True}, {"n": "3", "x": "0.5", "on": "true"}):
        args = Arguments("m", given)
        assert (args.whole("n", 1), args.number("x"), args.flag("on", False)) == (3, 0.5, True)
        args.refuse_unknown()


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"n": "three"}, "n=three is not a number"),
        ({"n": 2.5}, "n=2.5 is not a whole number"),
        ({"x": 0}, "x=0.0 is not a number above 0"),
        ({"on": "perhaps"}, "on=perhaps is not true or false"),
        ({"way": "up"}, "way=up is not left or right"),
        ({"wya": "left"}, r"m takes no argument wya \(it takes: n, on, way, x\)"),
    ],
)
def test_a_value_that_cannot_be_used_is_named(given: dict[str, str], complaint: str) -> None:
    args = Arguments("m", given)
    with pytest.raises(BadInput, match=complaint):
        args.whole("n", 1)
        args.above_zero("x")
        args.flag("on", False)
        args.choice("way", ("left", "right"))
        args.refuse_unknown()
