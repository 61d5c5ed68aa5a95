"""Each dataset loads from a small copy in its published layout, awkward rows included."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sketchmark import Sample
from sketchmark.catalog import Catalog
from sketchmark.errors import BadInput, DataMissing
from sketchmark.files import tables
from sketchmark.files.archives import Files, literal
from sketchmark.media import Picture
from tests.benchmarks.medical import fixtures


def load(name: str, root: Path, **arguments: Any) -> list[Sample]:
    return list(Catalog().task(name, None, arguments).samples(data=root))


def usable(samples: list[Sample]) -> list[Sample]:
    return [sample for sample in samples if "broken" not in sample.fields]


def broken(samples: list[Sample]) -> list[str]:
    return [sample.fields["broken"] for sample in samples if "broken" in sample.fields]


def pictures(sample: Sample) -> list[Picture]:
    return [p for value in sample.pictures.values() for p in ([value] if isinstance(value, Picture) else value)]


def test_medframeqa_uses_every_frame_and_names_the_broken_row(tmp_path: Path) -> None:
    samples = load("MedFrameQA", fixtures.medframeqa(tmp_path))
    assert [len(pictures(sample)) for sample in usable(samples)] == [2, 5]
    assert "The indices of the given images are 1, 2, 3, 4, 5.\n" in samples[1].fields["prompt"]
    assert "A.structure 0\n" in samples[0].fields["prompt"]
    assert samples[0].target["gold"] == "F"
    assert samples[0].groups["cluster"] == samples[1].groups["cluster"] == "v1"
    assert broken(samples) == ["row 2: answer 'Z' is not a letter of 6 options"]


def test_medxpertqa_reads_pictures_from_the_archive_and_draws_without_the_options(tmp_path: Path) -> None:
    samples = load("medxpertqa_mm", fixtures.medxpertqa(tmp_path))
    (good,) = usable(samples)
    assert good.id == "MM-1" and len(pictures(good)) == 1
    assert good.fields["question"] == "What next?"
    assert "Answer Choices: (A) drug A" in good.fields["prompt"] and "\nA. drug A\n" in good.fields["prompt"]
    assert good.groups["medical_task"] == "Treatment"
    assert "gone.jpeg" in broken(samples)[0]
    assert "not JSON" in broken(samples)[1]


def test_medxpertqa_text_has_ten_options_and_no_picture(tmp_path: Path) -> None:
    (sample,) = load("MedXpertQA_Text", fixtures.medxpertqa(tmp_path))
    assert pictures(sample) == [] and sample.target["gold"] == "J"
    assert "image" not in sample.fields["prompt"]


def test_pmc_vqa_shows_the_cells_as_they_are_and_refuses_a_path_that_leads_out(tmp_path: Path) -> None:
    samples = load("PMC_VQA", fixtures.pmc_vqa(tmp_path))
    (good,) = usable(samples)
    assert "\n A:Diffuse uptake pattern\n B:Focal uptake pattern \nC: No uptake\n" in good.fields["prompt"]
    assert good.target["options"] == ["Diffuse uptake pattern", "Focal uptake pattern", "No uptake", "Ring, uptake"]
    assert "leads out" in broken(samples)[0]


def test_omnimedvqa_reads_its_zip_and_the_row_without_modality_type(tmp_path: Path) -> None:
    samples = load("OmniMedVQA", fixtures.omnimedvqa(tmp_path))
    good = usable(samples)
    assert [sample.groups["modality_type"] for sample in good] == ["CT(Computed Tomography)", "CT"]
    assert [len(sample.target["options"]) for sample in good] == [2, 3]
    assert {sample.target["gold"] for sample in good} == {"B"}
    assert broken(samples) == ["row 2: answer 'Something else' is not among the options"]


@pytest.mark.parametrize(("task", "folder"), [("VQA_RAD", "VQA_RAD"), ("path_vqa", "PATH_VQA")])
def test_vqa_sets_keep_duplicates_apart_and_convert_cmyk(task: str, folder: str, tmp_path: Path) -> None:
    samples = load(task, fixtures.vqa(tmp_path, folder))
    first, second, mass = usable(samples)
    assert first.fields["prompt"] == second.fields["prompt"]
    assert first.id != second.id and first.groups["cluster"] != second.groups["cluster"]
    assert first.fields["prompt"].endswith("Please output 'yes' or 'no'(no extra output).")
    assert mass.fields["prompt"].endswith("Please answer the question concisely.")
    assert pictures(mass)[0].format == "png" and pictures(mass)[0].image().mode == "RGB"
    assert "not a picture" in broken(samples)[0]


def test_slake_asks_in_the_language_of_the_question(tmp_path: Path) -> None:
    root = fixtures.slake(tmp_path)
    samples = load("SLAKE", root)
    assert [sample.groups["language"] for sample in samples] == ["en", "en", "zh", "zh"]
    assert samples[0].fields["prompt"].endswith("Answer the question using a single word or phrase.")
    assert samples[2].fields["prompt"] == "这是什么器官？\nThe index of the given image is 1.\n请简要回答该问题。"
    assert len({sample.groups["cluster"] for sample in samples}) == 1
    assert len(load("slake", root, language="zh")) == 2


@pytest.mark.parametrize(
    ("task", "folder", "images"), [("IU_XRAY", "IU_XRAY", [2, 1]), ("chexpert_plus", "CheXpert_Plus", [1, 1])]
)
def test_report_sets_leave_out_items_without_any_section(
    task: str, folder: str, images: list[int], tmp_path: Path
) -> None:
    samples = load(task, fixtures.reports(tmp_path, folder))
    assert [len(pictures(sample)) for sample in samples] == images
    assert samples[1].target["reference"] == "Findings: Effusion. Impression: ."
    assert samples[0].fields["prompt"].startswith("You are a helpful assistant. The ind")


def test_radrestruct_letters_what_is_not_yes_or_no_and_keeps_all_golds(tmp_path: Path) -> None:
    yes, side, where = load("Radrestruct", fixtures.radrestruct(tmp_path))
    assert yes.target["kind"] == "yes_no" and "'yes' or 'no'" in yes.fields["prompt"]
    assert "\nA. left\nB. right\nC. bilateral\n" in side.fields["prompt"]
    assert where.target["gold"] == ["A", "B"]
    assert yes.groups["cluster"] == side.groups["cluster"] == "1"


def test_radrestruct_upstream_asks_as_published(tmp_path: Path) -> None:
    _, side, where = load("radrestruct", fixtures.radrestruct(tmp_path), protocol="upstream")
    assert side.fields["prompt"].endswith("Please output 'yes' or 'no'(no extra output).")
    assert "\nleft\nright\nbilateral\n" in where.fields["prompt"]


def test_upstream_single_pictures_go_bare_and_lists_are_tagged(tmp_path: Path) -> None:
    rad = load("vqa_rad", fixtures.vqa_rad(tmp_path), protocol="upstream")[0]
    frames = load("medframeqa", fixtures.medframeqa(tmp_path), protocol="upstream")[0]
    assert set(rad.pictures) == {"image"} and set(frames.pictures) == {"images"}
    assert "index" not in rad.fields["prompt"] and "indices" not in frames.fields["prompt"]


def test_reasoning_prompts_ask_for_a_box(tmp_path: Path) -> None:
    rad = load("vqa_rad", fixtures.vqa_rad(tmp_path), reasoning=True)[0]
    assert rad.fields["prompt"].endswith('put the answer in one "\\boxed{}".')


def test_mmmu_reads_every_picture_and_never_runs_the_options(tmp_path: Path) -> None:
    root = fixtures.mmmu(tmp_path)
    samples = load("mmmu_val", root, subjects="Pharmacy+Math")
    choice, opened, math = usable(samples)
    assert choice.target["options"] == ["a thing", "b's thing"] and len(pictures(choice)) == 2
    assert (
        "Options: (A) a thing (B) b's thing\nThe indices of the given images are 1, 2.\n" in choice.fields["prompt"]
    )
    assert opened.target == {"kind": "open", "options": [], "gold": ["1/4", "0.25"]}
    assert math.groups["domain"] == "Science"
    assert "not a Python literal" in broken(samples)[0]
    (withheld,) = load("mmmu_test", root, subjects="Math")
    assert withheld.target["gold"] is None


def test_a_single_file_of_mmmu_is_read_once_and_its_ids_name_the_subjects(tmp_path: Path) -> None:
    file = fixtures.mmmu(tmp_path) / "MMMU" / "Math" / "validation-00000-of-00001.parquet"
    (sample,) = load("mmmu_val", file)
    assert sample.id == "validation_Math_1" and sample.groups["subject"] == "Math"
    with pytest.raises(BadInput, match="has no question of Basic_Medical_Science"):
        load("mmmu_med", file)


def test_mmmu_pro_sends_pictures_in_the_order_of_the_text(tmp_path: Path) -> None:
    samples = load("mmmu_pro_standard_10", fixtures.mmmu_pro(tmp_path))
    shuffled, twelve, single = usable(samples)
    assert [picture.digest for picture in pictures(shuffled)] == [
        Picture.from_bytes(fixtures.png(shade)).digest for shade in (1, 3, 2)
    ]
    assert len(twelve.target["options"]) == 12 and twelve.target["gold"] == "L"
    assert single.target["options"] == ["the only one"]
    assert "image_7" in broken(samples)[0]


def test_mmmu_pro_vision_shows_only_the_screenshot(tmp_path: Path) -> None:
    (sample,) = load("mmmu_pro_vision", fixtures.mmmu_pro(tmp_path))
    assert len(pictures(sample)) == 1 and sample.fields["question"] == ""
    assert sample.fields["prompt"].startswith("Answer with the option letter")
    (cot,) = load("mmmu_pro_vision_cot", tmp_path)
    assert cot.fields["prompt"].startswith("Write out the multiple-choice question")


@pytest.mark.parametrize(
    ("task", "words"), [("mimic_cxr", "PhysioNet"), ("chexpert_plus", "Stanford AIMI"), ("iu_xray", "Open-i")]
)
def test_a_set_that_is_not_on_the_hub_says_what_to_get_and_from_whom(task: str, words: str) -> None:
    with pytest.raises(DataMissing, match=words) as caught:
        list(Catalog().task(task).samples())
    assert "test.json" in str(caught.value)


def test_a_folder_without_the_data_is_an_error_not_a_download(tmp_path: Path) -> None:
    for task in ("vqa_rad", "mmmu_val", "slake", "pmc_vqa", "omnimedvqa", "medxpertqa_mm", "medxpertqa_text"):
        with pytest.raises(DataMissing, match=r"--data PATH, or set SKETCHMARK_DATA=PATH; without them the hub's"):
            load(task, tmp_path)
    with pytest.raises(DataMissing, match="PhysioNet"):
        load("mimic_cxr", tmp_path)


def test_a_hub_that_cannot_be_reached_is_one_clear_line(tmp_path: Path) -> None:
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path), "PATH": ""}
    asked = [sys.executable, "-m", "sketchmark", "run", "--model", "player/random", "--no-cache", "--tasks"]
    for task in ("slake", "vqa_rad"):
        done = subprocess.run([*asked, task], cwd=tmp_path, env=offline, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert (
            "is not in the hub's cache here" in done.stderr
            and "--data" in done.stderr
            and "Traceback" not in done.stderr
        )


def test_without_the_hub_client_the_three_ways_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    monkeypatch.setattr(tables, "is_installed", lambda extra: False)
    with pytest.raises(DataMissing, match=r"no data for BoKelvin/SLAKE here \(give --data PATH, or set"):
        list(Catalog().task("slake").samples())


def test_a_table_that_cannot_be_read_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "test_2.csv").write_text('header\n1,"' + "x" * 10_000_001 + '"\n')
    with pytest.raises(BadInput, match="of the table cannot be read"):
        load("pmc_vqa", tmp_path)


def test_a_broken_archive_is_named(tmp_path: Path) -> None:
    (tmp_path / "imgs.zip").write_bytes(b"PK not a zip")
    with pytest.raises(BadInput, match=r"imgs\.zip"):
        Files(tmp_path).read("x")


@pytest.mark.parametrize("text", ["[" * 5000, "['a'", "open('x')", "'" + "a" * 200_000 + "'"])
def test_hostile_options_are_refused(text: str) -> None:
    with pytest.raises(BadInput):
        literal(text)


@pytest.mark.parametrize("name", ["../x.json", "/etc/passwd", "a/../../x"])
def test_names_that_lead_out_of_the_folder_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="leads out"):
        Files(tmp_path).read(name)


def test_unknown_arguments_are_named(tmp_path: Path) -> None:
    make: list[tuple[str, dict[str, Any], Callable[[Path], Path]]] = [
        ("vqa_rad", {"protocol": "other"}, fixtures.vqa_rad),
        ("slake", {"language": "fr"}, fixtures.slake),
        ("mmmu_val", {"split": "train"}, fixtures.mmmu),
        ("mmmu_val", {"subjects": "Alchemy"}, lambda root: root),
        ("mmmu_pro_vision", {"style": "long"}, fixtures.mmmu_pro),
    ]
    for task, arguments, prepare in make:
        with pytest.raises(BadInput, match=next(iter(arguments.values()))):
            load(task, prepare(tmp_path), **arguments)
