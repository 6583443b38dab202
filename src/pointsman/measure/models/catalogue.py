"""Names of the models that ship, and where each is defined; imports no PyTorch."""

from typing import Final, NamedTuple


class Shipped(NamedTuple):
    """A model that ships."""

    title: str
    module: str
    """Beside this one; the function has the name of the model."""
    batch: int
    """Samples of a step unless something else is asked for."""
    parameters: int


MODELS: Final = {
    "resnet18": Shipped("ResNet-18 on CIFAR-10 (32 x 32)", "convolutional", 128, 11_173_962),
    "resnet50": Shipped("ResNet-50 on ImageNet (224 x 224)", "convolutional", 64, 25_557_032),
    "vgg16": Shipped("VGG-16 on ImageNet (224 x 224)", "convolutional", 32, 138_357_544),
    "vit_b16": Shipped("ViT-B/16 on ImageNet (224 x 224)", "transformers", 32, 86_567_656),
    "bert": Shipped("BERT-base on SQuAD (384 tokens)", "transformers", 8, 108_893_186),
    "gpt2": Shipped("GPT-2 small (1,024 tokens)", "transformers", 4, 124_439_808),
    "lstm": Shipped("LSTM language model on WikiText-2 (35 tokens)", "recurrent", 20, 13_987_678),
    "ncf": Shipped("NeuMF on MovieLens-1M", "recommendation", 4096, 1_602_657),
    "dcgan": Shipped("DCGAN (64 x 64)", "adversarial", 128, 6_342_272),
    "tiny_mlp": Shipped("A perceptron for trying things out", "tiny", 96, 399_370),
    "tiny_transformer": Shipped("A transformer for trying things out", "tiny", 16, 112_868),
}
"""By name; where a model profile has the same model, that is its name there."""
