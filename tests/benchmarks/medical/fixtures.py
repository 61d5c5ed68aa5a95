"""Small datasets in their published layouts."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any

from PIL import Image

ROWS: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
"""Rows, or the columns that are the same in all rows."""


def png(shade: int = 90, mode: str = "RGB", size: tuple[int, int] = (12, 10)) -> bytes:
    """Return an image of one shade."""
    buffer = io.BytesIO()
    colour: Any = (shade,) * len(mode) if len(mode) > 1 else shade
    Image.new(mode, size, colour).save(buffer, "JPEG" if mode == "CMYK" else "PNG")
    return buffer.getvalue()


def cell(data: bytes) -> dict[str, Any]:
    """Return an image as a cell of the hub's parquet files."""
    return {"bytes": data, "path": None}


def write_parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)


def write_json(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), "utf-8")


def write_zip(path: Path, members: dict[str, bytes]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def medframeqa(root: Path) -> Path:
    rows = []
    for number, images in enumerate((2, 5)):
        shown = {f"image_{i}": cell(png(i)) if i <= images else None for i in range(1, 6)}
        rows.append({"question_id": f"q{number}", **ROWS["medframeqa"], **shown})
    rows.append({**rows[0], "question_id": "bad", "correct_answer": "Z"})
    write_parquet(root / "MedFrameQA" / "data" / "test-00000-of-00001.parquet", rows)
    return root


def medxpertqa(root: Path) -> Path:
    options = {letter: f"drug {letter}" for letter in "ABCDE"}
    question = "What next?\nAnswer Choices: (A) drug A (B) drug B (C) drug C (D) drug D (E) drug E"
    base = {"options": options, "label": "C", "medical_task": "Treatment", "body_system": "Skin"}
    rows = [
        {"id": "MM-1", "question": question, "images": ["MM-1-a.jpeg"], "question_type": "Reasoning", **base},
        {"id": "MM-2", "question": question, "images": ["gone.jpeg"], "question_type": "Understanding", **base},
    ]
    folder = root / "MedXpertQA"
    folder.mkdir(parents=True)
    (folder / "MM").mkdir()
    (folder / "MM" / "test.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n{torn\n")
    (folder / "Text").mkdir()
    ten = {"options": {letter: f"drug {letter}" for letter in "ABCDEFGHIJ"}, "label": "J"}
    text = {"id": "Text-1", "question": "What?", "question_type": "Reasoning", "medical_task": "Diagnosis", **ten}
    (folder / "Text" / "test.jsonl").write_text(json.dumps(text) + "\n")
    write_zip(folder / "images.zip", {"images/MM-1-a.jpeg": png(1)})
    return root


def pmc_vqa(root: Path) -> Path:
    folder = root / "PMC_VQA"
    folder.mkdir(parents=True)
    with (folder / "test_2.csv").open("w", newline="") as file:
        csv.writer(file).writerows(ROWS["pmc_vqa"])
    write_zip(folder / "images_2.zip", {"figures/PMC1_f1.jpg": png(1)})
    return root


def omnimedvqa(root: Path) -> Path:
    row = ROWS["omnimedvqa"]
    odd = {key: value for key, value in row.items() if key != "modality_type"} | {"modality": "CT"}
    rows = [
        {**row, "question_id": "1", "image_path": "Images/ct/1.png"},
        {**odd, "question_id": "2", "image_path": "Images/ct/2.png", "option_C": "Mass", "option_D": ""},
        {**row, "question_id": "3", "image_path": "Images/ct/1.png", "gt_answer": "Something else"},
    ]
    members = {
        "OmniMedVQA/QA_information/Open-access/Chest CT Scan.json": json.dumps(rows).encode(),
        "OmniMedVQA/QA_information/Restricted-access/Other.json": b"[]",
        "OmniMedVQA/Images/ct/1.png": png(1),
        "OmniMedVQA/Images/ct/2.png": png(2),
    }
    write_zip(root / "OmniMedVQA" / "OmniMedVQA.zip", members)
    return root


def vqa(root: Path, name: str) -> Path:
    """VQA-RAD or PathVQA: a CMYK picture, and one question and answer twice about different pictures."""
    rows = [
        {"image": cell(png(1)), "question": "is this a ct?", "answer": "yes"},
        {"image": cell(png(2)), "question": "is this a ct?", "answer": "yes"},
        {"image": cell(png(60, "CMYK")), "question": "where is the mass?", "answer": "right lobe"},
        {"image": cell(b"not a picture"), "question": "what is it?", "answer": "a cyst"},
    ]
    write_parquet(root / name / "data" / "test-00000-of-00001.parquet", rows)
    return root


def vqa_rad(root: Path) -> Path:
    return vqa(root, "VQA_RAD")


def slake(root: Path) -> Path:
    write_json(root / "SLAKE" / "test.json", ROWS["slake"])
    write_zip(root / "SLAKE" / "imgs.zip", {"imgs/xmlab1/source.jpg": png(1)})
    return root


def reports(root: Path, name: str) -> Path:
    folder = root / name
    (folder / "images").mkdir(parents=True)
    for stem in ("a", "b"):
        (folder / "images" / f"{stem}.png").write_bytes(png(ord(stem)))
    first, second = ("a.png", "b.png") if name == "CheXpert_Plus" else (["a.png", "b.png"], ["b.png"])
    rows: list[dict[str, Any]] = [
        {"id": "r1", "image": first, "findings": "Clear.", "impression": "Normal."},
        {"id": "r2", "image": second, "findings": "Effusion.", "impression": ""},
        {"id": "r3", "image": second, "findings": " ", "impression": None},
    ]
    write_json(folder / "test.json", rows)
    return root


def radrestruct(root: Path) -> Path:
    folder = root / "Radrestruct"
    (folder / "imgs").mkdir(parents=True)
    (folder / "imgs" / "CXR1_IM-0001.png").write_bytes(png(1, "L"))
    write_json(folder / "id_to_img_mapping_frontal_reports.json", {"1": ["CXR1_IM-0001"], "2": []})
    write_json(folder / "test_qa_pairs" / "1.json", ROWS["radrestruct"])
    return root


def mmmu_row(name: str, **changes: Any) -> dict[str, Any]:
    images = {f"image_{i}": cell(png(i)) if i <= 2 else None for i in range(1, 8)}
    return {"id": name, **ROWS["mmmu"], **images, **changes}


def mmmu(root: Path) -> Path:
    """Two subjects: several pictures, Python-literal options, an open item with two golds, a withheld test answer."""
    folder = root / "MMMU"
    pharmacy = [
        mmmu_row("validation_Pharmacy_1"),
        mmmu_row("validation_Pharmacy_2", options="[]", answer="['1/4', '0.25']", question_type="open"),
        mmmu_row("validation_Pharmacy_3", options="__import__('os').getcwd()"),
    ]
    write_parquet(folder / "Pharmacy" / "validation-00000-of-00001.parquet", pharmacy)
    write_parquet(folder / "Math" / "validation-00000-of-00001.parquet", [mmmu_row("validation_Math_1", answer="A")])
    write_parquet(folder / "Math" / "test-00000-of-00001.parquet", [mmmu_row("test_Math_1", answer="?")])
    return root


def mmmu_pro(root: Path) -> Path:
    def row(name: str, options: list[str], **changes: Any) -> dict[str, Any]:
        images = {f"image_{i}": cell(png(i)) if i <= 3 else None for i in range(1, 8)}
        return {"id": name, "options": str(options), **ROWS["mmmu_pro"], **images, **changes}

    folder = root / "MMMU_Pro"
    twelve = [f"option number {i}" for i in range(12)]
    rows = [
        row("test_Art_1", ["like <image 3>", "like <image 2>"]),
        row("test_Art_2", twelve, answer="L"),
        row("test_Art_3", ["the only one"]),
        row("test_Art_4", ["like <image 7>", "no"]),
    ]
    write_parquet(folder / "standard (10 options)" / "test-00000-of-00001.parquet", rows)
    shot = {"id": "test_Art_1", "image": cell(png(9)), "options": "['x', 'y']", "answer": "B", "subject": "Art"}
    write_parquet(folder / "vision" / "test-00000-of-00001.parquet", [shot])
    return root
