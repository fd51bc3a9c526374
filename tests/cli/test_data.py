"""``separatrix data``: what there is, and how it is got."""

import hashlib
from dataclasses import replace

import pytest
import torch
from tests.data.server import Manners, Server
from tests.data.written import write_idx_set

from separatrix.data import catalogue
from separatrix.data.known import Published


@pytest.fixture
def server(monkeypatch, tmp_path):
    """A server with the files of a small MNIST, which the published one is replaced by."""
    images, labels = torch.zeros(7, 28, 28, dtype=torch.uint8), torch.arange(7)
    for prefix in ("train", "t10k"):
        write_idx_set(tmp_path / "published", images, labels, prefix=prefix)
    contents = {f"/{path.name}": path.read_bytes() for path in (tmp_path / "published").iterdir()}
    with Server(Manners(contents)) as server:
        sums = {path: hashlib.md5(content, usedforsecurity=False).hexdigest() for path, content in contents.items()}
        published = (Published(server.url(path), f"md5:{sums[path]}", len(contents[path])) for path in contents)
        known = replace(catalogue.KNOWN["mnist"], published=tuple(published), contents={})
        monkeypatch.setitem(catalogue.KNOWN, "mnist", known)
        yield server


def rows(text):
    return {line.split()[0]: line for line in text.splitlines()[1:]}


def test_the_list_has_a_line_for_each_set(command):
    ended = command("data", "list")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines()[0].split() == ["name", "size", "where", "licence", "address"]
    listed = rows(ended.out)
    assert list(listed) == ["sample", "fashion-mnist", "mnist", "cifar10", "svhn"]
    assert "samples" in listed["sample"]
    for words in ("11.6 MB", "to be downloaded", "CC BY-SA 3.0", "http://yann.lecun.com/exdb/mnist/"):
        assert words in listed["mnist"]


def test_a_set_is_got_once_and_then_listed_where_it_is(command, server, folders):
    folder = folders / "xdg_cache_home" / "separatrix" / "data" / "mnist"
    for _ in range(2):
        ended = command("data", "get", "mnist", "sample")
        assert ended.code == 0
        assert ended.out.splitlines()[0] == f"mnist is in {folder}"
        assert ended.out.splitlines()[1].startswith("sample is in ")
        assert ended.err == ""
    assert len(server.manners.asked) == 4
    assert str(folder) in rows(command("data", "list").out)["mnist"]


def test_names_are_looked_at_before_anything_is_fetched(command, server):
    assert command("data", "get", "mnist", "imagenet").code == 2
    assert server.manners.asked == []


def test_a_set_that_is_out_of_reach_is_one_line(command, server):
    server.manners.files.clear()
    ended = command("data", "get", "mnist")
    assert ended.code == 2
    assert ended.complaint.startswith("mnist/train is not in ")
    assert "could not be fetched: HTTP 404 Not Found." in ended.complaint


def test_an_interrupted_download_goes_on(command, server, monkeypatch):
    def stopped(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as interrupting:
        interrupting.setattr("separatrix.cli.progress._Lines.tell", stopped)
        ended = command("data", "get", "mnist")
        assert ended.code == 3
        assert ended.complaint == "interrupted; to go on: separatrix data get mnist"
    assert command("data", "get", "mnist").code == 0
    (first, _), second, *_ = server.manners.asked
    assert second == (first, len(server.manners.files[first]))


def test_a_damaged_set_is_not_passed_off_as_got(command, server, folders):
    assert command("data", "get", "mnist").code == 0
    path = folders / "xdg_cache_home" / "separatrix" / "data" / "mnist" / "t10k-labels-idx1-ubyte.gz"
    path.write_bytes(path.read_bytes()[:20])
    ended = command("data", "get", "mnist")
    assert ended.code == 2
    assert ended.complaint.startswith(f"`{path}` must be a file of mnist, whole and undamaged; got: ")
    path.unlink()
    assert command("data", "get", "mnist").code == 0
