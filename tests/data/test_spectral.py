import pytest
import torch

from separatrix.cosine import dct2
from separatrix.data import dct_flip, high_pass, load_data, low_pass

SHAPES = [(5, 1, 28, 28), (5, 3, 32, 32), (2, 3, 20, 33), (28, 28), (1, 3, 224, 224)]


def random_images(shape, dtype=torch.float64):
    return torch.rand(shape, dtype=dtype, generator=torch.Generator().manual_seed(0))


@pytest.fixture(params=SHAPES, ids=str)
def images(request):
    return random_images(request.param)


def assert_exact(found, expected):
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


def test_flip_is_its_own_inverse(images):
    assert_exact(dct_flip(dct_flip(images)), images)


def test_flip_is_an_isometry(images):
    other = images.flip(-1)
    flipped = (dct_flip(images) * dct_flip(other)).sum()
    torch.testing.assert_close(flipped, (images * other).sum(), rtol=1e-13, atol=0)


def test_flip_exchanges_the_lowest_and_the_highest_frequency(images):
    assert_exact(dct2(dct_flip(images))[..., 0, 0], dct2(images)[..., -1, -1])
    assert_exact(dct_flip(2 * images + 1), 2 * dct_flip(images) + dct_flip(torch.ones_like(images)))


@pytest.mark.parametrize("bandwidth", [1, 7, 16, 20])
def test_low_pass_keeps_exactly_the_square_of_the_bandwidth_a_channel(images, bandwidth):
    before, after = dct2(images), dct2(low_pass(images, bandwidth))
    kept = after.abs() > 1e-12
    assert (kept.flatten(-2).sum(-1) == bandwidth**2).all()
    assert_exact(after[..., :bandwidth, :bandwidth], before[..., :bandwidth, :bandwidth])


@pytest.mark.parametrize("cutoff", [1, 14, 20])
def test_high_pass_is_what_low_pass_takes_away(images, cutoff):
    low, high = low_pass(images, cutoff), high_pass(images, cutoff)
    assert_exact(low + high, images)
    assert_exact((low * high).sum(), torch.zeros((), dtype=torch.float64))
    assert_exact(low_pass(low, cutoff), low)
    assert_exact(low_pass(high, cutoff), torch.zeros_like(images))


def test_full_bandwidth_is_the_image_itself():
    images = random_images((2, 3, 32, 32))
    assert_exact(low_pass(images, 32), images)
    assert_exact(high_pass(images, 32), torch.zeros_like(images))


@pytest.mark.parametrize("change", [dct_flip, lambda x: low_pass(x, 9), lambda x: high_pass(x, 9)])
def test_every_image_and_channel_is_changed_alone(change):
    images = random_images((4, 3, 28, 28))
    whole = change(images)
    assert_exact(change(images[2]), whole[2])
    assert_exact(change(images[2, 1]), whole[2, 1])
    assert whole.dtype == images.dtype
    assert images.equal(random_images((4, 3, 28, 28)))


def test_nothing_is_clipped():
    data = load_data().select(slice(20))
    flipped = data.map(dct_flip, "DCT flip")
    assert flipped.points.min() < 0
    torch.testing.assert_close(flipped.points.flatten(1).norm(dim=1), data.points.flatten(1).norm(dim=1))
    torch.testing.assert_close(flipped.map(dct_flip, "DCT flip").points, data.points, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: dct_flip(torch.rand(9)), r"`images` must have a height and a width .*; got shape \(9,\)"),
        (lambda: dct_flip(torch.ones(9, 9).int()), "`images` must be float32 or float64; got torch.int32"),
        (lambda: low_pass(torch.rand(9, 8), 9), "`bandwidth` must be at most the images' shorter side, 8; got 9"),
        (lambda: low_pass(torch.rand(9, 8), 0), "`bandwidth` must be a whole number ≥ 1; got 0"),
        (lambda: high_pass(torch.rand(9, 8), 2.5), "`cutoff` must be a whole number ≥ 1; got 2.5"),
    ],
)
def test_bad_requests_are_refused_by_name(ask, message):
    with pytest.raises(ValueError, match=message):
        ask()
