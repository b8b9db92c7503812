"""Which files a text mentions: the checks of a lesson are run again when one of them changes."""

from solutions.ground import ROOT, mentioned_files


def mentioned(text: str) -> set[str]:
    return {str(path.relative_to(ROOT / "solutions")) for path in mentioned_files(text)}


def test_a_dotted_name_leads_to_the_file_of_its_module():
    assert mentioned("from solutions.multi_head import split_heads") == {"multi_head.py"}
    assert mentioned(":solution: solutions.multi_head.split_heads") == {"multi_head.py"}
    assert mentioned("solutions.studies.lookup_model.Lookup") == {"studies/lookup_model.py"}


def test_a_folder_counts_with_all_its_files():
    assert {"data/tiny_french.py", "data/digits.py"} <= mentioned("from solutions.data import x")


def test_what_is_no_module_leads_nowhere():
    assert mentioned("solutions.nothing, resolutions.multi_head, solutions") == set()
