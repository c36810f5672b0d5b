"""calls.py COMMAND FOLDER - functions that call others twice, and those others.

Written out such programs are 2^20 equations and more.  Every command must work in
the memory that their text takes, give or take, and what they compute is known in
closed form.
"""
import os
import pathlib
import re
import subprocess
import sys

COMMAND, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
DEPTH = 20
#: Beyond what `info` of a program of one equation takes, and 64 times the text.
SLACK = 24 << 20
#: A build with AddressSanitizer keeps what is freed for a while, and shadows.
if "asan" in COMMAND:
    SLACK *= 8
T = "tensor<4xf32>"
failed = 0


def run(*args):
    """Exit code, output and peak memory of the command."""
    with open(FOLDER / "out", "wb+") as out:
        child = subprocess.Popen([COMMAND, *map(str, args)], stdout=out,
                                 stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return child.returncode, out.read().decode(), usage.ru_maxrss << 10


def expect(what, ok, got):
    global failed
    if not ok:
        failed += 1
        print(f"calls: {what}\n    {str(got)[:400]}")


def save(name, text):
    path = FOLDER / name
    path.write_text(text)
    return path


def within(path, code, *args):
    """The command's output, in memory that fits the program."""
    got, text, peak = run(*args)
    most = IDLE + SLACK + 64 * path.stat().st_size
    what = " ".join(map(str, args))
    expect(f"{what}: exit code {got}, expected {code}", got == code, text)
    expect(f"{what}: {peak >> 20} MB, expected {most >> 20}", peak <= most, text)
    return text


def numbers(text, out=0):
    found = re.search(rf"^out{out} \S+ = (.*)$", text, re.M)
    return [float(x) for x in found[1].split()] if found else None


def computes(path, *want, args=()):
    """Running on zeros gives these numbers in each output's elements."""
    text = within(path, 0, "run", path, "--fill", "zeros", *args)
    for i, value in enumerate(want):
        expect(f"{path.name}: out{i} is {numbers(text, i)}, expected {value}",
               numbers(text, i) == value, text)


# ---- programs: function k is what `level` says of the one before


def jaxpr(depth, leaf, level, ins, main=None):
    lets = [f"let f{k} = {{ lambda ; {ins}. let\n{level(f'f{k - 1}')} }} in"
            for k in range(depth, 0, -1)]
    lets.append(f"let f0 = {{ lambda ; {ins}. let\n{leaf} }} in")
    return "\n".join([*lets, f"{{ lambda ; {ins}. let\n"
                      f"{main or level(f'f{depth}')} }}"]) + "\n"


def module(depth, leaf, level, main, kind=T):
    functions = [f"func.func private @f0(%x: {kind}) -> {kind} {{\n{leaf}\n}}"]
    functions += [f"func.func private @f{k}(%x: {kind}) -> {kind} {{\n"
                  f"{level(f'@f{k - 1}')}\n}}" for k in range(1, depth + 1)]
    return "module @m {\n" + "\n".join([main, *functions]) + "\n}\n"


def hlo_main(depth, kind=T):
    return (f"func.func public @main(%x: {kind}) -> {kind} {{\n"
            f"%0 = func.call @f{depth}(%x) : ({kind}) -> {kind}\n"
            f"return %0 : {kind}\n}}")


ADD_ONE = (f"%c = stablehlo.constant dense<1.0> : {T}\n"
           f"%0 = stablehlo.add %x, %c : {T}\nreturn %0 : {T}")


def twice(f):
    return (f"%0 = func.call {f}(%x) : ({T}) -> {T}\n"
            f"%1 = func.call {f}(%0) : ({T}) -> {T}\nreturn %1 : {T}")


def in_branch(f):
    """Once and then again, by a branch that is only known when it runs."""
    return f"""%0 = func.call {f}(%x) : ({T}) -> {T}
        %s = "stablehlo.slice"(%0) {{start_indices = array<i64: 0>,
          limit_indices = array<i64: 1>, strides = array<i64: 1>}}
          : ({T}) -> tensor<1xf32>
        %v = stablehlo.reshape %s : (tensor<1xf32>) -> tensor<f32>
        %z = stablehlo.constant dense<0.0> : tensor<f32>
        %p = stablehlo.compare GT, %v, %z : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %1 = "stablehlo.if"(%p) ({{
          %2 = func.call {f}(%0) : ({T}) -> {T}
          stablehlo.return %2 : {T}
        }}, {{
          %2 = func.call {f}(%x) : ({T}) -> {T}
          %3 = func.call {f}(%2) : ({T}) -> {T}
          stablehlo.return %3 : {T}
        }}) : (tensor<i1>) -> {T}
        return %1 : {T}"""


def in_loop(f):
    """Two turns of a loop."""
    return f"""%i = stablehlo.constant dense<0> : tensor<i32>
        %one = stablehlo.constant dense<1> : tensor<i32>
        %two = stablehlo.constant dense<2> : tensor<i32>
        %0:2 = stablehlo.while(%k = %i, %y = %x) : tensor<i32>, {T}
        cond {{
          %p = stablehlo.compare LT, %k, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %p : tensor<i1>
        }} do {{
          %2 = func.call {f}(%y) : ({T}) -> {T}
          %3 = stablehlo.add %k, %one : tensor<i32>
          stablehlo.return %3, %2 : tensor<i32>, {T}
        }}
        %c = func.call {f}(%0#1) : ({T}) -> {T}
        %d = stablehlo.subtract %c, %c : {T}
        %e = stablehlo.add %0#1, %d : {T}
        return %e : {T}"""


def composite(f):
    call = (f'"stablehlo.composite"(%{{}}) {{{{name = "my.op", decomposition = {f},'
            f" version = 1 : i32}}}} : ({T}) -> {T}")
    return (f"%0 = {call.format('x')}\n%1 = {call.format('0')}\n"
            f"return %1 : {T}")


def forms():
    """Every command on every form of the plainest program."""
    def level(f):
        return (f"    b:f32[n] = jit[name=f jaxpr={f}] a\n"
                f"    c:f32[n] = jit[name=f jaxpr={f}] b\n  in (c,)")
    text = jaxpr(DEPTH, "    b:f32[n] = add a 1.0:f32[]\n  in (b,)", level,
                 "a:f32[n]")
    symbolic = save("n.jaxpr", text)
    fixed = save("4.jaxpr", text.replace("[n]", "[4]"))
    mlir = save("4.mlir", module(DEPTH, ADD_ONE, twice, hlo_main(DEPTH)))
    dynamic = save("n.mlir", module(DEPTH, ADD_ONE.replace(
        f"%c = stablehlo.constant dense<1.0> : {T}\n", "").replace("%c", "%x"),
        twice, hlo_main(DEPTH)).replace(T, "tensor<?xf32>"))
    code, bytecode, _ = run("rewrite", "--as", "bytecode", mlir, "-o",
                            FOLDER / "4.mlirbc")
    expect("bytecode", code == 0, bytecode)
    for path in symbolic, fixed, mlir, FOLDER / "4.mlirbc", dynamic:
        for command in ("info --cost", "info --fit 1GiB", "info --sizes 3",
                        "check", "show", "show --as json",
                        "show --as stablehlo", "gradcheck"):
            within(path, 0, *command.split(), path)
        expect(f"{path.name}: is itself",
               "program: the same" in within(path, 0, "diff", path, path), "")
    for path in fixed, mlir, FOLDER / "4.mlirbc":
        main = 2.0 if path is fixed else 1.0
        computes(path, [main * 2 ** DEPTH] * 4)
    computes(symbolic, [2.0 * 2 ** DEPTH] * 3, args=("--set", "n=3"))
    within(symbolic, 0, "show", "--transform", "set:n=3", symbolic)
    expect("lints say so", "called in several places" in
           within(symbolic, 0, "check", symbolic), "")
    other = save("other.jaxpr", text.replace("add a 1.0", "add a 2.0"))
    expect("a leaf differs", "computed differently" in
           within(other, 1, "diff", symbolic, other), "")


def operands():
    """Operands and results that are swapped, views, or come back as they are."""
    def swaps(f):
        return (f"    c:f32[3] d:f32[3] = jit[name=f jaxpr={f}] a b\n"
                f"    e:f32[3] g:f32[3] = jit[name=f jaxpr={f}] d c\n"
                "  in (e, g)")
    want = [1.0, 2.0]
    for _ in range(DEPTH + 1):  # f(x, y) = (x or y by turns) + what is known
        want = then_swapped(*want)
    computes(save("swap.jaxpr", jaxpr(
        DEPTH, "    c:f32[3] = add a 1.0:f32[]\n"
        "    d:f32[3] = add b 2.0:f32[]\n  in (c, d)", swaps,
        "a:f32[3] b:f32[3]")), *[[w] * 3 for w in want])

    def turns(f):
        return (f"    b:f32[2,2] = jit[name=f jaxpr={f}] a\n"
                "    c:f32[2,2] = transpose[permutation=(1, 0)] b\n"
                f"    d:f32[2,2] = jit[name=f jaxpr={f}] c\n"
                "    e:f32[2,2] = transpose[permutation=(1, 0)] d\n  in (e,)")
    # f(x) = x + m for a fixed m: once as it is, once transposed.
    m = [[0.0, 0.0], [1.0, 1.0]]
    for _ in range(DEPTH + 1):
        m = [[m[i][j] + m[j][i] for j in range(2)] for i in range(2)]
    computes(save("turn.jaxpr", jaxpr(
        DEPTH, "    b:f32[2,2] = iota[dimension=0 dtype=float32 shape=(2, 2) "
        "sharding=None]\n    c:f32[2,2] = add a b\n  in (c,)", turns,
        "a:f32[2,2]")), [x for row in m for x in row])

    def back(f):
        """The first operand comes back; a constant and one element as all."""
        return ("    z:f32[3] = broadcast_in_dim[broadcast_dimensions=() "
                "shape=(3,) sharding=None] 1.0:f32[]\n"
                f"    c:f32[3] d:f32[3] = jit[name=f jaxpr={f}] z b\n"
                f"    e:f32[3] g:f32[3] = jit[name=f jaxpr={f}] a d\n"
                "    h:f32[3] = mul c 0.0:f32[]\n"
                "    i:f32[3] = add h g\n  in (e, i)")
    computes(save("back.jaxpr", jaxpr(
        DEPTH, "    d:f32[3] = add b 1.0:f32[]\n  in (a, d)", back,
        "a:f32[3] b:f32[3]")), [0.0] * 3, [2.0 * 2 ** DEPTH] * 3)


def then_swapped(u, v):
    """f(x, y) = (x + u, y + v), then f of both swapped: y + v + u, x + u + v;
    which of zeros is the same as adding this to each."""
    return [u + v, u + v]


def bodies():
    """Calls in branches, loops and composites; a branch that is known."""
    for name, level in ("if", in_branch), ("while", in_loop), (
            "composite", composite):
        depth = 12 if name == "while" else DEPTH
        path = save(f"{name}.mlir",
                    module(depth, ADD_ONE, level, hlo_main(depth)))
        computes(path, [float(2 ** depth)] * 4)
        within(path, 0, "check", path)
        within(path, 0, "diff", path, path)
    # What is known of an operand is known down all calls: the other branch can't
    # be planned.
    def level(f):
        return (f"    b:f32[4] = jit[name=f jaxpr={f}] i a\n"
                f"    c:f32[4] = jit[name=f jaxpr={f}] i b\n  in (c,)")
    computes(save("known.jaxpr", jaxpr(
        DEPTH, "    b:f32[4] = cond[\n      branches=(\n"
        "        { lambda ; d:f32[4]. let  in (d,) }\n"
        "        { lambda ; e:f32[4]. let\n"
        "            g:f32[4] = for_others e\n          in (g,) }\n      )\n"
        "    ] i a\n    c:f32[4] = add b 1.0:f32[]\n  in (c,)",
        level, "i:i32[] a:f32[4]",
        f"    b:f32[4] = jit[name=f jaxpr=f{DEPTH}] 0:i32[] a\n  in (b,)")),
        [float(2 ** DEPTH)] * 4)


def effects():
    """What a callee does, it does each time."""
    check = (f"stablehlo.custom_call @check.expect_eq(%x, %{{}}) "
             f"{{{{has_side_effect = true}}}} : ({T}, {T}) -> ()\n")
    for right, code in ("x", 0), ("c", 1):
        leaf = ADD_ONE.replace("%0 =", check.format(right) + "%0 =")
        path = save(f"checks{code}.mlir",
                    module(DEPTH, leaf, twice, hlo_main(DEPTH)))
        within(path, code, "run", path, "--fill", "zeros")
    draw = (f"%a = stablehlo.constant dense<0.0> : tensor<f32>\n"
            f"%b = stablehlo.constant dense<1.0> : tensor<f32>\n"
            f"%s = stablehlo.constant dense<4> : tensor<1xi64>\n"
            f"%0 = stablehlo.rng %a, %b, %s, distribution = UNIFORM : "
            f"(tensor<f32>, tensor<f32>, tensor<1xi64>) -> {T}\n"
            f"%1 = stablehlo.add %x, %0 : {T}\nreturn %1 : {T}")
    path = save("draws.mlir", module(14, draw, twice, hlo_main(14)))
    got = numbers(within(path, 0, "run", path, "--fill", "zeros"))
    # Every call draws anew: the mean of 2^14 of them.
    expect("draws are their own", all(abs(x / 2 ** 14 - 0.5) < 0.02 for x in got),
           got)
    expect("draws are not called equal", "program: the same" not in
           within(path, 1, "diff", path, path), "")


def devices():
    """A collective at the bottom."""
    half = "tensor<2xf32>"
    leaf = f"""%c = stablehlo.constant dense<0.5> : {half}
        %0 = "stablehlo.all_reduce"(%c) <{{replica_groups = dense<[[0, 1]]> :
          tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1,
          type = 1>, use_global_device_ids}}> ({{
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %s = stablehlo.add %a, %b : tensor<f32>
          stablehlo.return %s : tensor<f32>
        }}) : ({half}) -> {half}
        %1 = stablehlo.add %x, %0 : {half}
        return %1 : {half}"""
    main = f"""sdy.mesh @mesh = <["d"=2]>
      func.func public @main(%arg0: {T}) -> {T} {{
        %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{{"d"}}]>]
          out_shardings=[<@mesh, [{{"d"}}]>] manual_axes={{"d"}} (%x: {half}) {{
          %1 = func.call @f{DEPTH}(%x) : ({half}) -> {half}
          sdy.return %1 : {half}
        }} : ({T}) -> {T}
        return %0 : {T}
      }}"""
    computes(save("devices.mlir", module(
        DEPTH, leaf, lambda f: twice(f).replace(T, half), main, half)),
        [float(2 ** DEPTH)] * 4)


def wide():
    """A thousand calls of a thousand equations."""
    f = "\n".join(f"%{i + 1} = stablehlo.add %{i}, %{i} : {T}\n"
                  f"%h{i} = stablehlo.divide %{i + 1}, %two : {T}"
                  .replace(f"%{i}, %{i} ", f"%{'h%d' % (i - 1) if i else 'x'}, "
                           f"%{'h%d' % (i - 1) if i else 'x'} ")
                  for i in range(500))
    calls = "\n".join(f"%{i + 1} = func.call @f(%{i}) : ({T}) -> {T}"
                      for i in range(1000)).replace("(%0)", "(%x)")
    path = save("wide.mlir", f"""module @m {{
      func.func public @main(%x: {T}) -> {T} {{
        {calls}
        return %1000 : {T}
      }}
      func.func private @f(%x: {T}) -> {T} {{
        %two = stablehlo.constant dense<2.0> : {T}
        {f}
        %r = stablehlo.add %h499, %two : {T}
        return %r : {T}
      }}
    }}\n""")
    computes(path, [2000.0] * 4)
    for command in "check", "info", "show", "gradcheck":
        within(path, 0, command, path)
    within(path, 0, "diff", path, path)


IDLE = 0
plain = save("plain.jaxpr", "{ lambda ; a:f32[4]. let\n    b:f32[4] = sin a\n"
                            "  in (b,) }\n")
IDLE = run("info", plain)[2]
forms()
operands()
bodies()
effects()
devices()
wide()
sys.exit(failed != 0)
