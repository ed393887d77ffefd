"""Hostile terms, rows, files and arguments, drawn without end: nothing may crash, grow, or reach a model as words."""
