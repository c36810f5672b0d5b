/* bytecode_mutator.h - changes MLIR bytecode in one place and keeps the rest
 * consistent.
 *
 * A module is taken apart into tokens: numbers, bytes, nested sections, runs
 * that a length elsewhere stands for.  A few tokens are changed, and the module
 * is put together again with all lengths as they must be then (except where
 * the change is a length that lies). */
#ifndef JX_TESTS_BYTECODE_MUTATOR_H
#define JX_TESTS_BYTECODE_MUTATOR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef enum token_kind {
    T_NUMBER = 0,
    T_BYTE,
    T_RAW,
    T_OPEN, /* a section with the id `value` begins */
    T_CLOSE,
    T_LENGTH, /* of the group `group` of section `of`, plus `value` */
    T_GROUP,  /* a group begins, and ends at the next one or at the end */
} token_kind;

typedef struct token {
    token_kind kind;
    uint64_t value;
    const uint8_t *raw;
    size_t size;
    int of, group;
    bool flagged, flag;
} token;

enum { MOST_TOKENS = 1 << 17, SECTIONS = 9 };

typedef struct taken_apart {
    const uint8_t *header;
    size_t header_size;
    uint64_t version;
    int nsections, ids[SECTIONS];
    token *tokens[SECTIONS];
    size_t counts[SECTIONS];
    bool broken;
} taken_apart;

typedef struct cursor {
    const uint8_t *at, *end;
} cursor;

/* ---- reading numbers, as far as they go */

static inline uint64_t m_number(taken_apart *m, cursor *c)
{
    uint64_t value = 0;
    unsigned more;

    if (c->at >= c->end) {
        m->broken = true;
        return 0;
    }
    more = *c->at ? (unsigned)__builtin_ctz(*c->at) : 8;
    if ((size_t)(c->end - c->at) <= more) {
        m->broken = true;
        c->at = c->end;
        return 0;
    }
    for (unsigned i = 0; i < 8 && i + (more == 8) <= more; i++)
        value |= (uint64_t)c->at[i + (more == 8)] << (8 * i);
    c->at += more + 1;
    return more == 8 ? value : value >> (more + 1);
}

static inline token *m_add(taken_apart *m, int s, token t)
{
    static token none;

    /* Room for the next power of two, and for one token to be doubled. */
    if (!(m->counts[s] & (m->counts[s] - 1)) || m->counts[s] < 2) {
        size_t room = m->counts[s] < 2 ? 4 : m->counts[s] * 2;
        token *to = realloc(m->tokens[s], sizeof(token) * (room + 4));
        if (!to || room > MOST_TOKENS) {
            free(to ? to : m->tokens[s]);
            m->tokens[s] = NULL;
            m->counts[s] = 0;
            m->broken = true;
            return &none;
        }
        m->tokens[s] = to;
    }
    m->tokens[s][m->counts[s]] = t;
    return &m->tokens[s][m->counts[s]++];
}

static inline uint64_t m_copy(taken_apart *m, int s, cursor *c)
{
    uint64_t value = m_number(m, c);

    m_add(m, s, (token){.kind = T_NUMBER, .value = value});
    return value;
}

static inline uint8_t m_copy_byte(taken_apart *m, int s, cursor *c)
{
    uint8_t value = 0;

    if (c->at < c->end)
        value = *c->at++;
    else
        m->broken = true;
    m_add(m, s, (token){.kind = T_BYTE, .value = value});
    return value;
}

static inline void m_raw(taken_apart *m, int s, const uint8_t *at, size_t size)
{
    m_add(m, s, (token){.kind = T_RAW, .raw = at, .size = size});
}

/* Bytes as numbers as long as that works. */
static inline void m_numbers(taken_apart *m, int s, cursor c)
{
    bool before = m->broken;

    while (c.at < c.end) {
        const uint8_t *at = c.at;
        uint64_t value = m_number(m, &c);
        if (m->broken) {
            m->broken = before;
            m_raw(m, s, at, (size_t)(c.end - at));
            return;
        }
        m_add(m, s, (token){.kind = T_NUMBER, .value = value});
    }
}

/* ---- sections */

static inline void m_strings(taken_apart *m, int s, cursor c)
{
    uint64_t count = m_copy(m, s, &c);
    const uint8_t *at = c.at;
    size_t total = 0;

    for (uint64_t i = 0; i < count && !m->broken; i++) {
        total += m_number(m, &c);
        m_add(
            m, s,
            (token){.kind = T_LENGTH, .of = s, .group = (int)(count - 1 - i)});
    }
    if (m->broken || total != (size_t)(c.end - c.at)) {
        m->broken = true;
        return;
    }
    cursor lengths = {at, c.at};
    const uint8_t *end = c.end;
    size_t *sizes = calloc(count + 1, sizeof *sizes);
    for (uint64_t i = count; sizes && i-- > 0;)
        sizes[i] = m_number(m, &lengths);
    for (uint64_t i = 0; sizes && i < count; i++) {
        m_add(m, s, (token){.kind = T_GROUP});
        m_raw(m, s, c.at, sizes[i]);
        c.at += sizes[i];
    }
    m->broken |= c.at != end;
    free(sizes);
}

