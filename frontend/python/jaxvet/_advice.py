"""What our prover says about a comparison that JAX could not decide.

JAX stops a trace with InconclusiveDimensionOperation.  The recorder, or the
prover behind JAX, knows the question; its answer, and what would settle it, go
into a note of the exception.
"""
from __future__ import annotations

import inspect
import json
import linecache
import re

from . import _compat, _library
from ._log import USER, Frames

_INTEGER = ("a symbolic dim has no value while tracing, but it works as an int "
           "in arithmetic and in shapes: write `d + 5`, not `int(d) + 5`, for "
           "d = {dim}")
_MAX = ("max and min compare at once; jax.core.max_dim and jax.core.min_dim "
        "wait until the sizes are known")
#: What JAX raises where sizes do not fit.
_REFUSALS = (TypeError, ValueError, _compat.AnyInconclusive)
_CHOICE = "write jax.core.{}_dim({}, {}), which waits until the sizes are known"


def advise(error, recorder=None) -> None:
    """Adds notes to an exception of JAX's, if there is anything to say."""
    if not hasattr(error, "add_note") or is_advised(error) or \
            by_its_words(error) or recorder is None:
        return
    text = str(error)
    question = None
    if isinstance(error, _compat.Inconclusive) and "comparison" in text:
        question = recorder.last_open_question()
    elif isinstance(error, _REFUSALS):
        question = recorder.last_difference(
            lambda *sides: all(_names(text, side) for side in sides))
    if question is None:
        return
    question = _permitted(question, *_asker(error))
    try:
        answer = json.loads(_library.ask(["prove", "-"],
                                         json.dumps(question) + "\n"))
    except (_library.JaxvetError, ValueError):
        return  # a note is a courtesy; JAX's exception says what is wrong
    add(error, question, answer, _line(error))


def by_its_words(error) -> bool:
    """What an exception says is enough to know what to do."""
    names = _unsolved(str(error))
    match = re.match(r"Symbolic dimension '(.*)' used in a context that "
                     r"requires a constant", str(error))
    if names:
        _note(error, _with_sizes(error, names))
    elif match:
        _note(error, _INTEGER.format(dim=match[1]))
    return bool(names or match)


def said(question, answer) -> str | None:
    """An answer in words."""
    asked = f"{question['lhs']} {question['op']} {question['rhs']}"
    verdict = answer.get("verdict")
    if verdict == "true":
        return (f"{asked} holds for all sizes that the constraints allow "
                f"(by {answer.get('by')}), but JAX cannot see it")
    if verdict == "false":
        return (f"{asked} is false for all sizes that the constraints allow "
                f"(by {answer.get('by')}), but JAX cannot see it")
    if verdict == "contradiction":
        return f"no sizes satisfy the constraints {answer.get('core')}"
    if verdict == "unknown":
        return f"{asked} could not be decided: {answer.get('why', 'no reason')}"
    if verdict != "depends":
        return None
    note = (f"{asked} is true for {_sizes(answer.get('witness_true'))} and "
            f"false for {_sizes(answer.get('witness_false'))}")
    suggested = answer.get("suggest")
    together = answer.get("suggest_together")
    if suggested:
        note += f"; it holds with the constraint '{suggested[0]}'"
    elif together:
        note += "; it holds with the constraints " + " and ".join(
            f"'{each}'" for each in together)
    return note


def _sizes(witness) -> str:
    return ", ".join(f"{name} = {size}"
                     for name, size in (witness or {}).items())


def is_advised(error) -> bool:
    return any(note.startswith("jaxvet: ")
               for note in getattr(error, "__notes__", ()))


def _note(error, text) -> None:
    if hasattr(error, "add_note"):
        error.add_note(f"jaxvet: {text}")


def add(error, question, answer, line="") -> None:
    """Our answer to the question that an exception is about, and what to do.

    `line` is the source line that asked.
    """
    notes = [said(question, answer), *_multiples(answer),
             *_rewritten(question, line)]
    for note in filter(None, notes):
        _note(error, note)


# -- the prover behind JAX

def add_decision(error, decision, asked=None, frame=None) -> None:
    """The same for a question that the prover behind JAX was asked.

    `asked` is the question in JAX's words, which may be the opposite one.
    """
    match = re.fullmatch(r"'(.*)' (==|>=|<=|>|<) '(.*)'", asked or "")
    question = (dict(zip(("lhs", "op", "rhs"), match.groups())) if match else
                {"lhs": decision.lhs, "op": decision.op, "rhs": decision.rhs})
    line = ""
    if frame is not None:
        place = frame.f_code.co_filename, frame.f_lineno
        line = linecache.getline(*place)
        question = _permitted(question, *place)
    add(error, question, decision.sizes.explained(**question), line)


_OPPOSITE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_REFUSING = re.compile(r"\s*(?:el)?if [^<>=]*?(<=?|>=?)[^<>=]*:\s*(?:#.*)?")


def _permitted(question, file, line) -> dict:
    """The question, or its opposite where the line that asks raises if it is
    true: then that is what lets a trace go on.

    JAX asks `a < b` as `not a >= b`, so the question's operator may be the
    opposite of the line's.
    """
    match = _REFUSING.fullmatch(linecache.getline(file, line).rstrip())
    if match is None or question["op"] not in _OPPOSITE or \
            re.search(r"\b(and|not|or)\b", match[0]) or \
            not linecache.getline(file, line + 1).lstrip().startswith("raise"):
        return question
    is_the_line = ("=" in question["op"]) == ("=" in match[1])
    return question | {"op": _OPPOSITE[question["op"]]} if is_the_line \
        else question


