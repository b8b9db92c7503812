"""From results to the gradebook."""
