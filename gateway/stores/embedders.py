"""Which embedder a profile names."""

from __future__ import annotations

from gateway.meaning.embedder import Embedder
from gateway.settings.meaning import is_service, model_folder
from gateway.settings.profile import Profile
from gateway.stores.endpoints import installed


def embedder_of(profile: Profile) -> Embedder | None:
    """Return the embedder of a profile; None if it names none.

    Raises:
        ConfigurationError: Its folder has no model, its URL or key is wrong, or the extra is not installed.
    """
    settings = profile.meaning
    if not settings.embedder:
        return None
    with installed("meaning"):
        if is_service(settings.embedder):
            from gateway.meaning.service import EmbeddingService  # noqa: PLC0415 - an extra

            return EmbeddingService(settings, profile.endpoint)
        from gateway.meaning.static_model import StaticModel  # noqa: PLC0415 - an extra

        return StaticModel(model_folder(settings.embedder))
