"""Speed of local weights: `hf/`, lmms-eval's own class and transformers by itself, on the same samples, side by side.

    make bench-local                                  # in an environment with all three
    make bench-local ARGS='--samples 40 --sizes 1,4'

Qwen2.5-VL with 72 million random parameters in bfloat16, because lmms-eval always loads so. Images have different
sizes, questions and replies different lengths. Each measurement is a process with one thread that loads the weights,
answers one sample to warm up, and is then timed. For `hf/` that is a run of one sample: importing the modules of a
run takes a second. Replies are compared with those of `hf/`, and with the same client's at the first batch size: in
bfloat16 padding changes last bits and, where two tokens are close, the reply.

* **hf/** is `sketchmark.run` without its cache: episodes, scores and the report included.
* **lmms-eval** is the class that `--model qwen2_5_vl` uses, called with all requests at once, without its evaluator.
* **generate** is transformers' `generate` in a loop, in batches in the order of the samples.
* **continuous** is transformers' continuous batching, with as many requests at once as the batch size, and with the
  tokens per step and pages of memory that were the fastest of three choices. Version 5.23 takes token ids without
  images, so this one and **hf/ text** get the questions without their images.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

TOKENS = 48
"""Limit of a reply. The weights end about two thirds of the replies earlier."""
_COLOURS = ("red", "green", "blue", "yellow", "black", "purple")
_TASK = """\
task: speed
dataset_path: json
dataset_kwargs: {data_files: {test: rows.jsonl}}
test_split: test
output_type: generate_until
doc_to_visual: !function utils.visual
doc_to_text: !function utils.text
doc_to_target: answer
process_results: !function utils.results
generation_kwargs: {max_new_tokens: TOKENS, temperature: 0, do_sample: false}
metric_list: [{metric: acc, aggregation: mean, higher_is_better: true}]
"""
_CODE = """\
from pathlib import Path

from PIL import Image


def visual(doc):
    return [Image.open(Path(__file__).parent / doc["image"]).convert("RGB")] if doc["image"] else []


def text(doc):
    return doc["question"]


def results(doc, replies):
    return {"acc": float(replies[0].strip()[:1] == doc["answer"])}
"""


def make_rows(folder: Path, samples: int, *, images: bool = True) -> None:
    """Write a task in lmms-eval's form, with images of 112 to 336 pixels and questions of 20 to 120 words."""
    folder.mkdir(parents=True)
    rng, rows = random.Random(5), []
    for number in range(samples):
        size = rng.randrange(112, 337, 28), rng.randrange(112, 337, 28)
        page = Image.new("RGB", size, "white")
        for _ in range(rng.randint(1, 6)):
            left, top = rng.randrange(size[0] - 40), rng.randrange(size[1] - 40)
            ImageDraw.Draw(page).ellipse((left, top, left + 36, top + 36), fill=rng.choice(_COLOURS))
        name = f"{number:03}.png" if images else ""
        if images:
            page.save(folder / name)
        about = " ".join(
            rng.choices(("which", "shape", "is", "left", "of", "the", *_COLOURS), k=rng.randint(10, 110))
        )
        question = f"{about}? Answer with a colour and say in a sentence why, for sample {number}."
        rows.append({"id": f"s{number}", "question": question, "image": name, "answer": rng.choice("ABCD")})
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (folder / "speed.yaml").write_text(_TASK.replace("TOKENS", str(TOKENS)), "utf-8")
    (folder / "utils.py").write_text(_CODE, "utf-8")


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "rows.jsonl").read_text("utf-8").splitlines()]


def image_of(folder: Path, row: dict[str, Any]) -> Image.Image:
    with Image.open(folder / row["image"]) as image:
        return image.convert("RGB")


