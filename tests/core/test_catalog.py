from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from sketchmark import Options
from sketchmark.catalog import Catalog, Pick
from sketchmark.episode.sample import of
from sketchmark.errors import BadInput, UnknownName
from sketchmark.lmms_eval.shape import read_config
from sketchmark.models.cache import call_key
from sketchmark.settings import parse_arguments
from sketchmark.tasks import TaskOptions

TASK = """
about: a task of my own
source: {use: "maze", rows: 5, cols: 5, min_steps: 2, max_steps: 6}
default_limit: 3
modes:
  direct: {prompts: {inputs: ["go", <initial>], tone: plain}}
  visual_cot:
    protocol: draw_then_answer
    prompts: {inputs: [<initial>]}
    lmms_eval_specific_kwargs:
      default: {generation_prompt: draw it}
      bagel: {generation_prompt: "draw it, BAGEL"}
scorers: ["maze.score"]
headline: maze_solved
"""

MODEL = """
from sketchmark import Model, Reply

class Parrot(Model):
    async def say(self, context, options):
        return Reply(text=context.texts[-1])
"""


def test_names_are_found_without_regard_to_case_and_a_suffix_selects_the_mode() -> None:
    catalog = Catalog()
    assert catalog.pick("Maze,maze_visual_cot,sliding_text_cot") == [
        Pick("maze"),
        Pick("maze", "visual_cot"),
        Pick("sliding", "text_cot"),
    ]


@pytest.mark.parametrize(
    ("written", "task"),
    [
        ("VQA-RAD", "vqa_rad"),
        ("PathVQA", "path_vqa"),
        ("MedXpertQA-MM", "medxpertqa_mm"),
        ("MMSI-Bench", "mmsi_bench"),
        ("MMMU-Medical-val", "mmmu_med"),
        ("Rad-ReStruct", "radrestruct"),
    ],
)
def test_names_are_found_as_people_write_them(written: str, task: str) -> None:
    assert Catalog().pick(written) == [Pick(task)]
    assert Catalog().pick(f"{written}-visual-cot") == [Pick(task, "visual_cot")]


def test_included_tasks_with_one_tag_are_a_group(tmp_path: Path) -> None:
    for name, tag in (("one", "tag: both"), ("two", "tag: [both, other]")):
        (tmp_path / f"{name}.yaml").write_text(f"task: {name}\n{tag}\n{TASK}")
    assert Catalog((tmp_path,)).pick("both") == [Pick("one"), Pick("two")]
    assert Catalog((tmp_path,)).pick("other") == [Pick("two")]


def test_an_unknown_task_is_answered_with_a_suggestion() -> None:
    with pytest.raises(UnknownName, match="did you mean maze"):
        Catalog().pick("mazze")


