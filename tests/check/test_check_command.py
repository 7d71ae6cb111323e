"""`check` and `replay` on the command line: verdicts, exit codes, JSON, files, Ctrl-C."""

from __future__ import annotations

import json
import math

import pytest

from dpaudit.cli import run
from dpaudit.core.algorithms import load
from dpaudit.errors import Contradiction
from dpaudit.exact import horizons
from dpaudit.exact.climb import against_the_odds, hunt
from dpaudit.verdict import Finding, Status, combine

CERTAIN = ("--method", "structure,exact")
RIGHT = '''"""A private algorithm of one's own."""
from dataclasses import dataclass
from dpaudit.core.episodes import DoublingEpisodes
from dpaudit.core.scores import Affine


@dataclass(frozen=True, kw_only=True)
class Own(DoublingEpisodes):
    """Doubling episodes around the private mean and a bonus that fades."""

    bonus: float = 1.0

    def rule(self, pulls, time, m):
        """Return the index."""
        return Affine(m.number(self.bonus) * m.log(time) / pulls)
'''
WRONG = '''"""The same with too little noise."""
from dataclasses import dataclass
from dpaudit.core.algorithm import Release
from dpaudit.core.arithmetic import exact
from dpaudit.core.noise import Laplace
from own_right import Own


@dataclass(frozen=True, kw_only=True)
class Leaky(Own):
    """Forgets that the first pull stands for half a reward, and halves the rest."""

    def release(self, rows):
        """Return the mean with half the noise."""
        scale = 1 / (2 * exact(self.epsilon) * len(rows))
        return Release(rows.arm, rows, Laplace(scale), divisor=len(rows))
'''
VARIANTS = '''"""Known-wrong variants."""
from dataclasses import dataclass, replace
from dpaudit.core.algorithm import Release, Rows, Step
from dpaudit.core.algorithms.adap_klucb import AdapKLUCB
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.algorithms.dp_ucb import DPUCB
from dpaudit.core.arithmetic import exact
from dpaudit.core.episodes import Deciding, Playing
from dpaudit.core.noise import Laplace


class HalvedNoise:
    def release(self, rows):
        right = super().release(rows)
        return replace(right, noise=Laplace(exact(right.noise.scale) / 2))


class HalvedWhenLong:
    def release(self, rows):
        right = super().release(rows)
        halved = replace(right, noise=Laplace(exact(right.noise.scale) / 2))
        return halved if len(rows) >= 128 else right


class AllRewards:
    def release(self, rows):
        noise = Laplace(1 / (exact(self.epsilon) * rows.stop))
        return Release(rows.arm, Rows(rows.arm, 0, rows.stop), noise, divisor=rows.stop)


class Redrawn:
    def step(self, state):
        match state:
            case Deciding(pulls) if 0 not in pulls:
                return self.step(("redraw", pulls, 0))
            case ("redraw", pulls, arm) if arm < self.arms:
                rows = Rows(arm, pulls[arm] // 2, pulls[arm])
                return Step(self.release(rows), lambda _: ("redraw", pulls, arm + 1))
            case ("redraw", pulls, _):
                return Step(self.choice(pulls), lambda arm: Playing(pulls, arm))
        return super().step(state)


def variant(flaw, base):
    made = type(flaw.__name__ + base.__name__, (flaw, base), {})
    return dataclass(frozen=True, kw_only=True)(made)


halved_ucb, halved_klucb = variant(HalvedNoise, AdapUCB), variant(HalvedNoise, AdapKLUCB)
all_ucb, all_klucb = variant(AllRewards, AdapUCB), variant(AllRewards, AdapKLUCB)
redrawn_ucb, redrawn_klucb = variant(Redrawn, AdapUCB), variant(Redrawn, AdapKLUCB)
long_ucb = variant(HalvedWhenLong, AdapUCB)
shallow_tree = variant(HalvedNoise, DPUCB)
'''


@pytest.fixture
def here(tmp_path, monkeypatch):
    for name, text in (("own_right", RIGHT), ("own_wrong", WRONG), ("variants", VARIANTS)):
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def command(capsys, *words):
    """Run a command line; return its exit code and what it printed."""
    code = run(words)
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def report(capsys, *words):
    code, out, err = command(capsys, "check", *words, "--json", "-")
    assert not err
    return code, json.loads(out)


