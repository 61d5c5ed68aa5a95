"""The run of a group of people, a table of all trials, and the card's section on people.

In the group's run the people who answered a sample are its repeats, and the group key `person` says who. Intervals
are then for other people and other samples (`Crossed` in `stats/intervals.py`). People who are excluded by the
study's rules keep their runs. If there are any, the results of everyone are made, too.
"""

from __future__ import annotations

import csv
import io
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

from msgspec import Struct, structs

from sketchmark import __version__
from sketchmark.comparison.formats import markdown_text
from sketchmark.errors import BadInput
from sketchmark.files import own_file, write_atomic, write_json
from sketchmark.files.jsonl import LineReader, LineWriter, read_regular
from sketchmark.folder import EPISODES, SCORES, RunFolder
from sketchmark.folder.format import FORMAT, Ended, EpisodeLine, ModelAbout, RunRecord, ScoreRow
from sketchmark.folder.format import PEOPLE as PREFIX
from sketchmark.folder.lock import new_folder
from sketchmark.folder.records import media_names
from sketchmark.human.study import PEOPLE, Enrolled, Exclusion, Study
from sketchmark.human.visit import Notes, notes_in, now
from sketchmark.report import write_report
from sketchmark.results.aggregate import aggregate
from sketchmark.results.summary import PERSON
from sketchmark.stats.intervals import as_bracket, as_percent

GROUP, EVERYONE, FILE, TRIALS = "group", f"{PEOPLE}/everyone", "group.json", "trials.csv"


class GroupNotes(Struct, omit_defaults=True):
    """What the run of a group says about its people."""

    study: str
    study_digest: str
    consent_digest: str
    made: str
    """Time at which the runs were put together, in UTC."""
    people: list[str]
    """Ids of the people in this run."""
    excluded: dict[str, list[str]]
    """Person → the rules by which they are excluded."""
    rules: Exclusion
    enrolled: int
    finished: int
    refused: int
    planned: int
    """Samples for each person."""
    seconds: float | None = None
    checks: int = 0
    """Attention checks for each person."""
    checks_failed: int = 0
    practice: int = 0
    """Practice samples of all people."""
    practice_right: int = 0
    hash_ids: bool = True
    report: dict[str, str] = {}
    everyone: dict[str, str] = {}
    """Cell → score with the excluded people, if there are any."""


_NOTES = LineReader(GroupNotes, "notes on a group")


def regroup(study: Study) -> Path | None:
    """Write the group's run again from the runs of all people; None if no person counts."""
    people = study.people()
    excluded = {one.id: why for one, notes, folder in people if (why := study.excluded(notes, folder))}
    kept = [one for one in people if one[0].id not in excluded]
    notes = _group_notes(study, people, excluded)
    whole = study.root / EVERYONE
    if excluded:
        _write(study, people, whole, f"{study.file.study}-everyone", notes)
        scores = RunFolder(whole).results().tasks
        notes.everyone = {
            name: f"{as_percent(found.mean, found.ci95)} {as_bracket(found.ci95)}"
            for name, cell in scores.items()
            if (found := cell.metrics.get(cell.headline))
        }
    elif whole.exists():
        shutil.rmtree(whole)
    _write_trials(study, people, excluded)
    if not kept:
        return None
    notes.people = [one.id for one, _, _ in kept]
    _write(study, kept, study.root / GROUP, study.file.study, notes)
    return study.root / GROUP


def _group_notes(study: Study, people: Sequence[Taken], excluded: dict[str, list[str]]) -> GroupNotes:
    checks = [check for _, notes, _ in people for check in notes.checks]
    practice = [one for _, notes, _ in people for one in notes.practice]
    return GroupNotes(
        study=study.file.study,
        study_digest=study.record.digest,
        consent_digest=study.record.consent,
        made=now(),
        people=[one.id for one, _, _ in people],
        excluded=excluded,
        rules=study.file.exclude,
        enrolled=len(study.record.people),
        finished=sum(bool(notes.finished) for _, notes, _ in people),
        refused=study.record.refused,
        planned=study.per_person,
        seconds=study.file.seconds,
        checks=len(study.file.checks),
        checks_failed=sum(not check.right for check in checks),
        practice=len(practice),
        practice_right=sum(one.right for one in practice),
        hash_ids=study.file.hash_ids,
        report=study.file.report,
    )