/* Sizes in one section (`s`), what they are of in another (`of`). */
static inline void m_offsets(taken_apart *m, int s, cursor c, int of,
                             cursor data)
{
    uint64_t left = m_copy(m, s, &c);
    int group = 0;

    left += m_copy(m, s, &c);
    while (left && !m->broken) {
        m_copy(m, s, &c);
        uint64_t count = m_copy(m, s, &c);
        for (; count && left && !m->broken; count--, left--) {
            uint64_t size = m_number(m, &c);
            m_add(m, s,
                  (token){.kind = T_LENGTH,
                          .of = of,
                          .group = group++,
                          .flagged = true,
                          .flag = size & 1});
            if (size >> 1 > (uint64_t)(data.end - data.at)) {
                m->broken = true;
                return;
            }
            cursor entry = {data.at, data.at + (size >> 1)};
            m_add(m, of, (token){.kind = T_GROUP});
            m_numbers(m, of, entry);
            data.at = entry.end;
        }
    }
}

static inline void m_properties(taken_apart *m, int s, cursor c)
{
    uint64_t count = m_copy(m, s, &c);
    int group = 0;

    for (uint64_t i = 0; i < count && !m->broken; i++) {
        uint64_t size = m_number(m, &c);
        if (size > (uint64_t)(c.end - c.at)) {
            m->broken = true;
            return;
        }
        /* The group follows, then another one that holds the next length. */
        m_add(m, s, (token){.kind = T_LENGTH, .of = s, .group = group});
        m_add(m, s, (token){.kind = T_GROUP});
        m_numbers(m, s, (cursor){c.at, c.at + size});
        c.at += size;
        m_add(m, s, (token){.kind = T_GROUP});
        group += 2;
    }
}

static inline void m_region(taken_apart *m, int s, cursor *c, int depth);

static inline void m_uses(taken_apart *m, int s, cursor *c, uint64_t values)
{
    uint64_t count = values == 1 ? 1 : m_copy(m, s, c);

    for (uint64_t i = 0; i < count && !m->broken; i++) {
        if (values != 1)
            m_copy(m, s, c);
        for (uint64_t n = m_copy(m, s, c) >> 1; n && !m->broken; n--)
            m_copy(m, s, c);
    }
}

static inline void m_op(taken_apart *m, int s, cursor *c, int depth)
{
    uint64_t results = 0;
    uint8_t mask;

    m_copy(m, s, c);
    mask = m_copy_byte(m, s, c);
    m_copy(m, s, c);
    if (mask & 0x01)
        m_copy(m, s, c);
    if (mask & 0x40)
        m_copy(m, s, c);
    for (unsigned bit = 0x02; bit <= 0x08; bit <<= 1) {
        uint64_t n = mask & bit ? m_copy(m, s, c) : 0;
        if (bit == 0x02)
            results = n;
        for (; n && !m->broken; n--)
            m_copy(m, s, c);
    }
    if (mask & 0x20 && m->version >= 3)
        m_uses(m, s, c, results);
    if (!(mask & 0x10))
        return;
    uint64_t regions = m_copy(m, s, c);
    cursor inner = *c;
    bool section = regions & 1 && m->version >= 2;
    if (section) {
        uint8_t id = c->at < c->end ? *c->at++ : 0;
        uint64_t size = m_number(m, c);
        if (size > (uint64_t)(c->end - c->at)) {
            m->broken = true;
            return;
        }
        m_add(m, s, (token){.kind = T_OPEN, .value = id});
        inner = (cursor){c->at, c->at + size};
        c->at += size;
    }
    for (uint64_t n = regions >> 1; n && !m->broken; n--)
        m_region(m, s, section ? &inner : c, depth + 1);
    if (section)
        m_add(m, s, (token){.kind = T_CLOSE});
}

static inline void m_block(taken_apart *m, int s, cursor *c, int depth)
{
    uint64_t head = m_copy(m, s, c);

    if (head & 1) {
        uint64_t args = m_copy(m, s, c);
        for (uint64_t i = 0; i < args && !m->broken; i++) {
            uint64_t type = m_copy(m, s, c);
            if (m->version < 4 || type & 1)
                m_copy(m, s, c);
        }
        if (m->version >= 3 && m_copy_byte(m, s, c))
            m_uses(m, s, c, args);
    }
    for (uint64_t n = head >> 1; n && !m->broken; n--)
        m_op(m, s, c, depth);
}

