"""A database is trusted by its certificate, and one that is not is told apart from one that cannot be reached."""

import ssl
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import trustme

from gateway.errors import EndpointFault
from gateway.graph.call import Deadline
from gateway.neo4j.connection import Address as Neo4jAddress
from gateway.neo4j.connection import DriverPool
from gateway.neo4j.connection import address_of as neo4j_address
from gateway.postgres.connection import Pool
from gateway.postgres.connection import address_of as postgres_address
from gateway.settings.endpoint import AccessSettings, EndpointSettings
from tests.databases.proxy import Proxy, as_bolt, as_postgres, running_proxy
from tests.neo4j.database import access
from tests.postgres.database import Database
from tests.servers.loopback import HOST

pytestmark = [pytest.mark.anyio, pytest.mark.server]


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    """Make a certificate authority that nobody knows."""
    return trustme.CA()


@pytest.fixture
def bundle(authority: trustme.CA, tmp_path: Path) -> str:
    """Write the authority's own certificate to a file."""
    path = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return str(path)


def served_as(authority: trustme.CA, host: str) -> ssl.SSLContext:
    """Return the context of a server with a certificate for a host."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert(host).configure_cert(context)
    return context


def settings(login: AccessSettings, ca_bundle: str = "") -> EndpointSettings:
    return EndpointSettings(access=login.model_copy(update={"ca_bundle": ca_bundle}))


def table_pool(proxy: Proxy, database: Database, options: str, ca_bundle: str = "") -> Pool:
    url = f"postgresql://{HOST}:{proxy.port}/postgres?{options}"
    return Pool(postgres_address(url, settings(database.access(), ca_bundle)), 1)


def node_pool(proxy: Proxy, folder: Path, scheme: str, ca_bundle: str = "") -> DriverPool:
    return DriverPool(neo4j_address(f"{scheme}://{HOST}:{proxy.port}", settings(access(folder), ca_bundle)), 1)


async def answer(pool: Pool | DriverPool) -> list[list[object]]:
    """Ask for a number."""
    asked = "SELECT 1" if isinstance(pool, Pool) else "RETURN [[1]] AS rows, 1 AS total"
    try:
        return [[*row] for row in await pool.fetch(asked, [], Deadline.after(20))]
    finally:
        await pool.close()


async def is_not_trusted(pool: Pool | DriverPool) -> bool:
    """Ask for a number, and return whether that is refused for the certificate, with what to do, and for good."""
    with pytest.raises(EndpointFault, match=r"The database's certificate is not trusted\.") as caught:
        await answer(pool)
    return "`endpoint.access.ca_bundle`" in caught.value.next_step and not caught.value.again


async def test_tables_are_read_over_tls_by_the_ca_bundle_and_by_nothing_else(
    database: Database, authority: trustme.CA, bundle: str
) -> None:
    tls = as_postgres(served_as(authority, HOST))
    async with running_proxy(database.server.port, secured=tls) as proxy:
        assert await answer(table_pool(proxy, database, "sslmode=verify-full", bundle)) == [[1]]
        assert await answer(table_pool(proxy, database, "sslmode=require")) == [[1]]
        assert await is_not_trusted(table_pool(proxy, database, "sslmode=verify-full"))


async def test_a_host_is_checked_unless_verify_ca_names_no_host_of_an_authority_of_its_own(
    database: Database, authority: trustme.CA, bundle: str
) -> None:
    tls = as_postgres(served_as(authority, "elsewhere.example"))
    async with running_proxy(database.server.port, secured=tls) as proxy:
        assert await answer(table_pool(proxy, database, "sslmode=verify-ca", bundle)) == [[1]]
        assert await is_not_trusted(table_pool(proxy, database, "sslmode=verify-full", bundle))
        assert await is_not_trusted(table_pool(proxy, database, "sslmode=verify-ca"))


async def test_what_a_service_adds_to_its_url_is_taken_and_never_weakens_the_check(
    database: Database, authority: trustme.CA, bundle: str
) -> None:
    tls = as_postgres(served_as(authority, HOST))
    added = "&connect_timeout=20&application_name=psql"
    async with running_proxy(database.server.port, secured=tls) as proxy:
        assert await answer(table_pool(proxy, database, f"sslmode=require&channel_binding=prefer{added}")) == [[1]]
        for bound in ("sslmode=require&channel_binding=require", "channel_binding=require"):
            assert await answer(table_pool(proxy, database, bound + added, bundle)) == [[1]]
            assert await is_not_trusted(table_pool(proxy, database, bound + added))


def test_the_authorities_of_the_system_sign_for_anybody_so_verify_ca_checks_the_host_of_a_certificate_of_theirs(
    bundle: str,
) -> None:
    url = "postgresql://reader@db.example.org/graph?sslmode=verify-ca"
    own, systems = (postgres_address(url, settings(AccessSettings(), ca)).tls for ca in (bundle, ""))
    assert (own.check_hostname, systems.check_hostname) == (False, True)
    assert own.verify_mode == systems.verify_mode == ssl.CERT_REQUIRED


def test_the_user_and_the_time_for_connecting_may_stand_among_the_options_of_a_url() -> None:
    address = postgres_address(
        "postgresql://db.example.org/graph?user=reader%40x&connect_timeout=3", EndpointSettings()
    )
    assert (address.user, address.connect_seconds) == ("reader@x", 3)
    known = AccessSettings(user="other", password="env:HOME")  # noqa: S106 - a variable
    assert postgres_address("postgresql://h/graph?user=reader", EndpointSettings(access=known)).user == "other"


async def test_a_server_of_tables_that_does_not_encrypt_is_told(database: Database) -> None:
    async with running_proxy(database.server.port) as proxy:
        with pytest.raises(EndpointFault, match="does not encrypt connections") as caught:
            await answer(table_pool(proxy, database, "sslmode=require"))
    assert "sslmode=disable" in caught.value.next_step


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
async def test_nodes_are_read_over_tls_by_the_ca_bundle_and_by_nothing_else(
    scheme: str, address: Neo4jAddress, authority: trustme.CA, bundle: str, tmp_path: Path
) -> None:
    tls = as_bolt(served_as(authority, HOST))
    async with running_proxy(urlsplit(address.url).port or 0, secured=tls) as proxy:
        assert await answer(node_pool(proxy, tmp_path, "bolt+s", bundle)) == [[1]]
        assert await answer(node_pool(proxy, tmp_path, "bolt+ssc")) == [[1]]
        assert await is_not_trusted(node_pool(proxy, tmp_path, f"{scheme}+s"))
