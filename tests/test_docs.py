"""The documents' code runs, their commands exist, and their numbers are the published ones."""

import re
import shlex
import statistics
from pathlib import Path
from typing import Any

import pytest
import torch
from docs import make_layers

from ntm.commands.main import make_parser
from ntm.paper import experiment_of, experiments, published, settings_for
from ntm.report.records import Results, RunRecord
from ntm.report.tables import cost, share

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
README = (ROOT / "README.md").read_text()
ARCHITECTURE = (DOCS / "architecture.md").read_text()
REPRODUCTION = (DOCS / "reproduce.md").read_text()
DOCUMENTS = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
RECORDS = Results(ROOT / "results").records()


def python_blocks(document: Path) -> str:
    """All Python blocks of a document, in order, as one program."""
    return "\n".join(re.findall(r"```python\n(.*?)```", document.read_text(), flags=re.DOTALL))


def test_derivation_of_the_backward_pass_equals_autograd() -> None:
    program = python_blocks(DOCS / "engine.md")
    assert program.count("same_as_autograd(") == 10  # the definition, and nine comparisons
    exec(compile(program, "engine.md", "exec"), {})


def test_the_page_on_pytorch_runs() -> None:
    program: dict[str, Any] = {}
    exec(compile(python_blocks(DOCS / "torch.md"), "torch.md", "exec"), program)
    assert program["features"].dtype == torch.bfloat16
    assert program["logits"].shape == (50, 2, 8)


def test_the_program_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    program: dict[str, Any] = {}
    exec(compile(python_blocks(ROOT / "README.md"), "README.md", "exec"), program)
    assert program["trace"].memory is None
    assert (tmp_path / "my-network" / "config.json").exists()


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 130
    assert len(README) <= 9_000


def test_the_program_on_your_own_data_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    line = '{"input": "12 may 1999", "target": "1999-05-12"}\n'
    Path("examples.jsonl").write_text(line + line.replace("12", "21"))
    exec(compile(python_blocks(DOCS / "data.md"), "data.md", "exec"), {})
    accuracy, answer = capsys.readouterr().out.splitlines()
    assert 0 <= float(accuracy) <= 1
    assert answer.startswith("['")


def test_the_programs_on_the_studio_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(python_blocks(DOCS / "studio.md"), "studio.md", "exec"), {})
    assert (tmp_path / "untrained.npz").exists()


def commands(text: str) -> list[list[str]]:
    """The arguments of every `ntm ...` in an indented or fenced line, without its comment."""
    joined = re.sub(r"\\\n\s*", "", text)
    lines = re.findall(r"^(?: {4}|\$ )?(ntm [a-z].*)$", joined, re.MULTILINE)
    return [shlex.split(re.split(r"\s{2,}|\s#", line)[0])[1:] for line in lines]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_can_be_parsed(document: Path) -> None:
    parser = make_parser()
    for arguments in commands(document.read_text()):
        try:
            parser.parse_args(arguments)
        except SystemExit as error:
            pytest.fail(f"ntm {shlex.join(arguments)}: exit code {error.code}")


def test_commands_are_found_and_wrong_ones_refused() -> None:
    assert commands("    ntm eval runs/copy --length 120   # far\n") == [
        ["eval", "runs/copy", "--length", "120"]
    ]
    assert len(commands(README)) >= 10
    with pytest.raises(SystemExit):
        make_parser().parse_args(["eval", "runs/copy", "--lengths", "120"])


def test_the_tree_on_the_page_on_the_architecture_lists_the_package() -> None:
    tree = ARCHITECTURE.partition("    src/ntm/\n")[2].partition("\n\n")[0]
    listed = [line.split()[0].rstrip("/") for line in tree.splitlines()]
    there = {path.name for path in (ROOT / "src" / "ntm").iterdir()}
    private = {name for name in there if name.startswith("__")} | {"py.typed"}
    assert set(listed) == there - private
    assert len(set(listed)) == len(listed)


def test_the_picture_of_the_layers_is_drawn_from_the_contract() -> None:
    assert make_layers.PICTURE.read_text() == make_layers.picture()
    assert [name for layer in make_layers.layers() for name in layer.names] == [
        name.strip() for line in make_layers.contract() for name in line.split("|")
    ]


TASKS = {
    "copy": "copy",
    "repeat copy": "repeat-copy",
    "associative recall": "associative-recall",
    "n-grams": "ngrams",
    "priority sort": "priority-sort",
}


