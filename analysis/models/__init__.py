"""Models on disk: their card, tensors, vocabulary and sources. No torch here."""
