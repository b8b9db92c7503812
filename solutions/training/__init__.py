"""The training loop and what it needs: checkpoints, the best weights, Ctrl-C, the live curve."""
