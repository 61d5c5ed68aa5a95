"""What a user's task folder brings along."""

from __future__ import annotations

from typing import Any

from PIL import Image


def doc_to_visual(doc: dict[str, Any]) -> list[Image.Image]:
    return [Image.new("RGB", (16, 16), (doc["level"],) * 3)]


def doc_to_text(doc: dict[str, Any], lmms_eval_specific_kwargs: dict[str, Any] | None = None) -> str:
    prompts = lmms_eval_specific_kwargs or {}
    return f"{prompts.get('pre_prompt', '')}{doc['question']}{prompts.get('post_prompt', '')}"


def doc_to_two_stages(doc: dict[str, Any], lmms_eval_specific_kwargs: dict[str, Any] | None = None) -> str:
    question = doc_to_text(doc, lmms_eval_specific_kwargs)
    return f"[GEN_PROMPT]Draw the shade.[/GEN_PROMPT][QUESTION]{question}[/QUESTION]"


def process_results(doc: dict[str, Any], results: list[str]) -> dict[str, Any]:
    right = results[0].strip().lower() == doc["shade"]
    return {"right": right, "by_shade": {"shade": doc["shade"], "right": right}}


def worst_shade(results: list[dict[str, Any]]) -> float:
    shades = {result["shade"] for result in results}
    shares = [[r["right"] for r in results if r["shade"] == shade] for shade in shades]
    return float(min(sum(share) / len(share) for share in shares))
