"""Families from outside the package: the commands use the family that was named, and no other."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from tests.outside.test_outside import done, ntm

from ntm import NTM, NTMConfig
from ntm.commands.main import main
from ntm.common.registry import load_file
from ntm.evaluation import resized
from ntm.models import MODELS, Family, Model, family, family_of, register
from ntm.models.ntm import NTMFamily
from ntm.runs import Run, RunError, Settings, build_model
from ntm.studio import create_app
from ntm.tasks import Copy
from ntm.trace import Trace
from ntm.training import paper_settings, train

HERE = Path(__file__).parent
SMALL = ("controller_size=6", "memory_locations=8", "memory_width=4")
QUICK = ("--sequences", "4", "--set", "training.validation_sequences=2", "--set", "task.bits=2")


@pytest.fixture(autouse=True)
def models() -> Iterator[None]:
    """Put the registry back as it was."""
    before = dict(MODELS)
    yield
    MODELS.clear()
    MODELS.update(before)


@pytest.fixture
def louder(tmp_path: Path) -> Path:
    """A file of a test's own: a file is imported once."""
    file = Path(shutil.copy(HERE / "louder.py", tmp_path))
    load_file(file)
    return file


def small(settings: Settings) -> Settings:
    sizes = dict(pair.split("=") for pair in SMALL)
    texts = {f"model.{name}": value for name, value in sizes.items()}
    texts |= {"task.bits": "2", "task.max_length": "3", "training.sequences": "4"}
    return settings.with_text(texts | {"training.validation_sequences": "2"})


@pytest.mark.usefixtures("louder")
@pytest.mark.parametrize("engine", ["auto", "reference"])
@pytest.mark.parametrize("controller", ["feedforward", "lstm"])
def test_a_family_that_overrides_build_alone_is_trained_recorded_and_loaded(
    tmp_path: Path, controller: str, engine: str
) -> None:
    chosen = {"model.controller": controller, "training.engine": engine}
    settings = small(paper_settings("copy", "ntm-louder")).with_text(chosen)
    settings = settings.with_(training={"memory_locations": 5})
    trained = train(settings, tmp_path / "run").model
    stored = json.loads((tmp_path / "run" / "config.json").read_text())["model"]
    assert (stored["name"], stored["controller"]) == ("ntm-louder", controller)
    opened = Run(tmp_path / "run")
    loaded, _ = opened.load_model("latest")
    assert opened.settings == settings
    for network in (trained, loaded, build_model(settings)):
        assert family_of(network) is family("ntm-louder")
    assert type(loaded).__name__ == "Louder"
    assert family_of(resized(loaded, 20)) is family("ntm-louder")


