"""Small data sets made by the course itself, so that every lesson runs without a network."""