def chunks(rows: list[Any], size: int) -> Iterator[list[Any]]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def hf(weights: Path, rows: Path, size: int) -> Callable[[], dict[str, str]]:
    import sketchmark
    from sketchmark.models.providers.hf import TransformersChat

    model = TransformersChat(str(weights), batch_size=size, dtype="bfloat16", device="cpu")

    def work(limit: int | None = None) -> dict[str, str]:
        folder = rows.parent / f"run-{rows.name}-{size}-{limit}"
        run = sketchmark.run(
            model,
            "speed",
            include=[rows],
            trust_code=True,
            no_cache=True,
            quiet=True,
            output_path=folder,
            limit=limit,
        )
        found = run.folder.episodes("speed.direct")
        return {f"s{line.index}": line.turns[-1].reply.text for line in found if line.turns[-1].reply}

    work(1)
    return work


def lmms_eval(weights: Path, rows: Path, size: int) -> Callable[[], dict[str, str]]:
    from lmms_eval.api.instance import Instance
    from lmms_eval.models import get_model

    more = {"device": "cpu", "device_map": "cpu", "attn_implementation": "sdpa"}
    model = get_model("qwen2_5_vl")(
        pretrained=str(weights), batch_size=size, min_pixels=3136, max_pixels=200704, **more
    )
    docs = rows_of(rows)
    model.task_dict = {"speed": {"test": docs}}

    def messages(doc: dict[str, Any]) -> list[dict[str, Any]]:
        content = [{"type": "image", "url": image_of(rows, doc)}, {"type": "text", "text": doc["question"]}]
        return [{"role": "user", "content": content}]

    def asked(count: int) -> list[Any]:
        return [
            Instance(
                request_type="generate_until",
                arguments=(doc["question"], messages, _settings(), number, "speed", "test"),
                idx=0,
                metadata={"task": "speed", "doc_id": number, "repeats": 1},
            )
            for number, doc in enumerate(docs[:count])
        ]

    model.generate_until(asked(1))

    def work() -> dict[str, str]:
        said = model.generate_until(asked(len(docs)))
        return {doc["id"]: str(getattr(one, "text", one)) for doc, one in zip(docs, said, strict=True)}

    return work


def _settings() -> dict[str, Any]:
    return {"max_new_tokens": TOKENS, "temperature": 0, "do_sample": False}


def _loaded(weights: Path) -> tuple[Any, Any]:
    import torch
    from transformers import AutoProcessor, Qwen2_5_VLForConditionalGeneration

    processor = AutoProcessor.from_pretrained(weights)
    processor.tokenizer.padding_side = "left"
    return Qwen2_5_VLForConditionalGeneration.from_pretrained(weights, dtype=torch.bfloat16).eval(), processor


def _rendered(processor: Any, row: dict[str, Any]) -> str:
    content = [{"type": "image"}] if row["image"] else []
    chat = [{"role": "user", "content": [*content, {"type": "text", "text": row["question"]}]}]
    return str(processor.apply_chat_template(chat, add_generation_prompt=True, tokenize=False))


def generate(weights: Path, rows: Path, size: int) -> Callable[[], dict[str, str]]:
    import torch

    model, processor = _loaded(weights)
    settings = {"max_new_tokens": TOKENS, "do_sample": False, "pad_token_id": processor.tokenizer.pad_token_id}

    def answered(part: list[dict[str, Any]]) -> dict[str, str]:
        images = [[image_of(rows, row)] for row in part]
        texts = [_rendered(processor, row) for row in part]
        inputs = processor(text=texts, images=images, padding=True, return_tensors="pt").to(dtype=model.dtype)
        with torch.inference_mode():
            made = model.generate(**inputs, **settings)[:, inputs["input_ids"].shape[1] :]
        said = processor.batch_decode(made, skip_special_tokens=True)
        return dict(zip([row["id"] for row in part], said, strict=True))

    answered(rows_of(rows)[:1])

    def work() -> dict[str, str]:
        return {key: text for part in chunks(rows_of(rows), size) for key, text in answered(part).items()}

    return work


