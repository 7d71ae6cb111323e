"""Files: written whole, in place of nothing that dpaudit did not make, devices and links kept."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
import time

import pytest

from dpaudit import output
from dpaudit.cli import run
from dpaudit.errors import InvalidArgument
from dpaudit.output import require_writable, write_bytes, write_json, write_text
from dpaudit.report import console


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def test_a_new_file_has_the_mode_that_the_umask_gives(tmp_path):
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "new", "one\n")
    finally:
        os.umask(before)
    assert mode(tmp_path / "new") == 0o640


@pytest.mark.parametrize("kept", [0o600, 0o664, 0o755])
def test_a_file_keeps_its_mode(tmp_path, kept):
    path = tmp_path / "secret"
    write_text(path, "one\n1")
    path.chmod(kept)
    write_text(path, "one\n2")
    assert (mode(path), path.read_text()) == (kept, "one\n2")


def test_links_are_followed_and_stay_links(tmp_path):
    (tmp_path / "there").mkdir()
    for name in ("old", "new"):
        real, link = tmp_path / "there" / name, tmp_path / f"to-{name}"
        link.symlink_to(real)
        if name == "old":
            real.write_text("one\n1")
        write_text(link, "one\n2")
        assert link.is_symlink() and real.read_text() == "one\n2"
    (tmp_path / "round").symlink_to(tmp_path / "round")
    with pytest.raises(InvalidArgument, match="cannot be written"):
        write_text(tmp_path / "round", "one\n")


def test_a_pipe_is_written_and_stays_a_pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    heard = []
    reader = threading.Thread(target=lambda: heard.append(path.read_bytes()))
    reader.start()
    write_json({"a": 1}, str(path))
    reader.join(10)
    assert json.loads(heard[0]) == {"a": 1}
    assert stat.S_ISFIFO(os.stat(path).st_mode)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device here")
def test_a_device_stays_a_device(tmp_path):
    # through a link, so that a mistake would replace the link and not the machine's device
    for name in ("null", "full"):
        (tmp_path / name).symlink_to(f"/dev/{name}")
    write_bytes(tmp_path / "null", b"x", "x")
    with pytest.raises(InvalidArgument, match="No space left on device"):
        write_bytes(tmp_path / "full", b"x", "x")
    for name in ("null", "full"):
        assert (tmp_path / name).is_symlink()
        assert stat.S_ISCHR(os.stat(f"/dev/{name}").st_mode)


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="no names of open files here")
def test_standard_output_by_its_name_keeps_what_is_printed(tmp_path):
    # a link of our own, as /dev/stdout is one: the machine's may have been spoilt, or be by us
    (tmp_path / "stdout").symlink_to("/proc/self/fd/1")
    code = (
        "import sys; from pathlib import Path; from dpaudit.output import write_text;"
        "print('before'); write_text(Path(sys.argv[1]), 'data\\n'); print('after')"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "stdout")]
    with (tmp_path / "all").open("wb") as out:
        subprocess.run(command, stdout=out, check=True)
    assert (tmp_path / "all").read_text() == "before\ndata\nafter\n"


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "kept"
    write_text(path, "one\n1")

    def fail(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(KeyboardInterrupt):
        write_text(path, "one\n2")
    assert os.listdir(tmp_path) == ["kept"] and path.read_text() == "one\n1"


FOREIGN = {
    "source": b"import os\n",
    "manifest": b'{\n  "name": "shop",\n  "dependencies": {"dpaudit": "1"}\n}\n',
    "page": b"<!doctype html>\n<title>mine</title>\n",
    "binary": bytes(range(256)),
}
QUICK = ("check", "ucb", "--method", "exact", "--exact-horizon", "3")


@pytest.mark.parametrize("kind", FOREIGN)
@pytest.mark.parametrize("option", ["--witness", "--json", "--html", "--junit", "--sarif"])
def test_a_foreign_file_is_not_replaced(capsys, tmp_path, kind, option):
    path = tmp_path / "mine"
    path.write_bytes(FOREIGN[kind])
    assert run([*QUICK, option, str(path)]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1) and "remove it, or name another file" in err
    assert path.read_bytes() == FOREIGN[kind]


def test_one_kind_does_not_replace_another(capsys, tmp_path):
    path = tmp_path / "out"
    assert run([*QUICK, "--witness", str(path)]) == 1
    before = path.read_bytes()
    for option in ("--json", "--html", "--junit", "--sarif"):
        assert run([*QUICK, option, str(path)]) == 2
        assert path.read_bytes() == before
    assert run([*QUICK, "--witness", str(path)]) == 1
    assert run(["list", "--json", str(path)]) == 2
    capsys.readouterr()


@pytest.mark.parametrize("option", ["--json", "--junit", "--sarif", "--witness"])
def test_our_own_and_empty_files_are_replaced(capsys, tmp_path, option):
    path = tmp_path / "out"
    path.touch()
    for _ in range(2):
        assert run([*QUICK, option, str(path)]) == 1
        assert path.read_bytes()
    capsys.readouterr()


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_pictures_replace_their_like(tmp_path, suffix):
    from dpaudit.plotting import figure, require_picture, save

    path = tmp_path / f"plot{suffix}"
    canvas, axes = figure()
    axes.plot([1, 2])
    save(canvas, path)
    first = path.read_bytes()
    require_picture(str(path))
    save(canvas, path)
    path.write_bytes(first[:16] + b"somebody else's")
    with pytest.raises(InvalidArgument, match="remove it"):
        require_picture(str(path))


def test_what_cannot_be_written_is_known_before_the_work(tmp_path):
    (tmp_path / "loose").symlink_to(tmp_path / "nowhere" / "x")
    for name in ("loose", "nowhere/x", "."):
        with pytest.raises(InvalidArgument):
            require_writable(str(tmp_path / name))


def test_a_log_hears_of_long_work_at_times(capsys, monkeypatch):
    now = iter([0.0, 1.0, 25.0, 26.0, 61.0, 99.0])
    monkeypatch.setattr(output.time, "monotonic", lambda: next(now))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    with output.progress("report", total=3) as advance:
        advance(1, "one")
        advance(1, "two")
        advance(0, "three")
        advance(1000, "three")
    with output.progress("quick", total=None) as advance:
        pass
    assert capsys.readouterr().err == "report: 2 of 3, 25 s. two\nreport: 1,002 of 3, 61 s. three\n"


def test_a_log_hears_that_a_claim_is_still_judged(capsys, monkeypatch):
    monkeypatch.setattr(output, "BETWEEN", 0.01)
    with output.waiting(console(quiet=False), "checking") as say:
        say("checking: code, round 7 of 9")
        time.sleep(0.2)
        say("")
        time.sleep(0.05)
        told = capsys.readouterr().err
        assert set(told.splitlines()) == {"checking: code, round 7 of 9, 0 s"}
        time.sleep(0.05)
    assert capsys.readouterr().err == ""
