#!/usr/bin/env python3
"""Runs the reproducers of docs/FOUND.md, and holds what they print against the page.

    found.py [--update]

`--update` writes what they print into the page instead.
"""
from __future__ import annotations

import contextlib
import io
import os
import pathlib
import re
import sys

os.environ.setdefault('JAX_PLATFORMS', 'cpu')
PAGE = pathlib.Path(__file__).resolve().parent.parent / 'docs' / 'FOUND.md'
BLOCK = re.compile(r'```python\n(?P<code>.*?)```\n```text\n(?P<text>.*?)```\n', re.S)
MOST_LINES = 15


def printed(code) -> str:
    import jax
    jax.config.update('jax_enable_x64', False)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, str(PAGE), 'exec'), {'__name__': 'found'})
    return out.getvalue()


def main() -> int:
    page, bad, count = PAGE.read_text(), 0, 0

    def run(match):
        nonlocal bad, count
        count += 1
        title = page[:match.start()].rpartition('\n## ')[2].partition('\n')[0]
        text = printed(match['code'])
        if match['code'].count('\n') > MOST_LINES:
            bad += 1
            print(f'{title}: more than {MOST_LINES} lines')
        elif text != match['text'] and '--update' not in sys.argv:
            bad += 1
            print(f"{title}: it prints\n{text}and the page says\n{match['text']}")
        return f"```python\n{match['code']}```\n```text\n{text}```\n"
    new = BLOCK.sub(run, page)
    if '--update' in sys.argv:
        PAGE.write_text(new)
    print(f'{count} reproducers, {bad} that do not print what {PAGE.name} says')
    return bool(bad or not count)


if __name__ == '__main__':
    sys.exit(main())
