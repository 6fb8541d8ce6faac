"""A relation's pairs as prompts whose next token should be the target."""

from collections.abc import Iterator, Sequence

from analysis.data.prompts import Encoded
from analysis.data.relations import Relation, WordPair
from analysis.models.vocabulary import Vocabulary

TEMPLATES = (
    "No {} means no",
    "The story of {} contains",
    "This is a document about {}",
    "When I think about {} I think about",
)
EXAMPLES = 3  # worked ones before the question
_STEPS = (7, 13, 23)  # how far behind the question its examples stand in the list


def kept_pairs(relation: Relation, vocabulary: Vocabulary, size: int) -> list[tuple[WordPair, int]]:
    """The pairs in which both words are one token, with the target's token; those that heads are scored for."""
    tokens = vocabulary.single(word for pair in relation.pairs for word in pair)
    kept: dict[tuple[int, int], tuple[WordPair, int]] = {}
    for source, target in relation.pairs:
        if source in tokens and target in tokens and max(tokens[source], tokens[target]) < size:
            kept.setdefault((tokens[source], tokens[target]), ((source, target), tokens[target]))
    return list(kept.values())


def example_texts(pairs: Sequence[WordPair]) -> Iterator[str]:
    """Three worked examples and the question, line by line: "France: Paris"."""
    for at, (source, _) in enumerate(pairs):
        lines = []
        for step in _STEPS[:EXAMPLES]:
            shown, answer = pairs[(at + step) % len(pairs)]
            lines.append(f"{shown}: {answer}\n")
        yield f"{''.join(lines)}{source}:"


def template_texts(pairs: Sequence[WordPair]) -> Iterator[str]:
    """Neutral phrases with the source in them, each pair in all four."""
    for source, _ in pairs:
        for template in TEMPLATES:
            yield template.format(source)


def relation_prompts(
    relation: Relation, vocabulary: Vocabulary, size: int, templates: bool, most: int
) -> tuple[list[Encoded], int]:
    """At most so many prompts with their targets, from the first pairs on; and how many pairs are kept in all."""
    kept = kept_pairs(relation, vocabulary, size)
    pairs = [pair for pair, _ in kept]
    texts = list(template_texts(pairs) if templates else example_texts(pairs))
    each = len(texts) // max(1, len(kept))
    prompts = []
    for at, tokens in enumerate(vocabulary.encoded(texts)[:most]):
        prompts.append(Encoded((*tokens.ids, kept[at // each][1]), 1))
    return prompts, len(kept)
