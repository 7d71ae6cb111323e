"""Certified technologies: balls, intervals, piecewise exponential polynomials, cells."""
