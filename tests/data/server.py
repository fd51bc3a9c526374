"""A server on this machine that serves files as badly as it is told to."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Manners:
    """How the server behaves.

    Attributes:
        files: Contents by path.
        ranges: Whether it continues in the middle of a file.
        cuts: Bytes after which it hangs up, for one request after the other; then it does no more.
        statuses: What it answers instead of a file, for one request after the other; then it does no more.
        sized: Whether it says how long a file is.
        asked: What it was asked for: paths and first bytes.
    """

    files: dict[str, bytes]
    ranges: bool = True
    cuts: list[int] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    sized: bool = True
    asked: list[tuple[str, int]] = field(default_factory=list)


class Server(ThreadingHTTPServer):
    """To be used as a context: it serves until the end."""

    def __init__(self, manners: Manners) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.manners = manners

    def __enter__(self):
        self.thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.thread.join()
        self.server_close()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        manners = self.server.manners
        content = manners.files.get(self.path)
        begin = int(re.sub(r"bytes=(\d+)-", r"\1", self.headers.get("Range", "0")))
        manners.asked.append((self.path, begin))
        if manners.statuses or content is None:
            self.send_error(manners.statuses.pop(0) if manners.statuses else 404)
            return
        begin = begin if manners.ranges else 0
        if begin and begin >= len(content):
            self.send_error(416)
            return
        self.send_response(206 if begin else 200)
        if begin:
            self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
        if manners.sized:
            self.send_header("Content-Length", str(len(content) - begin))
        self.end_headers()
        rest = content[begin:]
        self.wfile.write(rest[: manners.cuts.pop(0)] if manners.cuts else rest)

    def log_message(self, *_) -> None:
        pass
