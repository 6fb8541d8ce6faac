import pytest

from analysis.jobs.engine import Engine
from dashboard.access import Access
from dashboard.web.application import create_app
from tests.dashboard.made import catalogue_of
from tests.synthetic import fill


@pytest.fixture
def catalogue(store):
    """The default model, a very big one and a hostile one."""
    fill(store)
    return catalogue_of(store)


@pytest.fixture
def server(catalogue, store):
    """The whole application, its engine at rest."""
    return create_app(catalogue, Engine(store), Access(local=True))