def test_a_task_of_ones_own_is_one_yaml_file(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(TASK)
    for place in (tmp_path, tmp_path / "mine.yaml"):
        task = Catalog((place,)).task("mine")
        assert task.modes == ["direct", "visual_cot", "blind"]
        assert len(list(task.samples())) == 3
        assert len(list(task.samples(limit=5))) == 5


def test_a_models_own_prompts_go_over_the_default(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(TASK)
    catalog = Catalog((tmp_path,))
    prompts = {
        name: catalog.task("mine", TaskOptions(model=name)).mode("visual_cot").prompts["generation_prompt"]
        for name in ("openai", "bagel")
    }
    assert prompts == {"openai": "draw it", "bagel": "draw it, BAGEL"}


def test_a_model_of_ones_own_is_one_class_in_a_file_named_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "my_models.py"
    path.write_text(MODEL)
    model = Catalog((path,)).model("parrot")
    assert model.abilities.say and not model.abilities.draw and model.name == "parrot"


def test_python_inside_a_folder_runs_only_when_trusted_and_asked_for(tmp_path: Path) -> None:
    notices: list[str] = []
    ran = f"open({str(tmp_path / 'ran-')!r} + __file__[-5:], 'w').close()\n"
    (tmp_path / "up.py").write_text(f"{ran}class Parrots:\n    ...\n")
    (tmp_path / "md.py").write_text(ran + MODEL)
    with pytest.raises(UnknownName):
        Catalog((tmp_path,)).model("parrot")
    catalog = Catalog((tmp_path,), trust_code=True, notify=notices.append)
    assert "parrot" in catalog.model_names() and "parrots" not in catalog.model_names()
    catalog.task_names()
    assert not list(tmp_path.glob("ran-*")) and not notices
    assert catalog.model("parrot").abilities.say
    assert [path.name for path in tmp_path.glob("ran-*")] == ["ran-md.py"]
    assert notices == [f"running {tmp_path / 'md.py'} (--trust-code)"]


def test_arguments_are_typed_as_people_write_them() -> None:
    assert parse_arguments("a=1,b=0.5,c=true,d=/path/x,e=") == {"a": 1, "b": 0.5, "c": True, "d": "/path/x", "e": ""}
    assert parse_arguments("""a='1',b="x y",c=@here,d=[,e=it's""") == {
        "a": "1", "b": "x y", "c": "@here", "d": "[", "e": "it's"
    }  # fmt: skip
    with pytest.raises(BadInput, match="key=value"):
        parse_arguments("a")


def test_a_model_of_ones_own_is_told_apart_by_its_class_and_arguments(tmp_path: Path) -> None:
    (tmp_path / "two.py").write_text(
        "from sketchmark import Model\n\n"
        "class A(Model):\n    def __init__(self, name='', level=0, url=''):\n        super().__init__(name)\n\n"
        "class B(A):\n    pass\n"
    )
    catalog = Catalog((tmp_path / "two.py",))
    models = [
        catalog.model("a/x"), catalog.model("b/x"), catalog.model("a/y"),
        catalog.model("a/x", {"level": 1}), catalog.model("a/x", {"level": 2}),
    ]  # fmt: skip
    assert len({call_key(model, "say", of("hello"), Options()) for model in models}) == 5
    assert "s3cretive" not in str(catalog.model("a/x", {"url": "http://me:s3cretive@host/v1"}).identity())


def test_an_argument_that_a_model_or_task_does_not_take_is_named() -> None:
    with pytest.raises(BadInput, match="look_ahead"):
        Catalog().model("player/sketcher", {"look_ahead": 2})
    with pytest.raises(BadInput, match=r"rowz.*rows"):
        Catalog().task("maze", None, {"rowz": 2})


def test_every_built_in_task_can_be_opened_in_all_its_modes() -> None:
    catalog = Catalog()
    for name in catalog.task_names():
        task = catalog.task(name)
        assert task.about and task.headline, name
        for mode in task.modes:
            assert task.mode(mode).prompts["inputs"], (name, mode)
        assert task.scorers, name


def test_installed_plug_ins_are_found_by_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plugged").mkdir()
    (tmp_path / "plugged/__init__.py").write_text(MODEL + "\nTASKS = __file__.removesuffix('__init__.py')\n")
    (tmp_path / "plugged/theirs.yaml").write_text(TASK)
    metadata = tmp_path / "plugged-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: plugged\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[sketchmark.models]\nparrot = plugged:Parrot\n\n[sketchmark.tasks]\nplugged = plugged:TASKS\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    catalog = Catalog()
    assert catalog.task("theirs").headline == "maze_solved"
    assert catalog.model("parrot").abilities.say


def test_a_task_file_from_elsewhere_names_only_what_sketchmark_brings_unless_trusted(tmp_path: Path) -> None:
    for old, new in (
        ('"maze"', '"os.path:join"'),
        ('["maze.score"]', '["subprocess:run"]'),
        ("protocol: draw_then_answer", "protocol: 'antigravity:fly'"),
    ):
        (tmp_path / "mine.yaml").write_text(TASK.replace(old, new))
        with pytest.raises(BadInput, match="--trust-code"):
            Catalog((tmp_path / "mine.yaml",)).task("mine")
        read_config.cache_clear()
    (tmp_path / "mine_code.py").write_text("def rows(*, seed, data): return iter(())")
    (tmp_path / "mine.yaml").write_text(TASK.replace('"maze"', '"mine_code:rows"').replace(", rows: 5", ""))
    named_by_hand = Catalog((tmp_path / "mine_code.py", tmp_path / "mine.yaml"))
    assert named_by_hand.task("mine").headline == "maze_solved"


def test_names_in_use_elsewhere_work_with_the_arguments_people_give_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "none")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("GEMINI_API_KEY", "none")
    catalog = Catalog()
    azure = catalog.model("azure_trapi_visual_cot", {"save_intermediate": True})
    assert azure.name == "azure/gpt-6-luna" and azure.abilities.draw
    assert catalog.model("azure_trapi_visual_cot", {"deployment": "mine"}).name == "azure/mine"
    files = {"save_intermediate": True, "intermediate_dir": "./x"}
    assert catalog.model("nano_banana_visual_cot", files).name == "gemini/gemini-nano-banana-2.1"
    with pytest.raises(BadInput, match="intermediate_dir"):
        catalog.model("gemini/gemini-nano-banana-2.1", files)


@pytest.mark.parametrize("name", ["maze", "sliding", "jigsaw", "voila"])
def test_a_generated_sample_has_its_id_before_it_is_made(name: str) -> None:
    """What lets a resumed run step over what it has played."""
    task = Catalog().task(name)
    drafts = list(task.drafts(seed=2, limit=2))
    assert not any(draft.is_made for draft in drafts)
    made = [draft.sample for draft in drafts]
    assert [draft.id for draft in drafts] == [sample.id for sample in made]
    assert [s.fingerprint() for s in made] == [s.fingerprint() for s in task.samples(seed=2, limit=2)]


def test_jigsaws_of_pictures_on_disk_are_made_before_they_are_believed(tmp_path: Path) -> None:
    """The pictures may change under a run: only a made sample can be compared."""
    Image.effect_noise((256, 256), 40).convert("RGB").save(tmp_path / "one.png")
    task = Catalog().task("jigsaw", arguments={"folder": str(tmp_path)})
    assert all(draft.is_made for draft in task.drafts(limit=1))
