"""Datasets from every source; what is wrong with one is told in one line that names the place."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from ragas_judge.judge.errors import InputError
from ragas_judge.runs import Row, load_dataset
from ragas_judge.runs.check import check_rows
from ragas_judge.runs.dataset import dataset_hash

if TYPE_CHECKING:
    from pathlib import Path

ROWS: list[dict[str, Any]] = [
    {"user_input": "Which wood?", "response": "Larch.", "retrieved_contexts": ["Larch.", "Oak."]},
    {"user_input": "哪种木材？", "response": "落叶松。", "retrieved_contexts": []},
]


def columns(rows: list[Row]) -> list[dict[str, Any]]:
    return [dict(row.columns) for row in rows]


def refusal(source: Any) -> str:
    with pytest.raises(InputError) as caught:
        load_dataset(source)
    message = str(caught.value)
    assert "\n" not in message
    return message


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def lines(*rows: Any) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


# --- sources ----------------------------------------------------------------------------------


def test_list_of_dicts() -> None:
    rows = load_dataset(ROWS)
    assert columns(rows) == ROWS
    assert [row.id for row in rows] == [0, 1]
    assert rows[1].title == "row 1"


def test_jsonl_names_lines_and_passes_over_blank_ones(tmp_path: Path) -> None:
    path = write(tmp_path / "data.jsonl", "\ufeff" + lines(ROWS[0]) + "\n" + lines(ROWS[1]))
    rows = load_dataset(path)
    assert columns(rows) == ROWS
    assert [row.place for row in rows] == [f"{path}:1", f"{path}:3"]
    assert columns(load_dataset(str(path))) == ROWS


def test_json_list(tmp_path: Path) -> None:
    assert columns(load_dataset(write(tmp_path / "data.json", json.dumps(ROWS)))) == ROWS


def test_csv_reads_lists_as_json_and_empty_cells_as_missing(tmp_path: Path) -> None:
    text = (
        "id,question,contexts,answer\n"
        '7,"Which\nwood?","[""Larch."", ""Oak.""]",Larch.\n'
        "8,Which sail?,[],\n"
    )
    rows = load_dataset(write(tmp_path / "data.csv", text))
    assert [row.id for row in rows] == ["7", "8"]
    assert rows[0].columns["user_input"] == "Which\nwood?"
    assert rows[0].columns["retrieved_contexts"] == ["Larch.", "Oak."]
    assert rows[1].columns["retrieved_contexts"] == []
    assert "response" not in rows[1].columns
    assert [row.place.rpartition(":")[2] for row in rows] == ["2", "4"]


def test_csv_cell_longer_than_the_modules_usual_limit(tmp_path: Path) -> None:
    text = f"question,answer\n{'x' * 200_000},y\n"
    assert len(load_dataset(write(tmp_path / "data.csv", text))[0].columns["user_input"]) == 200_000


def test_csv_numbers_stay_text(tmp_path: Path) -> None:
    rows = load_dataset(write(tmp_path / "data.csv", "question,answer\nHow many?,042\n"))
    assert rows[0].columns["response"] == "042"


def test_parquet_saved_folder_hf_dataset_and_frame(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    dataset = datasets.Dataset.from_list(ROWS)
    frame = dataset.to_pandas()
    frame.to_parquet(tmp_path / "data.parquet")
    dataset.save_to_disk(str(tmp_path / "saved"))
    for source in (dataset, frame, tmp_path / "data.parquet", tmp_path / "saved"):
        assert columns(load_dataset(source)) == ROWS


def test_frame_with_missing_values_and_integer_ids() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"id": [3, 4], "question": ["a", "b"], "answer": ["x", None], "weight": [0.5, float("nan")]}
    )
    rows = load_dataset(frame)
    assert [row.id for row in rows] == [3, 4]
    assert type(rows[0].id) is int
    assert rows[0].columns["weight"] == 0.5
    assert set(rows[1].columns) == {"id", "user_input"}


def test_evaluation_dataset_and_samples() -> None:
    ragas = pytest.importorskip("ragas")
    samples = [ragas.SingleTurnSample(**row) for row in ROWS]
    assert columns(load_dataset(ragas.EvaluationDataset(samples))) == ROWS
    assert columns(load_dataset(samples)) == ROWS


def test_old_column_names() -> None:
    old = {"question": "q", "answer": "a", "contexts": ["c"], "ground_truths": ["g"]}
    assert columns(load_dataset([old])) == [
        {"user_input": "q", "response": "a", "retrieved_contexts": ["c"], "reference": "g"}
    ]


def test_a_present_name_without_a_value_does_not_hide_the_old_one() -> None:
    rows = load_dataset([{"response": None, "answer": "a"}])
    assert rows[0].columns == {"response": "a"}


def test_hash_is_of_the_rows_not_of_the_file(tmp_path: Path) -> None:
    shuffled = [dict(reversed(row.items())) for row in ROWS]
    paths = [
        write(tmp_path / "a.jsonl", lines(*ROWS)),
        write(tmp_path / "b.json", json.dumps(shuffled, indent=2)),
    ]
    hashes = {dataset_hash(load_dataset(path)) for path in paths}
    assert len(hashes) == 1
    assert dataset_hash(load_dataset(ROWS[:1])) not in hashes


# --- ids --------------------------------------------------------------------------------------


def test_ids_are_kept() -> None:
    rows = load_dataset([{"id": "en-01", "question": "q"}, {"id": 2, "question": "q"}])
    assert [row.id for row in rows] == ["en-01", 2]
    assert rows[0].title == "row 'en-01'"


def test_an_id_twice_names_both_rows(tmp_path: Path) -> None:
    path = write(tmp_path / "data.jsonl", lines({"id": "a"}, {"id": "b"}, {"id": "a"}))
    message = refusal(path)
    assert f"{path}:1 and {path}:3" in message
    assert "'a'" in message
    assert "rows 0 and 1 have the same id" in refusal([{"id": 1}, {"id": "1"}])


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"id": "a"}, {"question": "q"}], "row 1: no id"),
        ([{"question": "q"}, {"id": "a"}], "row 1: an id, though row 0 has none"),
        ([{"id": True}], "row 0, column 'id': a bool"),
        ([{"id": 1.5}], "row 0, column 'id': a float"),
        ([{"id": ["a"]}], "row 0, column 'id': a list"),
    ],
)
def test_ids_that_cannot_be_used(rows: list[dict[str, Any]], said: str) -> None:
    assert said in refusal(rows)


# --- what cannot be read ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("data.jsonl", '{"id": 1}\n{"id": 2\n', "data.jsonl:2: not JSON"),
        ("data.jsonl", '["a"]\n', "data.jsonl:1: a JSON list"),
        ("data.jsonl", "\n\n", "the dataset has no rows"),
        ("data.json", "[]", "the dataset has no rows"),
        ("data.json", '{"id": 1}\n{"id": 2}\n', ".jsonl"),
        ("data.json", '{"question": ["a"]}', "a JSON dict; write a list of objects"),
        ("data.json", "[1]", "row 0 is a int"),
        ("data.csv", "question,answer\n", "the dataset has no rows"),
        ("data.csv", "", "the dataset has no rows"),
        ("data.csv", "question,question\na,b\n", "'question' stands twice"),
        ("data.csv", "question,answer\na,b\nc\n", "data.csv:3: 1 cells where the header names 2"),
        ("data.csv", "question,contexts\na,['b']\n", "data.csv:2, column 'contexts': not a JSON"),
        ("data.csv", 'question,contexts\na,"""b"""\n', "column 'contexts': not a JSON list"),
        ("data.parquet", "no", "cannot be read as Parquet"),
        ("data.xlsx", "", ".xlsx is no known kind"),
        ("data", "", "no suffix is no known kind"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, name: str, text: str, said: str) -> None:
    message = refusal(write(tmp_path / name, text))
    assert said in message
    assert name in message


def test_file_that_is_not_there(tmp_path: Path) -> None:
    assert "no such file" in refusal(tmp_path / "data.jsonl")


def test_file_that_is_not_utf8(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_bytes("question\nWo lägen sie?\n".encode("latin-1"))
    assert "not UTF-8" in refusal(tmp_path / "data.csv")


def test_folder_that_was_not_saved_by_datasets(tmp_path: Path) -> None:
    assert "save_to_disk" in refusal(tmp_path)
    write(tmp_path / "dataset_dict.json", "not even JSON")
    for split in ("train", "test"):
        (tmp_path / split).mkdir()
        write(tmp_path / split / "state.json", "{}")
    assert "the splits test, train; name one of them" in refusal(tmp_path)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ([], "the dataset has no rows"),
        ({"question": ["a"]}, "a dict is no dataset"),
        (7, "a int is no dataset"),
        (["a"], "row 0 is a str; pass a dict"),
    ],
)
def test_objects_that_are_no_dataset(source: Any, said: str) -> None:
    assert said in refusal(source)


def test_a_dict_of_splits_is_not_one_dataset() -> None:
    datasets = pytest.importorskip("datasets")
    splits = datasets.DatasetDict({"train": datasets.Dataset.from_list(ROWS)})
    assert "dataset['train']" in refusal(splits)


# --- the check before the first call ----------------------------------------------------------

METRIC = SimpleNamespace(name="faithfulness", needed=frozenset({"response", "retrieved_contexts"}))


def complaint(rows: list[dict[str, Any]], *metrics: Any) -> str:
    with pytest.raises(InputError) as caught:
        check_rows(load_dataset(rows), metrics or [METRIC])
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_good_rows_pass_and_a_column_absent_in_some_rows_is_fine() -> None:
    check_rows(load_dataset([*ROWS, {"user_input": "only this"}]), [METRIC])


def test_a_list_written_as_text_gets_advice() -> None:
    rows = [*ROWS, {"response": "r", "retrieved_contexts": "['a', 'b']"}]
    message = complaint(rows)
    assert message.startswith("row 2: column 'retrieved_contexts' holds a list written out as text")
    assert "json.loads" in message


def test_wrong_types_are_collected_over_all_rows() -> None:
    rows = [{"id": f"r{n}", "response": n, "retrieved_contexts": ["c", n]} for n in range(4)]
    message = complaint(rows)
    assert message.startswith("row 'r0': column 'response' holds a int")
    assert "row 'r0': column 'retrieved_contexts', entry 2" in message
    assert "row 'r2': column 'response'" in message
    assert "row 'r3'" not in message
    assert message.endswith("and 3 more problems")


def test_a_column_in_no_row_names_metric_and_nearest_column() -> None:
    message = complaint([{"respnse": "r", "retrieved_contexts": ["c"]}])
    assert "metric faithfulness needs column 'response', which no row has" in message
    assert "the nearest is 'respnse'" in message
    assert "(columns: respnse, retrieved_contexts)" in message


def test_a_column_that_is_none_in_every_row_is_absent() -> None:
    rows = [{"response": None, "retrieved_contexts": ["c"]}]
    assert "needs column 'response', which no row has (columns" in complaint(rows)


def test_prepare_takes_every_old_name_and_names_a_bad_cell() -> None:
    from ragas_judge.runs import prepare

    dataset = prepare([{"question": "q", "ground_truths": ["g"], "contexts": ["c"], "mine": 1}])
    sample = dataset[0]
    assert (sample.user_input, sample.reference) == ("q", "g")
    assert sample.retrieved_contexts == ["c"]
    with pytest.raises(InputError, match=r"row 1: column 'retrieved_contexts'"):
        prepare([{"question": "q"}, {"contexts": "['a']"}])
    with pytest.raises(InputError, match="row 0: column 'rubrics'"):
        prepare([{"question": "q", "rubrics": 3}])
