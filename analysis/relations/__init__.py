"""What all methods that score heads for relations share: settings, plan, steps, report and the pairs behind a score."""

import analysis.methods  # noqa: F401  # first: its list needs modules of this package, and these need its base types
