import socket
import threading
from collections.abc import Iterator

import pytest

from benchmarks.delay import DelayingProxy
from tests.servers.loopback import HOST

PATIENCE = 30.0


class Time:
    """A clock that only a sleep moves."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def read(self) -> float:
        """Tell the time."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def echo() -> Iterator[int]:
    """Answer every message with the same in capitals, on as many connections as come."""
    with socket.create_server((HOST, 0)) as listener:

        def serve(connection: socket.socket) -> None:
            with connection:
                while message := connection.recv(1 << 16):
                    connection.sendall(message.upper())

        def accept() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=serve, args=[connection], daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def exchange(connection: socket.socket, message: bytes) -> bytes:
    connection.sendall(message)
    answer = b""
    while len(answer) < len(message):
        answer += connection.recv(1 << 16)
    return answer


def test_a_request_is_passed_on_after_the_delay_and_its_answer_at_once(echo: int) -> None:
    time = Time()
    proxy = DelayingProxy(echo, 0.05, clock=time.read, sleep=time.sleep)
    proxy.start()
    with socket.create_connection((HOST, proxy.port), timeout=PATIENCE) as connection:
        answers = [exchange(connection, message) for message in (b"one", b"two", b"three")]
    proxy.close()
    assert answers == [b"ONE", b"TWO", b"THREE"]
    assert time.slept == pytest.approx([0.05, 0.05, 0.05])


def test_a_connection_stays_open_between_requests_and_ends_with_the_client(echo: int) -> None:
    proxy = DelayingProxy(echo, 0)
    proxy.start()
    with socket.create_connection((HOST, proxy.port), timeout=PATIENCE) as connection:
        assert exchange(connection, b"one") == b"ONE"
        assert exchange(connection, b"two") == b"TWO"
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(1) == b""
    proxy.close()


def test_large_messages_pass_whole(echo: int) -> None:
    proxy = DelayingProxy(echo, 0)
    proxy.start()
    message = bytes(range(97, 123)) * 100_000
    with socket.create_connection((HOST, proxy.port), timeout=PATIENCE) as connection:
        threading.Thread(target=connection.sendall, args=[message], daemon=True).start()
        answer = b""
        while len(answer) < len(message):
            answer += connection.recv(1 << 18)
    proxy.close()
    assert answer == message.upper()


def test_a_server_that_is_gone_closes_the_connection() -> None:
    with socket.create_server((HOST, 0)) as listener:
        port = listener.getsockname()[1]
    proxy = DelayingProxy(port, 0)
    proxy.start()
    with socket.create_connection((HOST, proxy.port), timeout=PATIENCE) as connection:
        assert connection.recv(1) == b""
    proxy.close()
