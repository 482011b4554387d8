from appliance.store.pointers import leaves


def test_pointers_are_those_of_json_whatever_a_field_is_called():
    assert list(leaves({"a/b": {"c~d": 1}, "": [2]})) == [("/a~1b/c~0d", 1), ("//0", 2)]
    assert list(leaves("text")) == [("", "text")]
    assert list(leaves([{}, []])) == []
