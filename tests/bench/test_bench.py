"""The whole benchmark at a size that takes a second, judged by its form; no time is asserted."""

import json
from itertools import pairwise
from typing import Any

import pytest
import torch
from benchmarks.engine import __main__ as for_developers
from benchmarks.engine.overhead import kernel_clock

from ntm.bench import SECTIONS, run_bench, sections
from ntm.bench.networks import PAPER, QUICK, BenchEffort, PaperNTM
from ntm.bench.results import BenchResults
from ntm.commands.main import main
from ntm.engine import native

CASES = ((PaperNTM("copy", "ntm-ff"), 1), (PaperNTM("associative-recall", "ntm-lstm"), 2))
TINY = for_developers.EngineEffort(
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
    layers=CASES[:1],
    layer_steps=(2, 3),
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
    "layer": NETWORK
    | {"batch_size": int, "steps": int, "layer_seconds": float, "fused_seconds": float}
    | {"lstm_seconds": float, "page_faults": float, "over_fused": SPREAD, "over_lstm": SPREAD},
}


EVERYTHING = sections.SECTIONS | for_developers.SECTIONS


@pytest.fixture(scope="module")
def results() -> BenchResults:
    return run_bench(effort=TINY, sections=EVERYTHING)


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
    assert list(data["sections"]) == list(EVERYTHING)
    assert tuple(sections.SECTIONS) == SECTIONS
    for name, rows in data["sections"].items():
        for row in rows:
            if name == "growth" and row["times_longer"] is None:
                assert row["times_flops"] is None
                row |= {"times_longer": dict.fromkeys(SPREAD, 1.0) | {"rounds": 2}}
                row |= {"times_flops": 1.0}
            require_form(row, SCHEMA[name])


def test_every_case_that_was_asked_for_has_a_row(results: BenchResults) -> None:
    def cases(name: str) -> list[tuple[str, str, int]]:
        return [(r.task, r.model, r.batch_size) for r in results.rows[name]]

    assert cases("speedup") == [("copy", "ntm-ff", 1)]
    assert cases("sgemm") == [("copy", "ntm-ff", 1), ("associative-recall", "ntm-lstm", 2)]
    assert cases("threads") == [("associative-recall", "ntm-lstm", 2)]
    growth = [(row.axis, row.size) for row in results.rows["growth"]]
    assert growth == [(axis, size) for axis, sizes in TINY.sizes.items() for size in sizes]
    layers = [(r.task, r.batch_size, r.steps) for r in results.rows["layer"]]
    assert layers == [("copy", 1, 2), ("copy", 1, 3)]
    assert [row.model for row in results.rows["overhead"]] == ["ntm-ff", "ntm-lstm"]


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
    assert list(results.rows) == ["speedup", "threads"]
    assert said[: len(PAPER)] == [f"do the engines agree? {network}" for network in PAPER]
    assert said[len(PAPER) :] == [
        "both engines: copy ntm-ff, batch 1",
        "two threads and one: associative-recall ntm-lstm, batch 2",
    ]


def test_an_unknown_section_is_refused() -> None:
    with pytest.raises(ValueError, match="speedups"):
        run_bench(["speedups"], TINY)


def test_the_number_of_threads_is_as_it_was(results: BenchResults) -> None:
    assert results.rows
    assert torch.get_num_threads() == 1


def test_both_efforts_cover_the_ten_networks_of_the_paper() -> None:
    for effort in (QUICK, BenchEffort()):
        assert {network for network, size in effort.speedups if size == 1} == set(PAPER)
        assert set(effort.threads) == {(network, 16) for network in PAPER}
    for effort in (for_developers.QUICK, for_developers.EngineEffort()):
        assert {network for network, size in effort.shares if size == 16} == set(PAPER)
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
    monkeypatch.setenv("COLUMNS", "120")
    results.print()
    for text in (results.as_markdown(), capsys.readouterr().out):
        assert text.count("associative-recall") == 2
        for table in results.tables():
            assert table.title in text
            assert all(cell in text for row in table.rows for cell in row)


def test_markdown_tables_have_as_many_cells_in_every_line(results: BenchResults) -> None:
    for block in results.as_markdown().split("\n\n"):
        lines = [line for line in block.splitlines() if line.startswith("|")]
        assert len({line.count("|") for line in lines}) <= 1


def test_json_is_all_that_the_command_prints(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ntm.bench.networks.QUICK", TINY)
    assert main(["bench", "--quick", "--only", "threads", "--json"]) == 0
    printed = capsys.readouterr()
    assert list(json.loads(printed.out)["sections"]) == ["threads"]
    assert "ntm bench: two threads and one: associative-recall ntm-lstm, batch 2" in printed.err


def test_the_script_for_developers_prints_the_same_forms(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(for_developers, "QUICK", TINY)
    monkeypatch.setattr("sys.argv", ["engine", "--quick", "--only", "growth", "--json"])
    for_developers.main()
    assert list(json.loads(capsys.readouterr().out)["sections"]) == ["growth"]


def test_a_section_that_moved_is_named_with_its_new_place(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["bench", "--only", "sgemm"])
    assert "python -m benchmarks.engine --only sgemm" in capsys.readouterr().err
