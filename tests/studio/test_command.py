"""`ntm studio` and `ntm trace` as a person meets them."""

import http.cookiejar
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import pytest
from tests.studio.conftest import make_run
from tests.studio.test_sharing import Page

from ntm import NTM, pretrained
from ntm.commands.main import main
from ntm.studio.token import lasting_token
from ntm.tasks import make_task


def test_a_trace_becomes_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_run(tmp_path / "copying")
    file = tmp_path / "trace.html"
    options = ["--length", "9", "--memory-locations", "30"]
    assert main(["trace", str(tmp_path / "copying"), "--html", str(file), *options]) == 0
    assert capsys.readouterr().out.startswith(f"copying, length 9: {file}, ")
    document = json.loads(Page(file.read_text()).texts["script"][0])
    assert document["title"] == "copying, length 9"
    assert document["steps"] == 19
    assert document["memory"]["shape"] == [19, 30, 5]


def test_a_pretrained_network_goes_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pretrained.publish(make_run(tmp_path / "copying"), tmp_path)
    monkeypatch.setattr("ntm.runs.packaged.FOLDER", tmp_path)
    assert main(["trace", "copy-ff", "--html", str(tmp_path / "trace.html")]) == 0
    assert capsys.readouterr().out.startswith("copy-ff, length 10: ")


