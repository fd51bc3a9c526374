import pytest

from separatrix.search import DeepFool

METHODS = [DeepFool(), DeepFool(candidates=3)]


@pytest.fixture(params=METHODS, ids=repr)
def method(request):
    return request.param