static inline void m_region(taken_apart *m, int s, cursor *c, int depth)
{
    uint64_t blocks = m_copy(m, s, c);

    m->broken |= depth > 500;
    if (!blocks || m->broken)
        return;
    m_copy(m, s, c);
    for (; blocks && !m->broken; blocks--)
        m_block(m, s, c, depth);
}

static inline bool take_apart(taken_apart *m, const uint8_t *data, size_t size)
{
    cursor c = {data, data + size}, content[SECTIONS];
    bool seen[SECTIONS] = {false};

    memset(m, 0, sizeof *m);
    if (size < 6)
        return false;
    c.at += 4;
    m->version = m_number(m, &c);
    while (c.at < c.end && *c.at++)
        ;
    m->header = data;
    m->header_size = (size_t)(c.at - data);
    while (c.at < c.end && !m->broken && m->nsections < SECTIONS) {
        int id = *c.at++;
        uint64_t n = m_number(m, &c);
        if (id >= SECTIONS || seen[id] || n > (uint64_t)(c.end - c.at))
            return false;
        seen[id] = true;
        content[id] = (cursor){c.at, c.at + n};
        m->ids[m->nsections++] = id;
        c.at += n;
    }
    if (m->broken || !seen[0] || !seen[1] || !seen[2] || !seen[3] || !seen[4])
        return false;
    m_strings(m, 0, content[0]);
    m_numbers(m, 1, content[1]);
    m_offsets(m, 3, content[3], 2, content[2]);
    m_block(m, 4, &content[4], 0);
    for (int id = 5; id < 7; id++)
        if (seen[id])
            m_numbers(m, id, content[id]);
    if (seen[8])
        m_properties(m, 8, content[8]);
    return !m->broken;
}

static inline void let_go(taken_apart *m)
{
    for (int s = 0; s < SECTIONS; s++)
        free(m->tokens[s]);
}

/* ---- putting together */

typedef struct bytes_out {
    uint8_t *at;
    size_t size, most;
} bytes_out;

static inline void o_byte(bytes_out *o, uint8_t value)
{
    if (o->size < o->most)
        o->at[o->size] = value;
    o->size++;
}

static inline unsigned o_width(uint64_t value)
{
    unsigned size = 1;

    while (size < 9 && value >> (7 * size))
        size++;
    return size;
}

static inline void o_number(bytes_out *o, uint64_t value)
{
    unsigned size = o_width(value);

    if (size == 9) {
        o_byte(o, 0);
        size = 8;
    } else {
        value = (value << 1 | 1) << (size - 1);
    }
    for (unsigned i = 0; i < size; i++)
        o_byte(o, (uint8_t)(value >> (8 * i)));
}

static inline size_t group_size(const taken_apart *m, int s, int group)
{
    size_t size = 0;
    int seen = -1;

    for (size_t i = 0; i < m->counts[s] && seen <= group; i++) {
        const token *t = &m->tokens[s][i];
        if (t->kind == T_GROUP)
            seen++;
        else if (seen == group)
            size += t->kind == T_NUMBER ? o_width(t->value)
                    : t->kind == T_RAW  ? t->size
                                        : 1;
    }
    return size;
}

static inline size_t o_tokens(const taken_apart *m, int s, size_t from,
                              bytes_out *o)
{
    for (size_t i = from; i < m->counts[s]; i++) {
        const token *t = &m->tokens[s][i];
        bytes_out inner = {NULL, 0, 0};
        size_t next;
        switch (t->kind) {
        case T_NUMBER: o_number(o, t->value); break;
        case T_BYTE: o_byte(o, (uint8_t)t->value); break;
        case T_RAW:
            for (size_t k = 0; k < t->size; k++)
                o_byte(o, t->raw[k]);
            break;
        case T_OPEN:
            next = o_tokens(m, s, i + 1, &inner);
            o_byte(o, (uint8_t)t->value);
            o_number(o, inner.size);
            o_tokens(m, s, i + 1, o);
            i = next;
            break;
        case T_CLOSE:
            if (from)
                return i;
            break;
        case T_LENGTH: {
            uint64_t size = group_size(m, t->of, t->group) + t->value;
            o_number(o, t->flagged ? size << 1 | t->flag : size);
            break;
        }
        case T_GROUP: break;
        }
    }
    return m->counts[s];
}

