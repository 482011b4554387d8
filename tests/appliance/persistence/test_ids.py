from concurrent.futures import ThreadPoolExecutor

from appliance.persistence.ids import new_id


def test_ids_grow_even_when_many_are_made_in_one_millisecond() -> None:
    made = [new_id() for _ in range(50_000)]
    assert made == sorted(made)
    assert [str(one) for one in made] == sorted(str(one) for one in made)


def test_ids_of_several_threads_are_all_different() -> None:
    with ThreadPoolExecutor(4) as pool:
        made = [one for chunk in pool.map(lambda _: [new_id() for _ in range(2_000)], range(4)) for one in chunk]
    assert len(set(made)) == 8_000


def test_an_id_is_a_uuid_of_version_seven() -> None:
    assert new_id().version == 7
    assert new_id().variant == "specified in RFC 4122"
