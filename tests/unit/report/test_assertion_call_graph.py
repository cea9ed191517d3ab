"""From paths to a graph: every call with its groups and counts, chains and twins folded, the rest cut."""

from bot.model.report_assertions import AssertionPath
from bot.report.assertion_call_graph import FOLDED, MOST_BOXES, UNKNOWN_CALLER, Call, CallGraph, call_graph
from tests.unit.report.assertion_reports import HERE, crowded, held, semaphore, way


def graph(*paths: AssertionPath, **fields: object) -> CallGraph:
    found = call_graph(semaphore(paths=paths, **fields))
    assert found is not None
    return found


def called(found: CallGraph, caller: str, callee: str) -> Call:
    number = {name: k for k, names in enumerate(found.boxes) for name in names}
    return found.links[number[caller], number[callee]]


def test_every_call_counts_the_calls_of_the_method_over_it_by_group() -> None:
    found = call_graph(semaphore())
    assert found is not None and found.boxes[0] == ("__semop",) and found.paths == (4, 4)
    assert called(found, "main", "ap_mpm_run").calls == {0: (410, 410), 1: (1102, 1102), 2: (1204, 1204)}
    assert called(found, "proc_mutex_sysv_release", "__semop").calls == {2: (1204, 1204)}


def test_calls_of_conditions_are_named_and_what_moved_is_marked() -> None:
    found = call_graph(semaphore())
    assert found is not None
    assert called(found, "child_main", "proc_mutex_sysv_acquire").names == ("e2",)
    moved = {tuple(found.boxes[end][0] for end in link) for link, call in found.links.items() if call.moved}
    assert moved == {
        ("main", "ap_mpm_run"),
        ("ap_mpm_run", "child_main"),
        ("child_main", "proc_mutex_sysv_acquire"),
        ("proc_mutex_sysv_acquire", "__semop"),
    }


def test_only_the_paths_that_moved_by_themselves_are_marked() -> None:
    moved = semaphore().groups[1].model_copy(update={"paths": (("a", "__semop"),)})
    found = graph(way("a > __semop", 3, of=0), way("b > __semop", 3, of=0), groups=(moved,), edges={})
    assert called(found, "a", "__semop").moved == {0} and called(found, "b", "__semop").moved == set()


def test_a_path_counts_once_on_a_call_that_it_makes_twice() -> None:
    found = call_graph(held())
    assert found is not None
    scan, split = "storage::Table::scan", "storage::Table::split"
    assert called(found, scan, split).calls == called(found, split, scan).calls == {0: (60, 60)}
    assert called(found, scan, HERE).calls == {0: (460, 460)}


def test_direct_recursion_is_remembered_and_not_drawn() -> None:
    found = graph(way("a > b > b > __semop", 3, of=0))
    assert {found.boxes[k] for k in found.recursive} == {("b",)}
    assert len(found.links) == 2


def test_a_method_without_a_known_caller_has_an_unknown_one() -> None:
    found = graph(AssertionPath(path=("__semop",), group=0, calls=(2, 2)))
    assert called(found, UNKNOWN_CALLER, "__semop").calls == {0: (2, 2)}


def test_chains_become_one_box_but_calls_of_conditions_stay() -> None:
    names = [f"f{k}" for k in range(FOLDED + 4)]
    path = way(" > ".join((*names, "__semop")), 7, of=0)
    found = graph(path, edges={"e1": ("f3", "f4")})
    assert sorted(map(len, found.boxes)) == [1, 4, FOLDED]
    assert called(found, "f3", "f4").names == ("e1",)
    assert found.boxes[1][0] in ("f3", names[-1])


def test_callers_that_nothing_tells_apart_become_one_box_named_after_the_busiest() -> None:
    paths = [way(f"main > g{k} > __semop", k + 1, of=k % 2) for k in range(20)]
    found = graph(*paths, edges={})
    assert sorted(names[0] for names in found.boxes) == ["__semop", "g18", "g19", "main"]
    assert called(found, "g19", "__semop").calls == {1: (110, 110)}
    assert called(found, "g18", "__semop").calls == {0: (100, 100)}


def test_few_boxes_stay_apart() -> None:
    found = graph(*(way(f"g{k} > __semop", 1, of=0) for k in range(5)), edges={})
    assert len(found.boxes) == 6


def test_of_many_paths_the_busiest_of_each_group_are_drawn() -> None:
    found = call_graph(crowded(60))
    assert found is not None and len(found.boxes) <= MOST_BOXES
    drawn, known = found.paths
    assert 5 <= drawn < known == 60
    assert {group for call in found.links.values() for group in call.calls} == {0, 1, 2, 3, 4}


def test_no_path_is_no_graph() -> None:
    assert call_graph(semaphore(paths=())) is None
