"""The maps that the page shows, one package each."""
