import pytest

from gateway.errors import InputError
from gateway.graph.walks import Step, Walk
from gateway.members.sides import LONGEST_TEXT
from tests.members.known_names import EX, reader, walk


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pv:city", walk("city")),
        ("^pv:city", walk("^city")),
        ("pv:price/pv:amount", walk("price", "amount")),
        (" pv:price / ^ pv:amount ", walk("price", "^amount")),
        ("^pv:manager/^pv:city/pv:city/pv:price", walk("^manager", "^city", "city", "price")),
        (f"pv:price/<{EX}p/q>", walk("price", "p/q")),
        (f"^<{EX}p/q>/pv:city", walk("^p/q", "city")),
        (f"{EX}p/q", walk("p/q")),
        (f"^{EX}p/q", walk("^p/q")),
        ("located in/on physical feature", walk("P706")),
        ("^located in/on physical feature", walk("^P706")),
        ('"located in/on physical feature"/pv:city', walk("P706", "city")),
        ("a/b", walk("slash")),
        ("a = b", walk("ab")),
        ('"a = b"', walk("ab")),
    ],
)
def test_a_text_names_a_walk(text: str, expected: Walk) -> None:
    named = reader().walk(text)
    assert named is not None
    assert (named.walk, named.ambiguous) == (expected, ())


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "without a name"),
        ("/", "without a name"),
        ("pv:city/", "without a name"),
        ("^", "without a name"),
        ("pv:city//pv:price", "without a name"),
        ("<http://example.org", "without a name"),
        ('"pv:city', "without a name"),
        ('pv:price/"a"b"', "without a name"),
        ("/".join(["pv:city"] * 5), "5 steps"),
        ("pv:city/colour", "'colour' is no predicate"),
        ("x" * (LONGEST_TEXT + 1), "longer than 1,000 characters"),
        ("pv:city/" * 10_000, "longer than 1,000 characters"),
    ],
)
def test_a_text_that_names_none_is_told_what_is_wrong(text: str, wrong: str) -> None:
    assert reader().walk(text) is None
    with pytest.raises(InputError, match=wrong) as caught:
        reader().required(text)
    assert caught.value.valid
    assert len(str(caught.value)) < 500


def test_a_name_that_fits_several_predicates_means_all_where_a_union_is_allowed() -> None:
    named = reader().required("pv:price/^weight")
    assert named.walk == (*walk("price"), Step((EX + "gross", EX + "net"), is_inverse=True))
    assert named.ambiguous == (("weight", (EX + "gross", EX + "net")),)


def test_elsewhere_the_error_lists_them() -> None:
    with pytest.raises(InputError, match="'weight' fits 2 predicates") as caught:
        reader(union=False).walk("pv:price/weight")
    assert f"{EX}gross, {EX}net" in caught.value.valid
