"""What a stored run says in one line each: costs of the DeepFools side by side, and who is better and cheaper."""

from __future__ import annotations

from collections.abc import Iterator

Row = dict[str, object]
RAW = "Separatrix DeepFool(5), raw"
REFINED = "Separatrix DeepFool(5) + slides"


def raw_against_peers(rows: list[Row]) -> Iterator[str]:
    """How many times the gradients and the time of our unrefined DeepFool each other DeepFool takes."""
    raw = _named(rows, RAW)
    for row in rows:
        if raw and not row["ours"] and "DeepFool" in row["method"] and "error" not in row:
            gradients, time = row["gradients"] / raw["gradients"], row["floors"] / raw["floors"]
            yield f"{row['method']}: {gradients:.2f} × the gradients and {time:.2f} × the time of {RAW}."


def dominating(rows: list[Row]) -> Iterator[str]:
    """The peers, if any, whose median ratio and time are both below those of our fast refined setting."""
    refined = _named(rows, REFINED)
    if not refined or refined.get("ratio_median") is None:
        return
    peers = [row for row in rows if not row["ours"] and row.get("ratio_median") and row["found"] >= refined["found"]]
    better = [
        str(row["method"])
        for row in peers
        if row["ratio_median"] < refined["ratio_median"] and row["floors"] < refined["floors"]
    ]
    yield f"Both better and cheaper than {REFINED}: {', '.join(better) or 'none'}."


def _named(rows: list[Row], name: str) -> Row | None:
    return next((row for row in rows if row["method"] == name and "error" not in row), None)
