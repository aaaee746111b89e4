"""Pictures of runs: gnuplot draws frames, curves and words, dots that would lie above one another are thinned out first."""


class PlotError(Exception):
    """There is nothing to draw, or no way to; says why."""
