"""Two runs of a model: random tokens that come twice, and text."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from analysis.compute.head_hooks import watch_pattern
from analysis.compute.layered.model import LayeredModel, Texts
from analysis.compute.weights import Weights
from analysis.errors import TokenizerMissing
from analysis.methods.behaviour.compute.patterns import Measured, on_random, on_text
from analysis.methods.behaviour.paragraphs import PARAGRAPHS
from analysis.methods.behaviour.settings import BehaviourSettings
from analysis.models.vocabulary import Vocabulary
from analysis.progress import Progress
from analysis.results.scores import Floats

_AT_ONCE = 8  # sequences


def run_random(
    weights: Weights, vocabulary: Vocabulary, settings: BehaviourSettings, progress: Progress
) -> Floats:  # [2, measure, layer, head]
    """The measures on random tokens."""
    start = vocabulary.prefix("")
    tokens = vocabulary.plain_tokens(weights.card.vocabulary)
    ids = random_ids(start, tokens, settings)
    return run_ids(weights, ids, lambda a: on_random(a, len(start), settings.block), progress)


def run_text(
    weights: Weights, vocabulary: Vocabulary, settings: BehaviourSettings, progress: Progress
) -> Floats:  # [2, measure, layer, head]
    """The measures on text: the beginning of every paragraph."""
    return run_ids(weights, text_ids(vocabulary, weights.card.vocabulary, settings), on_text, progress)


def random_ids(start: Sequence[int], tokens: Sequence[int], settings: BehaviourSettings) -> Tensor:  # [B, T]
    """Sequences of different tokens that come twice, after what every text begins with."""
    random = np.random.default_rng(settings.random_seed)
    rows = []
    for _ in range(settings.blocks):
        block = random.choice(np.asarray(tokens), settings.block, replace=len(tokens) < settings.block).tolist()
        rows.append([*start, *block, *block])
    return torch.tensor(rows)


def text_ids(vocabulary: Vocabulary, size: int, settings: BehaviourSettings) -> Tensor:  # [B, T]
    """The first tokens of every paragraph, as many of each as the shortest one has."""
    texts = [tokens.ids for tokens in vocabulary.encoded(PARAGRAPHS)]
    length = min(settings.text_tokens, *(len(ids) for ids in texts))
    ids = torch.tensor([text[:length] for text in texts])
    if length < 2 or ids.max() >= size:
        raise TokenizerMissing("the tokenizer is not that of the model", "Copy tokenizer.json from its source.")
    return ids


def run_ids(weights: Weights, ids: Tensor, measure: Callable[[Tensor], list[Measured]], progress: Progress) -> Floats:
    """Run all sequences; each group of them counts by its size."""
    card = weights.card
    model = LayeredModel(weights, ids.unique())
    groups = ids.split(_AT_ONCE)
    total = len(groups) * len(card.layers)
    sums: dict[int, Tensor] = {}
    for number, group in enumerate(groups):

        def seen(layer: int, pattern: Tensor, number: int = number, size: int = len(group)) -> None:
            measured = torch.stack([torch.stack(pair) for pair in measure(pattern.double())], 1)  # [2, measure, H]
            sums[layer] = sums.get(layer, 0) + measured.cpu() * size
            progress("running the model", number * len(card.layers) + card.layers.index(layer) + 1, total)

        model.run(Texts(group), watch_pattern, seen, last=card.layers[-1])
    means = torch.stack([sums[layer] / len(ids) for layer in card.layers], 2)  # [2, measure, layer, head]
    numbers: Floats = means.numpy()
    return numbers
