"""Start Head Atlas: the function map of the model that comes with it, from its weights alone."""

import sys

from analysis import default_model
from analysis.cli import main

if __name__ == "__main__":
    sys.exit(main(["map", default_model.ID, *sys.argv[1:]]))