def test_proved_and_holds_in_words_and_in_json(capsys, tmp_path):
    file = tmp_path / "report.json"
    words = ("check", "adap_ucb", "--exact-horizon", "3", "--horizon", "1e5", "--json", str(file))
    code, out, _ = command(capsys, *words)
    data = json.loads(file.read_text())
    assert code == 0
    assert data["verdict"] == "PROVED"
    assert data["claim"]["epsilon"] == 1.0
    assert data["claim"]["horizon"] == 10**5
    assert [f["check"] for f in data["findings"]] == ["structure", "exact", "sample"]
    for finding in data["findings"]:
        assert set(finding) >= {
            "check", "status", "epsilon_lower", "epsilon_upper", "certified", "arms", "horizon",
            "streams", "witness", "reason", "seconds",
        }  # fmt: skip
    structure, exact, _ = data["findings"]
    assert structure["status"] == "PROVED"
    assert exact["status"] == "HOLDS"
    assert exact["horizon"] == 3
    largest = 0.5 - math.log(1.25)  # at T = 3
    assert abs(exact["epsilon_lower"] - largest) < 1e-9
    assert largest - 1e-9 < data["epsilon_lower"] <= data["epsilon_upper"] == 1.0
    assert data["epsilon_lower"] >= exact["epsilon_lower"]
    said = " ".join(out.split())
    assert "adap_ucb claims epsilon = 1" in said
    assert "PROVED at every horizon: no action sequence, however long," in said
    assert "sample SILENT" in said
    assert "In doubles" in said and "Not covered: timing" in said
    assert "0.276856" in said


def test_silence_is_undecided(capsys):
    code, out, _ = command(capsys, "check", "ucb", "--method", "structure")
    assert code == 3
    assert "no conclusion about privacy" in " ".join(out.split())


@pytest.mark.parametrize("name", ["ucb", "kl_ucb"])
def test_no_noise_is_refuted_with_infinite_loss(capsys, tmp_path, name):
    file = tmp_path / "witness.json"
    code, out, _ = command(capsys, "check", name, "--witness", str(file), "--exact-horizon", "3")
    assert code == 1
    assert "REFUTED" in out
    assert "is judged against epsilon = 1" in out
    assert f"replay {file}" in out.replace("\n", "")
    code, out, _ = command(capsys, "replay", str(file))
    assert code == 0
    assert "CONFIRMED" in out
    assert "inf" in out


def test_own_file_right(capsys, here):
    words = ("own_right.py:Own", "--exact-horizon", "4", "--param", "bonus=2", *CERTAIN)
    code, data = report(capsys, *words)
    assert (code, data["verdict"]) == (0, "PROVED")
    assert data["claim"]["parameters"]["bonus"] == 2


def test_own_file_wrong(capsys, here):
    code, data = report(capsys, "own_wrong.py:Leaky", "--witness", "w.json")
    assert (code, data["verdict"]) == (1, "REFUTED")
    witness = json.loads((here / "w.json").read_text())
    assert witness["target"] == "own_wrong.py:Leaky"
    assert command(capsys, "replay", "w.json", "--target", "own_wrong.py:Leaky")[0] == 0


def slow(*names):
    """Variants that take several seconds; audits/ has the flaw among its mutants."""
    return [pytest.param(name, marks=pytest.mark.slow) for name in names]


@pytest.mark.parametrize(
    "name",
    ["halved_ucb", "halved_klucb", "all_ucb", "all_klucb", *slow("redrawn_ucb", "redrawn_klucb")],
)
def test_known_wrong_variants_are_refuted_and_replayed(capsys, here, name):
    words = (f"variants.py:{name}", "--horizon", "1000", "--budget", "120", *CERTAIN)
    code, data = report(capsys, *words, "--witness", "w.json")
    assert (code, data["verdict"]) == (1, "REFUTED")
    structure, exact = data["findings"][:2]
    assert structure["status"] == "SILENT"
    assert exact["witness"]["loss"]["lower"] > 1
    code, out, _ = command(capsys, "replay", "w.json", "--target", f"variants.py:{name}")
    assert code == 0
    assert "CONFIRMED" in out


