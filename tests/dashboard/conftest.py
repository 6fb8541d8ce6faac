import pytest

from dashboard.library import Library
from tests.synthetic import fill


@pytest.fixture
def library(store):
    """The default model, a very big one and a hostile one."""
    fill(store)
    return Library(store)
