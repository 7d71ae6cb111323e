"""The command: tables, JSON, pictures, and one-line errors."""

import json

import pytest

from dpaudit import plotting
from dpaudit.cli import run
from dpaudit.regret_bounds import document, picture


def test_table_names_bounds_claims_and_regimes(capsys):
    assert run(["bounds", "--env", "C2", "--epsilon", "1", "--horizon", "1e7"]) == 0
    out = capsys.readouterr().out
    for text in ("d_epsilon", "16 alpha", "universal", "gap-free", "thm:nogap as repaired",
                 "liminf", "privacy is free from", "2.197", "minimax", "form 0.0001304",
                 "prints 0.003069",
                 "thm:minimax for bounded rewards as repaired"):  # fmt: skip
        assert text in out
    assert max(map(len, out.splitlines())) <= 100


def test_json_is_strict_and_complete(capsys):
    assert run(["bounds", "--env", "C2", "--alpha", "2", "--json", "-"]) == 0
    [document] = json.loads(capsys.readouterr().out)["instances"]
    assert document["means"] == [0.75, 0.625, 0.5, 0.375, 0.25]
    names = {bound["name"] for bound in document["bounds"]}
    assert "problem-dependent, d_epsilon" in names
    assert all(bound["claims"] for bound in document["bounds"])
    # alpha = 2: the paper's bounds say nothing, which JSON has no number for
    printed = [b["value"] for b in document["bounds"] if b["name"].startswith("16 alpha")]
    assert printed == ["inf"]


def test_simulations_are_reproducible(capsys):
    command = ["bounds", "adap_ucb", "dp_imed", "--env", "C1", "regimes", "--epsilon", "1",
               "--horizon", "1e5", "--runs", "5", "--json", "-"]  # fmt: skip
    assert run(command) == 0
    first = capsys.readouterr().out
    assert run([*command, "--jobs", "2"]) == 0
    assert capsys.readouterr().out == first
    documents = json.loads(first)["instances"]
    assert len(documents) == 2
    assert {row["verdict"] for d in documents for row in d["measured"]} == {
        "within its bounds",
        "no upper bound",
    }


def test_summary_of_several_settings(capsys):
    command = ["bounds", "adap_klucb", "--env", "C1", "regimes", "--horizon", "1e5", "--runs", "3"]
    assert run(command) == 0
    out = capsys.readouterr().out
    assert out.count("adap_klucb") == 2
    assert out.count("  within\n") == 2
    assert max(map(len, out.splitlines())) <= 100


def test_mutants_are_targets_and_what_is_missing_is_named(capsys):
    assert run(["bounds", "mutants/noise_halved", "--horizon", "1e4", "--runs", "2"]) == 0
    out = capsys.readouterr().out
    assert "no upper bound is known here of mutants/noise_halved" in out
    assert "\nmutants/noise_halved  " in out
    for target in ("nofile.py:Mine", "mutants/control_streak", "ucb", "C2"):
        assert run(["bounds", target]) == 2
        assert f"TARGET={target} " in capsys.readouterr().err


@pytest.mark.parametrize("law", ["gaussian", "exponential", "poisson"])
def test_other_families_have_lower_bounds_only(law, capsys):
    assert run(["bounds", "--law", law, "--means", "0.9,0.5,0.2", "--epsilon", "0.5"]) == 0
    out = capsys.readouterr().out
    assert "d_epsilon" in out
    assert "adap_ucb" not in out
    assert "inf" in out


def test_finite_support(capsys):
    command = ["bounds", "--support", "0,0.5,1", "--probabilities", "0.2,0.3,0.5;0.5,0.3,0.2"]
    assert run(command) == 0
    out = capsys.readouterr().out
    assert "finite support" in out
    assert "episode by episode" in out  # rewards in [0, 1]: the upper bounds hold
    command = ["bounds", "--support", "0,2", "--probabilities", "0.2,0.8;0.5,0.5"]
    assert run(command) == 0
    assert "episode by episode" not in capsys.readouterr().out


def test_linear(capsys):
    command = ["bounds", "--features", "1,0;0,1;0.9,0.3", "--theta", "1,0.2", "--epsilon", "0.1"]
    assert run(command) == 0
    out = capsys.readouterr().out
    assert "duality gap" in out
    assert "rho over bases" in out
    assert "not orthogonal" in out


