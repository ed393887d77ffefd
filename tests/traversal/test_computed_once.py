import threading

from gateway.graph.computing import computed_once


class Circle:
    """An object whose area is computed, and may wait meanwhile."""

    def __init__(self, started: threading.Event | None = None, go_on: threading.Event | None = None) -> None:
        self.computed = 0
        self.started = started
        self.go_on = go_on

    @computed_once
    def area(self) -> int:
        """Return its area."""
        self.computed += 1
        if self.started is not None and self.go_on is not None:
            self.started.set()
            assert self.go_on.wait(60.0)
        return 3


def test_a_value_is_computed_when_first_asked_for_and_only_then() -> None:
    circle = Circle()
    assert circle.computed == 0
    assert (circle.area, circle.area, circle.computed) == (3, 3, 1)
    assert Circle.area.__doc__ == "Return its area."


def test_the_value_of_one_object_does_not_wait_for_that_of_another() -> None:
    slow = Circle(threading.Event(), threading.Event())
    assert slow.started is not None
    assert slow.go_on is not None
    thread = threading.Thread(target=lambda: slow.area)
    thread.start()
    assert slow.started.wait(60.0)
    assert Circle().area == 3
    slow.go_on.set()
    thread.join(60.0)
    assert slow.computed == 1