def test_a_trace_is_saved_and_shown_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the terminal and as a page, the saved trace shows what the recorded one shows."""
    make_run(tmp_path / "copying")
    run, saved = str(tmp_path / "copying"), str(tmp_path / "t.npz")
    pages = [tmp_path / "first.html", tmp_path / "again.html"]
    assert main(["trace", run, "--length", "4", "--save", saved, "--html", str(pages[0])]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(": ")[2].split(",")[0] for line in lines] == [saved, str(pages[0])]
    assert main(["trace", run, "--length", "4"]) == 0
    drawn = capsys.readouterr().out
    assert drawn.startswith("copying, length 4: ")
    shutil.rmtree(run)
    assert main(["trace", saved]) == 0
    assert capsys.readouterr().out == drawn
    assert main(["trace", saved, "--html", str(pages[1])]) == 0
    assert pages[0].read_text() == pages[1].read_text()


def test_a_saved_trace_has_its_problem_and_a_foreign_file_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_run(tmp_path / "copying")
    saved = str(tmp_path / "t.npz")
    main(["trace", str(tmp_path / "copying"), "--save", saved])
    for option in ("--seed", "--length", "--memory-locations"):
        capsys.readouterr()
        assert main(["trace", saved, option, "3"]) == 2
        assert f"leave {option} out" in capsys.readouterr().err
    (tmp_path / "t.npz").write_text("nothing")
    assert main(["trace", saved]) == 2
    assert "is not a trace" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--items", "3"], "The copy task has no axis 'items'"),
        (["--length", "0"], "length must be an integer of at least 1, got 0"),
        (["--memory-locations", "3"], "A memory can grow, not shrink"),
    ],
)
def test_a_trace_that_cannot_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], sentence: str
) -> None:
    make_run(tmp_path / "copying")
    file = tmp_path / "trace.html"
    assert main(["trace", str(tmp_path / "copying"), "--html", str(file), *options]) == 2
    assert sentence in capsys.readouterr().err
    assert not file.exists()


def test_a_trace_of_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", str(tmp_path), "--html", str(tmp_path / "x.html")]) == 2
    assert "is not a run folder" in capsys.readouterr().err


def test_the_studio_wants_a_folder_of_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["studio", str(tmp_path / "nowhere"), "--no-browser"]) == 2
    assert "There is no folder" in capsys.readouterr().err
    make_run(tmp_path / "a run")
    assert main(["studio", str(tmp_path / "a run"), "--no-browser"]) == 2
    assert "runs with plain names of letters, digits" in capsys.readouterr().err
    assert main(["studio", "copy-ff", "--task", "copy"]) == 2
    assert "--task is for a saved network" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "view"),
    [
        ("runs/copying", "play/run:copying"),
        ("copy-ff", "play/pretrained:copy-ff"),
        ("my network", "play/saved:my%20network"),
    ],
)
def test_the_studio_opens_a_network(tmp_path: Path, name: str, view: str) -> None:
    make_run(tmp_path / "runs" / "copying")
    saved = NTM(9, 8, controller_size=7, memory_locations=11, memory_width=5)
    saved.save_pretrained(tmp_path / "my network", task=make_task("copy"))
    command = [sys.executable, "-m", "ntm", "studio", name, "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as studio:
        try:
            assert studio.stdout is not None
            invitation, _, shown = studio.stdout.readline().strip().partition("#")
            address, token = invitation.split("?token=")
            request = urllib.request.Request(f"{address}api/networks")
            request.add_header("Authorization", f"Bearer {token}")
            with urllib.request.urlopen(request, timeout=300) as answer:
                listed = {network["id"] for network in json.load(answer)}
        finally:
            studio.kill()
    assert shown == view
    assert urllib.parse.unquote(view).removeprefix("play/") in listed


def test_the_studio_opens_a_saved_trace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_run(tmp_path / "copying")
    saved = tmp_path / "t.npz"
    main(["trace", str(tmp_path / "copying"), "--save", str(saved)])
    command = [sys.executable, "-m", "ntm", "studio", str(saved), "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as studio:
        assert studio.stdout is not None
        assert studio.stdout.readline().strip().endswith("#play/trace:t.npz")
        studio.terminate()
    saved.write_text("nothing")
    (tmp_path / "t.txt").write_text("nothing")
    for file, sentence in ((saved, "is not a trace"), (tmp_path / "t.txt", "neither a folder")):
        capsys.readouterr()
        assert main(["studio", str(file), "--no-browser"]) == 2
        assert sentence in capsys.readouterr().err


def test_a_port_that_is_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert main(["studio", str(tmp_path), "--port", port, "--no-browser"]) == 1
    assert "choose another --port" in capsys.readouterr().err


@pytest.mark.parametrize("port", ["70000", "-1", "x"])
def test_a_port_that_is_none(capsys: pytest.CaptureFixture[str], port: str) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["studio", f"--port={port}"])
    assert f"'{port}' is not a port" in capsys.readouterr().err


def test_the_studio_as_a_process(tmp_path: Path) -> None:
    """It prints its address, answers, and ends quietly, with what it has started."""
    command = [sys.executable, "-m", "ntm", "studio", str(tmp_path), "--port", "0", "--no-browser"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as studio:
        try:
            assert studio.stdout is not None
            address = studio.stdout.readline().strip()
            address, token = address.split("?token=")
            assert address.startswith("http://127.0.0.1:")
            order = urllib.request.Request(
                f"{address}api/runs",
                json.dumps({"task": "copy", "name": "mine", "sequences": 10_000_000}).encode(),
                {"Content-Type": "application/json"},
            )
            with pytest.raises(urllib.error.HTTPError, match="403"):
                urllib.request.urlopen(order, timeout=300)
            order.add_header("Authorization", f"Bearer {token}")
            with urllib.request.urlopen(order, timeout=300) as answer:
                assert json.load(answer) == {"name": "mine"}
            (child,) = _children(studio.pid)
            studio.send_signal(signal.SIGINT)
            _, complaints = studio.communicate(timeout=300)
        finally:
            studio.kill()
    assert studio.returncode == 0
    assert complaints == ""
    assert list((tmp_path / "mine" / "checkpoint").iterdir())  # however early it was stopped
    deadline = time.monotonic() + 60
    while _is_alive(child):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_page_still_works_after_a_restart(tmp_path: Path) -> None:
    """The cookie of a bookmarked page opens the next studio on the same port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "ntm", "studio", str(tmp_path), f"--port={port}"]
    jar = http.cookiejar.CookieJar()
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    for number in range(2):
        with subprocess.Popen(
            [*command, "--no-browser"], stdout=subprocess.PIPE, text=True
        ) as studio:
            try:
                assert studio.stdout is not None
                invitation = studio.stdout.readline().strip()
                opened = invitation if number == 0 else invitation.partition("?")[0]
                with browser.open(opened, timeout=300) as answer:
                    assert answer.status == 200
            finally:
                studio.kill()


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps no permission bits")
def test_only_the_owner_can_read_the_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    token = lasting_token()
    (file,) = (tmp_path / "ntm").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert lasting_token() == token == file.read_text()
    file.chmod(0o644)  # others may have read it
    assert lasting_token() != token
    file.write_text("short")
    assert len(lasting_token()) == len(token)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))  # no folder can be made there
    assert lasting_token() != lasting_token()


def _children(pid: int) -> list[int]:
    file = Path(f"/proc/{pid}/task")
    found = [(task / "children").read_text().split() for task in file.iterdir()]
    return [int(child) for children in found for child in children]


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
