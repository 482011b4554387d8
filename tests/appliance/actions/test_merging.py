import json

import pytest

from appliance.actions.merging import merge_answers


@pytest.mark.parametrize(
    ("answers", "merged"),
    [
        ([[1, 2], [3]], [1, 2, 3]),
        ([[{"a": 1}], [{"a": 1}, {"a": 2}]], [{"a": 1}, {"a": 2}]),
        ([{"rows": [1]}, {"rows": [2]}, {"rows": []}], {"rows": [1, 2]}),
        ([{"name": "A", "price": None}, {"name": "A", "price": 5}], {"name": "A", "price": 5}),
        ([{"by": {"name": "A"}}, {"by": {"mail": "a@b.example"}}], {"by": {"name": "A", "mail": "a@b.example"}}),
        ([{"name": "A"}, {"name": "B"}], [{"name": "A"}, {"name": "B"}]),
    ],
)
def test_documents_are_joined_and_nothing_of_them_is_lost(answers: list[object], merged: object):
    assert json.loads(merge_answers([json.dumps(answer) for answer in answers])) == merged


def test_documents_in_fences_are_joined_as_well():
    assert json.loads(merge_answers(["```json\n[1]\n```", "[2]"])) == [1, 2]


@pytest.mark.parametrize(
    ("answers", "merged"),
    [
        (["| a |\n| - |\n| 1 |", "| a |\n| - |\n| 2 |"], "| a |\n| - |\n| 1 |\n| 2 |"),
        (["| a |\n| - |\n| 1 |", "| 2 |"], "| a |\n| - |\n| 1 |\n| 2 |"),
        (["name,price\na,1\nb,2", "name,price\nc,3"], "name,price\na,1\nb,2\nc,3"),
        (["- one\n- two", "- two\n- three"], "- one\n- two\n- three"),
        (["1. one", "2. two"], "1. one\n2. two"),
        (["A paragraph.", "Another one."], "A paragraph.\n\nAnother one."),
        (["[1]", "and words"], "[1]\n\nand words"),
        (["the same", "the same"], "the same"),
    ],
)
def test_texts_are_joined_by_their_form(answers: list[str], merged: str):
    assert merge_answers(answers) == merged


def test_a_single_answer_stays_as_it_is():
    assert merge_answers(['{"a":  1}']) == '{"a":  1}'
