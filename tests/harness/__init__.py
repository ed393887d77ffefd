"""What all drawn questions share: drawing, asking, judging, counting and reporting: `python -m tests.harness`."""
