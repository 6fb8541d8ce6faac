"""Starting the server: what cannot work is said before anything runs."""

import socket

import pytest

import app


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HEAD_ATLAS_CACHE", str(tmp_path))


def test_a_port_that_is_taken_is_said_with_a_way_out(cache, capsys):
    """No engine is started and no address is printed."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert app.main(["--port", str(taken.getsockname()[1])]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "cannot be listened on" in printed.err
    assert "PORT=" in printed.err


def test_a_models_folder_that_is_not_there_is_refused(cache, tmp_path, capsys):
    """Rather than an empty list of models."""
    assert app.main(["--models", str(tmp_path / "none"), "--port", "0"]) == 2
    assert "there is no folder" in capsys.readouterr().err
