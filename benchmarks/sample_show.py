"""Three demonstrations of the sampler on the command line; each exits 1 if it fails.

python benchmarks/sample_show.py blackboxes         two bandits as a new user would write them
python benchmarks/sample_show.py foreign [PYTHON]   UCB of river and of mabwiser (PYTHON has
                                                    both; else they go into a temporary venv)
python benchmarks/sample_show.py resume [KILLS]     killed at random and resumed; any workers
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
ROOT = EXAMPLES.parent


def dpaudit(*words: str, python: str = sys.executable) -> tuple[int, str]:
    """Run a command, show it with its output, and return its exit code and output."""
    print(f"$ python -m dpaudit {' '.join(words)}")
    start = time.perf_counter()
    done = subprocess.run(
        [python, "-m", "dpaudit", *words], cwd=ROOT, capture_output=True, check=False, text=True
    )
    print(done.stdout + done.stderr.rpartition("\r")[2], end="")
    print(f"exit {done.returncode}, {time.perf_counter() - start:.0f} s\n", flush=True)
    return done.returncode, done.stdout


def blackboxes() -> bool:
    """The private one is silent; the other is refuted, replayed, and its line is named."""
    leaky, own = "examples/leaky_bandit.py:LeakyBatches", ("--arms", "2", "--epsilon", "1")
    with tempfile.TemporaryDirectory() as folder:
        report = str(Path(folder) / "report.json")
        silent = dpaudit("audit", "examples/private_bandit.py:PrivateBatches", *own)[0] == 0
        refuted = dpaudit("audit", leaky, *own, "--json", report)[0] == 1
        again = dpaudit("audit", leaky, "--replay", report)[0] == 1
    code, text = dpaudit("check", leaky, *own, "--method", "code")
    named = code == 3 and "leaky_bandit.py:" in text
    return silent and refuted and again and named


def foreign(python: str | None) -> bool:
    """Both are refuted within a minute."""
    with tempfile.TemporaryDirectory() as folder:
        if python is None:
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            python = str(Path(folder) / "bin" / "python")
            packages = [str(ROOT), "river", "mabwiser"]
            subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=True)
        start, codes = time.perf_counter(), []
        for name in ("river_ucb", "mabwiser_ucb"):
            target = f"examples/foreign.py:{name}"
            codes.append(
                dpaudit("audit", target, "--epsilon", "1", "--arms", "2", python=python)[0]
            )
        print(f"{time.perf_counter() - start:.0f} s for both")
    return codes == [1, 1]


def _kept(log: Path) -> list[str]:
    return ["--resume" if log.exists() else "--log", str(log)]


def _killed(words: list[str], log: Path, rng: random.Random) -> tuple[int, int]:
    """Start a command and kill it, workers and all; return the lines in its log, and its exit."""

    def logged() -> int:
        return log.read_bytes().count(b"\n") if log.exists() else 0

    process = subprocess.Popen(
        [sys.executable, "-m", "dpaudit", *words],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    # a random moment of its work, not of its start: some blocks further, and a little more
    goal = logged() + rng.randint(1, 8)
    while logged() < goal and process.poll() is None:
        time.sleep(0.02)
    time.sleep(rng.uniform(0, 0.2))
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    return logged(), process.wait()


def resume(kills: int) -> bool:
    """Killed at random moments and resumed: the same bytes, as for two jobs and for dask."""
    common = ["audit", "adap_klucb", "--arms", "3", "--horizon", "1000", "--runs", "24000"]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)

        def finish(name: str, *words: str) -> bytes:
            code, _ = dpaudit(*common, *words, "--json", str(place / name))
            assert code == 0
            return (place / name).read_bytes()

        whole, rng = finish("whole.json"), random.Random(0)
        found = {
            "two jobs": finish("jobs.json", "--jobs", "2"),
            "dask": finish("dask.json", "--backend", "dask", "--jobs", "2"),
        }
        for jobs in ("1", "2"):
            log = place / f"log {jobs}"
            for number in range(kills):
                words = [*common, *_kept(log), "--jobs", jobs, "--json", str(place / "x.json")]
                lines, code = _killed(words, log, rng)
                print(f"jobs {jobs}, kill {number + 1}: {lines} lines logged, exit {code}")
            found[f"resumed, jobs {jobs}"] = finish("x.json", *_kept(log), "--jobs", jobs)
        for name, data in found.items():
            print(f"{name}: {len(data)} bytes, equal to the uninterrupted run: {data == whole}")
    return all(data == whole for data in found.values())


if __name__ == "__main__":
    words = sys.argv[1:]
    if words[:1] == ["blackboxes"]:
        shown = blackboxes()
    elif words[:1] == ["foreign"]:
        shown = foreign(words[1] if len(words) > 1 else None)
    elif words[:1] == ["resume"]:
        shown = resume(int(words[1]) if len(words) > 1 else 10)
    else:
        sys.exit(__doc__)
    print("shown" if shown else "NOT SHOWN")
    sys.exit(not shown)
