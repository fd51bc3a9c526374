import gzip
import io
import pickle
import struct
import tarfile
import zipfile

import numpy as np
import pytest
import torch
from scipy.io import savemat
from tests.data.written import write_idx_set, write_png_rows

from separatrix.data import load_data
from separatrix.data import npz as npz_module
from separatrix.data.formats import read_idx_pair, read_mat, read_png_rows
from separatrix.data.npz import read_npz
from separatrix.data.pickles import read_archive, read_batches


def batch(images, labels, *, text=False, protocol=2):
    """A pickle as CIFAR-10 comes in; ``text`` has keys of text where the published ones are bytes."""
    key = str if text else str.encode
    fields = {key("data"): images.flatten(1).numpy(), key("labels"): labels.tolist(), key("batch_label"): b"one of 1"}
    return pickle.dumps(fields, protocol)


def idx_paths(folder, ending=".gz"):
    return [folder / f"t10k-{part}{ending}" for part in ("images-idx3-ubyte", "labels-idx1-ubyte")]


@pytest.mark.parametrize("zipped", [True, False])
def test_idx_files_are_read_gzipped_or_not(tmp_path, images, labels, zipped):
    write_idx_set(tmp_path, images[:, 0], labels, zipped=zipped)
    read, numbers = read_idx_pair(idx_paths(tmp_path, ".gz" if zipped else ""))
    assert torch.equal(read, images[:, :1])
    assert torch.equal(numbers, labels)


def test_rows_of_a_picture_are_images(tmp_path, images, labels):
    write_png_rows(tmp_path, images, labels)
    read, numbers = read_png_rows([tmp_path / "test_batch.png", tmp_path / "test_lables.json"])
    assert torch.equal(read, images)
    assert torch.equal(numbers, labels)


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("text", [True, False])
def test_batches_are_read_without_running_them(tmp_path, images, labels, text, protocol):
    for name, part in (("one", slice(3)), ("two", slice(3, 7))):
        (tmp_path / name).write_bytes(batch(images[part], labels[part], text=text, protocol=protocol))
    read, numbers = read_batches([tmp_path / "one", tmp_path / "two"])
    assert torch.equal(read, images)
    assert torch.equal(numbers, labels)


def test_batches_are_read_from_the_archive_in_their_order(tmp_path, images, labels):
    path = tmp_path / "cifar.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, part in (("test_batch", slice(1)), ("data_batch_2", slice(3, 7)), ("data_batch_1", slice(3))):
            content = batch(images[part], labels[part])
            info = tarfile.TarInfo(f"cifar-10-batches-py/{name}")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    read, numbers = read_archive(path, ("data_batch_1", "data_batch_2"))
    assert torch.equal(read, images)
    assert torch.equal(numbers, labels)
    with pytest.raises(ValueError, match="must hold data_batch_1, data_batch_9; got no data_batch_9"):
        read_archive(path, ("data_batch_1", "data_batch_9"))


def test_ten_stands_for_the_digit_zero_in_matlab_files(tmp_path, images):
    numbers = torch.tensor([10, 1, 2, 10, 9, 5, 5], dtype=torch.uint8)
    for compressed in (False, True):
        path = tmp_path / f"{compressed}.mat"
        variables = {"X": images.permute(2, 3, 1, 0).numpy(), "y": numbers[:, None].numpy()}
        savemat(path, variables, do_compression=compressed)
        read, labels = read_mat([path])
        assert torch.equal(read, images)
        assert labels.tolist() == [0, 1, 2, 0, 9, 5, 5]


@pytest.mark.parametrize("kind", [np.float32, np.float64, ">f4", np.uint8])
def test_archives_of_arrays(tmp_path, images, labels, kind):
    values = images.numpy().astype(kind)
    np.savez_compressed(tmp_path / "a.npz", images=np.asfortranarray(values), labels=labels.to(torch.int16), other="x")
    data = load_data(tmp_path / "a.npz")
    assert torch.equal(data.points * (255 if kind is np.uint8 else 1), images.to(data.points))
    assert torch.equal(data.labels, labels)
    assert data.name == "a"


