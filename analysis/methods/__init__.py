"""One package per method, and the list of them. To add one, write its package and add its line here."""

from collections.abc import Sequence

from analysis.errors import SettingError
from analysis.method import Method
from analysis.methods.ablation.method import AblationMethod
from analysis.methods.behaviour.method import BehaviourMethod
from analysis.methods.causal.method import CausalMethod
from analysis.methods.context.method import ContextMethod
from analysis.methods.function.method import FunctionMethod
from analysis.methods.running.method import RunningMethod
from analysis.methods.salience.method import SalienceMethod
from analysis.relations.method import RelationMethod
from analysis.settings import check_groups

METHODS: list[Method] = [
    FunctionMethod(),
    RunningMethod(),
    ContextMethod(),
    SalienceMethod(),
    BehaviourMethod(),
    CausalMethod(),
    AblationMethod(),
]


def method(name: str) -> Method:
    """A method by its name."""
    for one in METHODS:
        if one.name == name:
            return one
    raise SettingError(f"there is no method {name[:40]!r}", f"Choose from {', '.join(names())}.")


def names() -> list[str]:
    """The names of all methods, in the order of the list."""
    return [one.name for one in METHODS]


def relation_methods() -> list[RelationMethod]:
    """Those that score heads for relations: their scores have pairs behind them, and they judge each other."""
    return [method for method in METHODS if isinstance(method, RelationMethod)]


def relation_method(name: str) -> RelationMethod:
    """One of them by its name."""
    for method in relation_methods():
        if name == method.name:
            return method
    names = ", ".join(method.name for method in relation_methods())
    raise SettingError(f"there are no pairs behind the scores of {name[:40]!r}", f"Choose from {names}.")


def default_names() -> list[str]:
    """The methods of an analysis for which nobody chose any."""
    return [one.name for one in METHODS if one.by_default]


def register(added: Method) -> None:
    """Add a method that does not come with the project."""
    from analysis.jobs.request import Request  # here, because it goes over the list

    if added.name in names():
        raise SettingError(f"there is a method {added.name!r} already", "Give it another name.")
    check_groups([Request, *(one.settings for one in METHODS), added.settings])
    METHODS.append(added)


def ordered(chosen: Sequence[str]) -> list[Method]:
    """Methods by their names, in the order of the list, each once."""
    for name in chosen:
        method(name)
    return [one for one in METHODS if one.name in chosen]
