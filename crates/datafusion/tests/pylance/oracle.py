"""Reads the tables that `many_histories` has left, with pylance: a second opinion on each.

    LANCE_INDEX_MODEL_KEEP=/tmp/tables cargo test ... many_histories
    python3 -m venv /tmp/pylance && /tmp/pylance/bin/pip install pylance==14.0.2
    /tmp/pylance/bin/python crates/datafusion/tests/pylance/oracle.py /tmp/tables

Of each table: its rows are those that the model has; each predicate finds with the indexes what it
finds by a scan, and what Python finds in the model's rows; a full-text search finds the rows with
the word; and no two segments of an index cover the same fragment. Ends with 1 if anything differs,
or if no index answered a predicate.
"""

import math
import pathlib
import sys
from collections import Counter

import lance
import pyarrow as pa

WORDS = (
    "amber birch cedar drift ember flint grotto heron inlet knoll maroon quartz".split()
)


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def number(value):
    return "'Infinity'::double" if value == math.inf else repr(value)


def predicates(rows):
    """Predicates with, in Python, what they say of a row."""

    def known(column):
        return sorted({row[column] for row in rows if row[column] is not None})

    for column, literal in [("bt", number), ("zm", str)]:
        yield f"{column} IS NULL", lambda row, c=column: row[c] is None
        for value in known(column):
            of = lambda test, c=column, v=value: (
                lambda row: row[c] is not None and test(row[c], v)
            )
            yield f"{column} = {literal(value)}", of(lambda a, b: a == b)
            yield f"{column} < {literal(value)}", of(lambda a, b: a < b)
            yield f"{column} >= {literal(value)}", of(lambda a, b: a >= b)
    for column in ["bm", "bf"]:
        yield f"{column} IS NULL", lambda row, c=column: row[c] is None
        for value in known(column):
            yield f"{column} = {quoted(value)}", lambda row, c=column, v=value: row[c] == v
            yield (
                f"{column} IN ({quoted(value)}, 'v3')",
                lambda row, c=column, v=value: row[c] in (v, "v3"),
            )
    for label in [f"l{value}" for value in range(13)]:
        has = lambda row, it=label: row["ll"] is not None and it in row["ll"]
        yield f"array_has(ll, {quoted(label)})", has
    for word in WORDS + ["absent"]:
        for column in ["ng", "fm"]:
            for part in [word, word[:4]]:
                yield (
                    f"contains({column}, {quoted(part)})",
                    lambda row, c=column, p=part: row[c] is not None and p in row[c],
                )


def check(directory, counts):
    table = lance.dataset(str(directory / "t"))
    rows = pa.ipc.open_file(directory / "rows.arrow").read_all().to_pylist()

    def ids(**how):
        found = table.scanner(columns=["id"], **how).to_table()["id"].to_pylist()
        return sorted(found)

    scanned = table.scanner(use_scalar_index=False).to_table().to_pylist()
    scanned.sort(key=lambda row: row["id"])
    differences = []
    if scanned != rows:
        differences.append(f"{len(scanned)} rows, the model has {len(rows)}")
    for predicate, holds in predicates(rows):
        plan = table.scanner(columns=["id"], filter=predicate).explain_plan()
        counts["predicates answered by an index"] += "ScalarIndexQuery" in plan
        expected = [row["id"] for row in rows if holds(row)]
        for how in [{}, {"use_scalar_index": False}]:
            found = ids(filter=predicate, **how)
            counts["predicates"] += 1
            if found != expected:
                differences.append(f"{predicate} {how}: {found}, expected {expected}")
    live = {fragment.fragment_id for fragment in table.get_fragments()}
    covered = Counter()
    for segment in table.list_indices():
        counts["segments"] += 1
        if segment["name"].startswith("__lance"):
            continue
        covered.update((segment["name"], it) for it in live & set(segment["fragment_ids"]))
    differences += [f"{what} is covered {n} times" for what, n in covered.items() if n > 1]
    # Lance fails to search an index that covers nothing.
    if any(name == "by_ft" for name, _ in covered):
        for word in WORDS:
            expected = [row["id"] for row in rows if word in (row["ft"] or "").split()]
            query = lance.query.MatchQuery(word, "ft")
            found = ids(full_text_query=query, disable_scoring_autoprojection=True)
            counts["searches"] += 1
            if found != expected:
                differences.append(f"search for {word}: {found}, expected {expected}")
    return differences


def main():
    counts = Counter()
    for directory in sorted(pathlib.Path(sys.argv[1]).iterdir()):
        counts["tables"] += 1
        differences = check(directory, counts)
        counts["tables that differ"] += bool(differences)
        for difference in differences:
            print(f"{directory}: {difference}")
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    checked = counts["predicates answered by an index"] and counts["searches"]
    return 1 if counts["tables that differ"] or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