def test_archives_may_hold_both_splits(tmp_path, images, labels):
    parts = {
        "train_images": images[:4],
        "train_labels": labels[:4],
        "test_images": images[4:],
        "test_labels": labels[4:],
    }
    np.savez(tmp_path / "both.npz", **parts)
    for split, part in (("train", slice(4)), ("test", slice(4, 7))):
        data = load_data(tmp_path / "both.npz", split=split)
        assert torch.equal(data.labels, labels[part])
        assert data.name == f"both/{split}"


class Bomb:
    """A pickle of this would run a command."""

    def __reduce__(self):
        return eval, ("1 + 1",)


def gzipped_idx(axes, content):
    return gzip.compress(struct.pack(f">HBB{len(axes)}I", 0, 8, len(axes), *axes) + content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b"", "unpack requires a buffer of 4 bytes", id="empty"),
        pytest.param(
            gzipped_idx((2, 2, 2), bytes(8))[:-9], "ended before the end-of-stream marker|CRC check failed", id="cut"
        ),
        pytest.param(gzipped_idx((2, 2, 2), bytes(8))[:-6] + bytes(6), "CRC check failed", id="checksum"),
        pytest.param(gzipped_idx((2, 2, 2), bytes(7)), "`content` must be 8 bytes; got 7", id="too short"),
        pytest.param(gzipped_idx((2, 2, 2), bytes(9)), "`content` must be 8 bytes; got more", id="too long"),
        pytest.param(gzipped_idx((0, 2, 2), b""), "`size` must be from 1 to", id="no images"),
        pytest.param(gzipped_idx((60000, 60000, 60000), bytes(99)), "`size` must be from 1 to", id="bomb"),
        pytest.param(
            struct.pack(">HBBI", 0, 13, 1, 1) + bytes(4), "`header` must announce bytes; got 0000 0d", id="floats"
        ),
        pytest.param(
            b"PK\3\4 an archive of another kind", "`header` must announce bytes; got 504b 03", id="another kind"
        ),
    ],
)
def test_damaged_idx_files_are_refused_in_one_line(tmp_path, images, labels, content, message):
    write_idx_set(tmp_path, images[:, 0], labels)
    path = idx_paths(tmp_path)[0]
    path.write_bytes(content)
    with pytest.raises(
        ValueError, match=rf"^`{path}` must be an idx file, whole and undamaged; got: .*({message})[^\n]*$"
    ):
        read_idx_pair(idx_paths(tmp_path))


def test_images_and_labels_must_be_as_many(tmp_path, images, labels):
    write_idx_set(tmp_path, images[:, 0], labels[:5])
    with pytest.raises(ValueError, match=r"ubyte.gz` must hold 7 labels, whole numbers; got torch.int64 \(5,\)\.$"):
        read_idx_pair(idx_paths(tmp_path))
    write_png_rows(tmp_path, images, labels[:5])
    with pytest.raises(ValueError, match=r"lables.json` must hold 7 labels, whole numbers; got torch.int64 \(5,\)\.$"):
        read_png_rows([tmp_path / "test_batch.png", tmp_path / "test_lables.json"])
    (tmp_path / "few").write_bytes(batch(images, labels[:5]))
    with pytest.raises(ValueError, match=r"few` must hold 7 labels; got 5\.$"):
        read_batches([tmp_path / "few"])


@pytest.mark.parametrize("content", ["", "[1, 2", '{"one": 1}', '["one"]', "[[1], [2, 3]]"])
def test_damaged_lists_of_labels_are_refused_in_one_line(tmp_path, images, labels, content):
    write_png_rows(tmp_path, images, labels)
    path = tmp_path / "test_lables.json"
    path.write_text(content)
    with pytest.raises(
        ValueError, match=rf"^`{path}` must be a JSON list of labels, whole and undamaged; got: [^\n]+$"
    ):
        read_png_rows([tmp_path / "test_batch.png", path])


