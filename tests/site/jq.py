"""`jq [-r] [-c] [-s] PROGRAM`: filters the documents of standard input, by the library of jq."""

import json
import sys
from collections.abc import Iterator, Sequence

import jq


def filtered(words: Sequence[str], text: str) -> Iterator[str]:
    """Yield the lines that jq prints for documents of which each is on a line."""
    *options, program = words
    compiled = jq.compile(program)
    documents = [json.loads(line) for line in text.splitlines()]
    for document in [documents] if "-s" in options else documents:
        for value in compiled.input_value(document):
            yield value if isinstance(value, str) and "-r" in options else json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in filtered(sys.argv[1:], sys.stdin.read()))
