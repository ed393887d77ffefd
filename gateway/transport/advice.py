"""What to do next, as the faults of a transport say it."""

from __future__ import annotations

LATER = "Ask for fewer seeds or hops, or try again later."
OPERATOR = "Whoever runs this gateway should check the endpoint's URL."
CHECK = "Whoever runs this gateway can find the query endpoint with `bfsql-gateway check`."
CREDENTIALS = "Whoever runs this gateway should check its credentials for the endpoint."