def pickled(data, labels=(1,)):
    return pickle.dumps({"data": data, "labels": list(labels)}, protocol=2)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(pickled(Bomb()), "be arrays, numbers and text alone; got a call of __builtin__.eval", id="call"),
        pytest.param(pickle.dumps(np.random.default_rng(0)), "got a call of numpy", id="generator"),
        pytest.param(pickled(np.zeros((1, 3072))), "`data` must be rows of bytes; got f8", id="floats"),
        pytest.param(pickled(np.zeros((1, 9), np.uint8)), "cannot reshape", id="shape"),
        pytest.param(pickled([0]), "`data` must be an array; got list", id="list"),
        pytest.param(pickled(np.zeros((1, 3072), np.uint8), ["one"]), "str", id="text for labels"),
        pytest.param(pickled(np.zeros((1, 3072), np.uint8))[:-50], "", id="cut"),
        pytest.param(pickle.dumps({"labels": [1]}), "data", id="no images"),
        pytest.param(pickle.dumps([1, 2]), "no attribute", id="no dictionary"),
        pytest.param(b"", "Ran out of input", id="empty"),
        pytest.param(b"\x80\x02r\xff\xff\xff\x7f", "", id="huge memo"),
    ],
)
def test_hostile_and_damaged_batches_are_refused_in_one_line(tmp_path, content, message):
    path = tmp_path / "batch"
    path.write_bytes(content)
    rule = rf"^`{path}` must be a batch of CIFAR-10, whole and undamaged; got: .*{message}[^\n]*$"
    with pytest.raises(ValueError, match=rule):
        read_batches([path])


def test_damaged_archives_are_refused_in_one_line(tmp_path):
    path = tmp_path / "cifar.tar.gz"
    for content in (b"", b"no archive", gzip.compress(bytes(99))[:-9]):
        path.write_bytes(content)
        with pytest.raises(
            ValueError, match=rf"^`{path}` must be a gzipped tar archive, whole and undamaged; got: [^\n]+$"
        ):
            read_archive(path, ("test_batch",))


@pytest.mark.parametrize("variables", [{"X": np.zeros((2, 2))}, {"y": [1]}])
def test_matlab_files_without_their_variables_are_refused(tmp_path, variables):
    path = tmp_path / "test_32x32.mat"
    savemat(path, variables)
    with pytest.raises(
        ValueError, match=rf"^`{path}` must be a MATLAB file with X and y, whole and undamaged; got: '[Xy]'\.$"
    ):
        read_mat([path])


def test_damaged_matlab_files_are_refused_in_one_line(tmp_path, images):
    path = tmp_path / "test_32x32.mat"
    savemat(path, {"X": images.permute(2, 3, 1, 0).numpy(), "y": np.ones((7, 1), np.uint8)}, do_compression=True)
    whole = path.read_bytes()
    for content in (b"", b"no matrix" * 99, whole[:-1000], whole[:200] + bytes(50) + whole[250:]):
        path.write_bytes(content)
        with pytest.raises(
            ValueError, match=rf"^`{path}` must be a MATLAB file with X and y, whole and undamaged; got: [^\n]+$"
        ):
            read_mat([path])
    savemat(path, {"X": np.zeros((2, 2)), "y": np.ones((7, 1))})
    with pytest.raises(
        ValueError, match=r"must hold bytes X \(height, width, channels, n\) and whole numbers y; got float64"
    ):
        read_mat([path])


def npz(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def npy(values):
    stream = io.BytesIO()
    np.save(stream, values)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("members", "message"),
    [
        pytest.param({}, "`members` must include images or points or x or X or data; got none", id="empty"),
        pytest.param(
            {"pictures.npy": npy(np.zeros(3))}, "`members` must include images or .*; got pictures", id="other names"
        ),
        pytest.param(
            {"images.npy": npy(np.array([Bomb()]))}, "`images.npy` must hold numbers; got object", id="objects"
        ),
        pytest.param({"images.npy": npy(np.array(["text"]))}, "`images.npy` must hold numbers; got <U4", id="text"),
        pytest.param(
            {"images.npy": npy(np.zeros((4, 4)))[:-8]},
            r"`images.npy` must hold 128 bytes of float64 \(4, 4\); got 120",
            id="cut",
        ),
        pytest.param(
            {"images.npy": npy(np.zeros(1)).replace(b"(1,)", b"(9,)")},
            r"must hold 72 bytes of float64 \(9,\); got 8",
            id="lying header",
        ),
        pytest.param({"images.npy": b"no array"}, "magic string", id="no array"),
    ],
)
def test_hostile_and_damaged_arrays_are_refused_in_one_line(tmp_path, members, message):
    path = tmp_path / "a.npz"
    npz(path, members)
    with pytest.raises(
        ValueError, match=rf"^`{path}` must be an \.npz archive of arrays, whole and undamaged; got: .*{message}[^\n]*$"
    ):
        read_npz(path, "test")


