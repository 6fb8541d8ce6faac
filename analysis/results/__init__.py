"""What was computed: scores with their provenance, the store, the catalogue. No torch here."""
