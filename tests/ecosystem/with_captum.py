"""captum: integrated gradients."""

import torch
from captum.attr import IntegratedGradients
from tests.ecosystem.tagger import VARIANTS, examples, tagger

STEPS = 20


@VARIANTS
def test_integrated_gradients_are_the_mean_gradient_on_the_way_from_zero(
    controller: str, engine: str
) -> None:
    model, x = tagger(controller, engine), examples().tensors[0][:2]
    explained = IntegratedGradients(lambda inputs: model(inputs)[:, -1, 0])
    found = explained.attribute(x, n_steps=STEPS, method="riemann_middle")
    mean = torch.zeros_like(x)
    for step in range(STEPS):
        point = (x * (step + 0.5) / STEPS).requires_grad_()
        mean += torch.autograd.grad(model(point)[:, -1, 0].sum(), point)[0] / STEPS
    assert found.abs().max() > 0
    torch.testing.assert_close(found, (x * mean).to(found.dtype))
