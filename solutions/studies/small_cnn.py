"""A small convolutional network: the rival of `ViT`, with as many parameters."""

from torch import Tensor, nn


class SmallCNN(nn.Module):
    """Three convolutions of 3 x 3 pixels with two poolings between them, then a linear map."""

    def __init__(
        self,
        image_size: tuple[int, int] = (8, 8),
        n_channel: int = 1,
        n_class: int = 10,
        widths: tuple[int, int, int] = (32, 64, 64),
    ):
        super().__init__()
        first, second, third = widths
        height, width = image_size
        self.layers = nn.Sequential(
            *(nn.Conv2d(n_channel, first, 3, padding=1), nn.ReLU()),
            *(nn.Conv2d(first, second, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Conv2d(second, third, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Flatten(), nn.Linear(third * (height // 4) * (width // 4), n_class)),
        )

    def forward(self, images: Tensor) -> Tensor:
        """Score the classes: images (B, channels, height, width) -> (B, n_class)."""
        return self.layers(images)
