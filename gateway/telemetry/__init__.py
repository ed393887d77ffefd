"""The cost of calls: counted while a call runs, frozen into a record when it ends, and logged."""

from gateway.telemetry.record import Record

__all__ = ["Record"]
