"""Parquet files as they are read: in the calling thread alone.

Arrow's usual way starts threads of its own, and a process that ends while one of them is just at work is aborted
(apache/arrow#34314): a command that had printed its answer would then end with the code of a crash.
"""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq


def parquet_file(content: bytes) -> pq.ParquetFile:
    """A file of which parts are read."""
    return pq.ParquetFile(pa.BufferReader(content))


def read_table(content: bytes, columns: Sequence[str] | None = None) -> pa.Table:
    """The table that a file holds, or some columns of it."""
    return parquet_file(content).read(list(columns) if columns is not None else None, use_threads=False)
