"""RA and AL: what the judge is asked, what is read of its reply, and when it is wrong."""

from __future__ import annotations

import pytest

from sketchmark import Context, Model, Options, Part, Reply, Sample
from sketchmark.answers.judge import FIELDS, judged, question_parts, read_score
from sketchmark.episode import Episode, Grading, Scores, Turn
from sketchmark.errors import JudgeFailed
from sketchmark.media import Picture
from tests.core.helpers import colour

RED, BLUE = colour("red"), colour("blue")


class Judge(Model):
    """Says its lines in turn, the last one for ever."""

    def __init__(self, *lines: str) -> None:
        super().__init__("judge")
        self.lines, self.contexts = list(lines), list[Context]()

    async def say(self, context: Context, options: Options) -> Reply:
        self.contexts.append(context)
        assert (options.max_new_tokens, options.temperature) == (3000, 0.0)
        return Reply(self.lines.pop(0) if len(self.lines) > 1 else self.lines[0])


def episode(answer: str = "It is B.", drawn: Picture | None = BLUE) -> Episode:
    return Episode(
        Sample("s", {"images": [RED]}),
        (
            Turn("show", (Part(RED),)),
            Turn("draw", (), "Draw the path.", Reply(picture=drawn, finish="stop" if drawn else "no_picture")),
            Turn("say", (Part(answer, "model"),), "Which way? A: left, B: right", Reply(answer)),
        ),
    )


def stepwise() -> Episode:
    steps = [
        turn
        for place in (1, 2)
        for turn in (
            Turn("say", (), f"Plan {place}.", Reply(f"I go up, {place}.")),
            Turn("draw", (), f"Draw step {place}.", Reply(picture=BLUE)),
        )
    ]
    shown = Turn("show", (Part("Solve the maze."), Part(RED)))
    return Episode(Sample("s", {"initial": RED}), (shown, *steps, Turn("say", (), "Say all.", Reply('["up","up"]'))))


def test_the_judge_gets_the_published_question_with_all_pictures() -> None:
    text, *pictures = question_parts("ra", "mmsi_msr", episode())
    assert isinstance(text, str) and pictures == [RED, BLUE]
    assert '"Draw the path."' in text and "- **Task**: mmsi_msr\n" in text
    assert "- **Original Question**: Which way? A: left, B: right\n" in text
    assert text.endswith("visualized?\n") and "## Spatial Intelligence - RA Criteria" in text
    assert '{\n  "reasoning_visual_score": X,' in text, "other braces are literal"
    text = question_parts("al", "somebodys_task", episode())[0]
    assert isinstance(text, str) and '"It is B."' in text and "Criteria\n- **" not in text


def test_an_answer_that_looks_like_a_placeholder_stays_what_it_is() -> None:
    text = question_parts("al", "maze", episode("{question} {task}"))[0]
    assert isinstance(text, str) and '"{question} {task}"' in text


def test_step_by_step_every_plan_and_prompt_is_what_was_to_be_drawn() -> None:
    text, *pictures = question_parts("ra", "maze", stepwise())
    assert isinstance(text, str) and pictures == [RED, BLUE, BLUE]
    assert '"I go up, 1.\nDraw step 1.\n\nI go up, 2.\nDraw step 2."' in text
    assert "- **Original Question**: Solve the maze.\nSay all.\n" in text


@pytest.mark.parametrize(
    ("task", "criteria"),
    [
        ("unig2u_VisualPuzzles_spatial", "Perception"),
        ("realunify_mental_tracking", "Puzzles"),
        ("realunify_attentional_focusing", "Real-world"),
        ("phyx_optics100", "STEM"),
        ("chartqa100", "Chart"),
        ("uni_mmmu_geometry", "Mathematical"),
        ("uni_mmmu_maze100", "Puzzles"),
        ("maze", "Puzzles"),
    ],
)
def test_the_criteria_are_those_of_the_tasks_category(task: str, criteria: str) -> None:
    text = question_parts("ra", task, episode())[0]
    assert isinstance(text, str) and f"## {criteria}" in text.rpartition("Output Format")[2]


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ('{"reasoning_visual_score": 4, "reasoning": "fine"}', 4.0),
        ('```json\n{"reasoning_visual_score": 5}\n```', 5.0),
        ('<think>{"reasoning_visual_score": 1}</think>{"reasoning_visual_score": 3}', 3.0),
        ('"reasoning_visual_score": 2, and so on', 2.0),
        ("reasoning_visual_score: 3", 3.0),
        ("**Score: 4**/5", 4.0),
        ('{"reasoning_visual_score": 6}', None),
        ('{"reasoning_visual_score": 0}', None),
        ('{"reasoning_visual_score": true}', None),
        ('{"reasoning_visual_score": X}', None),
        ("Score: 45", None),
        ("Score: 4.5 of 10", None),
        ("It is very good.", None),
        ("", None),
    ],
)
def test_a_score_is_read_or_not(reply: str, score: float | None) -> None:
    assert read_score(reply, FIELDS["ra"]) == score


async def test_both_are_asked_for_and_kept_with_the_judges_words() -> None:
    judge = Judge('{"reasoning_visual_score": 4}', '{"answer_visual_score": 2}')
    found = await judged(episode().sample, episode(), Grading("ra-al", judge), task="maze")
    assert found.values == {"ra": 4.0, "al": 2.0}
    assert found.notes == {"ra_judge": '{"reasoning_visual_score": 4}', "al_judge": '{"answer_visual_score": 2}'}


async def test_nothing_drawn_and_nothing_answered_is_no_score_and_nobody_is_asked() -> None:
    judge = Judge('{"reasoning_visual_score": 4}')
    undrawn = await judged(episode().sample, episode(drawn=None), Grading("ra-al", judge), task="maze")
    assert undrawn.values == {"ra": None, "al": None} and not judge.contexts
    silent = await judged(episode().sample, episode(answer=" "), Grading("ra-al", judge), task="maze")
    assert silent.values == {"ra": 4.0, "al": None}


async def test_three_tries_and_then_it_is_the_judge_who_failed() -> None:
    judge = Judge("Hm.", "Hm.", '{"reasoning_visual_score": 4}', '{"answer_visual_score": 5}')
    found = await judged(episode().sample, episode(), Grading("ra-al", judge), task="maze")
    assert found.values == {"ra": 4.0, "al": 5.0} and len(judge.contexts) == 4
    dumb = Judge("Hm.")
    with pytest.raises(JudgeFailed, match="no verdict"):
        await judged(episode().sample, episode(), Grading("ra-al", dumb), task="maze")
    assert len(dumb.contexts) == 3


@pytest.mark.parametrize(
    ("ra", "right", "wrong"),
    [
        *((5, 1.0, 0.0), (4, 0.8, 0.0), (4, 0.7, 1.0), (5, 0.0, 1.0), (1, 0.0, 0.0), (2, 0.5, 0.0), (2, 0.6, 1.0)),
        *((3, 0.0, None), (5, None, None)),
    ],
)
async def test_the_judge_is_wrong_where_its_scale_does_not_fit_what_is_read(
    ra: int, right: float | None, wrong: float | None
) -> None:
    judge = Judge(f'{{"reasoning_visual_score": {ra}}}', '{"answer_visual_score": 5}')

    def read(sample: Sample, played: Episode, grading: Grading) -> Scores:
        return Scores({"drawing_right": right, "answer_as_drawn": 1.0})

    found = await judged(episode().sample, episode(), Grading("ra-al", judge), task="maze", read=read)
    assert found.values["ra_judge_wrong"] == wrong and found.values["al_judge_wrong"] == 0.0