@pytest.mark.filterwarnings("error::UserWarning")
@pytest.mark.parametrize("against", ["epsilon", "horizon"])
def test_pictures_are_written(against, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(picture, "POINTS", 3)
    monkeypatch.setattr(picture, "SIMULATED", 2)
    drawn, save = [], plotting.save
    keep = lambda canvas, path: drawn.append(canvas) or save(canvas, path)  # noqa: E731
    monkeypatch.setattr(plotting, "save", keep)
    ends = {"epsilon": "0.5,5", "horizon": "100,1e4"}[against]
    command = ["bounds", "adap_klucb", "adap_ucb", "dp_se", "dp_ucb",
               "--env", "regimes", "--horizon", "1e4", "--runs", "2",
               "--json", str(tmp_path / "x.json"), "--plot", str(tmp_path / "a.png"),
               "--against", against, "--range", ends]  # fmt: skip
    assert run(command) == 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    [legend] = drawn[0].legends
    assert 5 <= len(legend.get_texts()) <= 7


@pytest.mark.parametrize(("means", "shaded"), [("1,0.5", 0), ("0.9,0.5", 1)])
def test_a_picture_shades_no_regime_that_is_not_known(means, shaded, tmp_path, monkeypatch):
    monkeypatch.setattr(picture, "POINTS", 2)
    monkeypatch.setattr(picture, "SIMULATED", 1)
    drawn, save = [], plotting.save
    keep = lambda canvas, path: drawn.append(canvas) or save(canvas, path)  # noqa: E731
    monkeypatch.setattr(plotting, "save", keep)
    command = ["bounds", "adap_ucb", "--means", means, "--horizon", "100", "--runs", "1",
               "--plot", str(tmp_path / "a.png"), "--range", "0.5,2"]  # fmt: skip
    assert run(command) == 0
    [axes] = drawn[0].axes
    assert [text.get_text() for text in axes.texts].count("high privacy") == shaded


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--epsilon", "0"], "epsilon=0.0 must be positive."),
        (["--epsilon", "nan"], "epsilon=nan must be a number, not nan."),
        (["--epsilon", "x"], "epsilon=x must be a number."),
        (["--horizon", "2.5"], "horizon=2.5 must be a whole number"),
        (["--horizon", "2"], "horizon=2 must be at least"),
        (["--alpha", "-1"], "alpha=-1.0 must be positive."),
        (["--env", "C9"], "No environment 'C9'. Did you mean"),
        (["--means", "0.5"], "arms=1 must be at least 2."),
        (["--means", "0.5,1.5"], "mean=1.5 must lie in [0, 1]."),
        (["--means", "a,b"], "means=a,b must be numbers separated by commas"),
        (["--means", "0.5,0.4", "--law", "gausian"], "Did you mean 'gaussian'?"),
        (["--means", "0.5,0.4", "--env", "C2"], "cannot be combined"),
        (["--support", "0,1"], "and --support go together."),
        (["--support", "0,1", "--probabilities", "1,0;2,0"], "must be a distribution."),
        (["--features", "1,0;0,1"], "and --features go together."),
        (["--features", "1,0;0,1", "--theta", "1,1"], "must have a unique best arm."),
        (["adap_klcub"], "Did you mean 'adap_klucb'?"),
        (["ucb"], "claims no privacy"),
        (["dp_ucb", "--param", "gamma=0.2"], "param=gamma, dp_ucb is for TARGETs without"),
        (["--param", "gamma=0.2"], "param=gamma is for TARGETs without"),
        (["lazy_dp_ts", "--param", "epsilon=2"], "is said by the instance or by an option"),
        (["C2"], "TARGET=C2 is an environment: --env C2."),
        (["--env", "C2", "adap_ucb"], "env=adap_ucb is a TARGET, which comes before --env."),
        (["--runs", "0"], "runs=0 must be at least 1."),
        (["--plot", "x.gif"], "must end in"),
        (["--plot", "/nowhere/x.png"], "does not exist"),
        (["--json", "/nowhere/x.json"], "does not exist"),
        (["--plot", "x.png", "--against", "time"], "No axis 'time'."),
        (["--plot", "x.png", "--range", "3,1"], "must be two positive numbers"),
        (["a", "b", "c", "d", "e", "--plot", "x.png"], "too many for one picture"),
        (["--plot", "x.png", "--law", "gaussian", "--means", "1,2"], "needs Bernoulli rewards"),
        (["--law", "gaussian", "--means", "1,2", "--runs", "3"], "needs Bernoulli rewards"),
    ],
)
def test_bad_input_costs_one_line(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["bounds", *arguments]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""
    assert list(tmp_path.iterdir()) == []


def test_what_is_simulated_is_kept_when_the_rest_is_interrupted(capsys, monkeypatch):
    real = document.run

    def one_alone(name, environment, *rest):
        if name == "dp_se":
            raise KeyboardInterrupt
        return real(name, environment, *rest)

    monkeypatch.setattr(document, "run", one_alone)
    command = ["bounds", "adap_ucb", "dp_se", "--horizon", "1e4", "--runs", "5"]
    assert run([*command, "--env", "C1", "C2"]) == 130
    out, err = capsys.readouterr()
    assert "problem-dependent, d_epsilon" in out and "\nadap_ucb   " in out
    assert err.endswith("is shown above, 2 of 2 instances are not finished.\n")


def test_parameters_reach_the_simulations_of_what_has_no_bounds(capsys):
    command = ["bounds", "dp_greedy", "--horizon", "500", "--runs", "3", "--json", "-", "--param"]
    found = []
    for explore in ("0.01", "1"):
        assert run([*command, f"explore={explore}"]) == 0
        found.append(json.loads(capsys.readouterr().out)["instances"][0]["measured"][0]["regret"])
    assert found[0] < found[1]
