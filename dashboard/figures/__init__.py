"""Pure functions from what a panel shows to a plotly figure; one file per figure."""
