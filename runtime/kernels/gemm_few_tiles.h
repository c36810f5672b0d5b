/* gemm_few_tiles.h - products of few rows or terms for one real type and one
 * width of vectors: included by gemm_few.c with REAL, the LANES of a vector,
 * FUSED (what it is compiled for) and NAME(x) defined; with TURNED, where b may
 * be transposed. */

/* As it stands: clang-format takes a call of NAME(x) for two statements. */
/* clang-format off */

enum { NAME(VECTOR) = LANES * sizeof(REAL) };

typedef REAL NAME(vector) __attribute__((vector_size(LANES * sizeof(REAL))));

/* ---- b as it lies: a vector is of one row of b ---- */

#define PUT(sums, to)                                                         \
    do {                                                                      \
        NAME(vector) before;                                                  \
        memcpy(&before, to, NAME(VECTOR));                                    \
        before = add ? before + (sums) : (sums);                              \
        memcpy(to, &before, NAME(VECTOR));                                    \
    } while (0)

/* Each sum adds its terms from the first to the last, in whichever tile it
 * is.  Vectors have names, as an array of them within the loop over rows would
 * lie in memory. */
#define TILE(R, V)                                                            \
    FUSED static void NAME(tile_##R##V)(int64_t k, const REAL *x, int64_t xr, \
                                        int64_t xc, const REAL *y,            \
                                        int64_t yr, bool add, REAL *c,        \
                                        int64_t ldc)                          \
    {                                                                         \
        NAME(vector) s0[R] = {{0}}, s1[R] = {{0}}, s2[R] = {{0}};             \
        NAME(vector) y0 = {0}, y1 = {0}, y2 = {0};                            \
        for (int64_t l = 0; l < k; l++, y += yr) {                            \
            memcpy(&y0, y, NAME(VECTOR));                                     \
            if (V > 1)                                                        \
                memcpy(&y1, y + LANES, NAME(VECTOR));                         \
            if (V > 2)                                                        \
                memcpy(&y2, y + 2 * LANES, NAME(VECTOR));                     \
            _Pragma("GCC unroll 4")                                           \
            for (int i = 0; i < R; i++) {                                     \
                REAL factor = x[i * xr + l * xc];                             \
                s0[i] += factor * y0;                                         \
                if (V > 1)                                                    \
                    s1[i] += factor * y1;                                     \
                if (V > 2)                                                    \
                    s2[i] += factor * y2;                                     \
            }                                                                 \
        }                                                                     \
        _Pragma("GCC unroll 4")                                               \
        for (int i = 0; i < R; i++, c += ldc) {                               \
            PUT(s0[i], c);                                                    \
            if (V > 1)                                                        \
                PUT(s1[i], c + LANES);                                        \
            if (V > 2)                                                        \
                PUT(s2[i], c + 2 * LANES);                                    \
        }                                                                     \
    }

#define TILES(R)                                                              \
    TILE(R, 1)                                                                \
    TILE(R, 2)                                                                \
    TILE(R, 3)

TILES(1)
TILES(2)
TILES(3)
TILES(4)

#undef TILES
#undef TILE
#undef PUT

/* So many whole vectors of columns, all rows. */
static void NAME(columns)(int64_t m, int vectors, int64_t k, const REAL *x,
                          int64_t xr, int64_t xc, const REAL *y, int64_t yr,
                          bool add, REAL *c, int64_t ldc)
{
    typedef void tile(int64_t, const REAL *, int64_t, int64_t, const REAL *,
                      int64_t, bool, REAL *, int64_t);
    static tile *const tiles[ROWS][VECTORS] = {
        {NAME(tile_11), NAME(tile_12), NAME(tile_13)},
        {NAME(tile_21), NAME(tile_22), NAME(tile_23)},
        {NAME(tile_31), NAME(tile_32), NAME(tile_33)},
        {NAME(tile_41), NAME(tile_42), NAME(tile_43)}};

    for (int64_t i = 0; i < m; i += ROWS) {
        int64_t rows = m - i < ROWS ? m - i : ROWS;
        tiles[rows - 1][vectors - 1](k, x + i * xr, xr, xc, y, yr, add,
                                     c + i * ldc, ldc);
    }
}

