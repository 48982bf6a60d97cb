"""A file of examples from the command line: train, resume, eval, predict, trace."""

import io
import json
import sys
from pathlib import Path

import pytest

from ntm.commands.main import main
from ntm.runs import Run
from ntm.trace import Trace

SMALL = ("--set", "model.controller_size=20", "--set", "model.memory_locations=8")
SHORT = (*SMALL, "--set", "training.report_every=512", "--batch-size", "4")
WORDS = ["".join("abc"[(n // 3**i) % 3] for i in range(1 + n % 4)) for n in range(81)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    lines = [json.dumps({"input": word, "target": word[::-1]}) for word in WORDS]
    (tmp_path / "words.jsonl").write_text("\n".join(lines))
    return tmp_path / "words.jsonl"


@pytest.fixture
def run(file: Path) -> Path:
    """Return the folder of a short run."""
    folder = file.parent / "run"
    assert main(["train", str(file), "--run", str(folder), "--sequences", "1024", *SHORT]) == 0
    return folder


def test_a_run_stores_its_symbols_and_needs_no_file_to_answer(
    run: Path, file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert json.loads((run / "config.json").read_text())["task"]["input_symbols"] == [*"abc"]
    file.unlink()
    capsys.readouterr()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"abc\n\ncb\n")))
    assert main(["predict", str(run), "--longest", "5"]) == 0
    answers = capsys.readouterr().out.splitlines()
    assert len(answers) == 2
    assert all(set(answer) <= set("abc") and len(answer) <= 5 for answer in answers)


def test_eval_measures_the_held_out_lines_or_another_file(
    run: Path, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = file.parent / "other.csv"
    other.write_text("input,target\nabcab,bacba\n")
    capsys.readouterr()
    held_out = Run(run).settings.task.for_validation.problems
    for options, count in (((), held_out), (("--data", str(other)), 1)):
        assert main(["eval", str(run), "--json", *options]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["sequences"] == count
        assert 0 <= found["accuracy"] <= 1


def test_predict_reads_files_of_every_kind(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    contents = {
        "inputs.jsonl": '"ab"\n{"input": "ab"}\n{"input": ["a", "b"], "target": "x"}\n',
        "inputs.csv": "input,target\nab,x\nab,y\nab,z\n",
        "inputs.tsv": "input\nab\nab\nab\n",
        "inputs.txt": "ab\nab\nab\n",
    }
    capsys.readouterr()
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
        assert main(["predict", str(run), str(tmp_path / name), "--json"]) == 0
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert len({line["answer"] for line in lines}) == 1, name
        assert len(lines) == 3, name


def test_unknown_symbols_are_named(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "inputs.txt").write_text("ab\naxb\n")
    capsys.readouterr()
    assert main(["predict", str(run), str(tmp_path / "inputs.txt")]) == 1
    assert "inputs.txt, line 2: the network does not know the symbol 'x'" in capsys.readouterr().err


def test_trace_takes_a_typed_input(run: Path, tmp_path: Path) -> None:
    assert main(["trace", str(run), "--input", "cab", "--save", str(tmp_path / "t.npz")]) == 0
    trace = Trace.load(tmp_path / "t.npz")
    assert trace.output_kind == "symbols"
    assert trace.inputs[:4, 0].argmax(axis=1).tolist() == [2, 0, 1, 3]
    assert main(["trace", str(run)]) == 0
    assert main(["trace", "copy-ff", "--input", "01"]) == 2


def test_a_resumed_run_ends_with_the_same_bits(run: Path, file: Path) -> None:
    folder = file.parent / "resumed"
    options = ["--run", str(folder), *SHORT]
    assert main(["train", str(file), *options, "--sequences", "512"]) == 0
    assert main(["train", str(file), "--resume", *options, "--sequences", "1024"]) == 0
    weights = [(path / "model.safetensors").read_bytes() for path in (run, folder)]
    assert weights[0] == weights[1]


def test_a_saved_network_knows_its_symbols(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    opened = Run(run)
    opened.load_model()[0].save_pretrained(tmp_path / "saved", task=opened.settings.task)
    answers = []
    (tmp_path / "inputs.txt").write_text("abc\nb\n")
    for folder in (run, tmp_path / "saved"):
        capsys.readouterr()
        assert main(["predict", str(folder), str(tmp_path / "inputs.txt")]) == 0
        assert main(["eval", str(folder), "--json"]) == 0
        answers.append(capsys.readouterr().out.partition("mean_bits")[2])
    assert answers[0] == answers[1]


def test_training_says_what_it_has_read(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(file.parent)
    (file.parent / "marked.csv").write_bytes(b"\xef\xbb\xbfinput,target\r\na,b\r\nb,a\r\n")
    for name, options, words in (
        ("words.jsonl", (), "with inputs of 3 symbols and targets of 3 symbols; 'a' is answered"),
        ("marked.csv", (), "marked.csv: 1 examples to train on and 1 for validation"),
        ("marked.csv", ("--classify",), "with inputs of 2 symbols and targets of 2 symbols"),
    ):
        words_of_run = ["--run", f"{name}-{len(options)}", "--sequences", "4", *SHORT, *options]
        assert main(["train", name, *words_of_run]) == 0
        assert words in capsys.readouterr().out
    (file.parent / "list.json").write_text("[]")
    assert main(["train", "list.json"]) == 2
    assert "list.json is not a file of examples; its name must end in" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("copy", "--aligned"), "--aligned is for a file of examples"),
        (("copy", "--valid", "x.csv"), "--valid is for a file of examples"),
        (("missing.jsonl",), "There is no file missing.jsonl"),
    ],
)
def test_wrong_calls(
    words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", *words]) == 2
    assert message in capsys.readouterr().err


def test_a_changed_file_is_not_trained_on(
    run: Path, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(file.read_text().replace("abc", "acb"))
    assert main(["train", "--run", str(run), "--resume", "--sequences", "2048"]) == 1
    assert "has changed since the run was started" in capsys.readouterr().err
