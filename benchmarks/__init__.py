"""What the gateway costs, as ratios measured side by side in one run: `make bench`.

`docs/benchmarks.md` says how to read it. Nothing here is part of the package that users install.
"""