def continuous(weights: Path, rows: Path, size: int) -> Callable[[], dict[str, str]]:
    from transformers import GenerationConfig
    from transformers.generation.configuration_utils import ContinuousBatchingConfig

    model, processor = _loaded(weights)
    model.set_attn_implementation("paged|sdpa")
    words = processor.tokenizer
    settings = GenerationConfig(
        max_new_tokens=TOKENS,
        do_sample=False,
        eos_token_id=model.generation_config.eos_token_id,
        pad_token_id=words.pad_token_id,
    )

    def answered(part: list[dict[str, Any]]) -> dict[str, str]:
        ids = [words(_rendered(processor, row))["input_ids"] for row in part]
        config = ContinuousBatchingConfig(
            max_requests_per_batch=size, max_batch_tokens=max(256, 32 * size), num_blocks=2 * size + 4
        )
        made = model.generate_batch(ids, settings, config, warmup=False)
        said = [words.decode(one.generated_tokens, skip_special_tokens=True) for one in made.values()]
        return dict(zip([row["id"] for row in part], said, strict=True))

    answered(rows_of(rows)[:1])
    return lambda: answered(rows_of(rows))


CLIENTS = {"hf/": hf, "lmms-eval": lmms_eval, "generate": generate, "hf/ text": hf, "continuous": continuous}
_TEXT = ("hf/ text", "continuous")


def measured(client: str, weights: Path, rows: Path, size: int) -> dict[str, Any]:
    import torch
    import transformers

    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    work = CLIENTS[client](weights, rows, size)
    wall, cpu = time.perf_counter(), time.process_time()
    texts = work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": wall, "cpu": cpu, "peak": peak, "texts": texts}


def in_process(client: str, weights: Path, rows: Path, size: int) -> dict[str, Any]:
    """Measure in another process, so that the peak of one client is not another's."""
    words = [sys.executable, "-m", "bench.local_speed", "--one", client, str(weights), str(rows), str(size)]
    env = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    done = subprocess.run(words, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{client} at {size}: {done.stderr[-3000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def same(one: dict[str, Any], other: dict[str, Any]) -> int:
    return sum(other["texts"][key].strip() == text.strip() for key, text in one["texts"].items())


def table(clients: list[str], sizes: list[int], found: dict[tuple[str, int], dict[str, Any]]) -> list[str]:
    lines = [
        "| batch | client | samples/s | CPU per sample | peak | samples/s, hf/ : it | CPU, hf/ : it "
        f"| texts as hf/ | as at {sizes[0]} |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for size in sizes:
        for client in clients:
            one, ours = found[client, size], found["hf/ text" if client in _TEXT else "hf/", size]
            count = len(one["texts"])
            first = found[client, sizes[0]]
            lines.append(
                f"| {size} | {client} | {count / one['seconds']:.2f} | {1000 * one['cpu'] / count:.0f} ms "
                f"| {one['peak']:.0f} MB | {one['seconds'] / ours['seconds']:.2f} | {ours['cpu'] / one['cpu']:.2f} "
                f"| {same(one, ours)} of {count} | {same(one, first)} of {count} |"
            )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--sizes", default="1,4,16")
    parser.add_argument("--clients", default=",".join(CLIENTS))
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "local_speed")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        client, weights, rows, size = asked.one
        print(json.dumps(measured(client, Path(weights), Path(rows), int(size))))
        return
    from tests.servers.weights import make_qwen25vl

    weights = asked.out / "qwen25vl"
    if not weights.exists():
        make_qwen25vl(weights, "middle", ends=2.0)
    place = asked.out / time.strftime("%Y%m%d-%H%M%S")
    make_rows(place / "rows", asked.samples)
    make_rows(place / "texts", asked.samples, images=False)
    sizes = [int(size) for size in asked.sizes.split(",")]
    clients = asked.clients.split(",")
    found = {}
    for size in sizes:
        for client in clients:
            rows = place / ("texts" if client in _TEXT else "rows")
            found[client, size] = in_process(client, weights, rows, size)
            one = found[client, size]
            lengths = sorted(len(text) for text in one["texts"].values())
            print(
                f"{client} at {size}: {one['seconds']:.1f} s, {one['cpu']:.1f} s CPU, replies of "
                f"{lengths[0]} to {lengths[-1]} characters, median {lengths[len(lengths) // 2]}",
                flush=True,
            )
        print("\n".join(table(clients, sizes[: sizes.index(size) + 1], found)), flush=True)


if __name__ == "__main__":
    main()
