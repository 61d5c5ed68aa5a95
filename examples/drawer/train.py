"""Train a small network to draw mazes, by ground-truth steps and then by rewards, and measure it by `sketchmark run`.

python examples/drawer/train.py [--out runs/drawer]

It needs torch (`pip install 'sketchmark[local]'`) and takes some minutes on one core. It trains on levels 1 to 3:

1. Supervision: the stamps of the ground-truth frames of a few hundred samples.
2. Reward: other samples, of which it sees no frame. For each sample it draws a group of rollouts, by chance. Every
   frame is scored by the world's image reader (`progress`), and a rollout is compared with its group.

Training seeds never make a sample of a run. Levels 4 and 5 and the look `sand` are held out: they are measured and
not trained on.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from torch.nn.functional import cross_entropy

import sketchmark
from sketchmark import Picture
from sketchmark.training import Course

sys.path.insert(0, str(Path(__file__).parent))
from drawer import Drawer, Network, as_tensor, paint, stamps_in

LEVELS, LOOK = (1, 2, 3), "plain"
MEASURED = [(level, LOOK) for level in (*LEVELS, 4, 5)] + [(level, "sand") for level in LEVELS]
NAMES = ("untrained", "supervised", "reward")
CHECKED_FROM, REWARDED_FROM = 1_000_000, 2_000_000
"""Training seeds of the samples that draw the curve, and of those that are trained on by reward."""


@dataclass(frozen=True)
class Point:
    """One point of the curve: seconds of CPU time, and the mean progress of greedy drawings on samples of its own."""

    phase: str
    seconds: float
    progress: float


def _first(sample: Any) -> Picture:
    return sample.pictures["initial"]  # type: ignore[no-any-return]


def demonstrations(course: Course, seeds: range) -> tuple[Any, Any]:
    """Return images, and the stamps of the ground-truth frames that follow them."""
    pairs: list[tuple[Picture, Picture]] = []
    for sample in map(course.sample, seeds):
        pairs += pairwise([_first(sample), *(sample.frames() if sample.frames else ())])
    return as_tensor([one for one, _ in pairs]), torch.tensor([stamps_in(two) for _, two in pairs])


def supervise(network: Network, course: Course, samples: int, epochs: int, check: Callable[[], None]) -> None:
    images, stamps = demonstrations(course, range(samples))
    optimiser = torch.optim.Adam(network.parameters(), 2e-3)
    for epoch in range(epochs):
        for at in torch.randperm(len(images)).split(32):
            loss = cross_entropy(network(images[at]).flatten(0, 1), stamps[at].flatten())
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        if epoch % 4 == 3:
            check()


def rollouts(
    network: Network, samples: Sequence[Any], choose: Callable[[Any], Any]
) -> Iterator[tuple[Any, Any, Any]]:
    """Draw all samples side by side. For every frame, yield the images, the chosen stamps and the drawings; samples
    with fewer frames go on without counting."""
    shown = list(map(_first, samples))
    for _ in range(max(sample.steps for sample in samples)):
        images = as_tensor(shown)
        with torch.no_grad():
            chosen = choose(network(images))
        shown = [paint(stamps) for stamps in chosen.tolist()]
        yield images, chosen, shown


def drawn_right(course: Course, samples: Sequence[Any], frames: Sequence[Sequence[Picture]]) -> list[int]:
    """Return how many frames of each rollout are right from the first one on: its progress times its steps."""
    judged = [
        (course.judge(sample, [frame[at] for frame in frames[: sample.steps]]), sample)
        for at, sample in enumerate(samples)
    ]
    return [round(marks.progress * sample.steps) for marks, sample in judged]


def reward(
    network: Network, course: Course, updates: int, group: int, check: Callable[[], None], each: int = 12
) -> None:
    """REINFORCE with the group as its baseline: a frame's return is the number of right frames from it on."""
    optimiser = torch.optim.Adam(network.parameters(), 3e-4)
    for update in range(updates):
        seeds = range(REWARDED_FROM + update * each, REWARDED_FROM + (update + 1) * each)
        samples = [sample for sample in map(course.sample, seeds) for _ in range(group)]
        steps = list(
            rollouts(network, samples, lambda logits: torch.distributions.Categorical(logits=logits).sample())
        )
        right = torch.tensor(drawn_right(course, samples, [shown for _, _, shown in steps]))
        total = torch.tensor([sample.steps for sample in samples])
        loss = torch.zeros(())
        for at, (images, chosen, _) in enumerate(steps):
            counts = (right >= at) & (total > at)  # after a wrong frame nothing can be earned
            returns = (right - at).clamp(min=0).float() / total
            alike = counts.view(-1, group).float()
            mean = (returns.view(-1, group) * alike).sum(1, keepdim=True) / alike.sum(1, keepdim=True).clamp(min=1)
            advantage = ((returns.view(-1, group) - mean) * alike).flatten()
            used = advantage.nonzero().flatten()
            if len(used):
                said = torch.distributions.Categorical(logits=network(images[used])).log_prob(chosen[used]).sum(1)
                loss = loss - (advantage[used] * said).sum() / len(samples)
        if loss.requires_grad:
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
        if update % 20 == 19:
            check()


