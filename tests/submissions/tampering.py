"""Submissions that try to change something outside themselves: gradebook, process, pages, names."""

from . import cell
from .case import COURSE, CRASHED, MISSING, REACHED, Case, instead, last, own, softmax

WRITE = f"""\
import os, sqlite3
for name in ("gradebook.db", "seed", "status.json", "pwned"):
    try:
        with open("{COURSE}/" + name, "ab") as f:
            f.write(b"mine")
        {REACHED}
    except OSError:
        pass
try:
    sqlite3.connect("{COURSE}/gradebook.db").execute("update grade set auto_score = 30")
    {REACHED}
except sqlite3.Error:
    pass
"""
POISON = f"""\
import autograder.wall.within.serve, torch, sys
if hasattr(torch, "poisoned"):
    {REACHED}
torch.poisoned = True
sys.modules["math_of_the_next"] = torch
"""
PACKAGES = f"""\
import os, sys, torch
for place in (torch.__path__[0], sys.prefix, "/inside", "/inside/solutions", "/usr/lib", "/etc"):
    try:
        with open(os.path.join(place, "mine.py"), "w") as f:
            f.write("")
        {REACHED}
    except OSError:
        pass
"""
PICKLE = f"""\
class Parcel:
    def __reduce__(self):
        return open, ("{COURSE}/pwned", "w")
"""
LINKS = """\
import os
for name in ("warm_up.ipynb", "gradebook.db", "output", "torch.py"):
    os.symlink("@COURSE@/gradebook.db", name)
os.link("warm_up.ipynb", "again") if os.path.exists("warm_up.ipynb") else None
"""
SHADOWS = """\
import sys
for name in ("torch", "autograder", "solutions", "json", "struct", "socket"):
    with open(name + ".py", "w") as f:
        f.write("raise SystemExit('the shadow of a module')")
sys.path.insert(0, "")
"""
C_CALLS = f"""\
import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
done = [libc.setuid(0), libc.unshare(0x10000000), libc.mount(b"x", b"/tmp", b"tmpfs", 0, b""),
        libc.umount2(b"/tmp", 2), libc.chroot(b"/tmp"), libc.sethostname(b"mine", 4)]
os.kill(1, signal.SIGKILL)
if 0 in done:
    {REACHED}
"""
REWRITE = """\
import autograder.seam.wire, autograder.seam.probe, autograder.seam.link as link
autograder.seam.wire.MAX_DEPTH = autograder.seam.wire.MAX_NODES = link.MAX_FRAME = 1 << 62
autograder.seam.probe.quiet.__wrapped__.__code__ = (lambda: (yield)).__code__
"""
UNBOUND = """\
import autograder.seam.shell as shell
shell.MAX_TEXT = shell.MAX_OUTPUTS = shell.MAX_PICTURE = 1 << 40
"""
LIMITS = f"""\
import resource
for what in (resource.RLIMIT_AS, resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE):
    try:
        resource.setrlimit(what, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        {REACHED}
    except (ValueError, OSError):
        pass
"""
SCRIPTS = """\
from IPython.display import HTML, SVG, Javascript, Markdown, display
script = "<script>alert('ran-in-a-page')</script>"
display(HTML(script), Javascript("alert('ran-in-a-page')"), Markdown(script))
display(SVG(f"<svg xmlns='http://www.w3.org/2000/svg'>{script}</svg>"))
display({"image/png": f'"/>{script}', "text/plain": script}, raw=True)
display({"application/vnd.jupyter.widget-view+json": {"model_id": script}}, raw=True)
print(script)
raise ValueError(script)
"""
ANSI = r"""
print("\x1b[2J\x1b]0;title\x07\x1b[31mred\x1b[8m hidden \x9b6n \x00 \x08\x08")
raise ValueError("\x1b]8;;http://127.0.0.1/\x07link\x1b]8;;\x07")
"""


def unbounded(work: dict) -> dict:
    return last("print('x' * 30_000_000)")(own(UNBOUND)(work))


