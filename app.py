"""Start Head Atlas: read the flags, open the store, start the engine, make the page, serve it."""

import argparse
import signal
import socket
import sys
from pathlib import Path

import uvicorn

from analysis.errors import HeadAtlasError, SettingError
from analysis.jobs.engine import Engine, Place
from analysis.results.catalogue import Catalogue
from analysis.results.store import Store, cache_folder
from dashboard.access import Access
from dashboard.web.application import create_app


def main(arguments: list[str] | None = None) -> int:
    """Serve until interrupted."""
    options = _parser().parse_args(arguments)
    try:
        _check(options)
        access = Access.of(options.host, options.auth_file)
        store = Store(cache_folder() / "store")
        engine = Engine(store, Place(options.scheduler, options.device, options.models))
        engine.start()
    except HeadAtlasError as error:
        print(f"error: {error}\nhint:  {error.hint}", file=sys.stderr)
        return error.exit_code
    print(f"Head Atlas is at http://{options.host}:{options.port}  (Ctrl-C stops it)", flush=True)
    if access.read_only:
        print("Others can reach this address and there is no --auth-file: read-only, no analyses.", flush=True)
    server = create_app(Catalogue(store, engine), engine, access, options.models)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: the worker ends, too
    try:
        uvicorn.run(server, host=options.host, port=options.port, log_level="warning", timeout_graceful_shutdown=3)
    finally:
        engine.stop()
    return 0


def _check(options: argparse.Namespace) -> None:
    """Refuse, before anything is started, what would fail later without a word."""
    if options.models is not None and not options.models.is_dir():
        raise SettingError(f"there is no folder {options.models}", "Give --models an existing folder.")
    with socket.socket(socket.AF_INET6 if ":" in options.host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((options.host, options.port))
        except OSError as error:
            raise SettingError(
                f"{options.host}:{options.port} cannot be listened on: {error.strerror}",
                "Choose another port with --port (PORT=8051 make run), or stop what listens there.",
            ) from error


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Head Atlas: what every attention head of a model does.")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: this machine only)")
    parser.add_argument("--port", type=int, default=8050, help="port to listen on (default 8050)")
    parser.add_argument("--auth-file", type=Path, metavar="FILE", help="people who may log in (see the README)")
    parser.add_argument(
        "--models", type=Path, metavar="DIR", help="folders and .gguf files in it can be analysed by name"
    )
    parser.add_argument("--device", default="auto", help="cpu, cuda … of the worker (default: a GPU if there is one)")
    parser.add_argument("--scheduler", default="", metavar="tcp://…", help="an existing Dask scheduler to use")
    return parser


if __name__ == "__main__":
    sys.exit(main())
