from pathlib import Path

from tests.servers.cache import copy_sparsely


def test_a_sparse_copy_has_the_same_bytes_and_no_lock_files(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "inner").mkdir(parents=True)
    content = b"head" + bytes(300_000) + b"middle" + bytes(200_000)
    (source / "inner" / "data").write_bytes(content)
    (source / "empty").touch()
    (source / "tdb.lock").write_text("4711")
    copy_sparsely(source, tmp_path / "copy")
    assert (tmp_path / "copy" / "inner" / "data").read_bytes() == content
    assert (tmp_path / "copy" / "empty").read_bytes() == b""
    assert not (tmp_path / "copy" / "tdb.lock").exists()