/* The last columns, which fill no vector: with those before them, if there are
 * so many, else in one with zeros behind them. */
static void NAME(rest)(int64_t m, int64_t j, int64_t n, int64_t k,
                       const REAL *x, int64_t xr, int64_t xc, const REAL *y,
                       int64_t yr, bool add, REAL *c, int64_t ldc)
{
    REAL wide[TERMS * LANES], sums[ROWS * LANES];
    int64_t from = n < LANES ? 0 : n - LANES, step = yr;
    const REAL *terms = y + from;

    if (n < LANES) {
        memset(wide, 0, (size_t)k * NAME(VECTOR));
        for (int64_t l = 0; l < k; l++)
            memcpy(wide + l * LANES, y + l * yr, (size_t)n * sizeof(REAL));
        terms = wide, step = LANES;
    }
    for (int64_t i = 0; i < m; i += ROWS) {
        int64_t rows = m - i < ROWS ? m - i : ROWS;
        NAME(columns)(rows, 1, k, x + i * xr, xr, xc, terms, step, false, sums,
                      LANES);
        for (int64_t r = 0; r < rows; r++)
            for (int64_t to = j; to < n; to++) {
                REAL *sum = c + (i + r) * ldc + to;
                REAL more = sums[r * LANES + to - from];
                *sum = add ? *sum + more : more;
            }
    }
}

static void NAME(straight)(int64_t m, int64_t n, int64_t k, jx_matrix a,
                           jx_matrix b, bool accumulate, REAL *c, int64_t ldc)
{
    int64_t xr, xc;

    jx_matrix_steps(a, &xr, &xc);
    for (int64_t l = 0; l < k; l += TERMS) {
        int64_t terms = k - l < TERMS ? k - l : TERMS, step;
        bool add = accumulate || l > 0;
        for (int64_t j = 0; j < n; j += step) {
            int64_t left = (n - j) / LANES;
            int vectors = left < VECTORS ? (int)left : VECTORS;
            const REAL *x = (const REAL *)a.data + l * xc;
            const REAL *y = (const REAL *)b.data + l * b.ld;
            step = vectors > 0 ? vectors * LANES : n - j;
            if (vectors > 0)
                NAME(columns)(m, vectors, terms, x, xr, xc, y + j, b.ld, add,
                              c + j, ldc);
            else
                NAME(rest)(m, j, n, terms, x, xr, xc, y, b.ld, add, c, ldc);
        }
    }
}

/* ---- b transposed: a vector is of terms of one sum ---- */

#ifdef TURNED

enum { NAME(COLUMNS) = LANES / ROWS };

/* Sums of two lanes `apart` from each other: of x where the lane has no bit
 * `apart`, of y where it has. */
#define LOW(i, apart) ((i) & ~(apart)) + ((i) & (apart)) * (LANES / (apart))
#define HIGH(i, apart) LOW(i, apart) + (apart)
#define EACH_8(f, i, apart)                                                   \
    f(i, apart), f(i + 1, apart), f(i + 2, apart), f(i + 3, apart),           \
        f(i + 4, apart), f(i + 5, apart), f(i + 6, apart), f(i + 7, apart)
#if LANES == 8
#define EACH(f, apart) EACH_8(f, 0, apart)
#else
#define EACH(f, apart) EACH_8(f, 0, apart), EACH_8(f, 8, apart)
#endif
#define FOLD(x, y, apart)                                                     \
    __builtin_shufflevector(x, y, EACH(LOW, apart)) +                         \
        __builtin_shufflevector(x, y, EACH(HIGH, apart))