def test_right_until_long_episodes(capsys, here):
    code, data = report(capsys, "variants.py:long_ucb", "--horizon", "257", "--method", "structure")
    assert (code, data["verdict"]) == (0, "PROVED")
    code, data = report(capsys, "variants.py:long_ucb", "--method", "structure")
    assert (code, data["verdict"]) == (3, "SILENT")
    assert data["epsilon_upper"] == 2.0


def test_long_episodes_are_refuted_where_they_are_reached(capsys, here):
    words = ("variants.py:long_ucb", "--method", "exact", "--budget", "200")
    code, data = report(capsys, *words, "--witness", "w.json")
    assert (code, data["verdict"]) == (1, "REFUTED")
    witness = json.loads((here / "w.json").read_text())
    assert len(witness["actions"]) == 513  # two arms with 256 pulls each, and the choice after
    assert witness["loss"]["lower"] > 1.99
    assert command(capsys, "replay", "w.json", "--target", words[0])[0] == 0


def test_the_hunt_refutes_nothing_that_is_right():
    algorithm = load("adap_ucb", arms=2)
    assert against_the_odds(algorithm, 1, 600).actions.tolist() == [0, 1, 0, 1, 0]
    assert against_the_odds(algorithm, 512, 600) is None
    assert hunt(algorithm, 150, 1.0, math.inf) is None
    assert hunt(algorithm, 100, 0.9, math.inf) is not None
    assert hunt(load("dp_se", arms=2, horizon=600), 600, 1.0, math.inf) is None


def test_other_instances_do_not_contradict(capsys, here, monkeypatch):
    """dp_ucb knows its horizon: the instance for 8 rounds is another one than that for 1000."""
    code, data = report(
        capsys, "variants.py:shallow_tree", "--horizon", "300", "--method", "structure"
    )
    assert (code, data["verdict"]) == (3, "SILENT")


def test_contradictions_are_bugs_of_dpaudit(capsys, here, monkeypatch):
    proved = Finding("structure", Status.PROVED, "forged.", epsilon_upper=1.0, arms=2, horizon=1000)
    refuted = Finding("exact", Status.REFUTED, "seen.", epsilon_lower=2.0, arms=2, horizon=8)
    with pytest.raises(Contradiction, match="a bug in dpaudit"):
        combine([proved, refuted], 1000)
    monkeypatch.setattr("dpaudit.structure.prove", lambda *_: proved)
    code, _, err = command(capsys, "check", "mutants/noise_halved")
    assert code == 2
    assert "a bug in dpaudit" in err
    assert err.count("\n") == 1


