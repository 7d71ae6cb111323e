"""Which methods make a policy one of which style."""

import pytest

from dpaudit.symbolic.drivers import driver_of

METHODS = {
    "river": "pull update",
    "mabwiser": "fit partial_fit predict",
    "SMPyBandits": "startGame choice getReward",
    "plain": "select update",
    "step": "step update",
    None: "update predict choice",
}


@pytest.mark.parametrize("style", METHODS)
def test_a_style_needs_all_its_methods(style):
    names = METHODS[style].split()
    policy = type("Policy", (), {name: lambda self: None for name in names})()
    assert getattr(driver_of(policy), "name", None) == style