#define FOLD_ALL(apart)                                                       \
    _Pragma("GCC unroll 8")                                                   \
    for (int i = 0; i < LANES / 2 / (apart); i++)                             \
        sums[i] = FOLD(sums[2 * i], sums[2 * i + 1], apart)

/* One vector of terms more: of x[r] and y[s] from term l on. */
#define TERMS_FROM(x, y, l)                                                   \
    do {                                                                      \
        NAME(vector) u[ROWS], v[COLUMNS];                                     \
        _Pragma("GCC unroll 4")                                               \
        for (int s = 0; s < COLUMNS; s++)                                     \
            memcpy(&v[s], (y)[s] + (l), NAME(VECTOR));                        \
        _Pragma("GCC unroll 4")                                               \
        for (int r = 0; r < ROWS; r++) {                                      \
            memcpy(&u[r], (x)[r] + (l), NAME(VECTOR));                        \
            _Pragma("GCC unroll 4")                                           \
            for (int s = 0; s < COLUMNS; s++)                                 \
                sums[r * COLUMNS + s] += u[r] * v[s];                         \
        }                                                                     \
    } while (0)

/* ROWS by COLUMNS sums, which are as many as a vector has lanes: that of row
 * x[r] times row y[s] goes to sum[r * COLUMNS + s].  After the last whole
 * vector of terms there are zeros. */
FUSED static void NAME(dots)(int64_t k, const REAL *const x[],
                             const REAL *const y[], REAL sum[])
{
    enum { COLUMNS = NAME(COLUMNS) };
    NAME(vector) sums[LANES];
    int64_t whole = k - k % LANES;

    for (int i = 0; i < LANES; i++)
        sums[i] = (NAME(vector)){0};
    for (int64_t l = 0; l < whole; l += LANES)
        TERMS_FROM(x, y, l);
    if (whole < k) {
        REAL last_x[ROWS][LANES] = {{0}}, last_y[COLUMNS][LANES] = {{0}};
        for (int64_t l = whole; l < k; l++) {
            for (int r = 0; r < ROWS; r++)
                last_x[r][l - whole] = x[r][l];
            for (int s = 0; s < COLUMNS; s++)
                last_y[s][l - whole] = y[s][l];
        }
        TERMS_FROM(last_x, last_y, 0);
    }
    FOLD_ALL(1);
    FOLD_ALL(2);
    FOLD_ALL(4);
#if LANES > 8
    FOLD_ALL(8);
#endif
    memcpy(sum, &sums[0], NAME(VECTOR));
}

#undef TERMS_FROM
#undef LOW
#undef HIGH
#undef EACH_8
#undef EACH
#undef FOLD
#undef FOLD_ALL

static void NAME(turned)(int64_t m, int64_t n, int64_t k, jx_matrix a,
                         jx_matrix b, bool accumulate, REAL *c, int64_t ldc)
{
    enum { COLUMNS = NAME(COLUMNS) };

    for (int64_t j = 0; j < n; j += COLUMNS)
        for (int64_t i = 0; i < m; i += ROWS) {
            int64_t rows = m - i < ROWS ? m - i : ROWS;
            int64_t columns = n - j < COLUMNS ? n - j : COLUMNS;
            const REAL *x[ROWS], *y[COLUMNS];
            REAL sums[ROWS][COLUMNS];
            for (int64_t r = 0; r < ROWS; r++)
                x[r] = (const REAL *)a.data +
                       (i + (r < rows ? r : rows - 1)) * a.ld;
            for (int64_t s = 0; s < COLUMNS; s++)
                y[s] = (const REAL *)b.data +
                       (j + (s < columns ? s : columns - 1)) * b.ld;
            NAME(dots)(k, x, y, &sums[0][0]);
            for (int64_t r = 0; r < rows; r++)
                for (int64_t s = 0; s < columns; s++) {
                    REAL *sum = c + (i + r) * ldc + j + s;
                    *sum = accumulate ? *sum + sums[r][s] : sums[r][s];
                }
        }
}

#endif

/* clang-format on */
