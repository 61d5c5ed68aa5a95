"""The files: published CSV to the letter, JSONL and parquet with the same rows."""

import csv
import io
from pathlib import Path

import pytest

from sketchmark.errors import BadInput, DataMissing
from sketchmark.worlds import voila
from sketchmark.worlds.voila.questions import Question
from sketchmark.worlds.voila.table import QuestionRow, make_row, read_table, write_csv

PUBLISHED = Path(__file__).parent / "data" / "published_nd_rows.csv"


def _question(row: QuestionRow) -> Question:
    first, second, third = (voila.parse_description(text) for text in (row.text1, row.text2, row.text3))
    assert first and second and third
    return Question(int(row.rule), (first, second, third), voila.answer(first, second, third), -1)


def test_our_writer_reproduces_the_published_rows_byte_for_byte() -> None:
    _, rows = read_table(PUBLISHED)
    ours = []
    for fields in rows:
        row = QuestionRow(*fields)
        ours.append(make_row(_question(row), (row.image1, row.image2, row.image3), None, row.collage, "released"))
    file = io.StringIO(newline="")
    write_csv(ours, file, "released")
    assert file.getvalue().encode() == PUBLISHED.read_bytes()


def test_the_published_rows_have_a_place_in_the_question_space() -> None:
    _, rows = read_table(PUBLISHED)
    for fields in rows:
        question = _question(QuestionRow(*fields))
        found = voila.question_at(voila.index_of(question), distraction=False)
        assert (found.rule, found.scenes) == (question.rule, question.scenes)


def test_the_generator_spelling_has_its_own_names_and_slips() -> None:
    question = next(q for q in voila.sample_questions(19, 0, distraction=True) if q.rule == 8)
    row = make_row(question, ("a", "b", "c"), None, "", "generator")
    assert row.combined.startswith(f"Image 1:{question.scenes[0].describe()}. Image 2: ")
    assert row.image4 == f"{question.answer.subject_word} "
    assert make_row(question, ("a", "b", "c"), None, "", "released").image4 == question.answer.subject_word
    file = io.StringIO(newline="")
    write_csv([row], file, "generator")
    header = next(csv.reader(io.StringIO(file.getvalue())))
    assert header[7:] == ["desc_img4", "combined_descriptions", "image_question", "rule", "relations"]


@pytest.mark.parametrize(
    ("rules", "left"),
    [
        ((3, 10, 18), "{0.number_word} {0.action_word}"),
        ((2, 6, 14), "{0.subject_word} {0.action_word}"),
        ((7, 11, 16), "{0.number_word} {0.subject_word}"),
        ((4,), "{0.action_word}"),
        ((8,), "{0.subject_word}"),
        ((12,), "{0.number_word}"),
        ((1, 5, 9, 13, 15, 17, 19), "{0.number_word} {0.subject_word} {0.action_word}"),
    ],
)
def test_the_fourth_column_of_a_testing_file_is_the_answer_without_any(rules: tuple[int, ...], left: str) -> None:
    for question in voila.sample_questions(190, 0, distraction=True):
        if question.rule in rules:
            row = make_row(question, ("a", "b", "c"), None, "", "released")
            assert row.image4 == left.format(question.answer)


def test_a_file_that_is_missing_empty_or_no_csv_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(DataMissing, match="there is no file"):
        read_table(tmp_path / "none.csv")
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(BadInput, match="is empty"):
        read_table(tmp_path / "empty.csv")
    (tmp_path / "bytes.csv").write_bytes(b"img1\r\n\xff\xfe\r\n")
    with pytest.raises(BadInput, match="not CSV"):
        list(read_table(tmp_path / "bytes.csv")[1])
    (tmp_path / "list.jsonl").write_text("[1]\n")
    with pytest.raises(BadInput, match="not a JSON object"):
        read_table(tmp_path / "list.jsonl")
    (tmp_path / "text.parquet").write_text("no parquet")
    with pytest.raises(BadInput, match="is not parquet"):
        read_table(tmp_path / "text.parquet")
