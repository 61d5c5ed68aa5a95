"""Yes, no, numbers and words that a person reads without doubt: the first go, written before the reader."""

from __future__ import annotations

YES_NO: dict[str, tuple[str, ...]] = {
    "bare": (
        "@Y",
        "@Y.",
        "@y",
        "**@Y**",
        "(@Y)",
        "`@y`",
        '"@Y"',
        "@Y!",
        "\\boxed{@Y}",
        "\\boxed{\\text{@y}}",
        "$\\text{@Y}$",
    ),
    "marked": (
        "<answer>@Y</answer>",
        "<answer>@y.</answer>",
        '{"answer": "@y"}',
        "<think>The answer is @N? Maybe @N.</think>@Y",
        "<THINK>@N</THINK>\n@Y.",
        "The answer is $\\boxed{@Y}$.",
    ),
    "announced": (
        "Answer: @Y",
        "Answer: **@Y**",
        "**Answer:** @Y.",
        "The answer is @y.",
        "The answer is: @Y",
        "Final answer: @Y",
        "Final Answer – @Y",
        "### Answer\n@Y",
        "So the answer is @y, since the border is sharp.",
        "The heart is of normal size. Therefore, the answer is @Y.",
        "My answer is @Y.",
        "The correct answer is **@Y**.",
    ),
    "first word": (
        "@Y, it is.",
        "@Y, the heart is large.",
        "@Y. The border of the heart is sharp, and no fluid is seen.",
        "@Y, there is no doubt about it.",
        "@Y - the heart is large.",
        "@Y: the heart is large.",
        "@Y because the heart is large.",
        "@Y, I think so.",
        "**@Y**, the border is sharp.",
        "@Y\n\nThe border is sharp.",
        "@Y, the picture shows a fracture.",
    ),
    "concluded": (
        "I would say @y.",
        "I think @y.",
        "The border is sharp, so @y.",
        "The border is sharp.\n\n@Y",
        "I'm not certain, but I would say @y.",
        "Hmm, it looks like @n at first. But the answer is @y.",
        "@N. Wait, I mixed up the sides. @Y.",
        "The answer is not @n but @y.",
    ),
}
"""`@Y` the word meant, `@N` the other, small letters for lower case."""

CHINESE_YES = ("是", "是。", "是的，可以看到骨折。", "答案是：是", "对", "有", "有，左侧可见。")
CHINESE_NO = ("否", "不是", "没有", "否。", "不是，心脏大小正常。", "答案是：否", "没有，未见骨折。", "不对")

NUMBERS: dict[str, tuple[str, ...]] = {
    "bare": (
        "@N",
        "@N.",
        "**@N**",
        "$@N$",
        "\\boxed{@N}",
        "<answer>@N</answer>",
        '{"answer": @N}',
        "@N cm",
        "about @N",
    ),
    "announced": (
        "The answer is @N.",
        "Answer: @N",
        "**Final answer:** @N cm",
        "The answer is approximately @N.",
        "There are 12 rows of 4. Hence the answer is @N.",
        "Answer: @N\nbecause 6 x 6 is 6 times 6",
        "The answer is not @M, it is @N.",
        "The answer is not @M but @N.",
        "The answer is @M. Wait, I forgot a row. The answer is @N.",
        "<think>Perhaps @M. The answer is @M.</think>The answer is @N.",
        "We get \\boxed{@M} at first. Corrected: \\boxed{@N}",
    ),
    "computed": (
        "x = 3 + 4 = @N",
        "Let a = 3. Then b = 4.\nSo c = @N",
        "Adding both gives 3 + 4. The total is @N.",
        "So the total is therefore @N cm.",
        "The result is @N",
        "There are 12 rows.\n\nTotal: @N",
    ),
}
"""`@N` the number meant, `@M` another."""

WORDS: dict[str, tuple[str, ...]] = {
    "bare": ("@W", "@W.", "**@W**", "\\boxed{\\text{@W}}", "<answer>@W</answer>", '{"answer": "@W"}', "The @W"),
    "announced": (
        "The answer is @W.",
        "Answer: @W",
        "**Final answer:** @W",
        "The answer is not @V but @W.",
        "The answer is not @V, it is @W.",
        "<think>It may be @V.</think>The answer is @W.",
        "I think the answer is @W, because of the sharp border.",
        "So the answer is the @W.",
        "The answer is @V. Wait, the border is sharp. The answer is @W.",
    ),
    "stated": (
        "This is an example of @W.",
        "It is @W.",
        "The image shows @W.",
        "This is called @W, which is common in adults.",
        "It is not @V. It is @W.",
        "The picture is typical of @W.",
        "This is @W rather than @V.",
    ),
}
"""`@W` the words meant, `@V` others."""
