"""All results of all methods together: the catalogue, quantities, agreement, and what they support about a head."""
