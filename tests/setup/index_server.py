# SPDX-License-Identifier: MIT
"""A package index on 127.0.0.1, and wheels for it that are made up."""
import hashlib
import http.server
import threading
import zipfile

import wheel_files


def library_wheel(folder, package, version, size):
    """One as fetch.py knows them: a library and a header."""
    return wheel_files.make(folder, {
        f"nvidia/{package}/lib/lib{package}.so.1": b"x" * size,
        f"nvidia/{package}/include/{package}.h": f"/* {version} */\n".encode()},
        name=package.replace("-", "_"), version=version, tags="py3-none-manylinux_2_17_x86_64",
        compression=zipfile.ZIP_STORED)


def digest(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


class Index:
    """Serves files of a folder as a simple index; what was asked for is in `asked`."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self.stall = threading.Event()
        self.stall.set()            # cleared: files stop half way
        self.asked = []
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/simple"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.stall.set()
        self.server.shutdown()
        self.server.server_close()

    def page(self, package):
        return "".join(f'<a href="/files/{file.name}#sha256={digest(file)}">{file.name}</a>\n'
                       for file in sorted(self.folder.iterdir())
                       if file.name.partition("-")[0].replace("_", "-") == package)

    def handler(index):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                index.asked.append(self.path)
                file = index.folder / self.path.rpartition("/")[2]
                if self.path.startswith("/simple/"):
                    self.answer("text/html", index.page(self.path.split("/")[2]).encode())
                elif file.exists():
                    self.answer("application/octet-stream", file.read_bytes())
                else:
                    self.send_error(404)

            def answer(self, kind, data):
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                half = len(data) if kind == "text/html" else len(data) // 2
                try:
                    self.wfile.write(data[:half])
                    self.wfile.flush()
                    index.stall.wait(60)
                    self.wfile.write(data[half:])
                except OSError:         # who asked has gone
                    pass

            def log_message(self, *_):
                pass

        return Handler
