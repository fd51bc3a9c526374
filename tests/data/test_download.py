import hashlib
import os
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from tests.data.server import Manners, Server

from separatrix.data import download

CONTENT = np.random.default_rng(0).bytes(1_000_000)
SHA256 = f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"
MD5 = f"md5:{hashlib.md5(CONTENT, usedforsecurity=False).hexdigest()}"


@pytest.fixture
def server():
    with Server(Manners({"/file.bin": CONTENT})) as server:
        yield server


@pytest.fixture
def url(server):
    return server.url("/file.bin")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "below" / "file.bin"


@pytest.fixture
def part(path):
    path.parent.mkdir()
    return path.with_name("file.bin.part")


def first_bytes(server):
    return [begin for _, begin in server.manners.asked]


@pytest.mark.parametrize("checksum", [SHA256, MD5])
@pytest.mark.parametrize("sized", [True, False])
def test_the_file_is_there_whole_and_nothing_else(server, url, path, checksum, sized):
    server.manners.sized = sized
    download(url, path, checksum=checksum)
    assert path.read_bytes() == CONTENT
    assert [file.name for file in path.parent.iterdir()] == ["file.bin"]


def test_a_file_that_is_there_is_not_fetched_again(server, url, path):
    for _ in range(2):
        download(url, path, checksum=SHA256)
    assert len(server.manners.asked) == 1


def test_two_that_want_the_same_file_fetch_it_once(server, url, path):
    with ThreadPoolExecutor(2) as pool:
        calls = [pool.submit(download, url, path, checksum=SHA256) for _ in range(2)]
    assert [call.result() for call in calls] == [None, None]
    assert path.read_bytes() == CONTENT
    assert first_bytes(server) == [0]


def test_progress_is_told_up_to_the_end(url, path):
    told = []
    download(url, path, checksum=SHA256, progress=lambda *news: told.append(news))
    assert {name for name, _, _ in told} == {"file.bin"}
    assert {total for _, _, total in told} == {len(CONTENT)}
    done = [done for _, done, _ in told]
    assert done == sorted(done)
    assert len(done) > 2
    assert done[-1] == len(CONTENT)


def test_cut_connections_are_continued_where_they_broke(server, url, path):
    server.manners.cuts = [300_000, 1, 0, 200_000]
    download(url, path, checksum=SHA256)
    assert path.read_bytes() == CONTENT
    assert first_bytes(server) == [0, 300_000, 300_001, 300_001, 500_001]


def test_a_later_call_goes_on_where_an_earlier_one_was_interrupted(server, url, path):
    def interrupt(name, done, total):
        if done > 400_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        download(url, path, checksum=SHA256, progress=interrupt)
    assert not path.exists()
    kept = path.with_name("file.bin.part").stat().st_size
    assert kept > 400_000
    download(url, path, checksum=SHA256)
    assert path.read_bytes() == CONTENT
    assert first_bytes(server) == [0, kept]


def test_a_server_that_does_not_continue_is_asked_for_all(server, url, path, part):
    server.manners.ranges = False
    part.write_bytes(CONTENT[:500_000])
    download(url, path, checksum=SHA256)
    assert path.read_bytes() == CONTENT
    assert first_bytes(server) == [500_000]


def test_a_server_that_neither_continues_nor_ends_is_given_up(server, url, path):
    server.manners.ranges, server.manners.cuts = False, [1000] * 9
    with pytest.raises(ConnectionError, match=r"could not be fetched: the connection was cut after 1,000 of 1,000,000"):
        download(url, path, checksum=SHA256)
    assert len(server.manners.asked) == 4
    assert not path.exists()


@pytest.mark.parametrize("kept", [CONTENT[:-1] + b"x", CONTENT + b"x", b"x" * 10, CONTENT[:500] + b"x"])
def test_a_beginning_of_another_file_is_thrown_away(server, url, path, part, kept):
    part.write_bytes(kept)
    download(url, path, checksum=SHA256)
    assert path.read_bytes() == CONTENT
    assert first_bytes(server)[-1] == 0
    assert not part.exists()


def test_a_whole_file_that_was_not_yet_named_is_kept(server, url, path, part):
    part.write_bytes(CONTENT)
    download(url, path, checksum=SHA256)
    assert path.read_bytes() == CONTENT
    assert first_bytes(server) == [len(CONTENT)]


def test_a_wrong_checksum_leaves_nothing_and_spares_what_was_there(url, path, part):
    path.write_bytes(b"an older file")
    wrong = "md5:" + 32 * "0"
    message = rf"^`{url}` must be a file with md5 0{{32}}; got {MD5[4:]}\. Nothing of it was kept\.$"
    with pytest.raises(ValueError, match=message):
        download(url, path, checksum=wrong)
    assert path.read_bytes() == b"an older file"
    assert not part.exists()


@pytest.mark.parametrize(("status", "asked"), [(404, 1), (403, 1), (500, 3), (503, 3)])
def test_errors_of_the_server_are_said_in_one_line(server, url, path, status, asked):
    server.manners.statuses = [status] * 9
    with pytest.raises(ConnectionError, match=rf"^{url} could not be fetched: HTTP {status} [\w ]+\.$"):
        download(url, path, checksum=SHA256)
    assert len(server.manners.asked) == asked


def test_passing_trouble_of_the_server_is_outlived(server, url, path):
    server.manners.statuses = [503, 500]
    download(url, path, checksum=SHA256)
    assert path.read_bytes() == CONTENT


def test_nobody_there(path):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/file.bin"
        with pytest.raises(ConnectionError, match=rf"^{url} could not be fetched: Connection refused\.$"):
            download(url, path, checksum=SHA256)


def test_a_full_disk_is_said_with_the_file_and_the_rest_follows_later(server, url, path, monkeypatch):
    def full(number):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(os, "fsync", full)
        with pytest.raises(OSError, match=r"No space left on device: '.*file.bin.part'$"):
            download(url, path, checksum=SHA256)
    assert not path.exists()
    download(url, path, checksum=SHA256)
    assert path.read_bytes() == CONTENT


@pytest.mark.parametrize("stage", ["fsync", "replace"])
def test_an_interruption_at_the_end_loses_nothing(server, url, path, monkeypatch, stage):
    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as fault:
        fault.setattr(os if stage == "fsync" else Path, stage, interrupt)
        with pytest.raises(KeyboardInterrupt):
            download(url, path, checksum=SHA256)
    assert not path.exists()
    download(url, path, checksum=SHA256)
    assert path.read_bytes() == CONTENT
    assert first_bytes(server) == [0, len(CONTENT)]


@pytest.mark.parametrize("checksum", ["", "md5", "md5:", "crc:123", "d41d8cd98f00b204e9800998ecf8427e"])
def test_a_checksum_needs_its_name(path, checksum):
    with pytest.raises(ValueError, match="`checksum` must be the name of a hash, a colon and its digits; got '"):
        download("http://127.0.0.1/file.bin", path, checksum=checksum)
