"""Gateways over the database of the tests, opened by URL as a user opens them."""

from pathlib import Path

from gateway.api import open_gateway
from gateway.settings.databases import Neo4jSettings, NodesInNeo4j
from gateway.settings.endpoint import AccessSettings, RequestSettings
from gateway.settings.limits import CacheSettings, OrientationSettings
from gateway.settings.load import load_profile
from gateway.tools.gateway import Gateway
from tests.servers.loopback import HOST
from tests.servers.neo4j import PASSWORD, USER

MESH = "http://id.nlm.nih.gov/mesh/"
RXNORM = "http://purl.bioontology.org/ontology/RXNORM/"


def access(folder: Path, password: str = PASSWORD) -> AccessSettings:
    """Return the settings that say where the password is."""
    file = folder / "password"
    file.write_text(password, encoding="utf-8")
    return AccessSettings(user=USER, password=f"file:{file}")


def opened(
    port: int,
    access: AccessSettings,
    nodes: NodesInNeo4j | None = None,
    *,
    database: str = "neo4j",
    seconds: float = 30,
    concurrency: int = 4,
) -> Gateway:
    """Open a gateway without a cache, with the profile that comes with it."""
    profile = load_profile("bfsql-neo4j")
    endpoint = profile.endpoint.model_copy(
        update={"access": access, "requests": RequestSettings(concurrency=concurrency)}
    )
    update = {
        "endpoint": endpoint,
        "limits": profile.limits.model_copy(update={"deadline_seconds": seconds}),
        "cache": CacheSettings(megabytes=0),
        # What a test asks must not depend on whether the schema was read in full within a second.
        "orientation": OrientationSettings(patience_seconds=120),
        "neo4j": Neo4jSettings(nodes=nodes or NodesInNeo4j()),
    }
    prefixes = {"MeSH": MESH, "RxNorm": RXNORM}
    return open_gateway(
        f"neo4j://{HOST}:{port}/{database}", profile=profile.model_copy(update=update), prefixes=prefixes
    )
