import pytest

from separatrix import L2, Linf
from separatrix.search import DDN, LBFGS, Best, DeepFool

METHODS = {"deepfool": DeepFool(), "ddn": DDN(steps=60)}
CONTRACTED = METHODS | {"few candidates": DeepFool(candidates=3), "best": Best((DeepFool(candidates=3), DDN(steps=30)))}
CONTRACTED["lbfgs"] = LBFGS(steps=6, iterations=12)


@pytest.fixture(params=CONTRACTED)
def contracted(request):
    return CONTRACTED[request.param]


def pytest_generate_tests(metafunc):
    """Every method with every setting of the module, but for slow methods in norms whose projections are slow."""
    if {"method", "settings"} <= set(metafunc.fixturenames):
        pairs = {
            f"{name}-{form}": (method, settings)
            for name, method in METHODS.items()
            for form, settings in metafunc.module.SETTINGS.items()
            if name == "deepfool" or settings.get("norm", L2) in (L2, Linf)
        }
        metafunc.parametrize(("method", "settings"), list(pairs.values()), ids=list(pairs))
    elif "method" in metafunc.fixturenames:
        metafunc.parametrize("method", list(METHODS.values()), ids=list(METHODS))
    elif "settings" in metafunc.fixturenames:
        metafunc.parametrize("settings", list(metafunc.module.SETTINGS.values()), ids=list(metafunc.module.SETTINGS))
