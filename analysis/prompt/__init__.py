"""A prompt of one's own: where heads look in it, what the model says next, and which heads make it say so."""
