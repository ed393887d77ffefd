"""The parts of a run: requests, speed, growth, memory."""
