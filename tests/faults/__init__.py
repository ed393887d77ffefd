"""Faults of endpoints, as a catalogue, and a proxy that injects them between the gateway and a real server."""
