import pytest

from tests.servers.java import find_java, parse_major
from tests.servers.unavailable import ServerUnavailable


@pytest.mark.parametrize(
    ("text", "major"),
    [
        ('openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime Environment (build 17.0.15+6)', 17),
        ('openjdk version "25" 2025-09-16 LTS', 25),
        ('openjdk version "21-ea" 2023-09-19', 21),
        ('java version "1.8.0_392"\nJava(TM) SE Runtime Environment', 8),
        ('Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "21.0.2" 2024-01-16', 21),
    ],
)
def test_the_major_version_is_read_whatever_its_notation(text: str, major: int) -> None:
    assert parse_major(text) == major


@pytest.mark.parametrize("text", ["", "The operation couldn't be completed. Unable to locate a Java Runtime."])
def test_text_without_a_version_has_no_major_version(text: str) -> None:
    assert parse_major(text) is None


def test_a_java_newer_than_all_is_unavailable_and_the_reason_names_what_to_do() -> None:
    with pytest.raises(ServerUnavailable, match=r"needs Java 999 or newer .* set JAVA_HOME"):
        find_java(999)