def test_damaged_archives_of_arrays_are_refused_in_one_line(tmp_path, images):
    path = tmp_path / "a.npz"
    np.savez_compressed(path, images=images)
    whole = path.read_bytes()
    for content in (b"", b"no archive", whole[:-99], whole[:2000] + bytes(9) + whole[2009:]):
        path.write_bytes(content)
        with pytest.raises(
            ValueError, match=rf"^`{path}` must be an \.npz archive of arrays, whole and undamaged; got: [^\n]+$"
        ):
            read_npz(path, "test")


def test_an_archive_that_unpacks_to_far_too_much_is_not_unpacked(tmp_path):
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("images.npy", "w") as stream:
        stream.write(npy(np.zeros(0, np.uint8)).replace(b"(0,)", b"(9,)"))
        for _ in range(65):
            stream.write(bytes(1 << 20))
    assert path.stat().st_size < 100_000
    with pytest.raises(ValueError, match=r"`archive` must unpack to at most 67,108,864 bytes; got 68,1"):
        read_npz(path, "test")


@pytest.fixture
def unpacked(monkeypatch):
    """Members of archives whose contents were read."""
    read, names = npz_module._filled, []
    monkeypatch.setattr(npz_module, "_filled", lambda stream, size: names.append(stream.name) or read(stream, size))
    return names


def test_images_are_not_unpacked_before_there_are_labels(tmp_path, images, unpacked):
    np.savez_compressed(tmp_path / "a.npz", images=images)
    with pytest.raises(ValueError, match="`labels` must be given: a has none"):
        load_data(tmp_path / "a.npz")
    assert unpacked == []
    assert len(load_data(tmp_path / "a.npz", labels=range(7))) == 7
    assert unpacked == ["images.npy"]


def test_an_array_of_another_size_than_it_says_is_not_unpacked(tmp_path, unpacked):
    npz(tmp_path / "a.npz", {"images.npy": npy(np.zeros((2, 2))).replace(b"(2, 2)", b"(2, 3)")})
    with pytest.raises(ValueError, match=r"`images.npy` must hold 48 bytes of float64 \(2, 3\); got 32\.$"):
        read_npz(tmp_path / "a.npz", "test")
    assert unpacked == []


def test_large_arrays_come_back_as_they_were(tmp_path):
    values = np.random.default_rng(0).integers(0, 256, (3, 1000, 1001), dtype=np.uint8)
    np.savez(tmp_path / "a.npz", images=values, labels=np.arange(3))
    assert np.array_equal(read_npz(tmp_path / "a.npz", "test").store.images[:, 0], values)


def test_an_archive_without_points_is_refused_by_name(tmp_path):
    np.savez(tmp_path / "a.npz", images=np.zeros((0, 28, 28), np.uint8), labels=np.zeros(0, np.int64))
    with pytest.raises(ValueError, match=r"^`source` must hold at least one point; got none in a\.$"):
        load_data(tmp_path / "a.npz")


def test_bytes_that_do_not_compress_are_never_too_much(tmp_path, monkeypatch, images):
    monkeypatch.setattr("separatrix.data.npz._ALWAYS_ALLOWED", 1)
    np.savez_compressed(tmp_path / "a.npz", images=images)
    assert torch.equal(read_npz(tmp_path / "a.npz", "test").store.images, images)