static inline size_t put_together(const taken_apart *m, uint8_t *to,
                                  size_t most)
{
    bytes_out out = {to, 0, most};

    for (size_t i = 0; i < m->header_size; i++)
        o_byte(&out, m->header[i]);
    for (int i = 0; i < m->nsections; i++) {
        bytes_out none = {NULL, 0, 0};
        o_tokens(m, m->ids[i], 0, &none);
        o_byte(&out, (uint8_t)m->ids[i]);
        o_number(&out, none.size);
        o_tokens(m, m->ids[i], 0, &out);
    }
    return out.size <= most ? out.size : 0;
}

/* ---- changing */

static inline uint64_t m_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static inline uint64_t other_value(uint64_t value, uint64_t *seed)
{
    switch (m_random(seed) % 9) {
    case 0: return value + 1;
    case 1: return value - 1;
    case 2: return 0;
    case 3: return m_random(seed) % 32;
    case 4: return value ^ 1;
    case 5: return m_random(seed);
    case 6: return value ^ (UINT64_C(1) << m_random(seed) % 16);
    case 7: return UINT64_C(1) << m_random(seed) % 64;
    default: return m_random(seed) % 512;
    }
}

static inline token *any_token(taken_apart *m, int *section, uint64_t *seed)
{
    for (int tries = 0; tries < 32; tries++) {
        int s = m->ids[m_random(seed) % (uint64_t)m->nsections];
        /* The IR and the attributes hold most of what can go wrong. */
        if (m_random(seed) % 3 == 0)
            s = m_random(seed) % 2 ? 4 : 2;
        if (!m->counts[s])
            continue;
        *section = s;
        return &m->tokens[s][m_random(seed) % m->counts[s]];
    }
    return NULL;
}

static inline void remove_token(taken_apart *m, int s, token *t)
{
    size_t i = (size_t)(t - m->tokens[s]);

    memmove(t, t + 1, (m->counts[s] - i - 1) * sizeof *t);
    m->counts[s]--;
}

/* At most three times for each module: see m_add(). */
static inline void double_token(taken_apart *m, int s, token *t)
{
    size_t i = (size_t)(t - m->tokens[s]);

    memmove(t + 1, t, (m->counts[s] - i) * sizeof *t);
    m->counts[s]++;
}

static inline void change_sections(taken_apart *m, uint64_t *seed)
{
    int i = (int)(m_random(seed) % (uint64_t)m->nsections);
    int k = (int)(m_random(seed) % (uint64_t)m->nsections), id = m->ids[i];

    if (m_random(seed) % 2) {
        m->ids[i] = m->ids[k];
        m->ids[k] = id;
    } else if (m_random(seed) % 2) {
        m->ids[i] = m->ids[k];
    } else {
        m->ids[i] = m->ids[--m->nsections];
    }
}

static inline void change(taken_apart *m, uint64_t *seed)
{
    int s = 0, s2 = 0;
    token *t = any_token(m, &s, seed), *u = any_token(m, &s2, seed), copy;

    if (!t || !u || m_random(seed) % 40 == 0) {
        change_sections(m, seed);
        return;
    }
    switch (m_random(seed) % 12) {
    case 0:
        if (t->kind != T_OPEN && t->kind != T_CLOSE && t->kind != T_GROUP)
            remove_token(m, s, t);
        return;
    case 1:
        if (t->kind != T_OPEN && t->kind != T_CLOSE && t->kind != T_GROUP)
            double_token(m, s, t);
        return;
    case 2:
        if (t->kind == T_NUMBER && u->kind == T_NUMBER) {
            copy = *t;
            t->value = u->value;
            u->value = copy.value;
        }
        return;
    case 3:
        if (t->kind == T_NUMBER && u->kind == T_NUMBER)
            t->value = u->value;
        return;
    default:
        if (t->kind == T_BYTE)
            t->value ^= UINT64_C(1) << m_random(seed) % 8;
        else if (t->kind == T_LENGTH && m_random(seed) % 2)
            t->flag = !t->flag;
        else if (t->kind != T_RAW)
            t->value = other_value(t->value, seed);
        return;
    }
}

/* A changed module in `to`; its size, or 0 where nothing came of it. */
static inline size_t mutate_module(const uint8_t *data, size_t size,
                                   uint8_t *to, size_t most, uint64_t seed)
{
    taken_apart m;
    size_t made = 0;

    seed = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
    for (int i = 0; i < 4; i++)
        m_random(&seed);
    if (take_apart(&m, data, size) && m_random(&seed) % 16) {
        for (uint64_t n = 1 + m_random(&seed) % 3; n; n--)
            change(&m, &seed);
        made = put_together(&m, to, most);
    } else if (size && size <= most) {
        memcpy(to, data, size);
        made = m_random(&seed) % 4 ? size : m_random(&seed) % size;
        for (uint64_t n = m_random(&seed) % 4; n && made; n--)
            to[m_random(&seed) % made] = (uint8_t)m_random(&seed);
    }
    let_go(&m);
    return made;
}

#endif
