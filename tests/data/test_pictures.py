import numpy as np
import pytest
import torch
from PIL import Image
from tests.data.written import write_pictures

from separatrix.data import Picture, load_data
from separatrix.data.pictures import is_picture


def smooth(height, width):
    """A colour picture whose brightness rises from left to right and from top to bottom."""
    rows, columns = np.linspace(0, 200, height)[:, None], np.linspace(0, 55, width)
    return Image.fromarray(np.repeat((rows + columns)[..., None], 3, 2).round().astype(np.uint8))


def test_a_picture_is_bytes_with_its_channels_first():
    picture = smooth(4, 6)
    values = Picture()(picture)
    assert values.dtype == torch.uint8
    assert torch.equal(values, torch.from_numpy(np.array(picture)).permute(2, 0, 1))


@pytest.mark.parametrize(("height", "width"), [(50, 80), (80, 50), (64, 64), (33, 999)])
def test_pictures_are_cut_to_a_square_around_their_centre(height, width):
    values = Picture(size=32)(smooth(height, width)).float()
    assert values.shape == (3, 32, 32)
    assert values.mean() == pytest.approx(127.5, abs=2)
    scale = 32 / min(height, width)
    assert values[0, :, 16].diff().mean() == pytest.approx(200 / (height * scale), rel=0.1)


def test_nothing_is_resampled_where_the_scale_is_one():
    picture = smooth(256, 300)
    values = torch.from_numpy(np.array(picture)).permute(2, 0, 1)
    assert torch.equal(Picture(size=224, crop=0.875)(picture), values[:, 16:240, 38:262])


@pytest.mark.parametrize("mode", ["1", "L", "LA"])
def test_grey_pictures_have_one_channel_unless_colours_are_asked_for(mode):
    picture = smooth(5, 5).convert(mode)
    assert Picture()(picture).shape == (1, 5, 5)
    assert Picture(colours="RGB")(picture).shape == (3, 5, 5)


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "P", "CMYK"])
def test_other_pictures_have_three_unless_grey_is_asked_for(mode):
    picture = smooth(5, 5).convert(mode)
    assert Picture()(picture).shape == (3, 5, 5)
    assert Picture(colours="L")(picture).shape == (1, 5, 5)


def test_the_way_up_that_a_camera_notes_is_heeded(tmp_path):
    exif = Image.Exif()
    exif[274] = 6
    smooth(4, 6).save(tmp_path / "a.png", exif=exif)
    assert Picture()(tmp_path / "a.png").shape == (3, 6, 4)


@pytest.mark.parametrize("asked", [Picture(), Picture(colours="RGB")])
def test_more_than_eight_bits_are_refused_not_clipped(tmp_path, asked):
    Image.fromarray(np.full((4, 4), 3000, np.uint16)).save(tmp_path / "deep.png")
    with pytest.raises(ValueError, match=r"deep.png` must have 8 bits a channel; got mode I;16"):
        asked(tmp_path / "deep.png")


def test_damaged_pictures_are_refused_by_name(tmp_path):
    path = tmp_path / "cut.png"
    smooth(64, 64).save(path)
    for content in (path.read_bytes()[:-40], b"", b"no picture"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=rf"^`{path}` must be a whole picture; got: [^\n]+$"):
            Picture()(path)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"size": 0}, "`size` must be a whole number ≥ 1; got 0"),
        ({"size": 9, "crop": 1.5}, "`crop` must be a share of the shorter side, above 0 and at most 1; got 1.5"),
        ({"crop": 0.5}, "`crop` must come with a `size`; got 0.5"),
        ({"colours": "CMYK"}, "`colours` must be 'L' or 'RGB'; got 'CMYK'"),
    ],
)
def test_bad_settings_are_refused_by_name(settings, message):
    with pytest.raises(ValueError, match=message):
        Picture(**settings)


def test_pictures_are_known_without_the_library():
    assert is_picture(smooth(2, 2))
    assert not is_picture(np.zeros((2, 2)))


@pytest.fixture
def few():
    return torch.randint(0, 256, (6, 3, 8, 8), dtype=torch.uint8, generator=torch.Generator().manual_seed(1))


