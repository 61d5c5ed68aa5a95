"""The eleven medical data sets of MedEvalKit (https://github.com/alibaba-damo-academy/MedEvalKit)."""

from __future__ import annotations

ALIASES = {
    "medframeqa": "sketchmark.tasks.medical.choice_sets:medframeqa",
    "medxpertqa": "sketchmark.tasks.medical.choice_sets:medxpertqa",
    "omnimedvqa": "sketchmark.tasks.medical.choice_sets:omnimedvqa",
    "pmc_vqa": "sketchmark.tasks.medical.choice_sets:pmc_vqa",
    "radrestruct": "sketchmark.tasks.medical.radrestruct:radrestruct",
    "path_vqa": "sketchmark.tasks.medical.vqa_sets:path_vqa",
    "slake": "sketchmark.tasks.medical.vqa_sets:slake",
    "vqa_rad": "sketchmark.tasks.medical.vqa_sets:vqa_rad",
    "reports": "sketchmark.tasks.medical.radiology_sets:reports",
    "score": "sketchmark.tasks.medical.scoring:score",
    "score_report": "sketchmark.tasks.medical.scoring:score_report",
    "totals": "sketchmark.tasks.medical.totals:totals",
    "report_totals": "sketchmark.tasks.medical.totals:reports",
    "settle": "sketchmark.tasks.medical.totals:settle",
    "submission": "sketchmark.tasks.medical.radiology_files:write",
}
"""The names by which task files and run folders know this code. They never change; where the code is, may."""
