"""`python -m analysis`: the analysis without the dashboard."""

import sys

from analysis.cli import main

sys.exit(main())