def test_a_folder_a_class_in_the_order_of_paths(tmp_path, few):
    names = ["cat/b.png", "ant/z.png", "cat/a.png", "ant/deep/y.PNG", "bee/x.png", "ant/a.png"]
    write_pictures(tmp_path / "animals", few, names)
    (tmp_path / "animals" / "ant" / "notes.txt").write_text("no picture")
    (tmp_path / "animals" / ".hidden").mkdir()
    data = load_data(tmp_path / "animals")
    order = [5, 3, 1, 4, 2, 0]
    assert torch.equal(data.points, few[order].float() / 255)
    assert data.labels.tolist() == [0, 0, 0, 1, 2, 2]
    assert data.classes == ("ant", "bee", "cat")
    assert data.ids.tolist() == list(range(6))
    assert data.name == "animals"


def test_classes_choose_the_folders_and_their_order(tmp_path, few):
    write_pictures(tmp_path, few, [f"{name}/{row}.png" for row, name in enumerate("abcabc")])
    data = load_data(tmp_path, classes=["c", "a"])
    assert data.classes == ("c", "a")
    assert data.labels.tolist() == [0, 0, 1, 1]
    assert torch.equal(data.points, few[[2, 5, 0, 3]].float() / 255)
    with pytest.raises(ValueError, match=f"`classes` must be folders of {tmp_path}; got 'd'"):
        load_data(tmp_path, classes=["c", "d"])


@pytest.mark.parametrize(("split", "called"), [("train", "train"), ("test", "test"), ("test", "val")])
def test_a_folder_for_the_split_is_read(tmp_path, few, split, called):
    write_pictures(tmp_path / "set", few[:2], [f"{called}/a/1.png", "other/a/2.png"])
    data = load_data(tmp_path / "set", split=split)
    assert torch.equal(data.points, few[:1].float() / 255)
    assert data.name == f"set/{split}"


def test_pictures_named_after_the_numbers_of_their_classes(tmp_path, few):
    write_pictures(tmp_path, few, ["003.png", "001.png", "000.png", "010.png", "002.png", "007.png"])
    data = load_data(tmp_path)
    assert data.labels.tolist() == [0, 1, 2, 3, 7, 10]
    assert torch.equal(data.points, few[[2, 1, 4, 0, 5, 3]].float() / 255)
    assert len(data.classes) == 11


def test_pictures_of_other_names_need_labels(tmp_path, few):
    write_pictures(tmp_path, few[:2], ["one.png", "two.png"])
    assert load_data(tmp_path, labels=[1, 0]).labels.tolist() == [1, 0]
    with pytest.raises(ValueError, match=f"`labels` must be given: {tmp_path.name} has none"):
        load_data(tmp_path)


def test_pictures_become_what_the_first_is(tmp_path, few):
    grey = few[:, :1]
    write_pictures(tmp_path / "coloured", [few[0], grey[1]], ["0.png", "1.png"])
    assert load_data(tmp_path / "coloured").points.shape == (2, 3, 8, 8)
    write_pictures(tmp_path / "mixed", [grey[0], few[1]], ["0.png", "1.png"])
    with pytest.raises(
        ValueError, match=r"one shape and dtype; got \(1, 8, 8\) uint8 and \(3, 8, 8\) uint8.*`colours`"
    ):
        _ = load_data(tmp_path / "mixed").points
    assert load_data(tmp_path / "mixed", colours="RGB").points.shape == (2, 3, 8, 8)
    assert load_data(tmp_path / "mixed", colours="L").points.shape == (2, 1, 8, 8)


def test_pictures_of_several_sizes_need_one(tmp_path):
    for row, side in enumerate((8, 12)):
        smooth(side, side).save(tmp_path / f"{row}.png")
    with pytest.raises(
        ValueError, match=r"`points` must have one shape and dtype; got .* brought to one shape by `size` and"
    ):
        _ = load_data(tmp_path).points
    assert load_data(tmp_path, size=8).points.shape == (2, 3, 8, 8)


def test_a_picture_is_opened_when_it_is_read(tmp_path, few):
    write_pictures(tmp_path, few, [f"{row}.png" for row in range(6)])
    data = load_data(tmp_path)
    (tmp_path / "4.png").write_bytes(b"damaged since")
    assert torch.equal(data.select([0, 5]).points, few[[0, 5]].float() / 255)
    with pytest.raises(ValueError, match=r"4.png` must be a whole picture"):
        data[4]


def test_a_folder_without_pictures_is_refused(tmp_path):
    with pytest.raises(ValueError, match=rf"`source` must hold pictures \(.png, .jpg.*\); got none under {tmp_path}"):
        load_data(tmp_path)
