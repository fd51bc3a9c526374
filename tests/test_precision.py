import pytest
import torch

from separatrix.precision import full_precision

BACKENDS = (torch.backends.cudnn, torch.backends.cuda.matmul)


@pytest.fixture(params=[True, False])
def tf32(request):
    before = [backend.allow_tf32 for backend in BACKENDS]
    for backend in BACKENDS:
        backend.allow_tf32 = request.param
    yield request.param
    for backend, value in zip(BACKENDS, before, strict=True):
        backend.allow_tf32 = value


def test_autocast_and_tf32_are_off_within_and_back_afterwards(tf32):
    with torch.autocast("cpu", torch.bfloat16):
        with full_precision():
            assert not any(backend.allow_tf32 for backend in BACKENDS)
            assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.float32
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.bfloat16
    assert all(backend.allow_tf32 == tf32 for backend in BACKENDS)


def test_precision_comes_back_after_an_error(tf32):
    with pytest.raises(RuntimeError, match="stop"), full_precision():
        raise RuntimeError("stop")
    assert all(backend.allow_tf32 == tf32 for backend in BACKENDS)
