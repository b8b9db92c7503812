"""Run submissions: behind a wall, on a cluster or unprotected, one or many at a time."""
