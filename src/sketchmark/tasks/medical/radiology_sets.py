"""IU X-Ray, MIMIC-CXR and CheXpert Plus: radiology reports (docs/benchmarks/medical.md, "Report sets").

All three are read from `test.json`, a list of `{"image": [names] or name, "findings": …, "impression": …}`, beside a
folder `images/`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sketchmark.errors import BadInput
from sketchmark.parts import Sample
from sketchmark.tasks.medical.items import Style
from sketchmark.tasks.medical.medevalkit.replies import fork_key
from sketchmark.tasks.medical.prompts import Protocol, report_prompt
from sketchmark.tasks.medical.radiology_metrics import reference_report
from sketchmark.tasks.published_files import json_list, open_files
from sketchmark.tasks.question_rows import build_all

_LAYOUT = (
    "expected: FOLDER/test.json, a list of {{image, findings, impression}}, and FOLDER/images/; "
    "then --data FOLDER. Get it from {}"
)
SOURCES = {
    "iu_xray": _LAYOUT.format("MedEvalKit (datas/IU_XRAY/test.json) and Open-i (NLMCXR_png.tgz)"),
    "mimic_cxr": _LAYOUT.format("PhysioNet (MIMIC-CXR-JPG: credentialed access, CITI training, signed agreement)"),
    "chexpert_plus": _LAYOUT.format("Stanford AIMI (CheXpert Plus: registration and agreement)"),
}
_FOLDERS = {
    "iu_xray": ("IU_XRAY", "iu_xray"),
    "mimic_cxr": ("MIMIC_CXR", "mimic_cxr"),
    "chexpert_plus": ("CheXpert_Plus", "chexpert_plus"),
}


def reports(
    *, seed: int, data: Path | None, name: str, protocol: Protocol = "indexed", reasoning: bool = False
) -> Iterator[Sample]:
    """The reports of one set. `reasoning` changes nothing: the report prompt has no such variant."""
    if name not in SOURCES:
        raise BadInput(f"no report set {name!r}", f"there are: {', '.join(SOURCES)}")
    style = Style(protocol, reasoning)
    files = open_files(data, _FOLDERS[name], how=SOURCES[name])

    def build(number: int, row: dict[str, Any]) -> Sample | None:
        findings, impression = str(row.get("findings") or ""), str(row.get("impression") or "")
        if not findings.strip() and not impression.strip():
            return None
        names = [row["image"]] if isinstance(row["image"], str) else list(row["image"])
        pictures = [files.picture(f"images/{image}") for image in names]
        if not pictures:
            raise BadInput("no image")
        bare = style.protocol == "upstream" and name == "chexpert_plus"
        return Sample(
            id=str(row.get("id") or f"{name}-{number:06d}"),
            pictures={"image" if bare else "images": pictures},
            fields={
                "prompt": report_prompt(images=len(pictures), protocol=style.protocol, mimic=name == "mimic_cxr"),
                "question": "",
            },
            target={
                "kind": "report",
                "reference": reference_report(findings, impression),
                "key": fork_key("", "", row.get("id", number)),
            },
            groups={"images": str(len(pictures))},
        )

    return build_all(name, json_list(files.table("test.json", SOURCES[name]), "test.json"), build)
