"""What all methods that score heads for relations share: settings, plan, steps, report and the pairs behind a score."""