def _asker(error) -> tuple:
    """The file and line of the frame that compared dims, of JAX or anybody."""
    found, traceback = ("", 0), error.__traceback__
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if not file.endswith("shape_poly.py") and \
                not file.startswith(str(_library.HERE)):
            found = file, traceback.tb_lineno
        traceback = traceback.tb_next
    return found


def advise_leaving(error, decision, answers) -> None:
    """Notes for an exception that leaves the context of the prover; the last
    question that it did not affirm may be what it is about."""
    if is_advised(error) or by_its_words(error):
        return
    text = str(error)
    if "verifier errors" in text:
        for question in _fixed(answers):
            _note(error, f"{question} for all sizes that the constraints "
                         "allow: write the number in the spec")
    if decision is None:
        return
    if isinstance(error, _REFUSALS) and _names(text, str(decision.lhs)) and \
            _names(text, str(decision.rhs)):
        add_decision(error, decision)


def _fixed(answers) -> list:
    """The sizes of specs that can have one value only: StableHLO's types tell
    a symbol from its number."""
    found = [answer.question for answer in answers if answer.told is True and
             re.fullmatch(r"\w+ == \d+", answer.question)]
    return list(dict.fromkeys(found))


# -- reading exceptions and lines

def _names(text, dim) -> bool:
    """Whether a text has a dim, as an entry of a shape or by itself."""
    return re.search(rf"(?:^|[\s(,']){re.escape(dim)}(?:$|[\s),.'])",
                     text) is not None


def _line(error) -> str:
    """The innermost line of the user's in an exception's traceback."""
    frames, found, traceback = Frames(), None, error.__traceback__
    while traceback is not None:
        if frames.role(traceback.tb_frame.f_code) is USER:
            found = traceback
        traceback = traceback.tb_next
    return linecache.getline(found.tb_frame.f_code.co_filename,
                             found.tb_lineno) if found else ""


def _multiples(answer) -> list:
    """`mod(b, 3) == 0` is also had by 3*b for b in the spec; of several that
    hold together, each by its own."""
    def multiples(texts):
        found = [re.fullmatch(r"mod\((\w+), (\d+)\) == 0", text)
                 for text in texts]
        return [f"{match[2]}*{match[1]} for {match[1]}"
                for match in found if match]
    written = multiples(answer.get("suggest", ()))[:1] or \
        multiples(answer.get("suggest_together", ()))
    return [f"or write {' and '.join(written)} in the spec"] if written else []


def _rewritten(question, line) -> list:
    """What the asking line can say instead, if it is one that we know."""
    if question["op"] == "==":
        return []
    if re.search(r"\b(max|min|maximum|minimum)\(", line):
        return [_MAX]
    match = re.search(r"(\S+) if (\S+) (>=?|<=?) (\S+) else ([^\s,)]+)", line)
    if match is None:
        return []
    then, a, op, b, otherwise = match.groups()
    then = re.split(r"[(\[:]", then)[-1]
    otherwise = re.split(r"[)\]]", otherwise)[0]
    if {then, otherwise} != {a, b}:
        return []
    greater = (then == a) == op.startswith(">")
    return [_CHOICE.format("max" if greater else "min", a, b)]


def _unsolved(text) -> list:
    """The variables that JAX can't compute from the shapes of arguments."""
    match = re.match(r"\W*Encountered dimension variable '(\w+)' that is not "
                     r"appearing", text)
    if match:
        return [match[1]]
    match = re.match(r"Cannot solve for values of dimension variables "
                     r"\{([^}]*)\}", text)
    return sorted(re.findall(r"'(\w+)'", match[1])) if match else []


def _with_sizes(error, names) -> str:
    """The same function with an argument whose shape has the sizes."""
    shape = ", ".join(["0", *names])
    spec = f"jax.ShapeDtypeStruct(({shape}), jnp.int32)"
    told = (f"{' and '.join(names)} can't be computed from the shapes of the "
            f"arguments; an empty array can carry "
            f"{'it' if len(names) == 1 else 'them'}: add a parameter `sizes` "
            f"with the spec {spec}")
    found = _exported(error)
    if found is None:
        return told
    fun, specs = found
    name = getattr(fun, "__name__", "f")
    name = "f" if not name.isidentifier() else name
    parameters, passed, types = ["sizes"], [], [f"sizes: int32[{shape}]"]
    for parameter, spec in zip(_parameters(fun, len(specs)), specs):
        if isinstance(spec, _compat.DimExpr) and str(spec) in names:
            passed.append(f"sizes.shape[{names.index(str(spec)) + 1}]")
            continue
        parameters.append(parameter)
        passed.append(parameter)
        if hasattr(spec, "shape") and hasattr(spec, "dtype"):
            dims = ",".join(map(str, spec.shape))
            types.append(f"{parameter}: {spec.dtype}[{dims}]")
    return (f"{told}:\n    def {name}_with_sizes({', '.join(parameters)}):"
            f"  # {', '.join(types)}\n"
            f"        return {name}({', '.join(passed)})")


def _parameters(fun, count) -> list:
    try:
        names = [name for name, parameter
                 in inspect.signature(fun).parameters.items()
                 if parameter.kind in (parameter.POSITIONAL_ONLY,
                                       parameter.POSITIONAL_OR_KEYWORD)]
    except (TypeError, ValueError):
        names = []
    return names + [f"x{k}" for k in range(len(names), count)]


def _exported(error):
    """(function, specs) of the call of jax.export that an exception left."""
    traceback = error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        if frame.f_code.co_filename.startswith(_compat.JAX_DIR) and \
                {"fun_jit", "args_specs"} <= set(frame.f_locals):
            fun = frame.f_locals["fun_jit"]
            return inspect.unwrap(fun), frame.f_locals["args_specs"]
        traceback = traceback.tb_next
    return None
