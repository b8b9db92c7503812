"""What marks an answer: questions, cases, slips, comparison, points, diagnosis."""
