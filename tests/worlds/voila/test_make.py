"""`voila make` end to end: every format, both spellings, training and testing, and `voila check` on all of them; how
it picks pictures and joins them."""

import csv
import io
import json
import sys
from itertools import product
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from PIL import Image

from sketchmark.commands.voila import voila_command
from sketchmark.errors import BadInput, DataMissing, MissingExtra
from sketchmark.media import Picture
from sketchmark.worlds import voila
from sketchmark.worlds.voila.make import BankShelf, FolderShelf, Rotation, SetOrder, collage, make, open_shelf
from sketchmark.worlds.voila.questions import Question
from sketchmark.worlds.voila.scenes import SCENES, Scene, file_prefix
from sketchmark.worlds.voila.table import QuestionRow, make_row, read_table, write_csv
from tests.tabled import tabled


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's picture folders in the published naming: two training pictures a scene, 8 pixels wide."""
    root = tmp_path_factory.mktemp("pictures")
    for folder, suffixes in (("Test_Images", ["0"]), ("Train_Images", ["5", "17111"])):
        (root / folder).mkdir()
        for place, scene in enumerate(SCENES):
            data = Picture.from_image(Image.new("RGB", (8, 8), (place % 256, place // 256, 90))).data
            for suffix in suffixes:
                (root / folder / f"{file_prefix(scene)}{suffix}.png").write_bytes(data)
    return root


def _cli(*arguments: str | int | Path) -> Result:
    return CliRunner().invoke(voila_command, [str(argument) for argument in arguments])


@pytest.mark.parametrize(
    ("ending", "dataset", "distraction", "columns"),
    list(product(["csv", "jsonl", "parquet"], ["training", "testing"], ["yes", "no"], ["released", "generator"])),
)
def test_check_passes_on_our_own_output_of_every_kind(
    tmp_path: Path, folders: Path, ending: str, dataset: str, distraction: str, columns: str
) -> None:
    target = tmp_path / f"set.{ending}"
    made = _cli(
        "make", "--csv_output", target, "--dataset", dataset, "--distraction", distraction, "--count", 7 * 19,
        "--collage", "no", "--columns", columns, "--images", folders,
    )  # fmt: skip
    assert made.exit_code == 0, made.output
    checked = _cli("check", target)
    assert (checked.exit_code, checked.output) == (0, f"no violations in {target}\n")


def test_a_users_pictures_are_named_and_not_copied(tmp_path: Path, folders: Path) -> None:
    make(tmp_path / "set.csv", SetOrder(19, images=folders))
    _, rows = read_table(tmp_path / "set.csv")
    for row in rows:
        assert all((folders / "Test_Images" / name).is_file() for name in row[:3])
    assert [path.name for path in tmp_path.iterdir()] == ["set.csv"]


def test_collages_lie_in_the_published_folder_and_are_numbered_from_one(tmp_path: Path, folders: Path) -> None:
    make(tmp_path / "set.csv", SetOrder(7, distraction=False, collage=True, images=folders))
    _, rows = read_table(tmp_path / "set.csv")
    names = [row[9] for row in rows]
    assert names == [f"image_questions_{k}.png" for k in range(1, 8)]
    assert Picture.from_file(tmp_path / "Image_Questions" / names[-1]).size == (124, 8)


def test_parquet_embeds_the_pictures_under_the_hubs_field_names(tmp_path: Path, folders: Path) -> None:
    import pyarrow.parquet as parquet  # type: ignore[import-untyped]

    make(tmp_path / "set.parquet", SetOrder(7, distraction=False, collage=True, images=folders))
    table = parquet.read_table(tmp_path / "set.parquet")
    features = json.loads(table.schema.metadata[b"huggingface"])["info"]["features"]
    assert [name for name, kind in features.items() if kind == {"_type": "Image"}] == [
        "image1", "image2", "image3", "collage",
    ]  # fmt: skip
    first = table.to_pylist()[0]
    assert first["image1"]["bytes"] == (folders / "Test_Images" / first["img1"]).read_bytes()
    assert Picture.from_bytes(first["collage"]["bytes"]).size == (124, 8)
    assert [path.name for path in tmp_path.iterdir()] == ["set.parquet"]


def test_jsonl_lines_carry_the_index_of_their_question(tmp_path: Path) -> None:
    from sketchmark.worlds import voila

    make(tmp_path / "set.jsonl", SetOrder(19, pictures=False, seed=6))
    lines = [json.loads(line) for line in (tmp_path / "set.jsonl").read_text().splitlines()]
    questions = [voila.question_at(line["index"]) for line in lines]
    assert questions == list(voila.sample_questions(19, 6, distraction=True))
    assert [line["desc_im4"] for line in lines] == [question.answer.describe() for question in questions]


def test_a_set_is_the_same_bytes_for_the_same_seed(tmp_path: Path) -> None:
    for name, seed in (("one.csv", 1), ("again.csv", 1), ("two.csv", 2)):
        make(tmp_path / name, SetOrder(190, dataset="training", seed=seed, pictures=False))
    one, again, two = ((tmp_path / name).read_bytes() for name in ("one.csv", "again.csv", "two.csv"))
    assert one == again
    assert one != two


def test_the_csv_has_crlf_line_ends_and_twelve_columns_and_a_second_run_replaces_it(tmp_path: Path) -> None:
    for _ in range(2):
        make(tmp_path / "set.csv", SetOrder(19, pictures=False))
    data = (tmp_path / "set.csv").read_bytes()
    assert data.count(b"\r\n") == data.count(b"\n") == 20
    assert {len(row) for row in csv.reader(data.decode().splitlines())} == {12}


def test_a_make_that_fails_halfway_leaves_neither_a_table_nor_a_part_of_one(tmp_path: Path) -> None:
    (tmp_path / "Test_Images").mkdir()
    for scene in SCENES:
        (tmp_path / "Test_Images" / f"{file_prefix(scene)}0.png").write_bytes(b"no picture")
    with pytest.raises(BadInput, match="not a picture"):
        make(tmp_path / "out" / "set.parquet", SetOrder(19, images=tmp_path))
    assert list((tmp_path / "out").iterdir()) == []


def test_an_unknown_ending_and_a_collage_or_parquet_without_pictures_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"end the name in \.csv"):
        make(tmp_path / "set.xlsx", SetOrder(19))
    with pytest.raises(BadInput, match="a collage needs pictures"):
        make(tmp_path / "set.csv", SetOrder(19, collage=True, pictures=False))
    with pytest.raises(BadInput, match="a parquet file holds its pictures"):
        make(tmp_path / "set.parquet", SetOrder(19, pictures=False))


def test_check_prints_violations_by_row_and_exits_with_one(tmp_path: Path) -> None:
    make(tmp_path / "set.csv", SetOrder(19, pictures=False))
    text = (tmp_path / "set.csv").read_bytes().replace(b"Number", b"Count", 1)
    (tmp_path / "set.csv").write_bytes(text)
    result = _cli("check", tmp_path / "set.csv")
    assert result.exit_code == 1
    assert result.output.startswith("row 1: relations: ")
    assert result.output.endswith(f"\n1 violation in {tmp_path / 'set.csv'}\n")


def test_count_prints_every_structure_and_both_totals() -> None:
    text = _cli("count").output
    assert "157,632,384" in text
    assert "3,861,312" in text
    counts = json.loads(_cli("count", "--json").output)
    assert counts["structures"]["12"] == 104_936_832
    assert counts["with_distraction"] == {"total": 157_632_384, "largest_count": 3_236_688}
    assert counts["without_distraction"] == {"total": 3_861_312, "largest_count": 2_384_928}


@pytest.mark.slow
def test_built_in_pictures_are_written_beside_the_table_and_show_what_it_says(tmp_path: Path) -> None:
    from sketchmark.worlds.voila.reader import read, read_collage

    make(tmp_path / "set.csv", SetOrder(7, dataset="training", distraction=False, collage=True, seed=4))
    _, rows = read_table(tmp_path / "set.csv")
    for row in rows:
        shown = [read(Picture.from_file(tmp_path / "Train_Images" / name)) for name in row[:4]]
        assert [scene and scene.describe() for scene in shown] == row[4:8]
        assert read_collage(Picture.from_file(tmp_path / "Image_Questions" / row[9])) == shown[:3]


def test_parquet_without_its_library_names_the_extra_to_install(
    tmp_path: Path, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"a parquet file needs sketchmark\[data\]"):
        make(tmp_path / "set.parquet", SetOrder(19, images=folders))


CATS = Scene(2, 5, 3)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    images = tmp_path / "Test_Images"
    images.mkdir()
    for scene in SCENES:
        (images / f"{file_prefix(scene)}7111.png").touch()
    return tmp_path


def test_a_users_folder_is_found_by_its_published_name_and_read_by_prefix(folder: Path) -> None:
    (folder / "Test_Images" / "notes.txt").touch()
    (folder / "Test_Images" / "Two_Cats_walking_3.PNG").touch()
    shelf = open_shelf(folder, "testing", seed=0)
    assert list(shelf.files(CATS)) == ["Two_Cats_walking_3.PNG", "two_cats_walking_7111.png"]
    assert list(shelf.files(Scene(1, 5, 3))) == ["one_cat_walking_7111.png"]


def test_a_folder_that_lacks_a_scene_is_refused_before_anything_is_made(folder: Path) -> None:
    (folder / "Test_Images" / "two_cats_walking_7111.png").unlink()
    with pytest.raises(DataMissing, match="lacks pictures of 1 of 728 scenes, first 'two cats walking'"):
        FolderShelf(folder / "Test_Images")


def test_all_nine_training_pictures_are_used_before_any_returns() -> None:
    rotation = Rotation(BankShelf("training", seed=0))
    others = (Scene(1, 0, 0), Scene(1, 1, 1))
    picks = [rotation.pick_row((CATS, *others), Scene(1, 2, 2))[0][0] for _ in range(18)]
    assert len(set(picks[:9])) == len(set(picks[9:])) == 9


def test_the_fourth_picture_is_never_one_of_the_first_three_even_right_after_a_refill() -> None:
    rotation = Rotation(BankShelf("training", seed=0))
    for _ in range(40):
        shown, fourth = rotation.pick_row((Scene(1, 0, 0), CATS, Scene(1, 1, 1)), CATS)
        assert fourth not in shown


def test_a_scene_with_a_single_picture_may_repeat_it_because_there_is_no_other(folder: Path) -> None:
    rotation = Rotation(FolderShelf(folder / "Test_Images"))
    shown, fourth = rotation.pick_row((Scene(1, 0, 0), CATS, Scene(1, 1, 1)), CATS)
    assert fourth == shown[1]


def _plain(colour: str, width: int, height: int) -> Picture:
    return Picture.from_image(Image.new("RGB", (width, height), colour))


def test_three_pictures_stand_in_one_row_with_white_gaps_and_no_frame() -> None:
    image = collage([_plain("red", 100, 100), _plain("lime", 100, 100), _plain("blue", 100, 100)]).image()
    assert image.size == (400, 100)
    row = [image.getpixel((x, 50)) for x in (0, 99, 100, 149, 150, 249, 250, 299, 300, 399)]
    red, lime, blue, white = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)
    assert row == [red, red, white, white, lime, lime, white, white, blue, blue]


def test_smaller_pictures_grow_to_the_tallest_and_keep_their_shape() -> None:
    joined = collage([_plain("red", 33, 50), _plain("lime", 100, 100), _plain("blue", 201, 200)])
    assert joined.size == ((33 * 4) + 200 + 201 + 100, 200)


# The files: published CSV to the letter, JSONL and parquet with the same rows.


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


@tabled
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
