"""The wall: a learner's code on one side, checks and scores on the other (PROTOCOL.md)."""
