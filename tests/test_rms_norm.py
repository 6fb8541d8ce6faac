"""RMS norms in fewer passes, against those of transformers."""

import copy

import pytest
import torch

from analysis.compute.rms_norm import RmsNorm, simplify_norms
from tests import tiny_models

WITHOUT = {"gpt2", "gpt_neox", "phi", "opt", "gptj", "gpt_neo"}  # layer norms subtract the mean


@pytest.mark.parametrize("family", list(tiny_models.FAMILIES))
def test_norms_give_what_they_gave(family):
    """Of every family, whether it adds 1 to its weight or not; layer norms stay as they are."""
    plain = tiny_models.FAMILIES[family].make()
    simple = copy.deepcopy(plain)
    simplify_norms(simple)
    replaced = [name for name, module in simple.named_modules() if isinstance(module, RmsNorm)]
    assert bool(replaced) == (family not in WITHOUT)
    assert len(replaced) == sum("RMSNorm" in type(module).__name__ for module in plain.modules())
    for name in replaced:
        norm = plain.get_submodule(name)
        x = 100 * torch.randn(2, 3, len(norm.weight))
        torch.testing.assert_close(simple.get_submodule(name)(x), norm(x), rtol=1e-5, atol=1e-5)


def test_a_norm_of_another_kind_is_left_alone():
    """What is called an RMS norm but gives something else stays."""

    class CentredRMSNorm(torch.nn.LayerNorm):
        """It subtracts the mean."""

    model = torch.nn.Sequential(CentredRMSNorm(8))
    simplify_norms(model)
    assert isinstance(model[0], CentredRMSNorm)
