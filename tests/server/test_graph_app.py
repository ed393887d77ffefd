"""The explorer page as an MCP App: linked for clients that draw Apps, and for no others."""

import pytest
from mcp import Client
from mcp_types import TextResourceContents

from gateway.engine.arguments import BY_TOOL
from gateway.server.app import build
from gateway.server.explorer_page import PAGE
from gateway.server.graph_app import DRAWN, EXTENSION, MIME_TYPE, URI
from tests.server.conftest import over_demo

pytestmark = pytest.mark.anyio
