"""Prove the checks: right answers pass, wrong ones are caught and named."""
