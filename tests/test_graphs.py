from tests.graphs import FIXTURES, asserted, fixture


def test_what_engines_of_rdf_1_1_are_given_is_the_same_in_each_run() -> None:
    # Else every run would load all graphs again.
    for name in FIXTURES:
        assert [*asserted(fixture(name))] == [*asserted(fixture(name))]
