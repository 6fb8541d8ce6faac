"""Small results and what the maps make of them, in JSON: asserted of the Python rules and of the scripts' (node).

`python -m tests.cases` packs the results again, after the format of the numbers has changed; what is expected is
written by hand, or looked at by a person before it is kept.
"""