Taken = tuple[Enrolled, Notes, RunFolder]


def _write(study: Study, people: Sequence[Taken], out: Path, name: str, notes: GroupNotes) -> None:
    """Make the run in a new folder and put it in place of the old one."""
    fresh = out.with_name(f"{out.name}-new")
    if fresh.exists():
        shutil.rmtree(fresh)
    with new_folder(fresh, "grouping") as path:
        made = RunFolder(path)
        cells = {cell.name: cell for cell in study.cells}
        about = {name_: cell for _, _, folder in people for name_, cell in folder.about().cells.items()}
        model = f"{PREFIX}{name}"
        record = RunRecord(
            format=FORMAT,
            sketchmark=__version__,
            model=ModelAbout(model, {"people": len(people)}),
            seed=study.file.seed,
            started=min(one.consented for one, _, _ in people),
            machine=people[0][2].about().machine,
            cells={key: structs.replace(about[key], model={"name": model}) for key in cells if key in about},
            limits={key: cell.limit for key, cell in cells.items() if cell.limit is not None},
            asked={key: people[0][2].about().asked[key] for key in cells if key in people[0][2].about().asked},
            ended=Ended("finished"),
        )
        write_json(made.run_file, record)
        for cell in record.cells:
            _write_cell(cell, people, made)
        tasks = {key: cells[key].task for key in record.cells}
        aggregate(made, tasks, study.file.seed, warnings=[])
        write_json(own_file(path, FILE), notes)
        write_report(made)
    old = out.with_name(f".{out.name}-old")
    if out.exists():
        out.replace(old)
    fresh.replace(out)
    if old.exists():
        shutil.rmtree(old)


def _write_cell(cell: str, people: Sequence[Taken], made: RunFolder) -> None:
    repeats: Counter[str] = Counter()
    episodes, scores = LineWriter(made.episodes_file(cell), EPISODES), LineWriter(made.scores_file(cell), SCORES)
    for one, _, folder in people:
        rows = {(row.key, row.started): row for row in folder.scores(cell)}
        for line in folder.episodes(cell):
            row = rows.get((line.key, round(line.started, 3)))
            if row is None or (line.failure and not line.failure.blames_model):
                continue
            groups, repeat = {**line.sample.groups, PERSON: one.id}, repeats[line.sample.id]
            repeats[line.sample.id] += 1
            _copy_media(line, folder, made)
            sample = structs.replace(line.sample, groups=groups)
            episodes.write(structs.replace(line, repeat=repeat, sample=sample))
            scores.write(structs.replace(row, repeat=repeat, groups=groups))
    episodes.close()
    scores.close()


def _copy_media(line: EpisodeLine, folder: RunFolder, made: RunFolder) -> None:
    for name in media_names(line):
        there = made.pictures.path(name)
        if not there.exists():
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder.pictures.path(name), there)


_COLUMNS = (
    *("person", "excluded", "trial_index", "task", "mode", "canvas", "sample", "rt", "time_elapsed", "response"),
    *("correct", "failure", "hidden", "strokes", "undos", "pointer", "ratio"),
)
"""Names of jsPsych, where it has such a column. Times are in milliseconds."""


