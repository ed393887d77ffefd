"""Drawn questions on many engines, in good order and with answers that are cut; the table of docs/engines.md."""
