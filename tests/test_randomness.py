"""Random numbers of a sample: their distribution, and that nothing but seed, stream, id and position matters."""

import pytest
import torch
from scipy import stats

from separatrix.randomness import normal, uniform

IDS = torch.arange(200)


def correlation(one, other):
    return abs(float(torch.corrcoef(torch.stack([one.double().flatten(), other.double().flatten()]))[0, 1]))


@pytest.mark.parametrize("ids", [IDS, 10**12 + IDS, 2**32 * IDS], ids=["small", "large", "far apart"])
@pytest.mark.parametrize("seed", [0, 1, 2**40])
def test_numbers_have_their_distribution(seed, ids):
    assert stats.kstest(uniform(seed, ids, (100,)).flatten(), "uniform").pvalue > 0.001
    assert stats.kstest(normal(seed, ids, (100,), dtype=torch.float64).flatten(), "norm").pvalue > 0.001


def test_one_sample_alone_and_one_position_alone_have_the_distribution_too():
    numbers = normal(3, torch.arange(5000), (3,), dtype=torch.float64)
    for position in range(3):
        assert stats.kstest(numbers[:, position], "norm").pvalue > 0.001
    assert stats.kstest(normal(3, torch.tensor([8]), (20_000,), dtype=torch.float64)[0], "norm").pvalue > 0.001


def test_moments_of_a_million_numbers():
    numbers = normal(5, torch.arange(1000), (1000,), dtype=torch.float64).flatten()
    assert abs(float(numbers.mean())) < 0.004
    assert abs(float(numbers.var()) - 1) < 0.006
    assert abs(float((numbers**4).mean()) - 3) < 0.04
    assert numbers.isfinite().all()


@pytest.mark.parametrize("draw", [uniform, normal])
def test_ids_seeds_streams_and_positions_are_independent(draw):
    numbers = draw(0, IDS, (100,))
    assert correlation(numbers, draw(1, IDS, (100,))) < 0.03
    assert correlation(numbers, draw(0, IDS, (100,), stream=1)) < 0.03
    assert correlation(numbers, draw(0, IDS + 1, (100,))) < 0.03 or torch.equal(numbers[1:], draw(0, IDS, (100,))[1:])
    assert correlation(numbers[1:], numbers[:-1]) < 0.03
    assert correlation(numbers[:, 1:], numbers[:, :-1]) < 0.03
    assert correlation(numbers[:, :50], numbers[:, 50:]) < 0.03


def test_neighbouring_seeds_and_streams_share_no_number():
    seen = [uniform(seed, IDS, (20,), stream=stream).flatten() for seed in range(4) for stream in range(4)]
    everything = torch.cat(seen)
    assert len(everything.unique()) == len(everything)


@pytest.mark.parametrize("draw", [uniform, normal])
def test_numbers_do_not_depend_on_the_batch(draw):
    whole = draw(7, IDS, (3, 5))
    assert torch.equal(draw(7, IDS[40:60], (3, 5)), whole[40:60])
    assert torch.equal(draw(7, torch.tensor([9]), (3, 5)), whole[9:10])
    shuffled = torch.randperm(200, generator=torch.Generator().manual_seed(0))
    assert torch.equal(draw(7, shuffled, (3, 5)), whole[shuffled])
    assert torch.equal(draw(7, torch.tensor([4, 4]), (3, 5)), whole[[4, 4]])


def test_shapes_share_their_numbers_in_order():
    flat = normal(1, IDS[:4], (15,))
    assert torch.equal(normal(1, IDS[:4], (3, 5)).flatten(1), flat)
    assert normal(1, IDS[:4], (3, 5), dtype=torch.float64).dtype == torch.float64
    assert normal(1, IDS[:0], (3, 5)).shape == (0, 3, 5)


def test_the_global_state_neither_moves_nor_matters():
    before = torch.random.get_rng_state()
    first = normal(2, IDS, (4,))
    assert torch.equal(before, torch.random.get_rng_state())
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(99)
        assert torch.equal(first, normal(2, IDS, (4,)))
