"""What a call raises: each error has `wrong`, `valid` and `next_step` (docs/errors.md)."""

from gateway.errors import (
    BudgetSpent,
    ConfigurationError,
    DeadlinePassed,
    EndpointFault,
    Fault,
    GatewayError,
    InputError,
    NetworkFault,
    NotAwaitedError,
    QueryRefused,
    QuotaSpent,
    UnknownTermError,
    UsageError,
)

__all__ = [
    "BudgetSpent",
    "ConfigurationError",
    "DeadlinePassed",
    "EndpointFault",
    "Fault",
    "GatewayError",
    "InputError",
    "NetworkFault",
    "NotAwaitedError",
    "QueryRefused",
    "QuotaSpent",
    "UnknownTermError",
    "UsageError",
]