NAMES = {
    "JAX, `jit` and `scan`": "JAX, jit and scan",
    "`torch.compile`": "torch.compile",
    "eager PyTorch": "eager PyTorch",
    "pytorch-ntm": "pytorch-ntm",
    "dnc": "dnc",
}
COLUMNS = [("feedforward", "1"), ("feedforward", "16"), ("lstm", "1"), ("lstm", "16")]


def rivals() -> dict[tuple[str, str, str], str]:
    """Return how many times faster we are, by controller, batch and name: docs/benchmarks.md."""
    page = (DOCS / "benchmarks.md").read_text()
    pattern = r"^\| (feedforward|lstm) \| (\d+) \| ([^|]+) \| [\d.,]+ \| ([\d.,]+) \("
    rows = re.findall(pattern, page, re.MULTILINE)
    assert len(rows) == 3 + 3 + 6 + 6
    return {(controller, batch, name): times for controller, batch, name, times in rows}


def test_the_speeds_in_the_readme_are_those_of_the_benchmarks() -> None:
    table = README.partition("## Speed\n")[2]
    for row, name in NAMES.items():
        assert quoted(table, row) == [rivals().get((*column, name), "-") for column in COLUMNS]


def span(times: list[float]) -> str:
    return f"{min(times):.0f} to {max(times):.0f}"


def test_the_headline_is_the_ratio_to_the_best_alternative() -> None:
    measured = {key: float(text.replace(",", "")) for key, text in rivals().items()}
    with_memory = {key: times for key, times in measured.items() if "LSTM" not in key[2]}
    best = [min(v for key, v in with_memory.items() if key[:2] == column) for column in COLUMNS]
    eager = [with_memory[(*column, "eager PyTorch")] for column in COLUMNS]
    told = f"{span(best)} times faster than the best alternative"
    assert README.count(told) == 1
    assert f"{span(eager)} times faster than plain PyTorch" in README
    assert told in (DOCS / "benchmarks.md").read_text()


def runs(task: str, model: str) -> list[RunRecord]:
    return [record for record in RECORDS if (record.task, record.model) == (task, model)]


def quoted(text: str, row: str) -> list[str]:
    """Return the cells of a table's row, without the first cell."""
    (line,) = [line for line in text.splitlines() if line.startswith(f"| {row} |")]
    return [cell.strip() for cell in line.split("|")[2:-1]]


def costs_in(cells: list[str]) -> list[str]:
    """Return the cells that are costs, without the numbers of seeds that solve the task."""
    return [cell for cell in cells if cell and not re.match(r"\d+ of \d+ ", cell)]


def is_rounded(text: str, value: float) -> bool:
    """Whether a number is a value to as many decimals as it has."""
    return abs(float(text) - value) <= 0.5001 * 10.0 ** -len(text.partition(".")[2])


ROWS = {("n-grams (above the optimal cost)" if row == "n-grams" else row): TASKS[row] for row in TASKS}
MODELS = ("ntm-ff", "ntm-lstm", "lstm")


@pytest.mark.parametrize(("row", "task"), ROWS.items())
def test_the_results_in_the_readme_are_the_published_ones(row: str, task: str) -> None:
    cells = costs_in(quoted(README.partition("## Results\n")[2].partition("\n## ")[0], row))
    for text, paper, model in zip(cells[::2], cells[1::2], MODELS, strict=True):
        assert is_rounded(text, statistics.median(map(cost, runs(task, model)))), (text, model)
        reading = published.final_cost(task, model)
        assert reading is not None
        assert is_rounded(paper, round(reading.bits, 3)), (paper, reading)


def test_recall_of_twenty_items_in_the_readme_is_the_published_one() -> None:
    cells = costs_in(quoted(README, "associative recall, 20 items"))
    for text, paper, model in zip(cells[::2], cells[1::2], MODELS, strict=True):
        costs = [cost(record, {"items": 20}) for record in runs("associative-recall", model)]
        assert is_rounded(text, statistics.median(costs)), (text, model)
        reading = published.cost_of_case("associative-recall", model, {"items": 20})
        assert reading is not None
        assert is_rounded(paper, reading.bits), (paper, reading)