def test_commands_use_the_family_that_was_named(
    louder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, trace = str(tmp_path / "runs" / "mine"), tmp_path / "trace.npz"
    sizes = [text for size in SMALL for text in ("--set", f"model.{size}")]
    named = ["--model", "ntm-louder", "--code", str(louder)]
    assert main(["train", "copy", *named, *sizes, *QUICK, "--run", folder]) == 0
    assert main(["train", "--run", folder, "--resume", "--sequences", "6"]) == 0
    assert capsys.readouterr().out.count("Training ntm-louder on copy") == 2
    for command in ("eval", "analyse"):
        assert main([command, folder, "--sequences", "3", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["model"] == "ntm-louder"
    assert main(["trace", folder, "--save", str(trace)]) == 0
    assert Trace.load(trace).about["model"] == "ntm-louder"
    with TestClient(create_app(Path(folder).parent), base_url="http://127.0.0.1:1") as studio:
        networks = {network["id"]: network for network in studio.get("/api/networks").json()}
        assert networks["run:mine"]["model"] == "ntm-louder"
        drawn = studio.post("/api/example", json={"network": "run:mine"}).json()
        assert studio.post("/api/trace", json={"network": "run:mine", **drawn}).status_code == 200


@pytest.mark.usefixtures("louder")
def test_a_sweep_names_the_family(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grid = tmp_path / "grid.toml"
    grid.write_text('tasks = ["copy"]\nmodels = ["ntm-ff", "ntm-louder"]\nseeds = [1]\n')
    assert main(["sweep", str(grid), "--list", "--json", "--out", str(tmp_path)]) == 0
    jobs = json.loads(capsys.readouterr().out)
    assert [job["settings"]["model"]["name"] for job in jobs] == ["ntm-ff", "ntm-louder"]


@pytest.mark.usefixtures("louder")
def test_networks_of_the_package_stay_its_own() -> None:
    config = NTMConfig(3, 2)
    assert family_of(config).name == family_of(NTM(3, 2)).name == "ntm-ff"
    assert family_of(NTM.from_pretrained("copy-lstm")).name == "ntm-lstm"
    assert Settings(Copy(), NTMConfig(9, 8)).model_name == "ntm-ff"
    assert paper_settings("copy").with_(model={"controller": "lstm"}).model_name == "ntm-lstm"


@pytest.mark.usefixtures("louder")
def test_settings_keep_to_their_family() -> None:
    settings = paper_settings("copy", "ntm-louder-ff")
    assert settings.with_(training={"seed": 3}).model_name == "ntm-louder-ff"
    assert settings.with_(model={"controller": "lstm"}).model_name == "ntm-louder"
    del MODELS["ntm-louder"]
    with pytest.raises(ValueError, match="ntm-louder-ff has a NTMConfig with controller=feedf"):
        settings.with_(model={"controller": "lstm"})


def test_a_config_that_several_families_declare_is_refused() -> None:
    register(NTMFamily("ntm-twin", "Twin", "#123456", {"controller": "feedforward"}))
    with pytest.raises(ValueError, match=r"ntm-ff, ntm-twin all have such configs\. Build .* name"):
        family_of(NTMConfig(3, 2))
    settings = Settings(Copy(), NTMConfig(9, 8), model_name="ntm-twin")
    assert family_of(build_model(small(settings))).name == "ntm-twin"


def test_a_family_with_no_more_than_it_must_have_works_in_every_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = shutil.copy(HERE / "plain.py", tmp_path)
    folder = str(tmp_path / "runs" / "mine")
    assert main(["train", "copy", "--model", file, *QUICK, "--run", folder]) == 0
    assert main(["eval", folder, "--sequences", "2"]) == 0
    assert main(["trace", folder, "--html", str(tmp_path / "trace.html")]) == 0
    capsys.readouterr()
    assert main(["trace", folder]) == 0
    assert "wrong bits, cost" in capsys.readouterr().out
    assert main(["analyse", folder]) == 2
    assert "Plain has no heads to watch" in capsys.readouterr().err
    assert main(["figures", folder, "--out", str(tmp_path / "figures"), "--format", "svg"]) == 0
    with TestClient(create_app(Path(folder).parent), base_url="http://127.0.0.1:1") as studio:
        (listed,) = studio.get("/api/runs").json()["runs"]
        assert listed["model"] == "plain"
        assert listed["reason"].endswith("override describe of the family.")


def test_another_machine_with_a_memory_works_in_every_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It describes its memory and its heads; no command knows more about it."""
    file = shutil.copy(HERE / "ledger.py", tmp_path)
    folder, trace = str(tmp_path / "runs" / "mine"), tmp_path / "runs" / "trace.npz"
    assert main(["train", "repeat-copy", "--model", file, *QUICK, "--run", folder]) == 0
    assert main(["train", "--run", folder, "--resume", "--sequences", "6"]) == 0
    assert main(["eval", folder, "--sequences", "2"]) == 0
    assert main(["trace", folder, "--save", str(trace), "--html", str(tmp_path / "t.html")]) == 0
    assert Trace.load(trace).usage.shape[2:] == (7,)
    capsys.readouterr()
    assert main(["trace", folder]) == 0
    shown = capsys.readouterr().out
    assert all(f"head {head}" in shown for head in (1, 2))
    assert main(["analyse", folder, "--sequences", "4", "--json"]) == 0
    analysis = json.loads(capsys.readouterr().out)
    assert analysis["findings"][0]["name"] == "looks at one location"
    assert analysis["modes"] == {}
    assert main(["analyse", folder, "--sequences", "4"]) == 0
    assert main(["figures", folder, "--out", str(tmp_path / "drawn"), "--format", "svg"]) == 0
    (picture,) = (tmp_path / "drawn").glob("*memory-use.svg")
    assert "Ledger memory use during the repeat copy task" in picture.read_text()
    with TestClient(create_app(Path(folder).parent), base_url="http://127.0.0.1:1") as studio:
        networks = {network["id"]: network for network in studio.get("/api/networks").json()}
        assert networks["run:mine"]["memory_locations"] is None  # it cannot grow
        drawn = studio.post("/api/example", json={"network": "run:mine"}).json()
        recorded = studio.post("/api/trace", json={"network": "run:mine", **drawn}).json()
        saved = studio.get("/api/traces/trace.npz").json()
        for document in (recorded, saved):
            labels = {array["label"] for array in document["arrays"] if array["role"] == "lane"}
            assert labels == {"usage", "openness"}
            assert [head["kind"] for head in document["heads"]] == ["read", "read", "write"]
            assert [*document["lanes"]] == ["usage"]


def test_a_network_that_cannot_be_traced_gets_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = load_file(shutil.copy(HERE / "plain.py", tmp_path))

    class Headless(NTMFamily):
        def build(self, config: NTMConfig, initialisation: object, engine: str) -> Model:  # type: ignore[override]
            network: Model = plain.Plain(config)
            return network

        def runs_on(self, model: Model) -> str:
            return "torch"

        step, bound_backward = Family.step, Family.bound_backward

    register(Headless("headless", "Headless", "#123456"))
    train(small(paper_settings("copy", "headless")), tmp_path / "run")
    assert main(["trace", str(tmp_path / "run")]) == 2
    said = capsys.readouterr().err
    assert "Headless cannot be traced: its network, Plain, has no method trace" in said
    assert said.count("\n") == 1


def install(folder: Path, module: str, points: str) -> None:
    """A distribution in a folder, as pip leaves it."""
    (folder / "their_package.py").write_text(module)
    info = folder / "their_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(points)


BROKEN = """[ntm.families]
theirs = their_package:theirs
as-class = their_package:Theirs
misnamed = their_package:other
[ntm.tasks]
task-of-theirs = no_such_module:Task
"""
MODULE = """
from ntm.models.ntm import NTMFamily
class Theirs(NTMFamily): pass
other = Theirs("other", "Other", "#123456")
"""


def test_broken_entry_points_cost_a_line_and_break_nothing_else(tmp_path: Path) -> None:
    install(tmp_path, MODULE, BROKEN)
    used = ntm("eval", "copy-ff", "--sequences", 2, path=tmp_path)
    assert used.returncode == 0, used.stderr
    lines = used.stderr.splitlines()
    assert sorted(line.split("'")[1] for line in lines) == [
        *("as-class", "misnamed", "task-of-theirs", "theirs")
    ]
    assert all(line.endswith("; fix or remove it.") for line in lines)
    assert all("of their-package failed" in line for line in lines)


@pytest.mark.parametrize(
    ("task", "model", "said"),
    [
        ("copy", "theirs", "has no attribute 'theirs'"),
        ("copy", "as-class", "Theirs is not an instance of a family; register an instance of"),
        ("copy", "misnamed", "it is called 'other', which must be the entry point's name"),
        ("task-of-theirs", "ntm-ff", "No module named 'no_such_module'"),
    ],
)
def test_the_name_of_a_broken_entry_point_is_refused_with_the_reason(
    task: str, model: str, said: str, tmp_path: Path
) -> None:
    asked = task if task != "copy" else model
    (point,) = (line for line in BROKEN.splitlines() if line.startswith(asked))
    install(tmp_path, MODULE, f"[ntm.{'tasks' if task != 'copy' else 'families'}]\n{point}\n")
    failed = ntm("train", task, "--model", model, "--run", tmp_path / "run", path=tmp_path)
    assert failed.returncode == 2
    assert said in failed.stderr
    assert failed.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_a_class_in_place_of_a_family_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match=r"NTMFamily is not an instance .* such as MyFamily"):
        register(NTMFamily)  # type: ignore[arg-type]


PROGRAM = """
import sys
from ntm.models import family_of
from ntm.runs import Run
from ntm.evaluation import evaluate
from ntm.training import paper_settings, train
{definitions}
settings = paper_settings("{task}", "{model}").with_(training={{"sequences": 3}})
train(settings, sys.argv[1])
model = Run(sys.argv[1]).load_model()[0]
print(family_of(model).name, evaluate(model, Run(sys.argv[1]).settings.task, 2).sequences)
"""


@pytest.mark.parametrize(
    ("task", "model", "file", "kind"),
    [("copy", "plain", "plain.py", "PlainFamily"), ("reverse", "ntm-ff", "reverse.py", "Reverse")],
)
def test_a_class_of_a_script_is_loaded_there_and_explained_elsewhere(
    task: str, model: str, file: str, kind: str, tmp_path: Path
) -> None:
    definitions = (HERE / file).read_text()
    script, folder = tmp_path / "script.py", tmp_path / "runs" / "run"
    script.write_text(PROGRAM.format(definitions=definitions, task=task, model=model))
    printed = subprocess.run(
        [sys.executable, script, folder], capture_output=True, text=True, check=False
    )
    assert done(printed) == f"{model} 2\n"
    failed = ntm("eval", folder, "--sequences", 2)
    assert failed.returncode == 1
    assert f"is the class {kind} of a script or a notebook" in failed.stderr
    assert "put the class into a file or a module" in failed.stderr
    assert failed.stderr.count("\n") == 1
    # As the sentence says: with the class in a file that the run names, it is found.
    config = folder / "config.json"
    named = config.read_text().replace(f"__main__:{kind}", str(HERE / file))
    config.write_text(named)
    done(ntm("eval", folder, "--sequences", 2))


def test_the_studio_lists_a_run_of_a_script_where_its_class_is_known(tmp_path: Path) -> None:
    load_file(shutil.copy(HERE / "plain.py", tmp_path))
    config = Run.create(tmp_path / "runs" / "mine", paper_settings("copy", "plain")).path
    text = (config / "config.json").read_text()
    named = text.replace(str(tmp_path / "plain.py"), "__main__:PlainFamily")
    assert named != text
    (config / "config.json").write_text(named)

    def listed() -> dict[str, str]:
        with TestClient(create_app(config.parent), base_url="http://127.0.0.1:1") as studio:
            (run,) = studio.get("/api/runs").json()["runs"]
            return dict(run)

    assert listed()["model"] == "plain"
    del MODELS["plain"]
    assert "comes from __main__:PlainFamily" in listed()["reason"]
    with pytest.raises(RunError, match="class PlainFamily of a script or a notebook"):
        Run(config)