def test_interrupted_work_is_shown(capsys, monkeypatch):
    calls, real = [], horizons.worst_loss

    def interrupted(*words, **options):
        calls.append(words)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(*words, **options)

    monkeypatch.setattr(horizons, "worst_loss", interrupted)
    code, out, _ = command(capsys, "check", "adap_ucb", "--horizon", "100")
    assert code == 130
    words = " ".join(out.split())
    assert "Interrupted before the next horizon." in words
    assert "epsilon*(3)" in words
    assert "Interrupted: the checks above are all that was finished." in words


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("adap_klcub",), "Did you mean 'adap_klucb'?"),
        (("adap_ucb", "--epsilon", "-1"), "epsilon=-1.0 must be positive."),
        (("adap_ucb", "--epsilon", "nan"), "epsilon=nan must be a number, not nan."),
        (("adap_ucb", "--epsilon", "small"), "epsilon=small must be a number."),
        (("adap_ucb", "--arms", "1"), "arms=1 must be at least 2."),
        (("adap_ucb", "--horizon", "1.5"), "horizon=1.5 must be a whole number"),
        (("adap_ucb", "--horizon", "0"), "horizon=0 must be at least 1."),
        (("adap_ucb", "--exact-horizon", "0"), "exact_horizon=0 must be at least 1."),
        (("adap_ucb", "--budget", "0"), "budget=0.0 must be positive."),
        (("adap_ucb", "--method", "exakt"), "Did you mean 'exact'?"),
        (("adap_ucb", "--param", "beta"), "must look like name=value."),
        (("adap_ucb", "--param", "beta=1"), "beta=1 is not a parameter of adap_ucb"),
        (("dp_ucb", "--alpha", "2"), "alpha=2.0 is not a parameter of dp_ucb"),
        (("adap_ucb", "--json", "no/such/dir/x.json"), "cannot be written"),
        (("adap_ucb", "--witness", "no/such/dir/x.json"), "cannot be written"),
        (("gone.py:Own",), "there is no file gone.py"),
        (("json:dumps",), "TypeError"),
        (("math:sqrt",), "neither an Algorithm nor code in a file of Python"),
        (("json:JSONDecoder",), "is installed code, which is for `audit`, as "),
    ],
)
def test_usage_errors_are_one_line(capsys, words, said):
    code, out, err = command(capsys, "check", *words)
    assert code == 2
    assert said in err and "`check`" not in err  # which was just used
    assert err.count("\n") == 1
    assert not out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "cannot be read: No such file or directory."),
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("[1, 2]", "holds no counterexample"),
        ('{"target": "ucb"}', "holds no counterexample"),
        ('{"verdict": "REFUTED", "findings": []}', "is a report"),
        ('{"dpaudit": "audit"}', "`dpaudit audit TARGET --replay FILE` judges new ones"),
    ],
)
def test_replay_of_other_files_is_one_line(capsys, tmp_path, text, said):
    file = tmp_path / "w.json"
    if text is not None:
        file.write_text(text)
    code, _, err = command(capsys, "replay", str(file))
    assert code == 2
    assert said in err
    assert err.count("\n") == 1


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    file = tmp_path_factory.mktemp("found") / "w.json"
    assert run(["check", "ucb", "--exact-horizon", "3", "--witness", str(file)]) == 1
    return file.read_bytes()


@pytest.fixture
def witness(found, tmp_path):
    file = tmp_path / "w.json"
    file.write_bytes(found)
    return file


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        ({"target": "no_such"}, 2, "No algorithm 'no_such'."),
        ({"target": "gone.py:Own"}, 2, "to run it, add --target gone.py:Own"),
        ({"position": 2}, 2, "must be where the streams differ"),
        ({"actions": [0, 1]}, 2, "must be a row of 2 rewards"),
        ({"actions": [0, 1, 7]}, 2, "must lie in 0..1"),
        ({"neighbour": [0.0, 0.0]}, 2, "as long as the stream"),
        ({"parameters": {"arms": 1}}, 2, "arms=1 must be at least 2."),
        ({"target": "adap_ucb"}, 1, "NOT CONFIRMED"),
    ],
)
def test_replay_trusts_nothing_in_the_file(capsys, witness, change, code, said):
    data = json.loads(witness.read_text()) | change
    witness.write_text(json.dumps(data))
    got, out, err = command(capsys, "replay", str(witness))
    assert got == code
    assert said in (err if code == 2 else " ".join(out.split()))
    assert err.count("\n") == (code == 2)


def test_replay_says_when_the_recorded_numbers_are_stale(capsys, witness):
    data = json.loads(witness.read_text())
    data["loss"] = {"lower": 1.5, "upper": 1.6, "certified": True}
    witness.write_text(json.dumps(data))
    code, out, _ = command(capsys, "replay", str(witness))
    assert code == 0
    assert "stale" in out


def test_replay_json(capsys, witness):
    code, out, _ = command(capsys, "replay", str(witness), "--json", "-")
    data = json.loads(out)
    assert code == 0
    assert data["confirmed"]
    assert data["agrees"]
    assert data["witness"]["target"] == "ucb"


def test_what_holds_for_short_runs_is_said_so_and_decides_nothing(capsys):
    words = ["check", "mutants/noise_halved_late", "--method", "structure,exact"]
    assert run([*words, "--exact-horizon", "4"]) == 3
    out = " ".join(capsys.readouterr().out.split())
    assert "exact HOLDS 0.4972" in out
    assert "HOLDS up to 4 of 10,000,000 rounds: epsilon = 1 is respected" in out
    assert "Nothing is said about longer runs, and 10,000,000 rounds were claimed." in out
    # the same size, claimed
    assert run([*words, "--exact-horizon", "4", "--horizon", "4"]) == 0
