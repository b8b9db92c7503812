"""What is made from a lesson: its notebook, pieces of its page, its pictures."""
