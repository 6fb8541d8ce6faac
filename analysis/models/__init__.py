"""Models on disk: their card, tensors, vocabulary and where they come from. No torch here."""
