"""The causal map: whether a head matters, found by fitted gates."""
