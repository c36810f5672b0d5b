"""lineax: calls that reach its rules (as calls_jax.py)."""
from __future__ import annotations

import jax.numpy as jnp
import lineax as lx

from library_functions.table import normal, positive, uniform


def solved(operator, solver=None, **options):
    def function(a, b):
        return lx.linear_solve(operator(a), b, solver or lx.AutoLinearSolver(well_posed=None),
                               throw=False, **options).value
    return function


def matrix(a):
    return lx.MatrixLinearOperator(a)


def definite(a):
    return lx.MatrixLinearOperator(a, lx.positive_semidefinite_tag)


def jacobian(a):
    return lx.JacobianLinearOperator(lambda x, args: jnp.sin(a @ x) + x, jnp.ones(3) / 3)


A, B = positive(3), normal(3)

CALLS = {
    'linear_solve': (solved(matrix), A, B),
    'linear_solve LU': (solved(matrix, lx.LU()), A, B),
    'linear_solve QR': (solved(matrix, lx.QR()), normal(4, 3), normal(4)),
    'linear_solve SVD': (solved(matrix, lx.SVD()), normal(4, 3), normal(4)),
    'linear_solve Cholesky': (solved(definite, lx.Cholesky()), A, B),
    'linear_solve CG': (solved(definite, lx.CG(1e-6, 1e-6)), A, B),
    'linear_solve GMRES': (solved(matrix, lx.GMRES(1e-6, 1e-6)), A, B),
    'linear_solve BiCGStab': (solved(matrix, lx.BiCGStab(1e-6, 1e-6)), A, B),
    'linear_solve Tridiagonal': (lambda d, l, u, b: lx.linear_solve(
        lx.TridiagonalLinearOperator(d, l, u), b).value, uniform(4) + 3, uniform(3),
        uniform(3, seed=1), normal(4)),
    'linear_solve Diagonal': (lambda d, b: lx.linear_solve(
        lx.DiagonalLinearOperator(d), b).value, uniform(4) + 1, normal(4)),
    'linear_solve Triangular': (lambda a, b: lx.linear_solve(lx.MatrixLinearOperator(
        jnp.tril(a), lx.lower_triangular_tag), b).value, A, B),
    'linear_solve jacobian': (solved(jacobian), A, B),
    'linear_solve function': (lambda a, b: lx.linear_solve(lx.FunctionLinearOperator(
        lambda x: a @ x + x, jnp.zeros(3)), b).value, A, B),
    'linear_solve NormalCG': (solved(matrix, lx.NormalCG(1e-6, 1e-6)
                                     if hasattr(lx, 'NormalCG') else lx.LU()), A, B),
    'DiagonalLinearOperator.mv': (lambda d, x: lx.DiagonalLinearOperator(d).mv(x), normal(3), B),
    'diagonal': (lambda a: lx.diagonal(matrix(a)), A),
    'two_norm': (lx.internal.two_norm, normal(4)),
    'two_norm of one': (lx.internal.two_norm, normal(1)),
    'two_norm of complex': (lx.internal.two_norm, normal(3) + 1j * normal(3, seed=1)),
    'two_norm of a tree': (lambda a, b: lx.internal.two_norm((a, b)), normal(3), normal(2, 2)),
    'rms_norm': (lx.internal.rms_norm, normal(4)),
    'max_norm': (lx.internal.max_norm, normal(4)),
}
