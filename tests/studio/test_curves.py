"""Learning curves that grow while they are read."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from tests.studio.conftest import HOST, make_run, write_metrics

from ntm.figures import paper_curves as drawn_paper_curves
from ntm.paper import experiment_of
from ntm.runs import Run
from ntm.studio.curves import CurveReader, Point, paper_curves, smoothed, thinned
from ntm.studio.server import create_app


def test_a_curve_grows_with_its_file_and_a_torn_line_waits(tmp_path: Path) -> None:
    file, curve = tmp_path / "metrics.jsonl", CurveReader()
    write_metrics(file, (10, 4.0), (20, 3.0))
    curve.update(file)
    assert curve.points == [(10, 4.0), (20, 3.0)]
    with file.open("a") as opened:
        opened.write('{"sequences": 30, "bi')
        opened.flush()
        curve.update(file)
        assert len(curve.points) == 2
        opened.write('ts": 2.0}\n')
    curve.update(file)
    assert curve.points == [(10, 4.0), (20, 3.0), (30, 2.0)]
    assert curve.after(10) == [(20, 3.0), (30, 2.0)]
    assert curve.generation == 1


def test_news_wait_for_whoever_reads_the_file(tmp_path: Path) -> None:
    file, curve = tmp_path / "metrics.jsonl", CurveReader()
    write_metrics(file, (10, 4.0))
    curve.update(file)
    with ThreadPoolExecutor() as pool:
        with curve._lock:
            curve._sequences.append(20)
            news = pool.submit(curve.news, 0)
            with pytest.raises(TimeoutError):
                news.result(timeout=0.05)
            curve._bits.append(3.0)
        assert news.result()["points"] == [(10, 4.0), (20, 3.0)]


def test_a_file_that_was_replaced_is_a_new_curve(tmp_path: Path) -> None:
    file, curve = tmp_path / "metrics.jsonl", CurveReader()
    write_metrics(file, (10, 4.0), (20, 3.0))
    curve.update(file)
    write_metrics(tmp_path / "new", (10, 5.0), (20, 2.0), (30, 1.0))
    (tmp_path / "new").replace(file)
    curve.update(file)
    assert curve.points == [(10, 5.0), (20, 2.0), (30, 1.0)]
    file.write_text("")
    curve.update(file)
    assert curve.points == []
    assert curve.generation == 3


def test_lines_that_are_no_points_are_left_out(tmp_path: Path) -> None:
    file, curve = tmp_path / "metrics.jsonl", CurveReader()
    file.write_bytes(
        b'\xff\n\n[1]\n5\n{"sequences": 1}\n{"sequences": [1], "bits": 2}\n'
        b'{"sequences": 1, "bits": NaN}\n{"sequences": 2, "bits": 1}\n'
        b'{"sequences": 2, "bits": 1}\n{"sequences": -7, "bits": 1}\n'
    )
    with file.open("a") as opened:
        opened.write(f'{{"sequences": 3, "bits": {10**400}}}\n')
        opened.write(f'{{"sequences": {10**400}, "bits": 1}}\n')
        opened.write(f'{{"sequences": {2**53 + 1}, "bits": 1}}\n')
    curve.update(file)
    assert curve.points == [(2, 1)]


@given(
    widths=st.lists(st.integers(1, 9), min_size=1, max_size=60),
    start=st.integers(0, 5),
    most=st.integers(1, 20),
)
def test_fewer_points_have_the_same_ends_and_the_same_cost(
    widths: list[int], start: int, most: int
) -> None:
    points: list[Point] = []
    for width in widths:
        last = points[-1][0] if points else start
        points.append((last + width, float(width * 7 % 5)))
    fewer = thinned(points, start, most)
    assert len(fewer) <= max(most, 1)
    assert fewer[-1][0] == points[-1][0]
    assert spent(fewer, start) == pytest.approx(spent(points, start))


def spent(points: list[Point], start: int) -> float:
    """The cost of all sequences together."""
    befores = [start, *(sequences for sequences, _ in points)]
    return sum((now - then) * bits for (now, bits), then in zip(points, befores, strict=False))


@pytest.mark.parametrize("task", ["copy", "repeat-copy", "ngrams"])
def test_the_papers_curves_are_those_of_the_figures_without_their_outliers(task: str) -> None:
    drawn, ours = drawn_paper_curves(task), paper_curves(task)
    frame = experiment_of(task).frame
    assert frame is not None
    height = frame[1] - frame[0]
    assert ours.keys() == drawn.keys()
    for model, curve in drawn.items():
        assert [x for x, _ in ours[model]] == pytest.approx((curve.x * 1000).tolist(), abs=1)
        bits, read = np.array([bits for _, bits in ours[model]]), curve.bits
        assert np.abs(np.diff(bits)).sum() <= np.abs(np.diff(read)).sum()
        assert np.median(np.abs(bits - np.maximum(read, height * 0.005))) < 0.01 * height


@given(st.lists(st.floats(0, 100), min_size=1, max_size=40), st.floats(0, 1))
def test_smoothing_keeps_ends_and_makes_nothing_up(bits: list[float], floor: float) -> None:
    points = list(enumerate(bits))
    smooth = smoothed(points, floor)
    assert [x for x, _ in smooth] == [x for x, _ in points]
    assert smooth[0][1] == max(floor, bits[0])
    assert smooth[-1][1] == max(floor, bits[-1])
    assert {y for _, y in smooth} <= {*bits, floor}
    one_off = [(x, 5.0 if x == 3 else 1.0) for x in range(9)]
    assert smoothed(one_off, 0) == [(x, 1.0) for x in range(9)]


def test_of_a_file_without_end_little_is_read_at_a_time_and_kept(tmp_path: Path) -> None:
    file, curve = tmp_path / "metrics.jsonl", CurveReader()
    file.write_bytes(b"x" * 5_000_000 + b"\n")
    lines = (f'{{"sequences": {n}, "bits": 1}}\n' for n in range(1, 100_001))
    with file.open("a") as opened:
        opened.writelines(lines)
    before = -1
    while curve.points[-1:] != [(100_000, 1.0)]:
        curve.update(file)
        assert len(curve.points) <= 4000
        reached = curve.points[-1][0] if curve.points else 0
        assert reached > before or not curve.points
        before = reached


def test_the_speed_is_the_one_last_reported(tmp_path: Path) -> None:
    file, curve = tmp_path / "metrics.jsonl", CurveReader()
    for number, speed in enumerate(("3.5", "1e999", "-1", '"fast"', "null", "12"), start=1):
        with file.open("a") as opened:
            opened.write(f'{{"sequences": {number}, "bits": 1, "sequences_per_second": {speed}}}\n')
        curve.update(file)
        assert curve.speed == {"3.5": 3.5, "12": 12.0}.get(speed)
    assert len(curve.points) == 6


def test_a_run_that_somebody_else_trains_is_watched_live(client: TestClient, folder: Path) -> None:
    run = Run(folder / "copying")

    def curve(after: int = 0) -> dict[str, object]:
        answer: dict[str, object] = client.get(
            "/api/runs/copying/curve", params={"after": after}
        ).json()
        return answer

    assert (curve()["state"], curve()["sequences"]) == ("stopped", 40)
    with run.locked():
        write_metrics(run.metrics, (60, 1.0))
        assert curve(after=40)["points"] == [[60, 1.0]]
        assert (curve()["state"], curve()["can_stop"]) == ("running", False)
        write_metrics(run.metrics, (100, 0.5))
    assert (curve()["state"], curve()["total"]) == ("finished", 100)
    with run.locked():  # looking on must not have kept the lock
        pass


def test_the_listing_says_where_every_run_stands(client: TestClient) -> None:
    baseline, copying = client.get("/api/runs").json()["runs"]
    assert (baseline["name"], baseline["model"]) == ("baseline", "lstm")
    assert copying == {
        "name": "copying", "task": "copy", "model": "ntm-ff", "seed": 1, "state": "stopped",
        "reason": None, "sequences": 40, "bits": 1.25, "total": 100, "at_most": False,
        "can_stop": False, "speed": None,
    }  # fmt: skip


def test_many_curves_at_once_are_what_each_is_alone(client: TestClient) -> None:
    client.get("/api/runs")
    after = {"copying": 20, "baseline": 0, "nobody": 0}
    curves = client.post("/api/curves", json={"after": after}).json()
    assert curves.keys() == {"copying", "baseline"}
    for name, curve in curves.items():
        alone = client.get(f"/api/runs/{name}/curve", params={"after": after[name]}).json()
        assert curve == {key: alone[key] for key in ("points", "generation")}
    assert curves["copying"]["points"] == [[40, 1.25]]


def test_of_many_curves_at_once_fewer_points_are_sent(
    client: TestClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_metrics(folder / "copying" / "metrics.jsonl", *((n, 1.0) for n in range(41, 341)))
    client.get("/api/runs")
    monkeypatch.setattr("ntm.studio.runs._POINTS_TOGETHER", 200)
    curves = client.post("/api/curves", json={"after": {"copying": 0, "baseline": 0}}).json()
    assert 50 < len(curves["copying"]["points"]) <= 100


def test_a_run_that_is_never_read_to_its_end_does_not_keep_others_from_being_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even where there is time for one run only."""
    for name in ("a", "b", "c"):
        make_run(tmp_path / name)
    clock = iter(range(1000))
    monkeypatch.setattr("ntm.studio.runs.monotonic", lambda: next(clock))
    client = TestClient(create_app(tmp_path), base_url=HOST)
    monkeypatch.setattr("ntm.studio.runs._TIME_TO_READ", 1)
    for reached in ([40, 0, 0], [40, 40, 0], [40, 40, 40]):
        assert [run["sequences"] for run in client.get("/api/runs").json()["runs"]] == reached


def test_a_run_that_goes_on_says_how_fast(client: TestClient, folder: Path) -> None:
    run = Run(folder / "copying")
    with run.locked():
        with run.metrics.open("a") as metrics:
            metrics.write('{"sequences": 60, "bits": 1, "sequences_per_second": 4.5}\n')
        listed = {one["name"]: one for one in client.get("/api/runs").json()["runs"]}
    assert listed["copying"]["speed"] == 4.5
    listed = {one["name"]: one for one in client.get("/api/runs").json()["runs"]}
    assert listed["copying"]["speed"] is None
