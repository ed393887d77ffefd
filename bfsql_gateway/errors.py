"""What a call raises: each error has `wrong`, `valid` and `next_step` (docs/errors.md)."""

from gateway.errors import (
    AllWrongError,
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
    UnresolvedNameError,
    UsageError,
    WrongCallError,
)

__all__ = [
    "AllWrongError",
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
    "UnresolvedNameError",
    "UsageError",
    "WrongCallError",
]
