"""The README tells the truth: its commands parse, its counts are counted."""

import re
import shlex
from pathlib import Path

import pytest

from analysis.cli import _parser
from analysis.relations import CATEGORIES, builtin
from analysis.tokens import Vocabulary

README = (Path(__file__).parent.parent / "README.md").read_text()


def relation_table(vocabulary: Vocabulary) -> list[str]:
    """The README's table of relations, made from the data."""
    lines = ["| category | name | relation | pairs | kept |", "|---|---|---|---|---|"]
    for category in CATEGORIES:
        for relation in (r for r in builtin().values() if r.category == category):
            kept = len(vocabulary.keep(relation))
            lines.append(f"| {category} | {relation.name} | {relation.title} | {len(relation.pairs)} | {kept} |")
    return lines


def test_relation_counts_are_counted(default_checkpoint):
    """Pairs and kept pairs of every relation, as the default model's tokenizer keeps them."""
    table = "\n".join(relation_table(Vocabulary.open(default_checkpoint.folder)))
    assert table in README


@pytest.mark.parametrize("command", re.findall(r"^python -m analysis (.*)$", README, re.MULTILINE))
def test_commands_are_real(command):
    """Every command of the README is one that the command line accepts."""
    _parser().parse_args(shlex.split(command, comments=True))
