"""circles.py LIST OBJECT... - which objects need each other, by their symbols.

Objects of the same circle reach each other through what they use.  Each circle must
be one of LIST, each of LIST be there.
"""
import collections
import pathlib
import subprocess
import sys

NAMES = {path: path.partition("obj/")[2].removesuffix(".o") for path in sys.argv[2:]}


def symbols():
    """Which object defines each symbol, and which symbols each object uses."""
    owner, uses = {}, collections.defaultdict(set)
    shown = subprocess.run(["nm", "-A", *NAMES], check=True, capture_output=True,
                           text=True).stdout
    for line in shown.splitlines():
        path, _, rest = line.partition(":")
        *_, kind, symbol = rest.split()
        if kind == "U":
            uses[NAMES[path]].add(symbol)
        elif kind.isupper():
            owner[symbol] = NAMES[path]
    return owner, uses


def circles(arrows):
    """Sets of more than one object that reach each other (Kosaraju)."""
    order, seen = [], set()

    def visit(start, near, leave):
        stack = [(start, iter(near(start)))]
        seen.add(start)
        while stack:
            at, rest = stack[-1]
            for to in rest:
                if to not in seen:
                    seen.add(to)
                    stack.append((to, iter(near(to))))
                    break
            else:
                leave(at)
                stack.pop()

    back = collections.defaultdict(set)
    for at, others in arrows.items():
        for other in others:
            back[other].add(at)
    for at in sorted(arrows):
        if at not in seen:
            visit(at, lambda x: sorted(arrows[x]), order.append)
    seen.clear()
    for at in reversed(order):
        if at not in seen:
            found = set()
            visit(at, lambda x: sorted(back[x]), found.add)
            if len(found) > 1:
                yield found


def main():
    owner, uses = symbols()
    arrows = {at: {owner[s] for s in uses[at] if s in owner} - {at}
              for at in NAMES.values()}
    known = [line.partition(":")[0].split()
             for line in pathlib.Path(sys.argv[1]).read_text().splitlines()
             if line and not line.startswith("#")]
    there = list(circles(arrows))
    bad = [f"files need each other: {' '.join(sorted(circle))}" for circle in there
           if sum(set(pair) <= circle for pair in known) != 1]
    bad += [f"{' '.join(pair)}: no such circle" for pair in known
            if not any(set(pair) <= circle for circle in there)]
    print("\n".join(bad), end="\n" if bad else "")
    return bool(bad)


sys.exit(main())
