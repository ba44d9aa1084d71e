"""The manual builds without a warning: every link and anchor leads somewhere, every page is listed."""

import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"<(?:a|img|link|script)\b[^>]*?\b(?:href|src)=\"?([^\"\s>]+)")
ANCHOR = re.compile(r"\b(?:id|name)=\"?([^\"\s>]+)")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("material", reason="the manual needs the extra docs")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    quietly = os.environ | {"NO_MKDOCS_2_WARNING": "1"}  # of the theme, on a version of mkdocs that is to come
    done = subprocess.run(command, cwd=ROOT, env=quietly, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


def test_links_pictures_and_anchors_of_the_site_are_there(site):
    pages = {page: page.read_text(encoding="utf-8") for page in site.rglob("*.html") if page.name != "404.html"}
    assert len(pages) >= 80
    anchors = {page: set(ANCHOR.findall(text)) for page, text in pages.items()}
    broken, foreign = [], set()
    for page, text in pages.items():
        for address in LINK.findall(text):
            if re.match(r"(https?:)?//|data:|mailto:", address):
                foreign.add(address)
                continue
            place, anchor = urldefrag(unquote(address))
            target = (page.parent / place.partition("?")[0]).resolve() if place else page
            if not target.exists() or (anchor and target in anchors and anchor not in anchors[target]):
                broken.append(f"{page.relative_to(site)}: {address}")
    assert broken == []
    assert not any(address.endswith((".js", ".css")) for address in foreign), "the manual needs no network"
