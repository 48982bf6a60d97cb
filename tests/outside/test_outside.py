"""Tasks and models from outside the package, as their users meet them: in fresh processes."""

import json
import os
import shutil
import subprocess
import sys
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

HERE = Path(__file__).parent
Finished = subprocess.CompletedProcess[str]


def ntm(*arguments: object, path: Path | None = None) -> Finished:
    """Run the command; `path` is where Python finds other packages."""
    environment = dict(os.environ) | ({"PYTHONPATH": str(path)} if path else {})
    return subprocess.run(
        [sys.executable, "-m", "ntm", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=environment,
    )


def done(finished: Finished) -> str:
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a task of 40 lines and an experiment, away from this package."""
    return Path(shutil.copy(HERE / "reverse.py", tmp_path_factory.mktemp("mine")))


@pytest.fixture(scope="module")
def trained(task: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "reverse"
    assert "Training ntm-ff on reverse" in done(ntm("train", task, "--run", folder))
    return folder


def test_the_task_is_as_short_as_promised() -> None:
    text = (HERE / "reverse.py").read_text()
    task, _, experiment = text.partition("register_experiment(\n")
    assert len(task[task.index("@register") :].splitlines()) <= 40
    assert len(experiment.splitlines()) <= 20


def test_the_folder_remembers_where_the_task_came_from(trained: Path, task: Path) -> None:
    stored = json.loads((trained / "config.json").read_text())["task"]
    assert stored == {"name": "reverse", "from": str(task), "bits": 2, "length": 3}
    assert json.loads((trained / "config.json").read_text())["training"]["sequences"] == 40


def test_a_run_is_resumed_evaluated_analysed_and_traced(trained: Path, tmp_path: Path) -> None:
    assert "after 60 sequences" in done(
        ntm("train", "--run", trained, "--resume", "--sequences", 60)
    )
    cost = json.loads(done(ntm("eval", trained, "--length", 5, "--sequences", 20, "--json")))
    assert (cost["task"], cost["length"], cost["sequences"]) == ("reverse", 5, 20)
    assert "reverse, ntm-ff" in done(ntm("analyse", trained, "--sequences", 10))
    done(ntm("trace", trained, "--html", tmp_path / "trace.html"))
    assert (tmp_path / "trace.html").stat().st_size > 10_000


def test_figures_are_drawn_of_it(trained: Path, tmp_path: Path) -> None:
    done(ntm("figures", trained, "--out", tmp_path, "--format", "svg"))
    drawn = {file.name for file in tmp_path.iterdir()}
    assert {"backwards-learning-curves.svg", "backwards-memory-use.svg"} <= drawn


def test_it_can_be_swept_and_reproduced(task: Path, tmp_path: Path) -> None:
    grid = tmp_path / "grid.toml"
    grid.write_text(f"tasks = [{str(task)!r}]\nseeds = [1, 2]\n")
    done(ntm("sweep", grid, "--out", tmp_path / "swept", "--workers", 1))
    folders = sorted(path.parent.name for path in (tmp_path / "swept").glob("*/config.json"))
    assert folders == ["reverse-ntm-ff-1", "reverse-ntm-ff-2"]
    options = ("--quick", "--tasks", task, "--models", "ntm-ff", "--workers", 1)
    done(ntm("reproduce", "--out", tmp_path / "all", *options))
    (report,) = (tmp_path / "all").glob("*.html")
    assert "Backwards" in report.read_text()


def listed(folder: Path, *options: object) -> str:
    """What `ntm studio` answers when it is asked for the runs in a folder."""
    command = [sys.executable, "-m", "ntm", "studio", folder, "--port", "0", "--no-browser"]
    with subprocess.Popen(
        [*map(str, (*command, *options))], stdout=subprocess.PIPE, text=True
    ) as studio:
        assert studio.stdout is not None
        try:
            cookies = urllib.request.HTTPCookieProcessor()
            page = urllib.request.build_opener(cookies)
            invitation = studio.stdout.readline().strip()
            page.open(invitation, timeout=60).close()
            address = urllib.parse.urljoin(invitation, "/api/runs")
            return str(page.open(address, timeout=60).read().decode())
        finally:
            studio.terminate()


def test_the_studio_lists_its_run_once_the_file_is_named(trained: Path, task: Path) -> None:
    assert '"task":"reverse"' in listed(trained.parent, "--code", task)
    refused = listed(trained.parent)
    assert '"task":"reverse"' not in refused
    assert f"comes from {task.resolve()}" in refused
    assert "start the studio with --code FILE" in refused


def test_a_run_whose_task_is_gone_says_what_to_do(trained: Path, tmp_path: Path) -> None:
    shutil.copytree(trained, tmp_path / "run")
    file = tmp_path / "run" / "config.json"
    config = json.loads(file.read_text())
    config["task"]["from"] = str(tmp_path / "gone.py")
    file.write_text(json.dumps(config))
    failed = ntm("eval", tmp_path / "run")
    assert failed.returncode == 1
    assert f"'reverse' comes from {tmp_path / 'gone.py'}" in failed.stderr
    assert "put it back, or install it." in failed.stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "must register one task; it registers 0"),
        ("import no_such_package", "No module named 'no_such_package'"),
    ],
)
def test_a_file_without_a_task_is_refused(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "empty.py").write_text(content)
    failed = ntm("train", tmp_path / "empty.py", "--run", tmp_path / "run")
    assert failed.returncode == 2
    assert said in failed.stderr
    assert failed.stderr.count("\n") == 1


def test_an_entry_point_brings_a_task(tmp_path: Path) -> None:
    shutil.copy(HERE / "reverse.py", tmp_path / "my_package.py")
    info = tmp_path / "my_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[ntm.tasks]\nreverse = my_package:Reverse\n")
    assert "reverse" in done(ntm("--help", path=tmp_path))
    done(ntm("train", "reverse", "--run", tmp_path / "run", path=tmp_path))
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["task"]["from"] == "my_package"
    assert config["training"]["sequences"] == 40


def test_a_family_from_outside_is_trained_by_the_reference_engine(
    task: Path, tmp_path: Path
) -> None:
    family = Path(shutil.copy(HERE / "gru.py", tmp_path))
    sizes = ("controller_size=6", "memory_locations=8", "memory_width=4")
    small = [text for size in sizes for text in ("--set", f"model.{size}")]
    options = ("--model", family, *small, "--sequences", 30, "--run", tmp_path / "run")
    said = done(ntm("train", task, "--engine", "reference", *options))
    assert "Training ntm-gru on reverse" in said
    assert "reference engine" in said
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert (config["model"]["name"], config["model"]["from"]) == ("ntm-gru", str(family))
    cost = json.loads(done(ntm("eval", tmp_path / "run", "--sequences", 5, "--json")))
    assert cost["model"] == "ntm-gru"
    assert "Training ntm-gru" in done(
        ntm("train", "--run", tmp_path / "run", "--resume", "--sequences", 40)
    )
    declined = ntm("train", task, "--engine", "native", *options[:-1], tmp_path / "native")
    assert declined.returncode == 1
    assert "The native engine cannot run here" in declined.stderr
    assert "cell.controller is a GRUController, not a LSTMController" in declined.stderr
    assert not (tmp_path / "native").exists()
