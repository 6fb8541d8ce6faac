"""Start Head Atlas: open the store, make the page, serve it."""

import argparse
import sys

import uvicorn

from analysis.errors import HeadAtlasError
from analysis.store import Store, cache_folder
from dashboard.app import create_app
from dashboard.library import Library


def main(arguments: list[str] | None = None) -> int:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description="Head Atlas: what every attention head of a model does.")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: this machine only)")
    parser.add_argument("--port", type=int, default=8050, help="port to listen on (default 8050)")
    options = parser.parse_args(arguments)
    try:
        store = Store(cache_folder() / "store")
    except HeadAtlasError as error:
        print(f"error: {error}\nhint:  {error.hint}", file=sys.stderr)
        return error.exit_code
    print(f"Head Atlas is at http://{options.host}:{options.port}  (Ctrl-C stops it)", flush=True)
    uvicorn.run(create_app(Library(store)), host=options.host, port=options.port, log_level="warning")
    return 0


if __name__ == "__main__":
    sys.exit(main())
