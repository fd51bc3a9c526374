"""The data sets that have a name, and what is needed to list them and to get them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType

from separatrix.checks import require
from separatrix.data.download import Progress
from separatrix.data.formats import Split, read_idx_pair, read_mat, read_png_rows
from separatrix.data.known import KnownSet, Layout, Published, fetched, found, require_published
from separatrix.data.pickles import read_archive, read_batches

SPLITS = ("train", "test")
SAMPLE = "sample"
GARMENTS = ("T-shirt", "trousers", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot")

_DIGITS = tuple("0123456789")
_THINGS = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
_BATCHES = {"train": tuple(f"data_batch_{number}" for number in range(1, 6)), "test": ("test_batch",)}
_IDX_FILES = ("images-idx3-ubyte", "labels-idx1-ubyte")
_IDX_PREFIX = {"train": "train", "test": "t10k"}


@dataclass(frozen=True)
class Entry:
    """A data set by its name, for a list of them.

    Attributes:
        name: What ``load_data`` takes.
        title: What it is, in a line.
        size: Bytes of a download.
        found: The folder on this machine that holds both splits, if one does.
        licence: On what terms it may be used.
        address: Where it is described.
    """

    name: str
    title: str
    size: int
    found: Path | None
    licence: str
    address: str


def available() -> tuple[Entry, ...]:
    """All data sets that have a name, and where they are on this machine."""
    return (_bundled(), *(_entry(known) for known in KNOWN.values()))


def get(name: str, progress: Progress | None = None) -> Path:
    """The folder with both splits of a data set, downloaded unless it is on this machine already, and undamaged.

    Args:
        name: ``"sample"``, ``"fashion-mnist"``, ``"mnist"``, ``"cifar10"`` or ``"svhn"``.
        progress: Told the file, its bytes so far and its bytes in all.
    """
    names = (SAMPLE, *KNOWN)
    require(name in names, "name", f"be one of {', '.join(map(repr, names))}", repr(name))
    if name == SAMPLE:
        return sample_path().parent
    for split in SPLITS:
        layout, root = fetched(KNOWN[name], split, progress)
        require_published(KNOWN[name], layout.paths(root))
    return root / layout.folder


def sample_path() -> Path:
    """The archive that is bundled."""
    return Path(str(files("separatrix.data"))) / "samples" / "fashion-mnist.npz"


def _bundled() -> Entry:
    path, parent = sample_path(), KNOWN["fashion-mnist"]
    title = "300 training and 100 test images of each class of Fashion-MNIST, bundled"
    return Entry(SAMPLE, title, path.stat().st_size, path.parent, parent.licence, parent.address)


def _entry(known: KnownSet) -> Entry:
    places = [found(known, split) for split in SPLITS]
    there = [root / layout.folder for layout, root in filter(None, places)]
    where = there[0] if len(there) == len(SPLITS) else None
    size = sum(file.size for file in known.published)
    return Entry(known.name, known.title, size, where, known.licence, known.address)


def _idx_files(split: str, ending: str) -> tuple[str, ...]:
    return tuple(f"{_IDX_PREFIX[split]}-{name}{ending}" for name in _IDX_FILES)


def _idx_contents(*checksums: str) -> Mapping[str, str]:
    names = [name for split in SPLITS for name in _idx_files(split, "")]
    return MappingProxyType(dict(zip(names, checksums, strict=True)))


def _idx_layouts(*folders: str) -> tuple[Layout, ...]:
    ways = ((split, folder, ending) for split in SPLITS for folder in folders for ending in (".gz", ""))
    return tuple(Layout(split, folder, _idx_files(split, ending), read_idx_pair) for split, folder, ending in ways)


def _idx_published(base: str, checksums: Sequence[str], sizes: Sequence[int]) -> tuple[Published, ...]:
    names = [name for split in SPLITS for name in _idx_files(split, ".gz")]
    return tuple(map(Published, (base + name for name in names), checksums, sizes))


def _cifar_layouts(split: str) -> tuple[Layout, ...]:
    pictures = tuple(f"{name}.png" for name in _BATCHES[split])
    batches, archive = _BATCHES[split], ("cifar-10-python.tar.gz",)
    return (
        Layout(split, "cifar10", (*pictures, f"{split}_lables.json"), read_png_rows),
        *(Layout(split, folder, batches, read_batches) for folder in ("cifar-10-batches-py", "cifar10")),
        *(Layout(split, folder, archive, partial(_read_archive, split)) for folder in ("cifar10", "")),
    )


def _read_archive(split: str, paths: Sequence[Path]) -> Split:
    return read_archive(paths[0], _BATCHES[split])


_FASHION_MNIST = KnownSet(
    "fashion-mnist",
    "70,000 grey images of garments, 28 × 28",
    GARMENTS,
    "MIT",
    "https://github.com/zalandoresearch/fashion-mnist",
    _idx_published(
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
        (
            "md5:8d4fb7e6c68d591d4c3dfef9ec88bf0d",
            "md5:25c81989df183df01b3e8a0aad5dffbe",
            "md5:bef4ecab320f06d8554ea6380940ec79",
            "md5:bb300cfdad3c16e7a12a480ee83cd310",
        ),
        (26_421_880, 29_515, 4_422_102, 5_148),
    ),
    _idx_layouts("fashion-mnist", "FashionMNIST/raw"),
    _idx_contents(
        "md5:f4a8712d7a061bf5bd6d2ca38dc4d50a",
        "md5:9018921c3c673c538a1fc5bad174d6f9",
        "md5:8181f5470baa50b63fa0f6fddb340f0a",
        "md5:15d484375f8d13e6eb1aabb0c3f46965",
    ),
)

_MNIST = KnownSet(
    "mnist",
    "70,000 grey images of handwritten digits, 28 × 28",
    _DIGITS,
    "CC BY-SA 3.0",
    "http://yann.lecun.com/exdb/mnist/",
    _idx_published(
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        (
            "md5:f68b3c2dcbeaaa9fbdd348bbdeb94873",
            "md5:d53e105ee54ea40749a09fcbcd1e9432",
            "md5:9fb629c4189551a2d022fa330f9573f3",
            "md5:ec29112dd5afa0611ce80d1b7f02629c",
        ),
        (9_912_422, 28_881, 1_648_877, 4_542),
    ),
    _idx_layouts("mnist", "MNIST/raw"),
    _idx_contents(
        "md5:6bbc9ace898e44ae57da46a324031adb",
        "md5:a25bea736e30d166cdddb491f175f624",
        "md5:2646ac647ad5339dbf082846283269ea",
        "md5:27ae3e4e09519cfbb04c329615203637",
    ),
)

_CIFAR10 = KnownSet(
    "cifar10",
    "60,000 colour images of things and animals, 32 × 32",
    _THINGS,
    "none stated; cite Krizhevsky (2009)",
    "https://www.cs.toronto.edu/~kriz/cifar.html",
    (
        Published(
            "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",
            "md5:c58f30108f718f92721af3b95e74349a",
            170_498_071,
        ),
    ),
    tuple(layout for split in SPLITS for layout in _cifar_layouts(split)),
    MappingProxyType(
        {
            "data_batch_1": "md5:c99cafc152244af753f735de768cd75f",
            "data_batch_2": "md5:d4bba439e000b95fd0a9bffe97cbabec",
            "data_batch_3": "md5:54ebc095f3ab1f0389bbae665268c751",
            "data_batch_4": "md5:634d18415352ddfa80567beed471001a",
            "data_batch_5": "md5:482c414d41f54cd18b22e5b47cb7c3cb",
            "test_batch": "md5:40351d587109b95175f43aff81a1287e",
            "data_batch_1.png": "md5:95b9182fdb392a8c4f33ce63b25230cd",
            "data_batch_2.png": "md5:2b73fe6aed56cb19b662d8874666cb63",
            "data_batch_3.png": "md5:cf427b6066805e2de5360e57bc7f5606",
            "data_batch_4.png": "md5:0a02eb0f087c5f3bc51081bfa4296ac8",
            "data_batch_5.png": "md5:46c95f89e4498605fff4bff0fec0439e",
            "test_batch.png": "md5:93cedb7e38e1265603b4efe8e7883303",
            "train_lables.json": "md5:38310cc93af6b9f262f2a7e5a0eaa7f9",
            "test_lables.json": "md5:5410fb69daf512b100a066eb7c1cead1",
        }
    ),
)

_SVHN = KnownSet(
    "svhn",
    "99,289 colour images of house numbers, 32 × 32",
    _DIGITS,
    "non-commercial use only",
    "http://ufldl.stanford.edu/housenumbers/",
    (
        Published(
            "http://ufldl.stanford.edu/housenumbers/train_32x32.mat",
            "md5:e26dedcc434d2e4c54c9b2d4a06d8373",
            182_040_794,
        ),
        Published(
            "http://ufldl.stanford.edu/housenumbers/test_32x32.mat",
            "md5:eb5a983be6a315427106f1b164d9cef3",
            64_275_384,
        ),
    ),
    tuple(
        Layout(split, folder, (f"{split}_32x32.mat",), read_mat) for split in SPLITS for folder in ("svhn", "SVHN", "")
    ),
)

KNOWN = {known.name: known for known in (_FASHION_MNIST, _MNIST, _CIFAR10, _SVHN)}