def _write_trials(study: Study, people: Sequence[Taken], excluded: dict[str, list[str]]) -> None:
    text = io.StringIO()
    table = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
    table.writeheader()
    for one, _, folder in people:
        trials = [trial for cell in study.cells for trial in _trials(folder, cell.name)]
        trials.sort(key=lambda trial: float(trial["time_elapsed"]))
        begin = float(trials[0]["time_elapsed"]) if trials else 0.0
        for index, trial in enumerate(trials):
            elapsed = round(1000 * (float(trial["time_elapsed"]) - begin))
            why = "; ".join(excluded.get(one.id, ()))
            row = {**trial, "person": one.id, "excluded": why, "trial_index": index, "time_elapsed": elapsed}
            table.writerow({name: _cell(value) for name, value in row.items()})
    write_atomic(own_file(study.root, TRIALS), text.getvalue().encode())


def _cell(value: object) -> str:
    """Return a value for a spreadsheet, which must not take a person's text for a formula."""
    text = str(value)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def _trials(folder: RunFolder, cell: str) -> Iterator[dict[str, Any]]:
    about = folder.about().cells.get(cell)
    rows = {(row.key, row.started): row for row in folder.scores(cell)}
    for line in folder.episodes(cell):
        row = rows.get((line.key, round(line.started, 3)))
        replies = [turn.reply for turn in line.turns if turn.reply]
        done = [reply.raw["person"] for reply in replies if isinstance(reply.raw, dict) and "person" in reply.raw]
        strokes = [stroke for one in done for stroke in one["strokes"]]
        yield {
            "task": about.task if about else "",
            "mode": line.mode,
            "canvas": line.canvas,
            "sample": line.sample.id,
            "rt": sum(one["rt"] for one in done),
            "time_elapsed": line.started + line.seconds,
            "response": replies[-1].text if replies else "",
            "correct": "" if row is None or about is None else _number(row, about.headline),
            "failure": line.failure.kind if line.failure else "",
            "hidden": sum(one["hidden"] for one in done),
            "strokes": len(strokes),
            "undos": sum(one["undos"] for one in done),
            "pointer": " ".join(sorted({stroke["pointer"] for stroke in strokes})),
            "ratio": max((one["ratio"] for one in done), default=""),
        }


def _number(row: ScoreRow, headline: str) -> str:
    value = row.value(headline)
    return "" if value is None else f"{value:g}"


def forget(study: Study, id: str) -> None:
    """Delete all that is stored about a person."""
    one = study.enrolled(id)
    if one is None:
        raise BadInput(f"no person {id!r} in {study.root}", "study.json lists the people")
    study.record.people.remove(one)
    study.write()
    folder = study.root / PEOPLE / one.id
    if folder.exists():
        shutil.rmtree(folder)
    if regroup(study) is None and (study.root / GROUP).exists():
        shutil.rmtree(study.root / GROUP)


_UNKNOWN = "not reported"
_ONLY_YOU = {
    "Design": ("pilot", "power", "ethics"),
    "Recruitment": ("population", "sampling", "qualification", "left_out"),
    "Execution": ("pay", "tools", "ai_use"),
    "Documentation": ("demographics", "materials"),
}
"""What a run cannot know, by the stage of Wei et al. (arXiv 2506.13776): keys of `report` in a study file."""


