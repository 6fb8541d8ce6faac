"""Start Head Atlas: read the flags, open the store, start the engine, make the page, serve it."""

import argparse
import gc
import signal
import socket
import sys
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from analysis.errors import HeadAtlasError, SettingError
from analysis.evidence.catalogue import Catalogue
from analysis.jobs.cluster import STEP_LIMIT
from analysis.jobs.engine import Engine, WorkerConfig
from analysis.results.store import Store, cache_folder
from dashboard.access import Access
from dashboard.web.application import create_app
from dashboard.web.connections import Connection, Socket, allow_many_files, trust
from dashboard.web.live import MAX_FRAME
from dashboard.web.memory import keep_small, settle_memory


def main(arguments: list[str] | None = None) -> int:
    """Serve until interrupted."""
    options = _parser().parse_args(arguments)
    settle_memory()
    try:
        _check(options)
        access = Access.of(options.host, options.auth_file, options.public_url)
        store = Store(cache_folder() / "store")
        engine = Engine(store, WorkerConfig(options.scheduler, options.device, options.models, options.step_limit))
        engine.start()
    except HeadAtlasError as error:
        print(f"error: {error}\nhint:  {error.hint}", file=sys.stderr)
        return error.exit_code
    address = access.public_url or f"http://{options.host}:{options.port}"
    print(f"Head Atlas is at {address}  (Ctrl-C stops it)", flush=True)
    if access.read_only:
        print("Others can reach this address and there is no --auth-file: read-only, no analyses.", flush=True)
    server = create_app(Catalogue(store, engine), engine, access, options.models)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: the worker ends, too
    try:
        serve(server, options.host, options.port, options.trusted_proxy)
    finally:
        engine.stop()
    return 0


def serve(server: FastAPI, host: str, port: int, trusted_proxies: list[str]) -> None:
    """Answer requests; what a proxy says of its clients is believed of those that are trusted alone."""
    allow_many_files()
    trust(trusted_proxies)
    keep_small()
    gc.collect()
    gc.freeze()  # what is there by now stays: looking through it again and again would keep the event loop waiting
    uvicorn.run(
        server, host=host, port=port, log_level="warning", timeout_graceful_shutdown=3, http=Connection, ws=Socket,
        proxy_headers=bool(trusted_proxies), forwarded_allow_ips=trusted_proxies, ws_max_size=MAX_FRAME,
    )  # fmt: skip


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
    parser.add_argument("--public-url", default="", metavar="URL", help="the URL that browsers see behind a proxy")
    parser.add_argument(
        "--trusted-proxy", action="append", default=[], metavar="ADDRESS", help="proxy whose X-Forwarded-For is trusted"
    )
    parser.add_argument(
        "--step-limit", type=float, default=STEP_LIMIT, metavar="SECONDS", help="time limit for a step (default 3600)"
    )
    parser.add_argument("--scheduler", default="", metavar="tcp://…", help="an existing Dask scheduler to use")
    return parser


if __name__ == "__main__":
    sys.exit(main())
