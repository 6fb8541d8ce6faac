"""Pack the results of the cases again."""

import base64

from tests.cases.rendered import asked_by, view_of
from tests.cases.results import FOLDER, VIEWS, result_of, tables


def main() -> None:
    """Write the numbers that the server would send now in place of those in the tables."""
    for name, table in tables().items():
        path = FOLDER / f"{name}.json"
        text = path.read_text()
        for described in table["results"].values():
            scores = result_of(name, described)
            for key, before in described["numbers"].items():
                view = view_of(scores, asked_by(key), VIEWS.get(name, ""))
                text = text.replace(before, base64.b64encode(view.map.numbers(view.shown)).decode())
        path.write_text(text)


if __name__ == "__main__":
    main()