def checker(network: Network, course: Course, samples: int, curve: list[Point]) -> Callable[[str], None]:
    kept = [course.sample(CHECKED_FROM + seed) for seed in range(samples)]
    begin = time.process_time()

    def check(phase: str) -> None:
        frames = [shown for _, _, shown in rollouts(network, kept, lambda logits: logits.argmax(-1))]
        right = drawn_right(course, kept, frames)
        progress = fmean(one / (sample.steps or 1) for one, sample in zip(right, kept, strict=True))
        curve.append(Point(phase, time.process_time() - begin, progress))
        print(f"{phase:<12} {curve[-1].seconds:6.0f} s of CPU   progress {progress:.3f}", flush=True)

    return check


def svg_of(curve: Sequence[Point]) -> str:
    """Return the curve as an SVG file: supervision in grey, reward in blue."""
    left, top, wide, high = 44.0, 16.0, 420.0, 180.0
    last = curve[-1].seconds or 1.0
    places = [(left + wide * one.seconds / last, top + high * (1 - one.progress), one.phase) for one in curve]
    turn = max(x for x, _, phase in places if phase != "reward")

    def words(x: float, y: float, said: str, anchor: str = "middle", colour: str = "#555e6b") -> str:
        return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" fill="{colour}">{said}</text>'

    def line(x1: float, y1: float, x2: float, y2: float, colour: str, more: str = "") -> str:
        return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" {more}/>'

    marks = ['<rect width="480" height="240" fill="#ffffff"/>']
    for tenth in range(0, 11, 2):
        y = top + high * (1 - tenth / 10)
        marks += [line(left, y, left + wide, y, "#d9dce1"), words(left - 6, y + 4, f"{tenth / 10:.1f}", "end")]
    for (x1, y1, _), (x2, y2, phase) in pairwise(places):
        marks.append(line(x1, y1, x2, y2, "#1f4fd1" if phase == "reward" else "#555e6b", 'stroke-width="2"'))
    marks.append(line(turn, top, turn, top + high, "#d9dce1", 'stroke-dasharray="4 3"'))
    marks.append(words((left + turn) / 2, top + high - 8, "supervision"))
    marks.append(words((turn + left + wide) / 2, top + high - 8, "reward", colour="#1f4fd1"))
    marks.append(words(left + wide / 2, top + high + 30, f"seconds of CPU time, 0 to {last:.0f}"))
    size = 'width="480" height="240" font-family="Helvetica, Arial, sans-serif" font-size="11"'
    label = 'role="img" aria-label="Mean progress of the drawings by seconds of training"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {label}>{"".join(marks)}</svg>\n'


def train(out: Path, samples: int, epochs: int, updates: int, group: int, checked: int) -> list[Point]:
    """Write the weights before training, after supervision and after reward, and the curve."""
    out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    course, curve, network = Course("maze", levels=LEVELS, looks=(LOOK,)), list[Point](), Network()
    check = checker(network, course, checked, curve)
    phases: list[tuple[str, Callable[[], None]]] = [
        ("untrained", lambda: None),
        ("supervised", lambda: supervise(network, course, samples, epochs, lambda: check("supervised"))),
        ("reward", lambda: reward(network, course, updates, group, lambda: check("reward"))),
    ]
    for name, run in phases:
        run()
        check(name)
        torch.save(network.state_dict(), out / f"{name}.pt")
    (out / "curve.svg").write_text(svg_of(curve), "utf-8")
    return curve


def _interval(ends: tuple[float | None, float | None]) -> str:
    return "[" + ", ".join("?" if end is None else f"{end:.1%}" for end in ends) + "]"


def measure(out: Path, limit: int, names: Sequence[str] = NAMES) -> None:
    """Run each of the three on samples of evaluation seeds, at trained and held-out levels and looks."""
    head = f"{'answers right':>16}{'95%':>16}{'frames right':>16}{'95%':>16}"
    print(f"\n{'weights':<12}{'level':>5} {'look':<7}  {head}")
    for name in names:
        for level, look in MEASURED:
            run = sketchmark.run(
                Drawer(name, weights=str(out / f"{name}.pt")),
                "maze",
                mode="visual_cot",
                task_args={"level": level, "look": look},
                limit=limit,
                output_path=out / f"{name}-{look}{level}",
                fresh=True,
                quiet=True,
            )
            metrics = run.results.tasks["maze.visual_cot"].metrics
            cells = [metrics[key] for key in ("maze_text_exact", "maze_img_frame_acc")]
            shown = "".join(f"{one.mean:>16.1%}{_interval(one.ci95):>16}" for one in cells)
            mark = " " if level in LEVELS and look == LOOK else "*"
            print(f"{name:<12}{level:>5} {look:<7}{mark} {shown}", flush=True)
    print("* held out: no sample of this level or look was trained on")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--out", type=Path, default=Path("runs/drawer"))
    parser.add_argument("--samples", type=int, default=400, help="samples with ground-truth steps")
    parser.add_argument("--epochs", type=int, default=24)
    parser.add_argument("--updates", type=int, default=100, help="updates by reward")
    parser.add_argument("--group", type=int, default=6, help="rollouts per sample")
    parser.add_argument("--checked", type=int, default=60, help="samples for each point of the curve")
    parser.add_argument("--limit", type=int, default=100, help="samples of a run")
    given = parser.parse_args()
    train(given.out, given.samples, given.epochs, given.updates, given.group, given.checked)
    measure(given.out, given.limit)


if __name__ == "__main__":
    main()
