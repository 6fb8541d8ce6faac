import pytest

from analysis.jobs.engine import Engine
from analysis.results.catalogue import Library
from dashboard.access import Access
from dashboard.web.application import create_app
from tests.synthetic import fill


@pytest.fixture
def library(store):
    """The default model, a very big one and a hostile one."""
    fill(store)
    return Library(store)


@pytest.fixture
def server(library, store):
    """The whole application, its engine at rest."""
    return create_app(library, Engine(store), Access(local=True))
