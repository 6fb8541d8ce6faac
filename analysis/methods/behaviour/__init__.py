"""The behaviour of a head: where it looks, on random tokens that come twice and on text."""
