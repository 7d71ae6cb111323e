"""Arrays that hold symbols against numpy's own, on random programs: same numbers, same shapes."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.symbolic.allowed import OPAQUE_MATH
from dpaudit.symbolic.arrays import Array, array
from dpaudit.symbolic.numpy_stand_in import numpy_module
from dpaudit.symbolic.poison import StandIn
from dpaudit.symbolic.run import Escape, Run, active
from dpaudit.symbolic.stand_ins import _chosen, math_functions
from dpaudit.symbolic.values import Linear, Tracked

VALUES = """
a+b | a*2 | a-s | 2/(i+1) | s*a | a*b[0] | m+a | m*2 | -a | +a | abs(a) | np.abs(m) | a/2 | m-m[0]
a.reshape(3,1) | m.T | m.ravel() | m.reshape(-1) | m.reshape(3,2) | m.flatten() | a[::-1] | m[0]
m[:,1] | m[1,2] | a[i] | a[[0,2]] | a[i>1] | m[i[:1]] | a.copy() | a.astype(float) | a.tolist()
np.append(a,b) | np.append(m,a) | np.concatenate([a,b]) | np.concatenate([m,m],axis=1)
np.stack([a,b]) | np.vstack([m,a]) | np.hstack([a,b]) | np.column_stack([a,b]) | np.array([a,b])
np.cumsum(a) | np.cumsum(m,axis=0) | np.cumsum(m) | a@b | m@a | np.dot(m,a) | np.dot(a,b) | a.dot(2)
m.sum(axis=0) | m.sum() | m.mean(axis=1) | np.mean(m) | np.sum(a) | np.repeat(a,2) | np.tile(a,2)
np.transpose(m) | np.squeeze(m[:1]) | np.expand_dims(a,0) | np.ravel(m.T) | np.reshape(m.T,-1)
np.clip(a,b,0.8) | m.clip(0,a) | np.clip(s,a,1) | a.clip(max=0.5) | np.clip(b,[0,0.2,0],None)
np.clip(a,0,0.5) | np.maximum(a,0.2) | np.minimum(m,a) | np.where(i>1,a,b) | np.where(i>1,a,0)
np.full(2,s) | np.zeros_like(m) | np.full_like(a,s) | np.array([s,1]) | np.array([[s,0.0],[1,s]])
np.asarray(a) | np.array(a) | np.copy(m) | a.max() | np.min(m) | np.argmax(a) | a.argmin()
m.argmax(axis=1) | m.max(axis=0) | (a>0.5).sum() | np.any(a>0.5) | np.nonzero(a>0.4)[0] | a>b | m<a
np.flatnonzero(m>0.4) | np.argsort(a) | np.std(a) | np.var(m) | m.var(axis=0) | np.exp(a) | a**2
np.sqrt(a) | np.add(a,b) | np.multiply(m,2) | np.subtract(s,a) | np.negative(a) | a.size | m.shape
i+1 | i*0.5 | np.outer(i,i) | np.sort(i) | np.diff(i) | np.prod(i) | np.round(i*0.3) | np.unique(i)
i//2 | i%2 | np.arange(3)*s | np.linspace(0,1,3)+a | np.ones((2,3))*a | np.eye(3)[1]+a | len(m)
i@i | np.median(i) | np.average(i) | np.bincount(i) | np.isin(i,[1]) | np.array_equal(i,i)
m[-1,::-1]
"""
WRITES = """
a[0]=s | a[1:]=b[1:] | m[0]=a | m[:,1]=s | m[...]=s | a+=b | a*=2 | m-=a | i+=1 | a[i>1]=s | a[i]=b
v=a[1:]; v[0]=s | r=m.reshape(-1); r[0]=s | t=m.T; t[0,0]=s | r=m.T.reshape(-1); r[1]=s
np.add(a,b,out=a) | a.fill(s) | c=np.asarray(a); c[0]=s | c=np.array(a); c[0]=s
c=a.astype(float,copy=False); c[0]=s | r=np.ravel(m); r[0]=s | r=m.flatten(); r[0]=s
r=np.ravel(m.T); r[1]=s | d=np.squeeze(m[:1]); d[0]=s | d=np.expand_dims(a,0); d[0,1]=s
a,b=b,a | s=s+a[0] | s=a.mean() | m=m.T.T | m=m+1 | a=m[0] | a=m[:,0][:2].sum()*a | b=a[::-1]
a[[0,1]]=a[[1,0]] | m[[0,1]]=m[[1,0]] | a[:2],b[:2]=b[:2],a[:2]
"""


def parts(text):
    return [part.strip() for line in text.split("\n") for part in line.split("|") if part.strip()]


def shown(value):
    """Return a value as plain numpy has it."""
    if isinstance(value, Array):
        numbers = [shown(part) for part in value.store.ravel().tolist()]
        return np.array(numbers, dtype=value.dtype).reshape(value.shape)
    if isinstance(value, Tracked):
        return np.float64(value.shadow)
    if isinstance(value, list | tuple):
        return [shown(part) for part in value]
    return value


def run(scope, writes, value):
    for text in writes:
        exec(text, scope)
    return eval(value, scope)


NUMBERS = st.floats(0.0, 1.0, allow_subnormal=False).map(lambda x: round(x, 3))


@settings(max_examples=500, deadline=None)
@given(
    st.lists(NUMBERS, min_size=13, max_size=13),
    st.lists(st.sampled_from(parts(WRITES)), max_size=3),
    st.sampled_from(parts(VALUES)),
)
def test_programs_on_symbols_do_what_numpy_does(numbers, writes, value):
    real = {
        "np": np,
        "a": np.array(numbers[:3]),
        "b": np.array(numbers[3:6]),
        "m": np.array(numbers[6:12]).reshape(2, 3),
        "s": numbers[12],
        "i": np.array([0, 2, 1]),
    }
    try:
        wanted = run(dict(real), writes, value)
    except (ValueError, IndexError, TypeError):
        return
    with active(Run(guarded=True)) as now:
        symbols = [
            Linear(0, {now.row(k, number): 1}, {}, number) for k, number in enumerate(numbers)
        ]
        ours = {
            "np": numpy_module(StandIn("random")),
            "a": array(symbols[:3]),
            "b": array(symbols[3:6]),
            "m": array(symbols[6:12]).reshape(2, 3),
            "s": symbols[12],
            "i": array([0, 2, 1]),
        }
        try:
            found = shown(run(ours, writes, value))
        except Escape:
            return
    kinds = [np.asarray(it).dtype.kind for it in (found, wanted)]
    assert np.shape(found) == np.shape(wanted)
    assert kinds[0] == kinds[1]
    assert np.allclose(np.asarray(found, float), np.asarray(wanted, float), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "value",
    [
        *("a+b", "s*a", "s-m", "m.sum(axis=0)", "np.where(i>1,a,b)", "a@b", "m.T"),
        *("np.clip(a,b,0.8)", "m.clip(0,a)", "np.clip(s,a,1)", "a.clip(max=0.5)"),
        *("np.clip(b,[0,0.2,0],None)", "np.clip(a,0,np.ones(3))"),
    ],
)
def test_what_policies_need_is_followed(value):
    with active(Run(guarded=True)) as now:
        symbols = [Linear(0, {now.row(k, 0.5): 1}, {}, 0.5) for k in range(6)]
        scope = {"np": numpy_module(StandIn("random")), "a": array(symbols[:3])}
        scope |= {
            "s": symbols[0],
            "b": array(symbols[3:]),
            "m": array(symbols).reshape(2, 3),
            "i": array([0, 2, 1]),
        }
        eval(value, scope)


@pytest.mark.parametrize("name", [*OPAQUE_MATH, "fabs"])
def test_functions_of_math_on_symbols_do_what_math_does(name):
    count = 2 if name in ("atan2", "pow", "hypot", "copysign", "fmod") else 1
    numbers = [-0.625, 0.375][-count:] if name in ("fabs", "copysign", "atan2") else [0.375] * count
    wanted = getattr(math, name)(*numbers)
    with active(Run(guarded=True)) as now:
        given = [Linear(0, {now.row(k, it): 1}, {}, it) for k, it in enumerate(numbers)]
        assert shown(math_functions()[name](*given)) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("real", [max, min])
@pytest.mark.parametrize("numbers", [(0.375, 0.5), (0.5, 0.375), (0.375, 0.25, 0.5)])
def test_the_larger_and_the_smaller_of_symbols_are_those_of_python(real, numbers):
    for tracked in range(1, len(numbers)):
        with active(Run(guarded=True)) as now:
            given = [
                Linear(0, {now.row(k, it): 1}, {}, it) if k < tracked else it
                for k, it in enumerate(numbers)
            ]
            assert shown(_chosen(real is max)(*given)) == real(numbers)


@pytest.mark.parametrize("name", ["ravel", "reshape"])
def test_no_array_is_read_in_another_order(name):
    given = [(2, 3)] if name == "reshape" else []
    with active(Run(guarded=True)) as now:
        table = array([[Linear(0, {now.row(0, 0.5): 1}, {}, 0.5), 1.0, 2.0], [3.0, 4.0, 5.0]])
        with pytest.raises(Escape, match="in another order"):
            getattr(numpy_module(StandIn("random")), name)(table, *given, order="F")


def test_the_smaller_of_a_reward_and_a_number_moves_as_far_as_the_number():
    with active(Run()) as now:
        reward = Linear(0, {now.row(0, None): 1}, {}, None)
        for larger, ends in ((False, (0, Fraction(3, 4))), (True, (Fraction(3, 4), 1))):
            [name] = _chosen(larger)(reward, 0.75).rows
            assert (now.columns[name].ends, now.columns[name].reach) == (ends, ends[1] - ends[0])
