"""Which test files are there to notice a change of a module, the closest first.

A map of lines to tests, measured under coverage, costs twice the whole suite before the first
mutant is tried. Here stands which tests are meant to guard what; that they do is what the campaign
finds out. A module is looked up by its path, else by its folder; whatever is left of the time goes
to the other tests of the folder.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from operators import Mutant

TEXTUAL = {"test_structure_quotes.py", "test_gate_docs.py", "test_trusted_base.py"}
GUARDED = {
    "verdict": "check/verdict_rules check/horizons check/instances",
    "judging": "check/instances check/verdict_rules check/horizons check/budget",
    "options": "check/verdict_rules check/check_command gate/gate_commands",
    "checks": "check/budget check/verdict_rules check/check_command",
    "target": "check/target check/instances gate/gate_sources",
    "examination": "check/verdict_rules check/check_command gate/gate_commands check/budget",
    "implied": "core/notions structure/accounting gate/gate_notions",
    "replay": "check/replay check/check_command",
    "core/algorithm": "core/algorithms core/walk core/stop core/coin",
    "core/walk": "core/walk core/coin core/stop structure/structure_distrust",
    "core/canonical": "structure/structure_hidden structure/structure_shadowed",
    "core/unchanged": "structure/two_faces structure/structure_shadowed structure/structure_hidden",
    "core/blind": "core/blind structure/structure_hidden",
    "core/episodes": "structure/structure_hidden structure/structure_shadowed core/coin",
    "core/local": "core/response structure/accounting structure/structure_always",
    "core/phases": "structure/structure_phases structure/structure_prove",
    "core/linear": "structure/structure_linear core/linear_phases",
    "core/arithmetic": "core/atoms structure/structure_hidden core/notions",
    "core/noise": "core/atoms core/notions structure/structure_hidden core/conformance",
    "noise": "core/exact_noise core/lattice symbolic/symbolic_exact_noise",
    "core/lattice": "core/lattice core/exact_noise structure/structure_doubles",
    "core/response": "core/response structure/accounting",
    "core/notions": "core/notions structure/accounting gate/gate_notions",
    "core/conversions": "core/notions structure/accounting structure/accounting_hostile",
    "core/scores": "core/scores core/foreign_rules structure/two_faces structure/structure_hidden",
    "core/lockstep": "core/one_meaning core/conformance core/stop core/coin core/simulate",
    "core/compiled": "core/conformance sample/sample_runs core/simulate",
    "core/kernels": "core/conformance sample/sample_runs core/simulate",
    "core/divergence": "core/divergence core/scores",
    "core/stream": "core/foreign_rules core/conformance core/lattice core/stop sample/sample_runs",
    "structure/ledger": "structure/structure_oracle structure/structure_hidden core/response",
    "structure/walk": "structure/structure_hidden structure/structure_oracle core/coin",
    "structure/chain": "structure/structure_hidden structure/structure_always",
    "structure/always": "structure/structure_always structure/two_faces",
    "structure/phases": "structure/structure_phases",
    "structure/linear": "structure/structure_linear core/linear_phases",
    "structure/tree": "structure/structure_prove structure/structure_hidden structure/two_faces",
    "structure/certificate": "structure/structure_certificate",
    "structure/program": "structure/structure_doubles structure/two_faces core/lattice",
    "structure/prove": "structure/structure_hidden structure/structure_prove check/instances",
    "structure/accounting": "structure/accounting structure/accounting_hostile core/response",
    "exact/": "exact/hidden exact/exact_likelihood exact/exact_worst check/horizons",
    "exact/horizons": "check/horizons check/instances",
    "exact/paths": "exact/hidden exact/exact_likelihood core/coin core/stop",
    "exact/region": "exact/exact_sums exact/any_order exact/hidden exact/read_once",
    "exact/known": "exact/known exact/own_score exact/own_formula",
    "exact/conditions": "exact/by_hand exact/exact_worst exact/hidden",
    "exact/likelihood": "exact/exact_likelihood exact/by_hand exact/ball_affine",
    "exact/lattice_sums": "exact/lattice_sums core/lattice",
    "exact/finite": "exact/noiseless core/response exact/by_hand",
    "exact/enumerate": "exact/exact_worst exact/lattice_sums core/lattice core/response",
    "exact/witness": "exact/witness check/replay exact/exact_worst",
    "exact/worst": "exact/by_hand exact/own_score exact/exact_worst exact/hidden check/horizons",
    "exact/search": "exact/by_hand exact/exact_worst exact/hidden",
    "exact/trees": "exact/by_hand exact/read_once exact/ball_affine exact/exact_engines",
    "exact/algebra": "exact/by_hand exact/exact_engines exact/ball_affine",
    "exact/sequences": "exact/first_decision exact/exact_notions structure/notion_mutants",
    "exact/balls/": "exact/ball_primitives exact/ball_affine exact/ball_other exact/ball_kl",
    "exact/balls/exponentials": (
        "exact/by_hand exact/ball_affine exact/ball_primitives exact/ball_other"
    ),
    "exact/balls/piecewise": "exact/by_hand exact/ball_affine exact/polytopes",
    "exact/balls/bounds": "exact/ball_primitives exact/ball_kl exact/ball_imed exact/own_formula",
    "exact/balls/compare": "exact/ball_imed exact/ball_kl exact/own_formula exact/pairwise",
    "exact/balls/exact_order": "exact/noiseless exact/ball_other exact/by_hand",
    "exact/balls/threshold": "exact/ball_primitives exact/ball_kl exact/saturated_threshold",
    "exact/balls/gaussians": "exact/first_decision exact/exact_notions",
    "exact/balls/jets": "exact/own_formula exact/own_score exact/ball_primitives",
    "exact/balls/polytopes": "exact/polytopes exact/ball_other exact/ball_affine",
    "exact/attained": "exact/exact_notions structure/notion_mutants",
    "exact/refuting": "exact/exact_notions structure/notion_mutants",
    "exact/profile": "exact/exact_notions exact/exact_worst exact/hidden",
    "sample/": "sample/sample_audit sample/sample_runs sample/sample_boxes",
    "sample/adapters": "sample/sample_foreign sample/sample_boxes",
    "sample/bets": "sample/sample_bets",
    "sample/cells": "sample/sample_bets sample/sample_audit",
    "sample/events": "sample/sample_runs sample/sample_audit",
    "sample/lower": "sample/sample_lower sample/sample_onerun",
    "sample/runs": "sample/sample_runs sample/sample_learned",
    "sample/streams": "sample/sample_streams sample/sample_steer",
    "sample/boxes": "sample/sample_boxes sample/sample_foreign sample/sample_independence",
    "sample/guard": "sample/sample_boxes sample/sample_independence",
    "sample/lockstep": "sample/sample_runs sample/sample_steer",
    "sample/rounds": "sample/sample_seeds sample/sample_audit",
    "sample/block": "sample/sample_seeds sample/sample_audit",
    "sample/independence": "sample/sample_independence sample/sample_foreign",
    "sample/fresh": "sample/sample_independence sample/sample_foreign",
    "sample/log": "sample/sample_logs sample/sample_audit",
    "sample/onerun": "sample/sample_onerun",
    "sample/progress": "sample/sample_audit sample/sample_logs",
    "code": "check/verdict_rules symbolic/symbolic_certificate symbolic/symbolic_declared",
    "affine": "symbolic/symbolic_declared",
    "verify": "symbolic/symbolic_certificate structure/structure_certificate",
    "symbolic/": "symbolic/symbolic_oracle symbolic/symbolic_natural symbolic/symbolic_idioms",
    "symbolic/doubles": "symbolic/symbolic_doubles",
    "symbolic/drivers": "symbolic/symbolic_drivers symbolic/symbolic_check",
    "symbolic/numeric": "symbolic/symbolic_numeric",
    "symbolic/ledger": "symbolic/symbolic_refusals symbolic/symbolic_joining",
    "symbolic/walk": "symbolic/symbolic_refusals symbolic/symbolic_oracle symbolic/symbolic_alike",
    "symbolic/weights": "symbolic/symbolic_shortcuts symbolic/symbolic_oracle",
    "symbolic/values": "symbolic/symbolic_shortcuts symbolic/symbolic_oracle",
    "symbolic/questions": "symbolic/symbolic_shortcuts symbolic/symbolic_oracle",
    "symbolic/other_modules": "symbolic/symbolic_refusals symbolic/symbolic_idioms",
    "symbolic/handmade": "symbolic/symbolic_handmade",
    "symbolic/joining": "symbolic/symbolic_joining",
    "symbolic/coins": "symbolic/symbolic_refusals symbolic/symbolic_joining",
    "symbolic/simplex": "symbolic/symbolic_simplex symbolic/symbolic_oracle",
    "symbolic/alike": "symbolic/symbolic_alike symbolic/symbolic_shortcuts",
    "symbolic/states": "symbolic/symbolic_alike symbolic/symbolic_shortcuts",
    "symbolic/stand_ins": "symbolic/symbolic_numpy symbolic/symbolic_refusals",
    "symbolic/numpy_stand_in": "symbolic/symbolic_numpy symbolic/symbolic_refusals",
    "symbolic/arrays": "symbolic/symbolic_numpy symbolic/symbolic_idioms",
    "symbolic/array_operators": "symbolic/symbolic_numpy symbolic/symbolic_idioms",
    "symbolic/elementwise": "symbolic/symbolic_numpy symbolic/symbolic_idioms",
    "symbolic/exact_noise": "symbolic/symbolic_exact_noise symbolic/symbolic_refusals",
    "symbolic/prove": "symbolic/symbolic_exact_noise symbolic/symbolic_check",
    "symbolic/chance": "symbolic/symbolic_refusals symbolic/symbolic_idioms",
    "symbolic/python_chance": "symbolic/symbolic_refusals symbolic/symbolic_idioms",
    "symbolic/guard": "symbolic/symbolic_guard",
    "symbolic/probes": "symbolic/symbolic_guard",
    "symbolic/recording": "symbolic/symbolic_guard",
    "symbolic/likeness": "symbolic/symbolic_guard",
    "symbolic/declared": "symbolic/symbolic_declared",
    "symbolic/scripted": "symbolic/symbolic_declared",
    "symbolic/indices": "symbolic/symbolic_declared symbolic/symbolic_check",
    "symbolic/conform": "gate/gate_conforming symbolic/symbolic_check",
    **dict.fromkeys(
        (
            "symbolic/allowed",
            *("symbolic/poison", "symbolic/identity", "symbolic/answers", "symbolic/refused"),
            *("symbolic/writing", "symbolic/texts"),
        ),
        "symbolic/symbolic_evil symbolic/symbolic_refusals symbolic/symbolic_idioms",
    ),
    "symbolic/beside": "symbolic/symbolic_beside symbolic/symbolic_numpy",
    "symbolic/catching": "symbolic/symbolic_catching symbolic/symbolic_evil",
    "symbolic/snapshot": "symbolic/symbolic_shortcuts symbolic/symbolic_evil",
    "symbolic/roots": "symbolic/symbolic_shortcuts symbolic/symbolic_evil",
    "symbolic/files": "symbolic/symbolic_check symbolic/symbolic_guard",
    "symbolic/tables": "symbolic/symbolic_check symbolic/symbolic_guard",
    "symbolic/loading": "symbolic/symbolic_guard symbolic/symbolic_refusals symbolic/symbolic_evil",
    "gate/": "gate/gate_weaker gate/gate_commands",
    "gate/compare": "gate/gate_compare gate/gate_weaker gate/gate_notions",
    "gate/lock": "gate/gate_lock gate/gate_notions",
    "sources": "gate/gate_sources gate/gate_follows",
    "gate/update": "gate/gate_again gate/gate_weaker gate/gate_commands",
    "gate/run": "gate/gate_lock gate/gate_commands",
    "gate/conforming": "gate/gate_conforming",
}


def files(root: Path, mutant: Mutant) -> tuple[list[str], list[str]]:
    """Return the files that guard a mutant's module, and the others of their first folder."""
    name = mutant.module.removeprefix("dpaudit/").removesuffix(".py")
    known = max((it for it in GUARDED if name.startswith(it)), key=len)
    first = [f"tests/{a}/test_{b}.py" for a, b in (it.split("/") for it in GUARDED[known].split())]
    folder = (root / first[0]).parent
    others = sorted(folder.glob("test_*.py"), key=lambda it: it.stat().st_size)
    names = [str(it.relative_to(root)) for it in others if it.name not in TEXTUAL]
    return first, [it for it in names if it not in first]


def words(mutant: Mutant) -> list[str]:
    """Return the names of the changed function and of what it lies in."""
    return [it for it in mutant.function.split(".") if it and not it.startswith("__")]


def functions_of(source: str) -> Iterator[tuple[str, range]]:
    """Yield the qualified name and the lines of every function, outer ones first."""

    def inside(node: ast.AST, prefix: str) -> Iterator[tuple[str, range]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                name = f"{prefix}{child.name}"
                if isinstance(child, ast.FunctionDef):
                    yield name, range(child.lineno, (child.end_lineno or child.lineno) + 1)
                yield from inside(child, f"{name}.")
            else:
                yield from inside(child, prefix)

    yield from inside(ast.parse(source), "")
