"""Random programs of integers that are made of two sizes, as jaxpr text, and what they give."""
import operator


def toward_zero(a, b):
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


# How an equation is written, the kinds of its operands (i: an integer, k: one or a number, d: what
# may divide, p: a predicate), its meaning.
INTEGERS = [
    ('add {} {}', 'ik', operator.add),
    ('sub {} {}', 'ki', operator.sub),
    ('mul {} {}', 'ik', operator.mul),
    ('mul {} {}', 'ii', operator.mul),
    ('max {} {}', 'ik', max),
    ('min {} {}', 'ik', min),
    ('div {} {}', 'id', toward_zero),
    ('rem {} {}', 'id', lambda a, b: a - b * toward_zero(a, b)),
    ('neg {}', 'i', operator.neg),
    ('abs {}', 'i', abs),
    ('sign {}', 'i', lambda a: (a > 0) - (a < 0)),
    ('integer_pow[y=2] {}', 'i', lambda a: a * a),
    ('clamp -3:i32[] {} 100:i32[]', 'i', lambda a: min(max(-3, a), 100)),
    ('shift_left {} 3:i32[]', 'i', lambda a: 8 * a),
    ('shift_right_arithmetic {} 3:i32[]', 'i', lambda a: a >> 3),
    ('select_n {} {} {}', 'pkk', lambda c, no, yes: yes if c else no),
    ('convert_element_type[new_dtype=int32 weak_type=False] {}', 'p', int),
]
PREDICATES = [(f'{name} {{}} {{}}', 'ik', getattr(operator, name)) for name in ('lt', 'le', 'gt', 'ge', 'eq', 'ne')]


class Program:
    """`n` and `m` are the first two values; the last one is returned."""

    def __init__(self, chance):
        self.chance = chance
        self.values = [('dim_as_value[dim=n]', (), lambda: None), ('dim_as_value[dim=m]', (), lambda: None)]
        self.kinds = ['i', 'i']
        for _ in range(chance.randint(3, 10)):
            self.add(*(('p', *chance.choice(PREDICATES)) if chance.random() < .2 else ('i', *chance.choice(INTEGERS))))
        self.add('i', *INTEGERS[0])

    def add(self, kind, how, operands, meaning):
        if 'p' not in operands or 'p' in self.kinds:
            self.values.append((how, [self.operand(each) for each in operands], meaning))
            self.kinds.append(kind)

    def operand(self, kind):
        """The index of a value, or a number as text."""
        if kind == 'k' and self.chance.random() < .4:
            return str(self.chance.choice([0, 1, 2, 3, 5, 7, -1, -4, 1000, 70000]))
        if kind == 'd':
            return self.chance.choice(['2', '3', '7', '-3', '1000', 0, 1])
        return self.chance.choice([i for i, each in enumerate(self.kinds) if each == {'k': 'i'}.get(kind, kind)])

    def text(self):
        names = 'bcdefghijklmno'
        lines = []
        for i, (how, operands, _) in enumerate(self.values):
            words = [f'{each}:i32[]' if isinstance(each, str) else names[each] for each in operands]
            lines.append(f'    {names[i]}:{"bool" if self.kinds[i] == "p" else "i32"}[] = {how.format(*words)}\n')
        return f'{{ lambda ; a:f32[n,m]. let\n{"".join(lines)}  in ({names[len(self.values) - 1]},) }}\n'

    def value(self, n, m, wrap):
        """What it returns where integers are what `wrap` makes of them."""
        found = [n, m]
        for _, operands, meaning in self.values[2:]:
            found.append(wrap(meaning(*(int(each) if isinstance(each, str) else found[each] for each in operands))))
        return found[-1]
