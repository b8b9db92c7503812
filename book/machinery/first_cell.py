# The kernel of every page runs this before the page's first cell (ahead.py names it to IPython),
# in the page's own namespace: so it leaves nothing behind.
try:
    import solutions.experiments.listed

    solutions.experiments.listed.refuse_the_rest()
    del solutions
except Exception as error:  # of which IPython would only warn, and let the page ask for anything
    import sys

    print(f"book: the guard of the list of runs did not start: {error!r}", file=sys.__stderr__)
    raise SystemExit(1) from error
