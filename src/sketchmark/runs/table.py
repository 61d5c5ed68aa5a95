"""The table at the end of a run."""

from __future__ import annotations

from typing import Any


def print_results(results: dict[str, Any]) -> None:
    """Every score with its interval and its count of failures; then what drawing changed."""
    from rich.console import Console
    from rich.table import Table

    console = Console(width=None if _is_terminal() else 120)
    table = Table(title=f"{results.get('model', '')}: scores with 95 % intervals", title_justify="left")
    for name, justify in (
        ("task.mode", "left"),
        ("score", "left"),
        ("mean", "right"),
        ("95 %", "left"),
        ("n", "right"),
    ):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    table.add_column("trouble", justify="left", style="red")
    for name, cell in results["tasks"].items():
        trouble = ", ".join(f"{kind} {count}" for kind, count in cell["failures"].items())
        if cell["left_out"]:
            trouble = ", ".join(filter(None, (trouble, f"context left out {cell['left_out']}")))
        label = name
        for metric, found in cell["metrics"].items() or {"(nothing scored)": None}.items():
            mean = f"{found['mean']:.3f}" if found else "-"
            bounds = f"[{found['ci95'][0]:.3f}, {found['ci95'][1]:.3f}]" if found else ""
            table.add_row(
                label,
                metric,
                mean,
                bounds,
                str(found["n"] if found else 0),
                trouble,
                style="bold" if metric == cell["headline"] else None,
            )
            label = trouble = ""
        table.add_section()
    console.print(table)
    if results.get("gains"):
        _print_gains(console, results["gains"])


def _print_gains(console: Any, gains: list[dict[str, Any]]) -> None:
    from rich.table import Table

    table = Table(title="Gain over direct, on the same samples", title_justify="left")
    for name in ("task", "mode", "canvas", "score"):
        table.add_column(name)
    for name in ("gain", "95 %", "helped", "hurt", "same", "p"):
        table.add_column(name, justify="right")
    for gain in gains:
        low, high = gain["ci95"]
        style = "green" if low > 0 else "red" if high < 0 else None
        table.add_row(
            gain["task"], gain["mode"], gain["canvas"], gain["metric"], f"{gain['gain']:+.3f}",
            f"[{low:+.3f}, {high:+.3f}]", str(gain["helped"]), str(gain["hurt"]), str(gain["same"]),
            f"{gain['p']:.2g}" if gain["p"] is not None else "", style=style,
        )  # fmt: skip
    console.print(table)


def _is_terminal() -> bool:
    import sys

    return sys.stdout.isatty()
