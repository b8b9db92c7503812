"""Small charts as inline SVG; colours come from the page's style sheet."""

from html import escape

BINS = 10


def histogram(shares: list[float], label: str) -> str:
    """Draw how many learners reached which tenth of the points."""
    counts = [0] * BINS
    for share in shares:
        counts[min(int(share * BINS), BINS - 1)] += 1
    most = max([*counts, 1])
    width, height, base = 34, 110, 130
    bars = []
    for i, count in enumerate(counts):
        tall = height * count / most
        x = 10 + i * width
        bars.append(
            f'<rect class="bar" x="{x}" y="{base - tall:.1f}" width="{width - 5}" '
            f'height="{tall:.1f}"><title>{count} with {10 * i} to {10 * i + 10} %</title></rect>'
        )
        if count:
            bars.append(f'<text x="{x + 14}" y="{base - tall - 4:.1f}" class="mid">{count}</text>')
        bars.append(f'<text x="{x}" y="{base + 16}" class="mid small">{10 * i}</text>')
    end = 10 + BINS * width
    bars.append(f'<text x="{end - 5}" y="{base + 16}" class="mid small">100 %</text>')
    bars.append(f'<line x1="10" x2="{end - 5}" y1="{base}" y2="{base}" class="axis"/>')
    return (
        f'<svg viewBox="-6 0 {end + 26} {base + 24}" role="img" aria-label="{escape(label)}" '
        f'class="histogram">{"".join(bars)}</svg>'
    )


def meter(share: float, label: str) -> str:
    """Draw a share between 0 and 1 as a bar."""
    share = min(max(share, 0.0), 1.0)
    return (
        f'<svg viewBox="0 0 100 8" preserveAspectRatio="none" class="meter" role="img" '
        f'aria-label="{escape(label)}"><rect width="100" height="8" class="ground"/>'
        f'<rect width="{100 * share:.1f}" height="8" class="bar"/></svg>'
    )
