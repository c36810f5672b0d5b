/* ring.c - see ring.h. */
#include "runtime/field/ring.h"

#include "frontend/base/assert.h"

uint64_t jx_ring_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

uint64_t jx_ring_random(uint64_t *state)
{
    return jx_ring_mix(*state += 0x9e3779b97f4a7c15u);
}

jx_modulus jx_modulus_of(uint64_t m)
{
    int bits = 64 - __builtin_clzll(m);

    JX_ASSERT(m > 1 && bits <= 62);
    return (jx_modulus){m, (uint64_t)(((unsigned __int128)1 << (2 * bits)) / m),
                        bits};
}

uint64_t jx_mod_power(uint64_t a, uint64_t n, uint64_t m)
{
    uint64_t to = 1;
    bool fast = m > 1 && m < (uint64_t)1 << 62;
    jx_modulus by = fast ? jx_modulus_of(m) : (jx_modulus){0};

    for (a %= m; n;
         n >>= 1, a = fast ? jx_mod_fast(a, a, &by) : jx_mod_mul(a, a, m))
        if (n & 1)
            to = fast ? jx_mod_fast(to, a, &by) : jx_mod_mul(to, a, m);
    return to;
}

uint64_t jx_mod_inverse(uint64_t a, uint64_t m)
{
    return jx_mod_power(a, m - 2, m);
}

uint64_t jx_mod_dyadic(int64_t m, int e, uint64_t prime)
{
    uint64_t size = (m < 0 ? 0 - (uint64_t)m : (uint64_t)m) % prime;
    uint64_t two = jx_mod_power(2, (uint64_t)(e < 0 ? -(int64_t)e : e), prime);
    uint64_t value =
        jx_mod_mul(size, e < 0 ? jx_mod_inverse(two, prime) : two, prime);

    return m < 0 && value ? prime - value : value;
}

bool jx_ring_is_prime(uint64_t n)
{
    static const uint64_t bases[] = {2,  3,  5,  7,  11, 13,
                                     17, 19, 23, 29, 31, 37};
    uint64_t odd = n - 1;
    int twos = 0;

    if (n < 2)
        return false;
    for (int i = 0; i < 12; i++)
        if (n % bases[i] == 0)
            return n == bases[i];
    for (; odd % 2 == 0; odd /= 2)
        twos++;
    for (int i = 0; i < 12; i++) {
        uint64_t x = jx_mod_power(bases[i], odd, n);
        int turn = 0;
        if (x == 1)
            continue;
        for (; x != n - 1 && turn < twos; turn++)
            x = jx_mod_mul(x, x, n);
        if (x != n - 1 || turn == twos)
            return false;
    }
    return true;
}

static uint64_t no_square(uint64_t m)
{
    uint64_t n = 3;

    while (jx_mod_power(n, (m - 1) / 2, m) != m - 1)
        n++;
    return n;
}

/* Tonelli and Shanks. */
bool jx_mod_root(uint64_t a, uint64_t m, uint64_t *root)
{
    uint64_t odd = m - 1, c, t;
    int twos = 0;

    if (a == 0) {
        *root = 0;
        return true;
    }
    if (jx_mod_power(a, (m - 1) / 2, m) != 1)
        return false;
    for (; odd % 2 == 0; odd /= 2)
        twos++;
    c = jx_mod_power(no_square(m), odd, m);
    t = jx_mod_power(a, odd, m);
    *root = jx_mod_power(a, (odd + 1) / 2, m);
    while (t != 1) {
        int least = 0;
        for (uint64_t s = t; s != 1; s = jx_mod_mul(s, s, m))
            least++;
        for (int i = 0; i < twos - least - 1; i++)
            c = jx_mod_mul(c, c, m);
        *root = jx_mod_mul(*root, c, m);
        c = jx_mod_mul(c, c, m);
        t = jx_mod_mul(t, c, m);
        twos = least;
    }
    return true;
}

/* Primes q = 1 mod 8 and p = 1 mod 8 q: -1 and 2 are squares of both fields. */
static void choose_primes(jx_ring *to, uint64_t *random)
{
    const uint64_t least = (uint64_t)1 << 52;

    for (;;) {
        to->q = least + jx_ring_random(random) % least / 8 * 8 + 1;
        if (!jx_ring_is_prime(to->q))
            continue;
        for (int k = 0; k < 64; k++) {
            to->p = 8 * (16 + jx_ring_random(random) % 48) * to->q + 1;
            if (jx_ring_is_prime(to->p))
                return;
        }
    }
}

void jx_ring_make(jx_ring *to, uint64_t *random)
{
    choose_primes(to, random);
    to->fast_p = jx_modulus_of(to->p);
    to->fast_q = jx_modulus_of(to->q);
    to->no_square = no_square(to->p);
    do
        to->g =
            jx_mod_power(jx_ring_random(random), (to->p - 1) / to->q, to->p);
    while (to->g <= 1);
    for (int f = 0; f < 2; f++) {
        uint64_t prime = f ? to->q : to->p;
        to->i[f] = jx_mod_power(no_square(prime), (prime - 1) / 4, prime);
        if (!jx_mod_root(2, prime, &to->root2[f]))
            to->root2[f] = 0; /* not so: 2 is a square where prime = 1 mod 8 */
    }
}
