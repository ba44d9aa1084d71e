"""What mkdocs calls: adds generated pages, the gallery's pictures and the repository's own pages to the site."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]

#: Pages that lie beside the docs folder, by where they are in the site.
OUTSIDE = {
    "architecture.md": "ARCHITECTURE.md",
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
}
GALLERY = "src/pliant/scenes/gallery"
SHOWN = "images/gallery"  # where its pictures are in the site
DECISIONS = re.compile(r"(?<!\[)\bdecisions? 0\d{3}(?:(?:, | and )0\d{3})*")
MORE = "More guides"  # the section of pages that the navigation does not name


def generated_pages() -> dict[str, str]:
    """Markdown of all generated pages by their place in the site."""
    sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "src")]  # mkdocs undoes what a hook does to it while it is loaded
    from manual import api, commands, scene_file

    pages = {f"reference/{api.slug(title)}.md": text for title, text in api.pages().items()}
    return pages | {"reference/scene-file.md": scene_file.page(), "reference/commands.md": commands.page()}


def on_config(config: Any) -> Any:
    """Put pages that nobody has listed at the end of the navigation, so that a new page is found at once."""
    listed = set(re.findall(r"'([\w/.-]+\.md)'", str(config.nav)))
    docs = Path(config.docs_dir)
    found = {str(path.relative_to(docs)) for path in docs.rglob("*.md")}
    for section in config.nav:
        if "Decisions" in section:
            section["Decisions"] = sorted(page for page in found if page.startswith("decisions/"))
            listed.update(section["Decisions"])
    if rest := sorted(found - listed):
        config.nav.append({MORE: rest})
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add generated pages, pages of the repository's root and pictures of the gallery."""
    from mkdocs.structure.files import File

    for place, text in generated_pages().items():
        files.append(File.generated(config, place, content=text))
    for place, name in OUTSIDE.items():
        text = (ROOT / name).read_text(encoding="utf-8").replace("](docs/", "](")  # the site begins in docs/
        files.append(File.generated(config, place, content=text))
    for picture in sorted((ROOT / GALLERY).glob("*.png")):
        files.append(File.generated(config, f"{SHOWN}/{picture.name}", content=picture.read_bytes()))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Point to the copies of the gallery's pictures; turn names of pages and numbers of decisions into links."""
    up = "../" * page.file.src_uri.count("/")
    markdown = markdown.replace(f"{up}../{GALLERY}/", f"{up}{SHOWN}/")
    known = {file.src_uri for file in files.documentation_pages()}

    def link(found: re.Match[str]) -> str:
        place = found[1].removeprefix("docs/")
        place = next((where for where, name in OUTSIDE.items() if name == place), place)
        return f"[{found[1]}]({up}{place})" if place in known else found[0]

    decisions = {place.removeprefix("decisions/")[:4]: place for place in known if place.startswith("decisions/")}

    def linked(text: str) -> str:
        text = re.sub(r"(?<!\[)`([\w./-]+\.md)`", link, text)
        return DECISIONS.sub(
            lambda found: re.sub(r"\d{4}", lambda n: f"[{n[0]}]({up}{decisions[n[0]]})", found[0]), text
        )

    parts = re.split(r"(```.*?```)", markdown, flags=re.DOTALL)  # code stays as it is
    return "".join(part if part.startswith("```") else linked(part) for part in parts)
