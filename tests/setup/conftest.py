# SPDX-License-Identifier: MIT
import os
import socket

import pytest

from index_server import Index


@pytest.fixture
def index(tmp_path):
    made = Index(tmp_path / "index")
    yield made
    made.close()


@pytest.fixture
def refused():
    """The address of an index that takes no connection."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{one.getsockname()[1]}/simple"


@pytest.fixture
def settings(tmp_path):
    """An environment in which nothing is said to pip."""
    home = tmp_path / "home"
    home.mkdir()
    kept = {name: value for name, value in os.environ.items()
            if not name.upper().startswith(("PIP_", "HTTP", "XDG_", "ALL_PROXY"))
            and not name.endswith(("CA_BUNDLE", "CERT_FILE"))}
    return {**kept, "HOME": str(home), "PIP_RETRIES": "0", "no_proxy": "127.0.0.1,localhost"}
