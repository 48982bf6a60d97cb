"""The whole benchmark at a size that takes a second, judged by its form; no time is asserted."""

import argparse
import json
from itertools import pairwise
from typing import Any

import pytest
import torch

from ntm.bench import SECTIONS, report, run_bench
from ntm.bench.networks import PAPER, PaperNTM
from ntm.bench.overhead import kernel_clock
from ntm.bench.results import BenchResults
from ntm.bench.sections import QUICK, BenchEffort
from ntm.commands import bench as command
from ntm.engine import native

CASES = ((PaperNTM("copy", "ntm-ff"), 1), (PaperNTM("associative-recall", "ntm-lstm"), 2))
TINY = BenchEffort(
    rounds=2,
    slice_seconds=1e-4,
    speedups=CASES[:1],
    shares=CASES,
    threads=CASES[1:],
    portion=1,
    products=(8, 16),
    sizes={"locations": (16, 32), "steps": (2, 4), "batch": (1, 2), "heads": (1, 2)},
    runs=2,
    sequences=20,
)
SPREAD = {
    "median": float,
    "lower_quartile": float,
    "upper_quartile": float,
    "lowest": float,
    "highest": float,
    "rounds": int,
}
NETWORK = {"task": str, "model": str}
SCHEMA: dict[str, dict[str, Any]] = {
    "speedup": NETWORK
    | {"batch_size": int, "native_seconds": float, "reference_seconds": float, "ratio": SPREAD},
    "sgemm": NETWORK
    | {"batch_size": int, "flops": int, "native_rate": float, "product_rate": float}
    | {"share": SPREAD},
    "growth": {"axis": str, "size": int, "seconds": float}
    | {"times_longer": SPREAD, "times_flops": float},
    "threads": NETWORK
    | {"batch_size": int, "one_seconds": float, "two_seconds": float, "ratio": SPREAD}
    | {"machine": SPREAD},
    "overhead": NETWORK
    | {"sequences": int, "seconds": float, "kernel_seconds": float, "sampling_seconds": float}
    | {"share": SPREAD},
}


@pytest.fixture(scope="module")
def results() -> BenchResults:
    return run_bench(effort=TINY)


def require_form(value: Any, form: Any) -> None:
    if isinstance(form, dict):
        assert list(value) == list(form)
        for name in form:
            require_form(value[name], form[name])
    else:
        assert type(value) is form


def test_the_json_has_the_documented_form(results: BenchResults) -> None:
    data = json.loads(json.dumps(results.to_json()))
    assert list(data) == ["format", "machine", "effort", "sections"]
    assert data["format"] == 1
    assert tuple(data["sections"]) == SECTIONS
    for name, rows in data["sections"].items():
        for row in rows:
            if name == "growth" and row["times_longer"] is None:
                assert row["times_flops"] is None
                row |= {"times_longer": dict.fromkeys(SPREAD, 1.0) | {"rounds": 2}}
                row |= {"times_flops": 1.0}
            require_form(row, SCHEMA[name])


def test_every_case_that_was_asked_for_has_a_row(results: BenchResults) -> None:
    def cases(name: str) -> list[tuple[str, str, int]]:
        return [(r.task, r.model, r.batch_size) for r in results.sections[name]]  # type: ignore[union-attr]

    assert cases("speedup") == [("copy", "ntm-ff", 1)]
    assert cases("sgemm") == [("copy", "ntm-ff", 1), ("associative-recall", "ntm-lstm", 2)]
    assert cases("threads") == [("associative-recall", "ntm-lstm", 2)]
    growth = [(row.axis, row.size) for row in results.sections["growth"]]  # type: ignore[union-attr]
    assert growth == [(axis, size) for axis, sizes in TINY.sizes.items() for size in sizes]
    assert [row.model for row in results.sections["overhead"]] == ["ntm-ff", "ntm-lstm"]  # type: ignore[union-attr]


def test_a_share_is_the_ratio_of_the_rates_and_an_overhead_a_part_of_the_time(
    results: BenchResults,
) -> None:
    for row in results.to_json()["sections"]["sgemm"]:
        assert row["share"]["lowest"] <= row["native_rate"] / row["product_rate"] * 10
        assert row["flops"] > 0
    for row in results.to_json()["sections"]["overhead"]:
        assert 0 < row["share"]["lowest"] <= row["share"]["highest"] < 1
        assert row["kernel_seconds"] < row["seconds"]


def test_only_what_is_named_is_measured_and_always_in_one_order() -> None:
    said: list[str] = []
    results = run_bench(["threads", "speedup"], TINY, said.append)
    assert list(results.sections) == ["speedup", "threads"]
    assert said[: len(PAPER)] == [f"do the engines agree? {network}" for network in PAPER]
    assert said[len(PAPER) :] == [
        "both engines: copy ntm-ff, batch 1",
        "two threads and one: associative-recall ntm-lstm, batch 2",
    ]


def test_an_unknown_section_is_refused() -> None:
    with pytest.raises(ValueError, match="speedups"):
        run_bench(["speedups"], TINY)


def test_the_number_of_threads_is_as_it_was(results: BenchResults) -> None:
    assert results.sections
    assert torch.get_num_threads() == 1


def test_both_efforts_cover_the_ten_networks_of_the_paper() -> None:
    for effort in (QUICK, BenchEffort()):
        assert {network for network, size in effort.speedups if size == 1} == set(PAPER)
        assert {network for network, size in effort.shares if size == 16} == set(PAPER)
        assert set(effort.threads) == {(network, 16) for network in PAPER}
        for sizes in effort.sizes.values():
            assert all(b == 2 * a for a, b in pairwise(sizes))
    assert len(set(PAPER)) == 10


def test_the_kernel_clock_is_taken_off_again() -> None:
    before = native.function
    with kernel_clock():
        assert native.function is not before
    assert native.function is before


def test_every_form_of_the_report_shows_every_row(
    results: BenchResults, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    report.print_tables(results)
    for text in (report.as_markdown(results), capsys.readouterr().out):
        assert text.count("associative-recall") == 2
        for table in report.tables(results):
            assert table.title in text
            assert all(cell in text for row in table.rows for cell in row)


def test_markdown_tables_have_as_many_cells_in_every_line(results: BenchResults) -> None:
    for block in report.as_markdown(results).split("\n\n"):
        lines = [line for line in block.splitlines() if line.startswith("|")]
        assert len({line.count("|") for line in lines}) <= 1


def test_json_is_all_that_the_command_prints(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ntm.bench.sections.QUICK", TINY)
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    options = parser.parse_args(["--quick", "--only", "threads", "--json"])
    assert command.run(options) == 0
    printed = capsys.readouterr()
    assert list(json.loads(printed.out)["sections"]) == ["threads"]
    assert "ntm bench: two threads and one: associative-recall ntm-lstm, batch 2" in printed.err