def other_kernel(work: dict) -> dict:
    work["metadata"]["kernelspec"] = {"name": "evil; touch x", "display_name": "<b>"}
    return work


def scripted_metadata(work: dict) -> dict:
    script = "<script>alert('ran-in-a-page')</script>"
    work["metadata"].update(widgets={script: script}, title=script, authors=[{"name": script}])
    for made in work["cells"]:
        made["metadata"]["name"] = script
        if made["cell_type"] == "code":
            html = {"output_type": "display_data", "data": {"text/html": script}, "metadata": {}}
            made["outputs"] = [html]
    return work


def scripted_text(work: dict) -> dict:
    script = "<script>alert('ran-in-a-page')</script>"
    text = (
        f"# Title {script}\n\n<img src=x onerror=\"alert('ran-in-a-page')\"> the `<pad>` token\n\n"
        "[a](javascript:alert('ran-in-a-page')) [b](&#106;avascript:alert('ran-in-a-page')) "
        '<svg onload="alert(\'ran-in-a-page\')"></svg><iframe src="javascript:alert(1)"></iframe>'
        "\n\n<details open ontoggle=\"alert('ran-in-a-page')\">x</details>\n"
    )
    cell(work, "why_subtract")["source"] = text
    for kind in ("markdown", "raw"):
        work["cells"].insert(2, {"cell_type": kind, "source": text, "metadata": {}})
    return work


def right(work: dict) -> dict:
    return work


CASES = [
    Case("writes_gradebook", "writes into gradebook, seed and status", own(WRITE)),
    Case("poison", "leaves something in torch for the next submission", own(POISON)),
    Case("poisoned", "looks for what the one before left, and leaves it too", last(POISON)),
    Case("site_packages", "writes into installed packages", own(PACKAGES)),
    Case(
        "pickle",
        "returns an object that would act when unpickled",
        softmax("return Parcel()", PICKLE),
        60,
    ),
    Case("symlinks", "puts links to the gradebook in its folder", own(LINKS)),
    Case("shadow_modules", "writes modules named like ours in its folder", own(SHADOWS)),
    Case("c_calls", "asks the kernel for rights through ctypes", own(C_CALLS)),
    Case("rewrites_our_side", "patches our code in its own process", own(REWRITE)),
    Case("unbounded_output", "patches our bounds away, then prints 30 MB", unbounded),
    Case("raises_limits", "raises its own limits", own(LIMITS)),
    Case(
        "closes_descriptors",
        "closes every descriptor, the grader's link too",
        own("import os\nos.closerange(0, 256)"),
        status=CRASHED,
    ),
    Case(
        "wipes_its_folder",
        "removes all it can remove and goes elsewhere",
        own("import os, shutil\nshutil.rmtree('/tmp', True)\nos.chdir('/')\nos.environ.clear()"),
    ),
]

FILES = [
    Case("scripts", "shows scripts in every kind of output", own(SCRIPTS)),
    Case("scripts_in_metadata", "holds scripts in metadata and old outputs", scripted_metadata),
    Case("scripts_in_text", "writes scripts into its text and answers", scripted_text),
    Case("ansi", "prints terminal commands", own(ANSI)),
    Case("kernelspec", "asks for a kernel of its own", other_kernel),
    Case("=1+1", "is handed in under a name that is a formula", right),
    Case(
        "formula_notes",
        "has a file name that is a formula",
        right,
        file="=HYPERLINK(warm_up).ipynb",
    ),
    Case("formula_answer", "answers with a formula", instead(which_line='which_line = "=1+1"'), 80),
    Case("symlink", "hands in a link to the gradebook", lambda _: None, None, MISSING, file="link"),
    Case(
        "shadow_files",
        "has torch.py and autograder.py beside the notebook",
        right,
        beside=("torch.py", "autograder.py", "sitecustomize.py", "nbgrader_config.py"),
    ),
]
