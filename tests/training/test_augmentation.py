import torch

from separatrix.training.augmentation import augmented

IDS = torch.arange(400)


def drawn(images, kind="flip-crop", ids=IDS, stream=1):
    return augmented(images, kind, seed=3, ids=ids, stream=stream)


def dot(row, column, side=16):
    """One bright pixel in each of as many images as there are ids."""
    images = torch.zeros(len(IDS), 2, side, side)
    images[:, :, row, column] = 1
    return images


def places(images):
    return images[:, 0].flatten(1).argmax(1) // images.shape[3], images[:, 0].flatten(1).argmax(1) % images.shape[3]


def test_a_crop_moves_every_picture_by_up_to_an_eighth_of_its_side():
    rows, columns = places(drawn(dot(8, 8), "crop"))
    assert set(rows.tolist()) == set(columns.tolist()) == {6, 7, 8, 9, 10}
    assert abs(float(rows.float().mean()) - 8) < 0.3
    counts = torch.stack([rows, columns], 1).unique(dim=0, return_counts=True)[1]
    assert len(counts) == 25  # every pair of shifts


def test_a_flip_mirrors_half_of_the_pictures_left_to_right():
    rows, columns = places(drawn(dot(8, 2)))
    mirrored = columns > 8
    assert 150 < int(mirrored.sum()) < 250
    assert set(columns[mirrored].tolist()) == {11, 12, 13, 14, 15}
    assert set(columns[~mirrored].tolist()) == {0, 1, 2, 3, 4}
    assert set(rows.tolist()) == {6, 7, 8, 9, 10}


def test_what_moves_in_is_black_and_channels_move_together():
    white = drawn(torch.ones(len(IDS), 3, 16, 16))
    assert set(white.unique().tolist()) == {0.0, 1.0}
    assert torch.equal(white[:, 0], white[:, 2])
    assert float(white[:, :, 2:14, 2:14].min()) == 1


def test_a_picture_changes_as_its_id_says_whatever_the_batch():
    images = torch.rand(400, 1, 16, 16, generator=torch.Generator().manual_seed(0))
    whole = drawn(images)
    order = torch.randperm(400, generator=torch.Generator().manual_seed(1))
    assert torch.equal(drawn(images[order], ids=IDS[order]), whole[order])
    assert torch.equal(drawn(images[7:8], ids=IDS[7:8]), whole[7:8])
    assert not torch.equal(drawn(images, stream=2), whole)


def test_pictures_of_unequal_sides_and_small_ones():
    assert drawn(torch.rand(400, 1, 16, 24)).shape == (400, 1, 16, 24)
    tiny = torch.rand(400, 1, 7, 7)
    assert torch.equal(drawn(tiny, "crop"), tiny)
