"""UniG2U's overall score: its subtasks by category, weighted by how many items each has
(docs/benchmarks/unig2u.md, "The score")."""

from __future__ import annotations

from sketchmark.scores import Share, Total


def _shares(category: str, items: int, *tasks: str) -> list[Share]:
    return [Share(f"unig2u_{task}", category, items) for task in tasks]


def _illusions(kind: str) -> list[Share]:
    """The same hundred pictures, asked for their shape and for their scene."""
    return [
        Share(f"unig2u_illusionbench_arshia_{kind}_{asks}_test", "Perception", 100, source=f"illusion_{kind}")
        for asks in ("shape", "scene")
    ]


def _port(task: str, items: int, score: str) -> Share:
    return Share(f"unig2u_{task}", "Puzzles", items, scores={"official": f"{score}_unig2u"})


def total() -> Total:
    return Total(
        "UniG2U",
        [
            *_shares("Real-world", 100, "realunify_attentional_focusing"),
            *_shares("Real-world", 50, "vsp_google_map", "vsp_collision"),
            *_shares("Geometry", 100, "geometry3k", "auxsolidmath_easy"),
            *_shares("Physics", 100, "phyx_mechanics100", "phyx_optics100"),
            *_shares("Puzzles", 100, "realunify_mental_reconstruction", "realunify_mental_tracking"),
            *_shares("Puzzles", 83, "babyvision_visual_tracking"),
            _port("uni_mmmu_jigsaw100", 100, "jigsaw_text_acc"),
            _port("uni_mmmu_maze100", 100, "maze_text_frame_acc"),
            _port("uni_mmmu_sliding54", 54, "sliding_text_frame_acc"),
            *_shares("Chart", 100, "chartqa100"),
            *_shares("Spatial", 100, "mmsi_attribute_appr", "mmsi_attribute_meas", "mmsi_motion_cam"),
            *_shares("Spatial", 100, "mmsi_motion_obj", "mmsi_msr"),
            *_shares("Perception", 100, *(f"VisualPuzzles_{kind}" for kind in KINDS)),
            *_illusions("icon"),
            *_illusions("logo"),
            *_illusions("in"),
            *_shares("Perception", 163, "babyvision_fine_grained"),
        ],
    )


KINDS = ("algorithmic", "analogical", "deductive", "inductive", "spatial")
"""Of VisualPuzzles."""
