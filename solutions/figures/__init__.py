"""The interactive figures: one .py and one .js file each, and no kernel needed to use them."""