def test_the_spread_of_seeds_in_the_readme_is_the_published_one() -> None:
    costs = [cost(record) for record in runs("priority-sort", "ntm-lstm")]
    assert f"from {min(costs):.1f} to {max(costs):.1f} bits" in README
    assert len(runs("ngrams", "lstm")) == 1
    assert "our LSTM (one seed)" in README


@pytest.mark.parametrize(("row", "task"), ROWS.items())
def test_the_results_in_the_reproduction_guide_are_the_published_ones(row: str, task: str) -> None:
    paper, *ours = quoted(REPRODUCTION, row)
    numbers = [re.findall(r"[\d.]+", part)[0] for part in paper.split(" / ")]
    for text, model in zip(numbers, MODELS, strict=True):
        reading = published.final_cost(task, model)
        assert reading is not None
        assert is_rounded(text, round(reading.bits, 3)), (text, reading)
    for cell, model in zip(ours, MODELS, strict=True):
        records = runs(task, model)
        costs = [cost(record) for record in records]
        said = re.match(
            r"([\d.]+)(?: and ([\d.]+))? (?:by|at) ([\d.,]+)( million)?(?: (?:to|or) ([\d,]+))?",
            cell,
        )
        assert said is not None
        shown = [statistics.median(costs)] if said[2] is None else costs
        for text, value in zip([text for text in said.groups()[:2] if text], shown, strict=True):
            assert is_rounded(text, value), (cell, value)
        fewest = float(said[3].replace(",", "")) * (1e6 if said[4] else 1)
        most = float(said[5].strip(",").replace(",", "")) if said[5] else fewest
        seen = [record.sequences for record in records]
        assert (min(seen), max(seen)) == (fewest, most)
        for seeds in re.findall(r"of (\d+) seeds", cell):
            assert int(seeds) == len(records)


def test_long_copies_in_the_reproduction_guide_are_the_published_ones() -> None:
    _, *cells, baseline = quoted(REPRODUCTION, "copy, length 120 without a wrong bit")
    assert baseline == "none"
    assert {share(record, {"length": 120}) for record in runs("copy", "lstm")} == {0.0}
    for cell, model in zip(cells, ("ntm-ff", "ntm-lstm"), strict=True):
        shares = sorted(share(record, {"length": 120}) for record in runs("copy", model))
        worse = [f"{value:.1%}" for value in shares if value < 0.99]
        said = re.match(r"99 % or more for (\d+) of (\d+) seeds", cell)
        assert said is not None
        assert [int(n) for n in said.groups()] == [len(shares) - len(worse), len(shares)]
        assert re.findall(r"[\d.]+ %", cell)[1:] == [text.replace("%", " %") for text in worse]


def test_recall_of_more_items_in_the_reproduction_guide_is_the_published_one() -> None:
    paper, *ours = quoted(REPRODUCTION, "associative recall, 10 / 15 / 20 items")
    for place, items in enumerate((10, 15, 20)):
        reading = published.cost_of_case("associative-recall", "ntm-ff", {"items": items})
        assert reading is not None
        assert is_rounded(re.findall(r"[\d.]+", paper)[place], reading.bits)
        for cell, model in zip(ours, MODELS, strict=True):
            records = runs("associative-recall", model)
            middle = statistics.median(cost(record, {"items": items}) for record in records)
            assert is_rounded(re.findall(r"[\d.]+", cell)[place], middle)
            assert f"median of {len(records)} seeds" in cell


def test_lengths_and_batches_in_the_reproduction_guide_are_those_of_the_settings() -> None:
    page = REPRODUCTION
    ours = [settings_for(e.task, m).training for e in experiments() for m in ("ntm-ff", "ntm-lstm")]
    lengths = [training.sequences for training in ours]
    assert f"An NTM trains on {min(lengths):,} to {max(lengths):,}\nsequences per start" in page
    assert {training.batch_size for training in ours} == {1, 4, 16}
    ff, lstm, sort, other_sort = (
        settings_for(task, model).training.batch_size
        for task in ("associative-recall", "priority-sort")
        for model in ("ntm-ff", "ntm-lstm")
    )
    assert sort == other_sort
    assert (
        f"(priority sort: {sort}; associative recall: {ff}, with an LSTM\ncontroller {lstm})"
        in page
    )
    quick = {plan.quick_batch for e in experiments() for plan in e.networks.values()}
    assert quick == {1, experiment_of("copy").networks["lstm"].quick_batch}
    assert f"the LSTMs on batches of {max(quick)}" in page