def people_section(folder: RunFolder) -> str:
    """Return the section of the card on people, empty for a run of a model."""
    try:
        notes: GroupNotes | None = _NOTES.one(read_regular(own_file(folder.path, FILE)), FILE)
    except FileNotFoundError:
        notes = None
    person = None if notes else notes_in(folder.path)
    if notes is None and person is None:
        return ""
    rows = [row for cell in folder.cells for row in folder.scored(cell).values()]
    facts = _facts_of_group(notes) if notes else _facts_of_person(person or Notes())
    samples = Counter(row.sample for row in rows)
    by_person = Counter(str(row.groups.get(PERSON, "")) for row in rows)
    flags = Counter(flag for row in rows for flag in row.flags)
    counted = {
        ("Design", "samples"): f"{len(samples)}, the same as a model's: ids and fingerprints are in the run",
        ("Design", "answers per sample"): f"{fmean(samples.values()):.1f} on average" if samples else _UNKNOWN,
        ("Design", "samples per person"): f"{median(by_person.values()):g} (median)" if by_person else _UNKNOWN,
        ("Execution", "instructions"): "the prompts of the models, unchanged; their digests are above",
        ("Execution", "time per sample"): (
            f"median {median(row.seconds for row in rows):.1f} s, by the server's clock" if rows else _UNKNOWN
        ),
        ("Execution", "skipped, out of time"): f"{flags['skipped']}, {flags['out_of_time']}; scored as wrong",
        ("Analysis", "scoring"): "the models' parsers, image readers and scores",
    }
    listed = {**counted, **facts}
    stages = ("Design", "Recruitment", "Execution", "Analysis", "Documentation")
    lines = ["| stage | | |", "| --- | --- | --- |"]
    for stage in stages:
        for (where, name), value in listed.items():
            if where == stage:
                lines.append(f"| {stage} | {name} | {markdown_text(value)} |")
    source = "The table follows what Wei et al. (arXiv 2506.13776) ask of a study of human baselines."
    return "\n\n".join(["## People", source, "\n".join(lines)]) + "\n"


Facts = dict[tuple[str, str], str]


def _facts_of_group(notes: GroupNotes) -> Facts:
    rules = ", ".join(f"{name} {value}" for name, value in structs.asdict(notes.rules).items() if value)
    excluded = "; ".join(f"{one}: {', '.join(why)}" for one, why in notes.excluded.items()) or "none"
    given = {
        (stage, name.replace("_", " ")): notes.report.get(name, _UNKNOWN)
        for stage, names in _ONLY_YOU.items()
        for name in names
    }
    known = {name for names in _ONLY_YOU.values() for name in names}
    given |= {("Documentation", name): text for name, text in notes.report.items() if name not in known}
    return {
        **given,
        ("Design", "study file"): f"SHA-256 {notes.study_digest}, fixed before the first person",
        ("Design", "consent"): f"text with SHA-256 {notes.consent_digest}; {notes.refused} did not consent",
        ("Recruitment", "people"): f"{notes.enrolled} enrolled, {notes.finished} finished, {len(notes.people)} here",
        ("Execution", "order"): "random, seeded per person; no sample in two modes for one person",
        ("Execution", "time limit"): f"{notes.seconds:g} s per sample" if notes.seconds else "none",
        ("Execution", "attention checks"): f"{notes.checks} per person, {notes.checks_failed} failed in all",
        (
            "Execution",
            "practice",
        ): f"{notes.practice} samples, {notes.practice_right} right; with feedback",
        ("Analysis", "uncertainty"): "95% intervals by two-way clusters of people and samples",
        ("Analysis", "exclusion rules"): rules or "none",
        ("Analysis", "excluded"): excluded,
        ("Analysis", "scores of everyone"): "; ".join(f"{cell} {score}" for cell, score in notes.everyone.items())
        or "the same: none is excluded",
        ("Documentation", "completion rate"): f"{notes.finished} of {notes.enrolled}",
        ("Documentation", "data per person"): f"{PEOPLE}/, trials in {TRIALS}; platform ids "
        + ("hashed with a secret of the study" if notes.hash_ids else "as the address gave them"),
    }


def _facts_of_person(notes: Notes) -> Facts:
    right = sum(one.right for one in notes.practice)
    limit = notes.seconds_per_sample
    return {
        ("Recruitment", "people"): f"1 ({notes.person})",
        ("Execution", "order"): f"random, seed {notes.order_seed}",
        ("Execution", "time limit"): f"{limit:g} s per sample" if limit else "none",
        ("Execution", "practice"): f"{len(notes.practice)} samples, {right} right; other seeds, with feedback",
        ("Analysis", "uncertainty"): "95% intervals for other samples and the same person",
        ("Documentation", "completion"): f"finished {notes.finished}" if notes.finished else "not finished",
    }
