"""Fetch the browser files the book needs, so that it can be read with no network.

Run by the book build (it is a Sphinx extension) or by hand: python book/machinery/vendor.py
"""

import base64
import hashlib
import json
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import NamedTuple

BOOK = Path(__file__).resolve().parents[1]
TARGET = BOOK / "assets" / "vendor"
CACHE = BOOK.parent / "_build" / "npm"


class Package(NamedTuple):
    """Name one npm package at one version, and say which of its files go where."""

    name: str
    version: str
    sha512: str  # base64, as the registry publishes it
    files: dict[str, str]  # a file or folder in the package -> where it goes below TARGET


PACKAGES = [
    Package(
        "mathjax",
        "3.2.2",
        "Bt+SSVU8eBG27zChVewOicYs7Xsdt40qm4+UpHyX7k0/O9NliPc+x77k1/FEsPsjKPZGJvtRZM1vO+geW0OhGw==",
        {
            "es5/tex-mml-chtml.js": "mathjax/tex-mml-chtml.js",
            "es5/input/tex/extensions/": "mathjax/input/tex/extensions/",
            "es5/output/chtml/fonts/woff-v2/": "mathjax/output/chtml/fonts/woff-v2/",
        },
    ),
    Package(
        "requirejs",
        "2.3.8",
        "7/cTSLOdYkNBNJcDMWf+luFvMriVm7eYxp4BcFCsAX0wF421Vyce5SXP17c+Jd5otXKGNehIonFlyQXSowL6Mw==",
        {"require.js": "require.js"},
    ),
    Package(
        "@jupyter-widgets/html-manager",
        "1.0.15",
        "5thBIV6ymNgmPVOHvzx+gGy8ZSKmSazhtGw4/c4xJDVzRhG9PTeQsRjF3FUTopvFi//SABeNz1yp47bCrJ3CQA==",
        {
            "dist/embed-amd.js": "embed-amd.js",
            # its icon font, twice: the bundle holds two versions
            "dist/d878b0a6a1144760244f.woff2": "d878b0a6a1144760244f.woff2",
            "dist/1551f4f60c37af51121f.woff2": "1551f4f60c37af51121f.woff2",
        },
    ),
    Package(
        "@fontsource-variable/source-serif-4",
        "5.3.1",
        "4Rtay22SC4lMvw11r/+9kxANB6P3M0X8s1NudBC2v0J1KU2y3DcMoNcT3lBoZ/CqLirzf+StlO6UlJilyrvaUg==",
        {
            "files/source-serif-4-latin-wght-normal.woff2": "fonts/serif.woff2",
            "files/source-serif-4-latin-wght-italic.woff2": "fonts/serif-italic.woff2",
            "LICENSE": "fonts/serif-LICENSE",
        },
    ),
    Package(
        "@fontsource-variable/source-sans-3",
        "5.3.0",
        "dpi0GZk7EQe2tYpg6Q0Fx0OmUgnuGu+0rHPgtXqtKhglYmJuP7jZ12Mu1uN+NfRaJRY1Emn8AQJEWzmoZ4wa9g==",
        {
            "files/source-sans-3-latin-wght-normal.woff2": "fonts/sans.woff2",
            "files/source-sans-3-latin-wght-italic.woff2": "fonts/sans-italic.woff2",
            "LICENSE": "fonts/sans-LICENSE",
        },
    ),
]


class VendorError(RuntimeError):
    """Say why a browser file could not be fetched, and what to do."""


def is_genuine(archive: Path, package: Package) -> bool:
    """Compare the archive with the checksum written in this file."""
    digest = hashlib.sha512(archive.read_bytes()).digest()
    return base64.b64encode(digest).decode() == package.sha512


def fetch(package: Package, cache: Path = CACHE) -> Path:
    """Return the package's archive, from the cache or from the npm registry."""
    cache.mkdir(parents=True, exist_ok=True)
    file_name = f"{package.name.lstrip('@').replace('/', '-')}-{package.version}.tgz"
    archive = cache / file_name
    if archive.exists() and is_genuine(archive, package):
        return archive
    wanted = f"{package.name}@{package.version}"
    command = ["npm", "pack", wanted, "--silent", "--pack-destination", str(cache)]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    except FileNotFoundError:
        raise VendorError(
            f"vendor: npm was not found, so {wanted} cannot be fetched. Install Node.js (it "
            "brings npm) and build again; only the first build needs it."
        ) from None
    except subprocess.TimeoutExpired:
        raise VendorError(
            f"vendor: npm did not deliver {wanted} within 300 seconds. "
            "Check the network and build again."
        ) from None
    if result.returncode or not archive.exists():
        reason = (result.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise VendorError(
            f"vendor: npm could not fetch {wanted} ({reason}). Check the network and build again."
        )
    if not is_genuine(archive, package):
        archive.unlink()
        raise VendorError(
            f"vendor: the archive npm delivered for {wanted} does not have the checksum written "
            "in book/machinery/vendor.py; it was thrown away. Check which registry npm uses."
        )
    return archive


def unpack(package: Package, archive: Path, target: Path = TARGET) -> None:
    """Copy the listed files of the archive below the target folder."""
    with tarfile.open(archive) as tar:
        for member in filter(tarfile.TarInfo.isfile, tar):
            path = member.name.removeprefix("package/")
            for source, destination in package.files.items():
                inside = source.endswith("/") and path.startswith(source)
                if inside or path == source:
                    place = target / (destination + path.removeprefix(source))
                    place.parent.mkdir(parents=True, exist_ok=True)
                    place.write_bytes(tar.extractfile(member).read())


def copy_anywidget(target: Path = TARGET) -> None:
    """Copy anywidget's browser half from the installed package, so that both halves agree."""
    import anywidget

    source = Path(anywidget.__file__).parent / "nbextension" / "index.js"
    shutil.copyfile(source, target / "anywidget.js")


def vendor() -> bool:
    """Bring book/assets/vendor up to date; say whether anything had to be done."""
    import anywidget

    pins = {package.name: [package.version, package.files] for package in PACKAGES}
    pins["anywidget"] = anywidget.__version__
    stamp = TARGET / "versions.json"
    if stamp.exists() and json.loads(stamp.read_text()) == pins:
        return False
    shutil.rmtree(TARGET, ignore_errors=True)
    for package in PACKAGES:
        print(f"vendor: {package.name} {package.version}", flush=True)
        unpack(package, fetch(package))
    copy_anywidget()
    stamp.write_text(json.dumps(pins, indent=1))  # last: an interrupted run starts again
    return True


def assets_digest(assets: Path = TARGET.parent) -> str:
    """Return a text that changes when any file the pages load changes."""
    own = sorted(path for path in assets.iterdir() if path.is_file())
    contents = [path.name.encode() + path.read_bytes() for path in [*own, TARGET / "versions.json"]]
    return hashlib.sha256(b"\0".join(contents)).hexdigest()


def setup(app) -> dict:
    """Let Sphinx run this before every build."""
    from sphinx.errors import ExtensionError

    try:
        vendor()
    except VendorError as error:
        raise ExtensionError(str(error)) from None
    # Sphinx copies assets only when it writes a page: as a setting, a change rewrites all of them.
    app.add_config_value("course_assets", assets_digest(), "html")
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    try:
        print(f"vendor: {'done' if vendor() else 'already up to date'}: {TARGET.name}/")
    except VendorError as error:
        raise SystemExit(str(error)) from None
