from appliance.json_texts import objects_in


def test_objects_are_found_among_prose_none_inside_another():
    text = 'I say {this}: {"a": {"b": 1}} and then ```json\n{"c": "line\nbreak"}\n``` {"d": '
    assert list(objects_in(text)) == [{"a": {"b": 1}}, {"c": "line\nbreak"}]


def test_a_text_without_objects_or_nested_beyond_measure_has_none():
    assert list(objects_in("no brace, [1, 2]")) == []
    assert list(objects_in('{"a":' * 3_000)) == []
