"""Features of a client, each tried by itself. The script that imports this prints the outcome of each: "ok", or what went wrong."""

import json
import traceback

FEATURES = {}


def feature(name):
    def note(work):
        FEATURES[name] = work
        return work

    return note


def equal(got, wanted):
    assert got == wanted, f"{got!r} is not {wanted!r}"


def print_outcomes():
    outcomes = {}
    for name, work in FEATURES.items():
        try:
            work()
            outcomes[name] = "ok"
        except Exception:
            outcomes[name] = traceback.format_exc(limit=-3)
    print(json.dumps(outcomes))
